//! The environment over the life of a workspace: who wins, what an edit reaches, and that nobody but a person edits it.

use crate::bench::{Bench, Ran, build_image, image};
use crate::delivery::{exec_reading, secrets_file, write_settings};
use crate::policy::create_approved;
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;

/// Settings in which every layer of a person says `NAME`, with the layers in `gone` left out.
fn settings_without(bench: &Bench, gone: &[&str]) -> Value {
    let there = |layer: &str, value: Value| if gone.contains(&layer) { json!({}) } else { value };
    let mut repositories = serde_json::Map::new();
    repositories.insert(
        bench.repository().to_str().unwrap().to_owned(),
        json!({
            "commandSourcePolicy": "run-both",
            "agentEnv": there("project", json!({"LAYERED": "project"})),
            "container": {"env": there("repo settings", json!({"LAYERED": "repo settings"}))}
        }),
    );
    let secrets = if gone.contains(&"secret") { json!([]) } else { json!([{"name": "LAYERED"}]) };
    let host = if gone.contains(&"host") { json!([]) } else { json!(["LAYERED"]) };
    json!({
        "agent": "claude",
        "secrets": secrets,
        "globalSettings": {
            "agentDefaultEnv": {"claude": there("agent", json!({"LAYERED": "agent"}))},
            "container": {"env": there("settings", json!({"LAYERED": "settings"})), "forwardHostEnv": host}
        },
        "repositories": repositories
    })
}

const IN_ORCA_YAML: &str = "worktree:\n  container:\n    env:\n      LAYERED: orca.yaml\n";

/// One name in all layers, taken away from the strongest to the weakest; the container's own printenv is the judge.
pub fn precedence(bench: &mut Bench) {
    let image = build_image(bench.engine, "full", "ENV LAYERED=image");
    let devcontainer = |gone: &[&str]| {
        let there = |layer: &str| {
            if gone.contains(&layer) { json!({}) } else { json!({"LAYERED": layer}) }
        };
        json!({"image": image, "containerEnv": there("containerEnv"), "remoteEnv": there("remoteEnv")})
            .to_string()
    };
    fs::create_dir(bench.repository().join(".devcontainer")).unwrap();
    bench.commit_file(".devcontainer/devcontainer.json", &devcontainer(&[]));
    bench.commit_file("orca.yaml", IN_ORCA_YAML);
    bench.env.insert("LAYERED".into(), "host".into());
    write_settings(bench, &settings_without(bench, &[]));
    fs::write(bench.path("w.env"), "LAYERED=file\n").unwrap();
    let made = ["--container-env", "LAYERED=typed", "--container-env-file", "w.env"];
    create_approved(bench, "devcontainer", &made).ok();
    let bench = &*bench;
    let won = |expected: &str| {
        // Only what is declared may be handed over.
        let settings = fs::read_to_string(bench.path("config/orca-container/settings.json")).unwrap();
        let declared = !settings.contains("\"secrets\":[]");
        let given = if declared { json!({"LAYERED": "secret"}) } else { json!({}) };
        let secrets = secrets_file(bench, &given);
        let got = Ran::of(&exec_reading(bench, &secrets, &["env"]).output().unwrap()).ok().stdout;
        assert!(got.lines().any(|line| line == format!("LAYERED={expected}")), "{expected}: {got}");
        let report: Value = serde_json::from_str(&bench.run(&["env", "acme", "--json"]).ok().stdout).unwrap();
        let entry = report["environment"]
            .as_array()
            .unwrap()
            .iter()
            .find(|e| e["name"] == "LAYERED")
            .unwrap()
            .clone();
        (entry["layer"].as_str().unwrap().to_owned(), entry["shadows"].as_array().unwrap().len())
    };
    assert_eq!(won("typed"), ("container_workspace".into(), 11));
    bench.run(&["env", "import", "acme", "w.env"]).ok();
    assert_eq!(won("file"), ("container_workspace".into(), 10));
    bench.run(&["env", "unset", "acme", "LAYERED"]).ok();
    let steps = [
        ("repo settings", None, "container_project"),
        ("orca.yaml", Some("repo settings"), "container_project"),
        ("settings", Some("orca.yaml"), "container_project"),
        ("secret", Some("settings"), "secret"),
        ("host", Some("secret"), "host"),
        ("project", Some("host"), "project"),
        ("agent", Some("project"), "agent"),
        ("remoteEnv", Some("agent"), "image"),
        ("containerEnv", Some("remoteEnv"), "image"),
        ("image", Some("containerEnv"), "image"),
    ];
    let mut gone: Vec<&str> = Vec::new();
    for (left, (expected, next, layer)) in (0..10_usize).rev().zip(steps) {
        gone.extend(next);
        match next {
            Some("orca.yaml") => bench.commit_file("orca.yaml", "x: y\n"),
            Some("remoteEnv" | "containerEnv") => {
                bench.commit_file(".devcontainer/devcontainer.json", &devcontainer(&gone));
            }
            _ => write_settings(bench, &settings_without(bench, &gone)),
        }
        if matches!(next, Some("orca.yaml" | "remoteEnv" | "containerEnv")) {
            bench.run(&["recreate", "acme", "--adopt-repository-config"]).ok();
        }
        assert_eq!(won(expected), (layer.into(), left), "{expected}");
    }
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// A process in the workspace that tells its variables each time it is asked.
struct Terminal {
    child: std::process::Child,
}

impl Terminal {
    fn open(bench: &Bench) -> Self {
        let script = "while read -r name; do eval \"echo \\\"\\${$name-absent}\\\"\"; done";
        let mut command = bench.command(&["exec", "acme", "--", "sh", "-c", script]);
        let child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        Self { child }
    }

    fn ask(&mut self, name: &str) -> String {
        let stdin = self.child.stdin.as_mut().unwrap();
        writeln!(stdin, "{name}").unwrap();
        let stdout = self.child.stdout.as_mut().unwrap();
        let mut line = Vec::new();
        let mut byte = [0_u8; 1];
        while stdout.read(&mut byte).unwrap() == 1 && byte[0] != b'\n' {
            line.push(byte[0]);
        }
        String::from_utf8(line).unwrap()
    }

    fn close(mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

/// What became of the variables of a workspace since its last launch.
fn changes(bench: &Bench) -> Vec<String> {
    let report: Value = serde_json::from_str(&bench.run(&["env", "acme", "--json"]).stdout).unwrap();
    let all = report["changes"].as_array().unwrap().clone();
    all.iter().map(|c| format!("{} {}", c["name"].as_str().unwrap(), c["change"].as_str().unwrap())).collect()
}

/// An edit is in the next terminal and not in the one before; the container and its plan are the same.
pub fn edits(bench: &mut Bench) {
    write_settings(
        bench,
        &json!({"globalSettings": {"container": {"env": {"START": "one", "KEPT": "kept"}, "startEnv": ["START"]}}}),
    );
    bench.create(&["--container-env", "A=old"]).ok();
    let bench = &*bench;
    let facts = || {
        let inspect = bench.inspect();
        (
            inspect["Id"].clone(),
            inspect["Config"]["Labels"]["orca.plan"].clone(),
            inspect["State"]["StartedAt"].clone(),
        )
    };
    let before = facts();
    let mut old = Terminal::open(bench);
    assert_eq!((old.ask("A"), old.ask("B")), ("old".into(), "absent".into()));
    let said = bench.run(&["env", "set", "acme", "A=new", "B=b"]).ok().stdout;
    assert!(said.contains("The next launch goes by it; running processes keep what they have."), "{said}");
    fs::write(bench.path("more.env"), "C=c=c\n").unwrap();
    bench.run(&["env", "import", "acme", "more.env"]).ok();
    assert_eq!(changes(bench), ["A edited", "B new", "C new"]);
    let mut new = Terminal::open(bench);
    assert_eq!((new.ask("A"), new.ask("B"), new.ask("C")), ("new".into(), "b".into(), "c=c".into()));
    assert_eq!((old.ask("A"), old.ask("B"), old.ask("C")), ("old".into(), "absent".into(), "absent".into()));
    assert_eq!(changes(bench), Vec::<String>::new());
    bench.run(&["env", "unset", "acme", "B", "C"]).ok();
    assert_eq!(changes(bench), ["B gone", "C gone"]);
    assert_eq!(
        bench.exec(&["sh", "-c", "echo $A ${B-absent} ${C-absent}"]).ok().stdout,
        "new absent absent\n"
    );
    assert_eq!((new.ask("B"), new.ask("C")), ("b".into(), "c=c".into()));
    for terminal in [old, new] {
        terminal.close();
    }
    // Settings are those of now as well.
    write_settings(
        bench,
        &json!({"globalSettings": {"container": {"env": {"START": "two", "KEPT": "changed"}, "startEnv": ["START"]}}}),
    );
    assert_eq!(bench.exec(&["sh", "-c", "echo $KEPT $START"]).ok().stdout, "changed one\n");
    assert_eq!(bench.status()["recreate"], json!(["START"]));
    assert_eq!(changes(bench), ["START recreate"]);
    assert_eq!(facts(), before, "an edit touches no container");
    let said = bench.run(&["env", "set", "acme", "START=three"]).ok().stdout;
    assert!(said.contains("is a start variable"), "{said}");
    bench.run(&["recreate", "acme"]).ok();
    assert_eq!(bench.exec(&["sh", "-c", "echo $START"]).ok().stdout, "three\n");
    assert_eq!(bench.status()["recreate"], Value::Null);
    assert_ne!(facts().0, before.0);
    assert_eq!(facts().1, before.1, "the plan holds no value, so it is the same");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// What a refused edit says, and that it changes nothing.
pub fn refused_edits(bench: &mut Bench) {
    bench.create(&["--container-env", "A=1"]).ok();
    let store = || {
        fs::read(bench.path(&format!("state/orca-container/values/{}.json", bench.container_name()))).unwrap()
    };
    let before = store();
    let large = format!("A={}", "x".repeat(131_072 - 5));
    for (words, part) in [
        (vec!["env", "set", "acme", "ORCA_X=1"], "ORCA_X"),
        (vec!["env", "set", "acme", "ANTHROPIC_API_KEY=1"], "ANTHROPIC_API_KEY"),
        (vec!["env", "set", "acme", &large], "\"A\""),
        (vec!["env", "set", "acme", "A", "--secret", "NOT_DECLARED"], "NOT_DECLARED"),
        (vec!["env", "unset", "acme", "B"], "\"B\""),
    ] {
        let ran = bench.run(&words).code(1);
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
        assert_eq!(store(), before, "{part}");
    }
    for words in [
        vec!["env", "set", "acme", "=x"],
        vec!["env", "set", "acme", "A", "B"],
        vec!["env", "unset", "acme", "a b"],
    ] {
        bench.run(&words).code(2);
        assert_eq!(store(), before);
    }
    fs::write(bench.path("bad.env"), b"GOOD=1\nBAD=\xff\n").unwrap();
    let ran = bench.run(&["env", "import", "acme", "bad.env"]).code(1);
    assert!(ran.stderr.contains("line 2"), "{}", ran.stderr);
    let with_input = |input: &[u8]| {
        let mut child = bench
            .command(&["env", "set", "acme", "A"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let _ = child.stdin.take().unwrap().write_all(input);
        Ran::of(&child.wait_with_output().unwrap())
    };
    for input in [b"a\xffb".to_vec(), b"a\0b".to_vec(), vec![b'x'; 200_000]] {
        let ran = with_input(&input).code(1);
        assert!(ran.stderr.contains("\"A\""), "{}", ran.stderr);
        assert_eq!(store(), before);
    }
    with_input(b" two lines\nof it \n").ok();
    assert_eq!(bench.exec(&["sh", "-c", "printf %s \"$A\""]).ok().stdout, " two lines\nof it ");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// What a process has beside the plan's variables: the engine's and the shell's own, the same list on both engines but for
/// what only one sets; and the first process has the image's and the start variables alone.
pub fn names(bench: &mut Bench) {
    write_settings(
        bench,
        &json!({"globalSettings": {"container": {
            "env": {"START": "one", "EMPTY_SETTING": ""}, "startEnv": ["START"], "forwardHostEnv": ["EMPTY", "NONE"]
        }}}),
    );
    bench.env.insert("EMPTY".into(), String::new());
    bench.create(&[]).ok();
    let names_of = |text: &str| {
        let names = text.split('\0').filter_map(|entry| entry.split_once('='));
        names.map(|(name, _)| name.to_owned()).collect::<std::collections::BTreeSet<String>>()
    };
    let of_launch = ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "EMPTY", "EMPTY_SETTING"];
    let of_start = ["HOME", "HOSTNAME", "PATH", "START"];
    let of_engine: &[&str] = if bench.engine == "podman" { &["TERM", "container"] } else { &[] };
    let expected = |more: &[&str]| {
        let all = of_start.iter().chain(of_engine).chain(more);
        all.map(|name| (*name).to_owned()).collect::<std::collections::BTreeSet<String>>()
    };
    let of_shim = ["ORCA_LAUNCH_ID", "PWD"];
    let ran = bench.exec(&["env", "-0"]).ok().stdout;
    let mut got = names_of(&ran);
    // Shells differ in whether they count themselves.
    got.remove("SHLVL");
    got.remove("OLDPWD");
    assert_eq!(got, expected(&[&of_launch[..], &of_shim[..]].concat()));
    let first = names_of(&bench.exec(&["cat", "/proc/1/environ"]).ok().stdout);
    let allowed = expected(&["PWD", "SHLVL", "_"]);
    assert!(first.is_subset(&allowed) && first.contains("START"), "{first:?}");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// Two workspaces launched at once never see each other's values: 200 pairs, or as many as ORCA_TEST_PAIRS says.
pub fn pairs(bench: &mut Bench) {
    let pairs: usize = std::env::var("ORCA_TEST_PAIRS").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    write_settings(
        bench,
        &json!({"secrets": [{"name": "SECRET"}], "globalSettings": {"container": {"forwardHostEnv": ["HOSTED"]}}}),
    );
    bench.git(&["worktree", "add", "-q", "-b", "other", bench.path("other").to_str().unwrap()]);
    let image = image(bench.engine);
    for folder in ["acme", "other"] {
        let own = format!("OWN={folder}");
        bench.create_from(folder, &image, &["--container-env", &own]).ok();
    }
    let script = "printf '%s %s %s' \"$OWN\" \"$HOSTED\" \"$SECRET\"";
    for n in 0..pairs {
        let launched: Vec<_> = ["acme", "other"]
            .map(|folder| {
                let value = |kind: &str| format!("{kind}-{folder}-{n}");
                let secrets = bench.path(&format!("secrets-{folder}"));
                fs::write(&secrets, json!({"SECRET": value("secret")}).to_string()).unwrap();
                let mut command = std::process::Command::new("/bin/sh");
                let line = "exec 9<\"$0\"; exec \"$@\"";
                command.args(["-c", line]).arg(&secrets).arg(crate::bench::COMMAND);
                command.args(["exec", folder, "--secrets-fd", "9", "--", "sh", "-c", script]);
                command.env_clear().envs(&bench.env).env("HOSTED", value("host")).current_dir(bench.path(""));
                command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
                (format!("{folder} {} {}", value("host"), value("secret")), command.spawn().unwrap())
            })
            .into();
        for (expected, child) in launched {
            assert_eq!(Ran::of(&child.wait_with_output().unwrap()).ok().stdout, expected);
        }
    }
    for folder in ["acme", "other"] {
        bench.run(&["rm", folder, "--force"]).ok();
    }
    bench.nothing_is_left();
}

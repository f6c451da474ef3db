//! Orca's recipes, driven as Orca drives them: a stand-in that is strict about the one JSON object, and the stock OpenSSH client
//! over the target that it names.

use crate::bench::{Bench, Ran, build_image, image, runtime};
use crate::canary::places;
use orca_container_testkit::Canary;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What Orca does with a recipe.
struct Orca<'b> {
    bench: &'b Bench,
    result: Value,
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

impl<'b> Orca<'b> {
    /// `create`, from the repository's root.
    fn create(bench: &'b Bench, image: &str, branch: &str, more: &[&str]) -> Result<Self, Ran> {
        let mut args = vec!["recipe", "create", "--engine", bench.engine, "--container-image", image];
        args.extend(runtime(bench.engine).iter().flat_map(|name| ["--runtime", name]));
        args.extend(more);
        let head = bench.git(&["rev-parse", "HEAD"]);
        let mut command = bench.command(&args);
        command.current_dir(bench.repository()).env("ORCA_RECIPE_RESULT_SCHEMA_VERSION", "2");
        command.env("ORCA_REPO_BRANCH", branch).env("ORCA_REPO_REF_HEAD", head.trim());
        let ran = Ran::of(&command.output().unwrap());
        if ran.code != 0 {
            assert_eq!(ran.stdout, "", "a failure says nothing on standard output");
            return Err(ran);
        }
        Ok(Self { bench, result: strict(&ran.stdout) })
    }

    /// `suspend`, `resume` or `destroy`, with the payload.
    fn lifecycle(&mut self, what: &[&str]) -> Ran {
        let payload = json!({"recipeResult": self.result, "reason": "user"}).to_string();
        let mut command = self.bench.command(&[&["recipe"], what].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
        let ran = Ran::of(&child.wait_with_output().unwrap());
        match what.first() {
            Some(&"resume") if ran.code == 0 => self.result = strict(&ran.stdout),
            _ => assert_eq!(ran.stdout, ""),
        }
        ran
    }

    /// The stock client for the target, `ssh` or `sftp`.
    fn client(&self, program: &str, flags: &[&str]) -> Command {
        let target = &self.result["connection"]["target"];
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let mut command = Command::new(program);
        command.env_clear().envs(&self.bench.env).args(["-F", "none", "-o", "BatchMode=yes"]);
        command.args(["-o", &format!("ProxyCommand={}", text(&target["proxyCommand"]))]);
        command.args(["-o", &format!("UserKnownHostsFile={}", text(&self.result["userData"]["knownHosts"]))]);
        command.args([
            "-o",
            "StrictHostKeyChecking=yes",
            "-o",
            "IdentitiesOnly=yes",
            "-o",
            "ControlMaster=no",
        ]);
        command.args(["-i", &text(&target["identityFile"])]).args(flags);
        command.arg(format!("{}@{}", text(&target["username"]), text(&target["host"])));
        command.stdin(Stdio::null());
        command
    }

    fn ssh(&self, flags: &[&str], words: &[&str]) -> Ran {
        Ran::of(&self.client("ssh", flags).args(words).output().unwrap())
    }

    fn name(&self) -> String {
        self.result["userData"]["resourceId"].as_str().unwrap().into()
    }

    fn status(&self) -> Value {
        let status = self.bench.run(&["status", &self.name(), "--json"]).ok().stdout;
        serde_json::from_str(&status).unwrap()
    }

    /// Processes in the container beside the keep-alive, as the engine tells them.
    fn processes(&self) -> Vec<String> {
        let id = self.status()["containerId"].as_str().unwrap().to_owned();
        let args = ["exec", &id, "ps", "-o", "pid,args"];
        let all = self.bench.client(&args).ok().stdout;
        let ours = |line: &&str| {
            !["PID", "sleep 2147483647", "ps -o", "-init", "catatonit"].iter().any(|part| line.contains(part))
        };
        all.lines().filter(ours).map(String::from).collect()
    }
}

/// Exactly one JSON object with the keys of the contract, and no other.
fn strict(stdout: &str) -> Value {
    let value: Value = serde_json::from_str(stdout).unwrap();
    let target = &value["connection"]["target"];
    assert_eq!(keys(&value), BTreeSet::from(["schemaVersion", "checkoutMode", "connection", "userData"]));
    assert_eq!(keys(&value["connection"]), BTreeSet::from(["type", "projectRoot", "target"]));
    let allowed = BTreeSet::from([
        "label",
        "host",
        "port",
        "username",
        "identityFile",
        "identitiesOnly",
        "proxyCommand",
        "portForwards",
        "relayGracePeriodSeconds",
    ]);
    assert!(keys(target).is_subset(&allowed), "{target}");
    assert_eq!((&value["schemaVersion"], &value["checkoutMode"]), (&json!(2), &json!("provisioned-root")));
    assert!(value["connection"]["projectRoot"].as_str().unwrap().starts_with('/'));
    value
}

fn wait_for(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// From create to destroy, without a network.
pub fn whole_life(bench: &mut Bench) {
    let image = build_image(bench.engine, "remote", "");
    let mut orca = Orca::create(bench, &image, "work/one", &["--network", "none"]).unwrap();
    assert_eq!(bench.git(&["for-each-ref", "refs/orca"]), "", "what held the commit is gone");
    let script = "id -u; git -C /workspace/acme status -sb; cat /workspace/acme/readme; exit 7";
    let ran = orca.ssh(&[], &[script]).code(7);
    assert_eq!(ran.stdout, "1000\n## work/one\nhello again\n", "{ran:?}");
    let commit = "cd /workspace/acme && echo more >more && git add more && git -c user.name=n -c user.email=e commit -qm more && git log --format=%s -1";
    assert_eq!(orca.ssh(&[], &[commit]).ok().stdout, "more\n");
    let tty = orca.ssh(&["-tt"], &["tty; stty size >/dev/null && echo a terminal"]).ok();
    assert!(tty.stdout.contains("/dev/pts/") && tty.stdout.contains("a terminal"), "{tty:?}");

    // Files both ways.
    let local = bench.path("upload");
    std::fs::write(&local, b"\0binary\n\xff").unwrap();
    let batch = bench.path("batch");
    let back = bench.path("back");
    std::fs::write(
        &batch,
        format!("put {} /workspace/acme/up\nget /workspace/acme/up {}\n", local.display(), back.display()),
    )
    .unwrap();
    Ran::of(&orca.client("sftp", &["-b", batch.to_str().unwrap()]).output().unwrap()).ok();
    assert_eq!(std::fs::read(&back).unwrap(), std::fs::read(&local).unwrap());

    // Nothing of the host by forwarding; the container's own loopback is reached.
    let remote =
        orca.ssh(&["-o", "ExitOnForwardFailure=yes", "-R", "127.0.0.1:20009:127.0.0.1:9"], &["true"]);
    assert_ne!(remote.code, 0, "{remote:?}");
    // The person's agent is there, and would be forwarded.
    let socket = bench.path("agent");
    let mut persons =
        Command::new("ssh-agent").arg("-D").arg("-a").arg(&socket).stdout(Stdio::null()).spawn().unwrap();
    wait_for("the agent listens", || socket.exists());
    let mut client = orca.client("ssh", &["-A"]);
    let agent =
        client.env("SSH_AUTH_SOCK", &socket).arg("echo [${SSH_AUTH_SOCK-}${DISPLAY-}]").output().unwrap();
    persons.kill().unwrap();
    persons.wait().unwrap();
    assert_eq!(Ran::of(&agent).ok().stdout, "[]\n");
    let inside = orca.ssh(&["-o", "ExitOnForwardFailure=yes", "-L", "20010:/orca/agent/socket"], &["true"]);
    assert_eq!(inside.code, 0, "a forwarding that nobody uses is the client's own");
    let mut listening = orca.client("ssh", &[]);
    let mut listening = listening.arg("echo reached | nc -l -p 20011").spawn().unwrap();
    wait_for("it listens", || orca.processes().iter().any(|line| line.contains("nc -l")));
    let own = orca.ssh(&["-W", "127.0.0.1:20011"], &[]);
    assert_eq!(own.stdout, "reached\n", "{own:?}");
    let _ = listening.kill();
    let _ = listening.wait();
    let elsewhere = orca.ssh(&["-W", "192.0.2.1:80"], &[]);
    assert!(elsewhere.code != 0 && elsewhere.stderr.contains("prohibited"), "{elsewhere:?}");

    let kept = orca.lifecycle(&["destroy"]).code(1);
    assert!(kept.stderr.contains("1 commit"), "{kept:?}");

    // The agent's worst command, as a terminal of Orca would run it.
    orca.ssh(&[], &["rm -rf --no-preserve-root / 2>/dev/null; rm -rf /* 2>/dev/null; true"]);
    assert_eq!(std::fs::read_to_string(bench.repository().join("readme")).unwrap(), "hello again\n");
    let shell = orca.ssh(&[], &["echo still here"]).ok();
    assert_eq!(shell.stdout, "still here\n");

    orca.lifecycle(&["suspend"]).ok();
    assert_eq!(orca.status()["status"], "stopped");
    orca.lifecycle(&["resume"]).ok();
    assert_eq!(orca.status()["status"], "running");
    assert_eq!(orca.ssh(&[], &["echo here"]).ok().stdout, "here\n");
    // A connection starts what somebody stopped.
    bench.run(&["stop", &orca.name()]).ok();
    assert_eq!(orca.ssh(&[], &["echo started"]).ok().stdout, "started\n");
    orca.lifecycle(&["destroy"]).code(1);
    orca.lifecycle(&["destroy", "--force"]).ok();
    orca.lifecycle(&["destroy"]).ok();
    bench.nothing_is_left();
    assert_eq!(
        crate::bench::files_below(&bench.path("state/orca-container/ssh")),
        Vec::<std::path::PathBuf>::new()
    );
}

/// Every new session has the variables of now, byte for byte, and their values are nowhere else.
pub fn variables(bench: &mut Bench) {
    let image = build_image(bench.engine, "remote", "");
    let canary =
        |seed: &str| Canary::new(&format!("{} ssh {seed} {}", bench.engine, bench.folder().display()));
    let (typed, edited, secret) = (canary("typed"), canary("edited"), canary("secret"));
    let printer = bench.path("secret");
    std::fs::write(&printer, secret.marker()).unwrap();
    crate::delivery::write_settings(
        bench,
        &json!({"secrets": [{"name": "SECRET", "command": ["cat", printer.to_str().unwrap()]}]}),
    );
    let assignment = format!("TYPED={}", typed.marker());
    let orca =
        Orca::create(bench, &image, "work/two", &["--network", "none", "--container-env", &assignment])
            .unwrap();
    let terminal =
        orca.client("ssh", &["-tt"]).env("TERM", "xterm-256color").arg("echo $TERM").output().unwrap();
    assert_eq!(Ran::of(&terminal).ok().stdout.trim(), "xterm-256color");
    let show = ["printf '%s\\n' \"$TYPED\" \"$SECRET\" \"$ODD\""];
    assert_eq!(orca.ssh(&[], &show).ok().stdout, format!("{}\n{}\n\n", typed.marker(), secret.marker()));

    // A session that is open keeps what it has; the next one, of a connection or a new one, has what is said now.
    let mut open = orca.client("ssh", &[]);
    let mut open =
        open.arg("read go; echo $TYPED").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    wait_for("the session is open", || orca.processes().iter().any(|line| line.contains("read go")));
    bench.run(&["env", "set", &orca.name(), &format!("TYPED={}", edited.marker())]).ok();
    let odd = "a'b\"c`d$e\\f\n  g\th*\u{1f980}\n";
    let mut set = bench.command(&["env", "set", &orca.name(), "ODD"]);
    let mut set = set.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    set.stdin.take().unwrap().write_all(format!("{odd}\n").as_bytes()).unwrap();
    assert!(set.wait().unwrap().success());
    assert_eq!(
        orca.ssh(&[], &show).ok().stdout,
        format!("{}\n{}\n{odd}\n", edited.marker(), secret.marker())
    );
    open.stdin.take().unwrap().write_all(b"go\n").unwrap();
    let said = Ran::of(&open.wait_with_output().unwrap()).ok();
    assert_eq!(said.stdout.trim(), typed.marker());

    let id = orca.status()["containerId"].as_str().unwrap().to_owned();
    for (place, bytes) in places(bench, &id, &orca.name()) {
        for value in [&typed, &edited, &secret] {
            value.assert_absent(&place, &bytes);
        }
    }
    // What is missing is told, and no session begins.
    std::fs::remove_file(&printer).unwrap();
    let refused = orca.ssh(&[], &["echo begun"]).code(1);
    assert!(refused.stdout.is_empty() && refused.stderr.contains("SECRET"), "{refused:?}");
}

/// A client that is killed at any moment leaves no process inside and no lock.
pub fn killed(bench: &mut Bench) {
    let image = build_image(bench.engine, "remote", "");
    let orca = Orca::create(bench, &image, "work/three", &["--network", "none"]).unwrap();
    for pause in [0, 50, 150, 300, 600, 1200, 2500] {
        let mut client = orca.client("ssh", &["-tt"]);
        let mut client = client
            .arg("sleep 1000 & sleep 1001; sleep 1002")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(pause));
        client.kill().unwrap();
        client.wait().unwrap();
        if pause < 1000 {
            // What had not begun yet begins, and ends.
            std::thread::sleep(Duration::from_secs(2));
        }
        wait_for(&format!("nothing is left after {pause} ms"), || orca.processes().is_empty());
        assert_eq!(bench.run(&["exec", &orca.name(), "--", "true"]).code, 0);
    }
    let left =
        orca.bench.client(&["exec", orca.status()["containerId"].as_str().unwrap(), "ls", "/dev/shm"]).ok();
    assert_eq!(left.stdout, "");
    bench.run(&["stop", &orca.name()]).ok();
}

/// Five at once, and each terminal is in its own.
pub fn five(bench: &mut Bench) {
    let image = build_image(bench.engine, "remote", "");
    let all: Vec<Orca<'_>> = (0..5)
        .map(|n| Orca::create(bench, &image, &format!("work/{n}"), &["--network", "none"]).unwrap())
        .collect();
    std::thread::scope(|scope| {
        for (number, orca) in all.iter().enumerate() {
            scope.spawn(move || {
                let said =
                    orca.ssh(&[], &["git -C /workspace/acme branch --show-current; hostname"]).ok().stdout;
                assert_eq!(said, format!("work/{number}\n{}\n", orca.name()));
            });
        }
    });
    // Another workspace's key opens nothing.
    let target =
        |orca: &Orca<'_>| orca.result["connection"]["target"]["identityFile"].as_str().unwrap().to_owned();
    let stranger = all[0].client("ssh", &[]);
    let exchanged = |arg: String| if arg == target(&all[0]) { target(&all[1]) } else { arg };
    let args: Vec<String> =
        stranger.get_args().map(|arg| exchanged(arg.to_string_lossy().into_owned())).collect();
    let mut stranger = Command::new("ssh");
    stranger.env_clear().envs(&bench.env).args(args).arg("true").stdin(Stdio::null());
    let denied = Ran::of(&stranger.output().unwrap()).code(255);
    assert!(denied.stderr.contains("Permission denied (publickey)"), "{denied:?}");
    // Two that start a stopped one at once are both let in.
    bench.run(&["stop", &all[0].name()]).ok();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| assert_eq!(all[0].ssh(&[], &["echo in"]).ok().stdout, "in\n"));
        }
    });
}

/// Whatever fails, standard output says nothing, and nothing stays.
pub fn failures(bench: &mut Bench) {
    let without = image(bench.engine);
    let ran = Orca::create(bench, &without, "work/x", &["--network", "none"]).err().unwrap();
    assert!(ran.stderr.contains("openssh-server"), "{ran:?}");
    bench.nothing_is_left();
    let image = build_image(bench.engine, "remote", "");
    bench.commit_file("orca.yaml", "worktree:\n  container:\n    image: other/image:1\n");
    let mut args = vec!["recipe", "create", "--engine", bench.engine];
    args.extend(runtime(bench.engine).iter().flat_map(|name| ["--runtime", name]));
    let head = bench.git(&["rev-parse", "HEAD"]);
    let run = |version: &str, commit: &str| {
        let mut command = bench.command(&args);
        command.current_dir(bench.repository()).env("ORCA_RECIPE_RESULT_SCHEMA_VERSION", version);
        Ran::of(
            &command.env("ORCA_REPO_BRANCH", "work/y").env("ORCA_REPO_REF_HEAD", commit).output().unwrap(),
        )
    };
    let asked = run("2", head.trim());
    assert!(
        asked.code == 1 && asked.stderr.contains("orca-container approve --new-branch \"work/y\" --at"),
        "{asked:?}"
    );
    for ran in [asked, run("1", head.trim()), run("2", "main"), run("2", &"0".repeat(40))] {
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
    }
    for payload in ["", "{}", "{\"recipeResult\":{\"userData\":{\"resourceId\":\"acme\"}}}"] {
        for what in ["suspend", "resume", "destroy"] {
            let mut child = bench
                .command(&["recipe", what])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
            let ran = Ran::of(&child.wait_with_output().unwrap());
            assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
        }
    }
    drop(image);
    bench.nothing_is_left();
}

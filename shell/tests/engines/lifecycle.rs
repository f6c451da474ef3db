//! From create to rm.

use crate::bench::Bench;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub fn made_worked_in_and_removed(bench: &mut Bench) {
    bench.create(&[]).ok();
    assert_eq!(bench.status()["status"], json!("running"));
    assert!(bench.run(&["ls"]).ok().stdout.contains("running"));
    assert_eq!(bench.exec(&["git", "log", "-1", "--format=%s"]).ok().stdout, "two\n");
    assert_eq!(bench.exec(&["git", "status", "--porcelain", "-b"]).ok().stdout, "## feature/x\n");
    let commit =
        "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m inside && git log -1 --format=%s";
    assert_eq!(bench.exec(&["sh", "-c", commit]).ok().stdout, "inside\n");
    assert_eq!(bench.exec(&["sh", "-c", "id -u; id -g"]).ok().stdout, "1000\n1000\n");
    assert_eq!(
        bench.exec(&["git", "remote", "get-url", "origin"]).ok().stdout,
        "https://example.invalid/acme.git\n"
    );

    // A second one for the same worktree is told about the first.
    let again = bench.create(&[]).code(1);
    assert!(again.stderr.contains("already"), "{}", again.stderr);

    bench.run(&["stop", "acme"]).ok();
    assert_eq!(bench.status()["status"], json!("stopped"));
    bench.run(&["start", "acme"]).ok();
    assert_eq!(bench.exec(&["git", "log", "-1", "--format=%s"]).ok().stdout, "inside\n");

    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
    assert_eq!(bench.run(&["status", "acme"]).code, 1);
    // The host's repository is as it was.
    assert_eq!(bench.git(&["log", "-1", "--format=%s"]), "two\n");
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
}

pub fn exec_passes_everything(bench: &mut Bench) {
    bench.create(&[]).ok();
    assert_eq!(bench.exec(&["sh", "-c", "exit 7"]).code, 7);
    assert_eq!(bench.exec(&["sh", "-c", "kill -9 $$"]).code, 137);
    let both = bench.exec(&["sh", "-c", "echo out; echo err >&2"]).ok();
    assert_eq!((both.stdout.as_str(), both.stderr.as_str()), ("out\n", "err\n"));
    let words = ["printf", "%s\\n", "$X", "$(id)", "`id`", "a b", "'", "\"", "--", "-x"];
    assert_eq!(bench.exec(&words).ok().stdout, "$X\n$(id)\n`id`\na b\n'\n\"\n--\n-x\n");
    let mut child = bench
        .command(&["exec", "acme", "--", "cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"through\nstdin").unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"through\nstdin");
    assert_ne!(bench.exec(&["no-such-program"]).code, 0);
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// The seed's regression test: everything the agent can write is destroyed, everything else is as it was.
pub fn worst_command_stays_inside(bench: &mut Bench) {
    let decoy = bench.path("home");
    for folder in [".ssh", ".aws", "projects/other"] {
        fs::create_dir_all(decoy.join(folder)).unwrap();
        fs::write(decoy.join(folder).join("file"), folder).unwrap();
    }
    let digest = |folder: &std::path::Path| -> Vec<(std::path::PathBuf, Vec<u8>)> {
        let mut files = crate::bench::files_below(folder);
        files.sort();
        files.into_iter().map(|file| (file.clone(), fs::read(file).unwrap())).collect()
    };
    let other = Bench::new(bench.engine);
    other.create(&[]).ok();
    other.exec(&["sh", "-c", "echo kept > kept; echo kept > /orca/agent/kept"]).ok();
    bench.create(&[]).ok();
    let (home, repository) = (digest(&decoy), digest(&bench.repository()));

    let worst = "rm -rf \"$HOME\" /tmp/* 2>/dev/null; rm -rf / --no-preserve-root 2>/dev/null; rm -rf / 2>/dev/null; true";
    let _ = bench.exec(&["sh", "-c", worst]);
    assert!(digest(&decoy) == home, "the host's home changed");
    assert!(digest(&bench.repository()) == repository, "the host's repository changed");
    assert_eq!(
        other.exec(&["sh", "-c", "cat kept /orca/agent/kept; git status --porcelain"]).ok().stdout,
        "kept\nkept\n?? kept\n"
    );

    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
    bench.create(&[]).ok();
    assert_eq!(bench.exec(&["git", "log", "-1", "--format=%s"]).ok().stdout, "two\n");
    bench.run(&["rm", "acme", "--force"]).ok();
    other.run(&["rm", "acme", "--force"]).ok();
    other.nothing_is_left();
}

/// Killing the client does not end the process inside (measured on both engines); `terminate` does. No terminal.
pub fn terminate_after_a_killed_client(bench: &mut Bench) {
    bench.create(&[]).ok();
    let record = only_record(bench);
    let launch = json!({
        "plan": record["plan"],
        "request": {
            "schemaVersion": 1, "install": {"id": record["installId"]},
            "workspace": {"id": record["workspace"]["id"], "instanceId": record["workspace"]["instanceId"], "repositoryId": "r",
                          "repoPath": "/x"},
            "host": {"platform": "linux"},
            "engine": {"kind": bench.engine, "version": "1", "endpoint": "local", "cpus": 1, "memoryBytes": 1, "limits": [],
                       "client": {"program": record["engine"]["program"], "env": record["engine"]["env"]}},
            "imageFacts": {"id": record["image"]["id"], "env": [], "user": "agent", "uid": 1000, "gid": 1000},
        },
        "launch": {"containerId": record["containerId"], "launchId": "00112233445566778899aabbccddeeff", "helper": crate::bench::COMMAND,
                   "command": ["sh", "-c", "sleep 1000 & sleep 1000"]}
    });
    let mut child = bench
        .command(&["launch", "--request", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), launch.to_string().as_bytes()).unwrap();
    let answer: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(answer["ok"], json!(true), "{answer}");
    let start = |part: &Value| {
        let args: Vec<String> = serde_json::from_value(part["args"].clone()).unwrap();
        let env: std::collections::BTreeMap<String, String> =
            serde_json::from_value(part["env"].clone()).unwrap();
        let mut command = Command::new(part["file"].as_str().unwrap());
        command
            .args(args)
            .env_clear()
            .envs(env)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    };
    let sleeping = || {
        bench
            .exec(&[
                "sh",
                "-c",
                "grep -l 00112233445566778899aabbccddeeff /proc/[0-9]*/environ 2>/dev/null | wc -l",
            ])
            .stdout
            .trim()
            .parse::<u32>()
            .unwrap()
    };
    let mut client = start(&answer).spawn().unwrap();
    let begun = Instant::now();
    while sleeping() < 2 && begun.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(200));
    }
    client.kill().unwrap();
    client.wait().unwrap();
    assert!(sleeping() >= 2, "the launch outlives its client");
    assert!(start(&answer["terminate"]).status().unwrap().success());
    assert_eq!(sleeping(), 0, "the launch outlives terminate");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// The one record of a bench, as it is on disk.
pub fn only_record(bench: &Bench) -> Value {
    let files = crate::bench::files_below(&bench.path("state/orca-container/records"));
    assert_eq!(files.len(), 1);
    serde_json::from_slice(&fs::read(&files[0]).unwrap()).unwrap()
}

/// The issue's own words: create, then through exec git log, git status, a commit.
pub fn own_repository(bench: &mut Bench) {
    bench.use_own_repository();
    bench.create(&[]).ok();
    let head = bench.git(&["log", "-1", "--format=%H"]);
    assert_eq!(bench.exec(&["git", "log", "-1", "--format=%H"]).ok().stdout, head);
    assert_eq!(bench.exec(&["git", "status", "--porcelain", "-b"]).ok().stdout, "## own/branch\n");
    bench.exec(&["git", "fsck", "--strict"]).ok();
    let commit = "echo x > x && git add x && git -c user.name=a -c user.email=a@b commit -q -m inside && git status --porcelain";
    assert_eq!(bench.exec(&["sh", "-c", commit]).ok().stdout, "");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// `exec` under a pseudo-terminal of util-linux's `script`: the process has one, with our TERM.
pub fn terminal(bench: &mut Bench) {
    bench.create(&[]).ok();
    let inside = "test -t 0 && test -t 1 && echo is-a-terminal $TERM; exit 5";
    let line = format!("{} exec acme -- sh -c '{inside}'", crate::bench::COMMAND);
    let output = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .env_clear()
        .envs(&bench.env)
        .env("TERM", "screen-256color")
        .env("SHELL", "/bin/sh")
        .current_dir(bench.path(""))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let ran = crate::bench::Ran::of(&output).code(5);
    assert!(ran.stdout.contains("is-a-terminal screen-256color"), "{ran:?}");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// docker has one network an installation: two processes that both find it missing must not both fail.
pub fn two_at_once(bench: &mut Bench) {
    let worktree = bench.path("second");
    bench.git(&["worktree", "add", "-q", "-b", "second", worktree.to_str().unwrap()]);
    let image = crate::bench::image(bench.engine);
    let start = |name: &str| {
        let args = crate::bench::create_args(bench.engine, name, &image);
        bench.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children = [start("acme"), start("second")];
    for child in children {
        crate::bench::Ran::of(&child.wait_with_output().unwrap()).ok();
    }
    for name in ["acme", "second"] {
        assert_eq!(bench.run(&["exec", name, "--", "cat", "readme"]).ok().stdout, "hello again\n");
    }
    bench.run(&["rm", "acme", "--force"]).ok();
    assert_eq!(bench.run(&["exec", "second", "--", "cat", "readme"]).ok().stdout, "hello again\n");
    let uptime = ["exec", "second", "--", "stat", "-c", "%Y", "/proc/1"];
    let before = bench.run(&uptime).ok().stdout;
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let said = bench.run(&["restart", "second", "--json"]).ok().stdout;
    assert_eq!(said, "{\"name\":\"second\",\"ok\":true}\n");
    assert_ne!(bench.run(&uptime).ok().stdout, before, "another first process");
    bench.run(&["rm", "second", "--force"]).ok();
    bench.nothing_is_left();
}

/// One worktree has one workspace, however many ask for it at once; what is not whole launches and starts nothing.
pub fn one_worktree(bench: &mut Bench) {
    let image = crate::bench::image(bench.engine);
    let args = crate::bench::create_args(bench.engine, "acme", &image);
    let start = || bench.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let ended = [start(), start(), start()]
        .map(|child| crate::bench::Ran::of(&child.wait_with_output().unwrap()))
        .map(|ran| ran.code == 0);
    assert_eq!(ended.iter().filter(|ok| **ok).count(), 1, "{ended:?}");

    let mut record = only_record(bench);
    let file = crate::bench::files_below(&bench.path("state/orca-container/records")).remove(0);
    let whole = record.to_string();
    record["progress"]["phase"] = json!("provisioning");
    fs::write(&file, record.to_string()).unwrap();
    assert!(bench.exec(&["true"]).code(1).stderr.contains("not whole"));
    bench.run(&["start", "acme"]).code(1);
    record["schemaVersion"] = json!(99);
    fs::write(&file, record.to_string()).unwrap();
    bench.run(&["rm", "acme", "--force"]).code(1);
    fs::write(&file, whole).unwrap();
    bench.exec(&["true"]).ok();
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// A stopped container is not in its network's own list, and it needs the network all the same.
pub fn stopped_keeps_network(bench: &mut Bench) {
    let worktree = bench.path("second");
    bench.git(&["worktree", "add", "-q", "-b", "second", worktree.to_str().unwrap()]);
    let image = crate::bench::image(bench.engine);
    bench.create(&[]).ok();
    bench.create_from("second", &image, &[]).ok();
    bench.run(&["stop", "second"]).ok();
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.run(&["start", "second"]).ok();
    assert_eq!(bench.run(&["exec", "second", "--", "cat", "readme"]).ok().stdout, "hello again\n");
    let uptime = ["exec", "second", "--", "stat", "-c", "%Y", "/proc/1"];
    let before = bench.run(&uptime).ok().stdout;
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let said = bench.run(&["restart", "second", "--json"]).ok().stdout;
    assert_eq!(said, "{\"name\":\"second\",\"ok\":true}\n");
    assert_ne!(bench.run(&uptime).ok().stdout, before, "another first process");
    bench.run(&["rm", "second", "--force"]).ok();
    bench.nothing_is_left();
}

/// A client that cannot reach its engine complains in words that sound like an absent container.
pub fn out_of_reach(bench: &mut Bench) {
    bench.create(&[]).ok();
    let file = crate::bench::files_below(&bench.path("state/orca-container/records")).remove(0);
    let whole = fs::read(&file).unwrap();
    let fake = bench.path("client");
    for complaint in [
        "error during connect: dial tcp: lookup dockerbox: no such host",
        "open /gone/ca.pem: no such file or directory",
        "Error: default OCI runtime \"x\" not found: invalid argument",
        "Error: No such container: it-was-never-asked",
        "network of the engine not found",
    ] {
        fs::write(&fake, format!("#!/bin/sh\necho '{complaint}' >&2\nexit 125\n")).unwrap();
        fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).unwrap();
        let mut record: Value = serde_json::from_slice(&whole).unwrap();
        record["engine"]["program"] = json!(fake);
        fs::write(&file, record.to_string()).unwrap();
        let removed = bench.run(&["rm", "acme", "--force"]);
        assert_eq!(removed.code, 1, "{complaint}: {removed:?}");
        assert!(file.exists(), "{complaint}: the record is gone");
        let status = bench.run(&["status", "acme", "--json"]);
        assert!(!status.stdout.contains("missing"), "{complaint}: {status:?}");
    }
    fs::write(&file, &whole).unwrap();
    assert_eq!(bench.status()["status"], json!("running"));
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// Killed at any moment: the next create makes what it is asked for, not what the killed one was asked for.
pub fn interrupted(bench: &mut Bench) {
    let image = crate::bench::image(bench.engine);
    for milliseconds in [150, 400, 700, 1000] {
        let args = crate::bench::create_args(bench.engine, "acme", &image);
        let mut child = bench.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        let _ = child.kill();
        child.wait().unwrap();
        bench.create(&["--container-template", "small", "--network", "none"]).ok();
        let text = bench.exec(&["cat", "readme"]).ok().stdout;
        assert_eq!(text, "hello again\n", "after {milliseconds} ms");
        assert_eq!(bench.inspect()["HostConfig"]["Memory"], json!(2_147_483_648_u64));
        // What the killed one's client makes only now goes with the next removal.
        let install = fs::read_to_string(bench.path("state/orca-container/install")).unwrap();
        let (label, name) =
            (format!("--label=orca.install={}", install.trim()), format!("orca-net-late{milliseconds}"));
        bench.client(&["network", "create", &label, &name]).ok();
        bench.run(&["rm", "acme", "--force"]).ok();
        bench.nothing_is_left();
    }
}

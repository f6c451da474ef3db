//! What Orca and its terminals do with a workspace, from create to destroy.

use super::orca::{Orca, THEIRS, person, strict, wait_for, with_command};
use crate::bench::{Bench, Ran, build_image, image, runtime};
use crate::canary::places;
use orca_container_testkit::Canary;
use serde_json::json;
use std::io::Write;
use std::process::{Command, Stdio};

/// From create to destroy, without a network.
pub fn whole_life(bench: &mut Bench) {
    let image = build_image(bench.engine, "remote", "");
    person(bench);
    let mut orca = Orca::create(bench, &image, "work/one", &["--network", "none"]).unwrap();
    assert_eq!(bench.git(&["for-each-ref", "refs/orca"]), "", "what held the commit is gone");
    let known = || std::fs::read_to_string(bench.path("known_hosts")).unwrap();
    assert_eq!(known().lines().filter(|line| line.starts_with(&format!("{} ssh-", orca.name()))).count(), 1);
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
    assert!(remote.code != 0 && remote.stderr.contains("remote port forwarding failed"), "{remote:?}");
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
    let display =
        orca.client("ssh", &["-X"]).env("DISPLAY", ":0").arg("echo [${DISPLAY-}]").output().unwrap();
    assert_eq!(Ran::of(&display).ok().stdout, "[]\n");
    // No socket is reached by its path; that sshd is told so stands in core/tests/rules/ssh.rs.
    let forwarded = bench.path("forwarded");
    let flag = format!("{}:/tmp/socket", forwarded.display());
    let mut holds = orca.client("ssh", &["-L", &flag]);
    let holds = holds.arg("sleep 20").stderr(Stdio::piped());
    let mut holds = holds.stdout(Stdio::null()).spawn().unwrap();
    wait_for("the client listens", || forwarded.exists());
    let reached = std::os::unix::net::UnixStream::connect(&forwarded).and_then(|mut reached| {
        let mut text = String::new();
        std::io::Read::read_to_string(&mut reached, &mut text)
    });
    assert_eq!(reached.unwrap_or_default(), 0);
    holds.kill().unwrap();
    let said = Ran::of(&holds.wait_with_output().unwrap()).stderr;
    assert!(said.contains("open failed"), "{said}");
    let mut listening = orca.client("ssh", &[]);
    let mut listening = listening.arg("echo reached | nc -l -p 20011").spawn().unwrap();
    wait_for("it listens", || orca.processes().iter().any(|line| line.contains("nc -l")));
    let own = orca.ssh(&["-W", "127.0.0.1:20011"], &[]);
    assert_eq!(own.stdout, "reached\n", "{own:?}");
    let _ = listening.kill();
    let _ = listening.wait();
    let elsewhere = orca.ssh(&["-W", "192.0.2.1:80"], &[]);
    assert!(elsewhere.code != 0 && elsewhere.stderr.contains("prohibited"), "{elsewhere:?}");

    // An ssh that is configured to hand over its agent is told, and connects to nothing.
    let quiet = std::fs::read_to_string(bench.path("ssh_config")).unwrap();
    std::fs::write(bench.path("ssh_config"), format!("{quiet}ForwardAgent yes\n")).unwrap();
    let refused = orca.ssh(&[], &["true"]).code(255);
    assert!(
        refused.stderr.contains("ForwardAgent") && refused.stderr.contains("Host orca-ws-*"),
        "{refused:?}"
    );
    let resumed = orca.lifecycle(&["resume"]).code(1);
    assert!(resumed.stderr.contains("ForwardAgent"), "{resumed:?}");
    std::fs::write(
        bench.path("ssh_config"),
        format!("Host orca-ws-*\n  ForwardAgent no\nHost *\n{quiet}ForwardAgent yes\n"),
    )
    .unwrap();
    assert_eq!(orca.ssh(&[], &["echo in"]).ok().stdout, "in\n");
    std::fs::write(bench.path("ssh_config"), quiet).unwrap();
    let kept = orca.lifecycle(&["destroy"]).code(1);
    assert!(kept.stderr.contains("1 commit"), "{kept:?}");

    // The agent's worst command, as a terminal of Orca would run it.
    let mut terminal = orca.client("ssh", &["-tt"]);
    let mut terminal =
        terminal.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let worst = b"rm -rf --no-preserve-root / 2>/dev/null; rm -rf /* 2>/dev/null\nexit\n";
    terminal.stdin.take().unwrap().write_all(worst).unwrap();
    terminal.wait().unwrap();
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
    assert_eq!(known().trim(), THEIRS, "what the person's ssh knew before");
}

/// Every new session has the variables of now, byte for byte, and their values are nowhere else.
pub fn variables(bench: &mut Bench) {
    let image = build_image(bench.engine, "remote", "");
    person(bench);
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
    assert_eq!(
        orca.ssh(&[], &["umask"]).ok().stdout,
        bench.run(&["exec", &orca.name(), "--", "sh", "-c", "umask"]).ok().stdout
    );
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
    // The report of the variables knows what a session got.
    let report = bench.run(&["env", &orca.name(), "--json"]).ok().stdout;
    typed.assert_absent("env", report.as_bytes());
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let had = report["lastLaunch"].as_array().unwrap();
    assert!(had.iter().any(|one| one["name"] == "TYPED"), "{report}");
    // What is missing is told, and no session begins.
    std::fs::remove_file(&printer).unwrap();
    let refused = orca.ssh(&[], &["echo begun"]).code(1);
    assert!(refused.stdout.is_empty() && refused.stderr.contains("SECRET"), "{refused:?}");
}

/// Five at once, and each terminal is in its own.
pub fn five(bench: &mut Bench) {
    let image = build_image(bench.engine, "remote", "");
    person(bench);
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
    // No key of another is readable inside, nor its own private one.
    let key_of = |orca: &Orca<'_>, end: &str| {
        let file = orca.result["connection"]["target"]["identityFile"].as_str().unwrap().to_owned() + end;
        let text = std::fs::read_to_string(file).unwrap();
        text.lines().nth(2).unwrap().to_owned()
    };
    let search = |word: &str| {
        let script = format!(
            "find /dev/shm /home /workspace /tmp /etc /run /var /root /opt -type f -exec grep -lsF -- '{word}' {{}} + 2>/dev/null; env | grep -cF -- '{word}'"
        );
        all[0].ssh(&[], &[&script]).stdout
    };
    for key in all.iter().flat_map(|orca| [key_of(orca, ""), key_of(orca, ".host")]).skip(2) {
        assert_eq!(search(&key), "0\n");
    }
    assert_eq!(search(&key_of(&all[0], "")), "0\n");
    assert!(search(&key_of(&all[0], ".host")).contains("/dev/shm/"), "the search finds what is there");
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
    person(bench);
    let without = image(bench.engine);
    // An ssh that would hand over its agent is told before anything is made.
    let quiet = std::fs::read_to_string(bench.path("ssh_config")).unwrap();
    std::fs::write(bench.path("ssh_config"), format!("{quiet}ForwardAgent yes\n")).unwrap();
    let ran = Orca::create(bench, &without, "work/x", &["--network", "none"]).err().unwrap();
    assert!(ran.stderr.contains("ForwardAgent") && !ran.stderr.contains("Making"), "{ran:?}");
    std::fs::write(bench.path("ssh_config"), quiet).unwrap();
    let ran = Orca::create(bench, &without, "work/x", &["--network", "none"]).err().unwrap();
    assert!(ran.stderr.contains("openssh-server"), "{ran:?}");
    bench.nothing_is_left();
    let no_login = build_image(bench.engine, "no-login", "");
    let ran = Orca::create(bench, &no_login, "work/x", &["--network", "none"]).err().unwrap();
    assert!(ran.stderr.contains("no shell to log in with"), "{ran:?}");
    bench.nothing_is_left();
    let image = build_image(bench.engine, "remote", "");
    bench.commit_file("orca.yaml", "worktree:\n  container:\n    image: other/image:1\n");
    let mut args =
        vec!["recipe", "create", "--engine", bench.engine, "--container-env", "TYPED=not-to-be-told"];
    args.extend(runtime(bench.engine).iter().flat_map(|name| ["--runtime", name]));
    let head = bench.git(&["rev-parse", "HEAD"]);
    let run = |version: &str, commit: &str| {
        let mut command = bench.command(&args);
        command.current_dir(bench.repository()).env("ORCA_RECIPE_RESULT_SCHEMA_VERSION", version);
        Ran::of(
            &command
                .env("ORCA_REPO_BRANCH", "work/y$(id)")
                .env("ORCA_REPO_REF_HEAD", commit)
                .output()
                .unwrap(),
        )
    };
    let asked = run("2", head.trim());
    let answer = asked.stderr.lines().find_map(|line| line.trim().strip_prefix("orca-container "));
    assert!(answer.is_some(), "{asked:?}");
    let answer = answer.unwrap_or_default().to_owned();
    assert!(!asked.stderr.contains("not-to-be-told"), "{asked:?}");
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
    // The command that answers is one for a shell, as it stands.
    let program = bench.command(&[]).get_program().to_str().unwrap().to_owned();
    let script = format!("exec {program} {answer}");
    let mut shell = Command::new("sh");
    shell.env_clear().envs(&bench.env).args(["-c", &script]).current_dir(bench.repository());
    Ran::of(&shell.output().unwrap()).ok();
    let again = run("2", head.trim());
    assert!(!again.stderr.contains("wait for your approval"), "{again:?}");
    bench.nothing_is_left();
}

/// As Orca does it: one connection, and through it every command, thousands a day.
pub fn one_connection(bench: &mut Bench) {
    let image = build_image(bench.engine, "remote", "");
    person(bench);
    let orca = Orca::create(bench, &image, "work/seven", &["--network", "none"]).unwrap();
    let probe = Ran::of(&orca.shared(&["-T"]).arg("echo ORCA-SYSTEM-SSH-OK").output().unwrap()).ok();
    assert_eq!(probe.stdout, "ORCA-SYSTEM-SSH-OK\n");
    // Twenty at once, each with its own words and end.
    std::thread::scope(|scope| {
        for number in 0..20 {
            let orca = &orca;
            scope.spawn(move || {
                let script = format!("echo {number}; exit {number}");
                let ran = Ran::of(&orca.shared(&["-T"]).arg(script).output().unwrap());
                assert_eq!((ran.stdout, ran.code), (format!("{number}\n"), number));
            });
        }
    });
    for _ in 0..50 {
        Ran::of(&orca.shared(&["-T"]).arg("true").output().unwrap()).ok();
    }
    let list = "cat /dev/shm/orca-ssh-*/sessions | wc -l";
    let listed = Ran::of(&orca.shared(&["-T"]).arg(list).output().unwrap()).ok().stdout;
    assert!(listed.trim().parse::<usize>().unwrap() < 20, "ended sessions are off the list: {listed}");
    // An upload as Orca does it.
    let mut upload = orca.shared(&["-T"]);
    let mut upload = upload.arg("cat > /tmp/up").stdin(Stdio::piped()).spawn().unwrap();
    upload.stdin.take().unwrap().write_all(&[0, 255].repeat(500_000)).unwrap();
    assert!(upload.wait().unwrap().success());
    assert_eq!(orca.ssh(&[], &["wc -c </tmp/up"]).ok().stdout.trim(), "1000000");
    Ran::of(&orca.shared(&["-O", "exit"]).output().unwrap()).ok();
    wait_for("the connection's files go", || orca.processes().is_empty());
}

/// `orca vm recipe doctor --provision` says neither branch nor commit, and removes what it got.
pub fn trial(bench: &mut Bench) {
    let image = build_image(bench.engine, "remote", "");
    person(bench);
    let mut create = Orca::creates(bench, &image, "", &["--network", "none"]);
    let ran = Ran::of(&create.env("ORCA_REPO_REF_HEAD", "").output().unwrap()).ok();
    assert!(ran.stderr.contains("trial"), "{ran:?}");
    let mut orca = Orca { bench, result: strict(&ran.stdout) };
    let branch = orca.ssh(&[], &["git -C /workspace/acme branch --show-current"]).ok().stdout;
    assert_eq!(branch, "orca-0b5e\n");
    orca.lifecycle(&["destroy"]).ok();
    bench.nothing_is_left();
    // A person whose ssh reads our known_hosts has no line of ours in theirs.
    let ours = bench.path("state/orca-container/ssh/%n.known_hosts");
    std::fs::write(
        bench.path("ssh_config"),
        format!("Host orca-ws-*\n  UserKnownHostsFile {}\n  StrictHostKeyChecking yes\n", ours.display()),
    )
    .unwrap();
    // A workspace that is only named has its branch by that name.
    let mut create = Orca::creates(bench, &image, "", &["--network", "none"]);
    let ran = Ran::of(&create.env("ORCA_WORKSPACE_NAME", "sandbox-task").output().unwrap()).ok();
    let mut orca = Orca { bench, result: strict(&ran.stdout) };
    let branch = orca.ssh(&[], &["git -C /workspace/acme branch --show-current"]).ok().stdout;
    assert_eq!(branch, "sandbox-task\n");
    assert_eq!(std::fs::read_to_string(bench.path("known_hosts")).unwrap().trim(), THEIRS);
    orca.lifecycle(&["destroy"]).ok();
    bench.nothing_is_left();
}

/// A terminal does not wait for what the repository wants after each start.
pub fn after_a_start(bench: &mut Bench) {
    let image = build_image(bench.engine, "remote", "");
    person(bench);
    let starts = "sleep 6; echo started >>/workspace/starts";
    let flags = with_command(bench, &image, "postStartCommand", starts);
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let orca = Orca::create(bench, "devcontainer", "work/eight", &flags).unwrap();
    let starts = || orca.ssh(&[], &["cat /workspace/starts"]).stdout;
    assert_eq!(starts(), "started\n", "create ends with it");
    bench.run(&["stop", &orca.name()]).ok();
    assert_eq!(starts(), "started\n", "a terminal first");
    wait_for("what is wanted, also when the terminal has gone", || starts() == "started\nstarted\n");
    let ran = |code: i64| {
        let id = orca.name();
        let record = bench.path(&format!("state/orca-container/records/{id}.json"));
        let record: serde_json::Value = serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
        record["commands"].as_array().unwrap().iter().any(|ran| ran["code"] == code)
    };
    wait_for("it is written down", || ran(0));
    // One that fails keeps nobody out: resume tells it, and gives its result.
    orca.ssh(&[], &["rm /workspace/starts; mkdir /workspace/starts"]).ok();
    let mut orca = Orca { bench, result: orca.result.clone() };
    orca.lifecycle(&["suspend"]).ok();
    let resumed = orca.lifecycle(&["resume"]).ok();
    assert!(resumed.stderr.contains("warning: "), "{resumed:?}");
    assert_eq!(orca.ssh(&[], &["echo in"]).ok().stdout, "in\n");
}

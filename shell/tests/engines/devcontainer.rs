//! devcontainer.json on real engines: files of every shape come up, and what they ask for works inside and nowhere else.

use crate::bench::{Bench, Ran, image};
use serde_json::{Value, json};
use std::fs;

/// Commits a devcontainer.json.
fn commit_file(bench: &Bench, file: &Value) {
    fs::create_dir_all(bench.repository().join(".devcontainer")).unwrap();
    bench.commit_file(".devcontainer/devcontainer.json", &file.to_string());
}

/// The digests of everything that `approve` shows.
pub fn asked(bench: &Bench, more: &[&str]) -> Vec<String> {
    let asked = ["approve", "acme", "--engine", bench.engine, "--container-image", "devcontainer"];
    let shown = bench.run(&[&asked, more].concat()).ok().stdout;
    shown.lines().filter_map(|line| line.trim().strip_prefix("--approve ")).map(String::from).collect()
}

/// Creates the workspace with everything approved that `approve` shows.
fn create(bench: &Bench, more: &[&str]) -> Ran {
    let digests = asked(bench, more);
    let mut flags: Vec<&str> = digests.iter().flat_map(|digest| ["--approve", digest]).collect();
    flags.extend(more);
    bench.create_from("acme", "devcontainer", &flags)
}

fn out(bench: &Bench, script: &str) -> String {
    bench.exec(&["sh", "-c", script]).ok().stdout
}

pub fn image_with_everything(bench: &mut Bench) {
    bench.commit_file("web.txt", "w");
    fs::create_dir(bench.repository().join("web")).unwrap();
    fs::write(bench.repository().join("web/file"), "w").unwrap();
    let file = json!({
        "image": image(bench.engine),
        "remoteUser": "dev",
        "workspaceFolder": "/workspaces/acme/web",
        "containerEnv": {"FROM_FILE": "a b", "BOTH": "container", "GONE": "x"},
        "remoteEnv": {"BOTH": "remote", "GONE": null, "PATH": "${containerEnv:PATH}:/extra", "TOKEN": "<${localEnv:MY_TOKEN}>"},
        "mounts": ["source=cache,target=/data/cache", {"type": "tmpfs", "target": "/scratch"}, "type=volume,target=/ro,readonly"],
        "runArgs": ["--shm-size=32m", "--ulimit=nofile=2048", "--hostname=devbox", "--label=team=web", "--memory=1g", "-eFLAG=f"],
        "forwardPorts": [3000],
        "hostRequirements": {"cpus": 2},
        "customizations": {"vscode": {"extensions": ["x"]}}
    });
    commit_file(bench, &file);
    bench.env.insert("MY_TOKEN".into(), "t0k3n".into());
    create(bench, &[]).ok();
    bench.nothing_waits();
    let said = out(
        bench,
        "id -u; pwd; echo \"$FROM_FILE|$BOTH|${GONE-unset}|$TOKEN|$FLAG|$HOME\"; echo \"$PATH\"; hostname; ulimit -n; ulimit -Hn",
    );
    assert_eq!(
        said.lines().collect::<Vec<_>>(),
        [
            "1001",
            "/workspace/acme/web",
            "a b|remote|unset|<t0k3n>|f|/home/dev",
            "/usr/bin:/bin:/extra",
            "devbox",
            "2048",
            "2048"
        ]
    );
    out(bench, "echo kept > /data/cache/x && echo fast > /scratch/y && cat /data/cache/x && test -e file");
    assert_ne!(bench.exec(&["sh", "-c", "echo x > /ro/x"]).code, 0, "a read-only volume");
    assert!(out(bench, "df -k /dev/shm | tail -1 | awk '{print $2}'").trim() == "32768");
    let inspect = bench.inspect();
    assert!(inspect["Config"]["Labels"]["team"].is_null(), "programs on the host act on labels");
    assert_eq!(inspect["HostConfig"]["Memory"], 1 << 30);
    let port = &inspect["HostConfig"]["PortBindings"]["3000/tcp"][0];
    assert_eq!(port["HostIp"], "127.0.0.1", "{port}");
    // A value that was put in is nowhere but in the process.
    assert!(!inspect.to_string().contains("t0k3n"));
    bench.run(&["stop", "acme"]).ok();
    bench.run(&["start", "acme"]).ok();
    assert_eq!(out(bench, "cat /data/cache/x"), "kept\n");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// What public files ask for by habit (capabilities, seccomp, the host's socket, features, a folder of the host).
pub fn habits(bench: &mut Bench) {
    let file = json!({
        "image": image(bench.engine),
        "features": {"ghcr.io/devcontainers/features/docker-in-docker:2": {}},
        "runArgs": ["--cap-add=SYS_PTRACE", "--security-opt", "seccomp=unconfined", "--init", "--privileged", "--gpus=all"],
        "mounts": ["source=/var/run/docker.sock,target=/var/run/docker.sock,type=bind", "source=${localEnv:HOME}/.ssh,target=/root/.ssh,type=bind"],
        "workspaceMount": "source=${localWorkspaceFolder},target=/workspace,type=bind",
        "capAdd": ["SYS_PTRACE"], "securityOpt": ["seccomp=unconfined"], "overrideCommand": true, "updateRemoteUserUID": true
    });
    commit_file(bench, &file);
    let made = create(bench, &[]).ok();
    for said in ["seccomp", "docker.sock", "privileged", "features"] {
        assert!(made.stderr.contains(said), "{said} in {}", made.stderr);
    }
    let status = out(bench, "grep -E '^(CapEff|Seccomp|NoNewPrivs):' /proc/self/status");
    let values: Vec<&str> = status.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(values, ["0000000000000000", "1", "2"]);
    assert_eq!(out(bench, "ls /var/run/docker.sock /root/.ssh 2>/dev/null | wc -l").trim(), "0");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

pub fn commands(bench: &mut Bench) {
    let file = json!({
        "image": image(bench.engine),
        "containerEnv": {"PLAIN": "plain"},
        "onCreateCommand": "echo on >> /tmp/ran; id -u >> /tmp/ran; pwd >> /tmp/ran; echo \"$PLAIN|${SECRET-none}|${HOSTED-none}\" >> /tmp/ran; echo streamed",
        "updateContentCommand": ["sh", "-c", "echo \"update $1\" >> /tmp/ran", "sh", "it's \"quoted\" $HOME"],
        "postCreateCommand": {"a": "echo a >> /tmp/side; sleep 1; echo z >> /tmp/side", "b": ["sh", "-c", "echo b >> /tmp/side"]},
        "postStartCommand": "echo start >> /tmp/ran",
        "postAttachCommand": "echo attach >> /tmp/ran",
        "initializeCommand": "touch ../initialized; touch /tmp/orca-initialized"
    });
    commit_file(bench, &file);
    let settings = json!({
        "globalSettings": {"container": {"forwardHostEnv": ["HOSTED"], "env": {"SECRET": {"secret": "SECRET"}}}, "policy": {"runRepositoryCommands": true}},
        "secrets": [{"name": "SECRET"}]
    });
    crate::delivery::write_settings(bench, &settings);
    bench.env.insert("HOSTED".into(), "hosted".into());
    let made = create(bench, &[]).ok();
    assert!(made.stderr.contains("streamed"), "{}", made.stderr);
    let secrets = json!({"SECRET": "s"});
    let read =
        || crate::delivery::exec_with_secrets(bench, &secrets, &["cat", "/tmp/ran", "/tmp/side"]).ok().stdout;
    let lines = |text: String| text.lines().map(String::from).collect::<Vec<_>>();
    let first = lines(read());
    assert_eq!(
        first[..6],
        ["on", "1000", "/workspace/acme", "plain|none|none", "update it's \"quoted\" $HOME", "start"]
    );
    let mut side = first[6..].to_vec();
    assert_eq!(side.pop().as_deref(), Some("z"), "side by side: {first:?}");
    side.sort();
    assert_eq!(side, ["a", "b"]);
    // A person's shell is what attaches; a command is not.
    assert!(!first.contains(&"attach".to_owned()));
    let file = crate::delivery::secrets_file(bench, &secrets);
    let path = format!("/proc/{}/fd/{}", std::process::id(), std::os::fd::AsRawFd::as_raw_fd(&file));
    let mut shell = std::process::Command::new("/bin/sh");
    shell.args([
        "-c",
        "exec 9<\"$0\"; exec \"$@\" 8</dev/null",
        &path,
        crate::bench::COMMAND,
        "shell",
        "acme",
        "--secrets-fd",
        "9",
    ]);
    shell.env_clear().envs(&bench.env).stdin(std::process::Stdio::null());
    Ran::of(&shell.output().unwrap()).ok();
    assert!(lines(read()).contains(&"attach".to_owned()));
    bench.run(&["stop", "acme"]).ok();
    bench.run(&["start", "acme"]).ok();
    let status = bench.status();
    assert_eq!(status["commands"].as_array().unwrap().len(), 5, "{status}");
    assert!(
        !bench.repository().join("../initialized").exists()
            && !std::path::Path::new("/tmp/orca-initialized").exists()
    );
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

pub fn failing_commands(bench: &mut Bench) {
    let file = json!({"image": image(bench.engine), "onCreateCommand": "echo broken >&2; exit 7", "postCreateCommand": "touch /tmp/after", "postStartCommand": "touch /tmp/started"});
    commit_file(bench, &file);
    let made = create(bench, &[]).code(1);
    assert!(
        made.stderr.contains("broken") && made.stderr.contains("onCreateCommand ended with 7"),
        "{}",
        made.stderr
    );
    assert_eq!(bench.status()["status"], "running");
    assert_eq!(bench.status()["commands"], json!([{"stage": "onCreateCommand", "code": 7}]));
    assert_ne!(bench.exec(&["test", "-e", "/tmp/after"]).code, 0, "what comes after it is not run");
    bench.run(&["stop", "acme"]).ok();
    let started = bench.run(&["start", "acme"]).ok();
    assert!(started.stderr.contains("is not run, since onCreateCommand ended with 7"), "{}", started.stderr);
    assert_ne!(bench.exec(&["test", "-e", "/tmp/started"]).code, 0, "nor at a later start");
    bench.run(&["rm", "acme", "--force"]).ok();
    // Approved by the store for this file; another text is asked for again and not run.
    let other = json!({"image": image(bench.engine), "onCreateCommand": "touch /tmp/unasked"});
    commit_file(bench, &other);
    let made = bench.create_from("acme", "devcontainer", &[]).ok();
    assert!(made.stderr.contains("does not until you approve"), "{}", made.stderr);
    assert_ne!(bench.exec(&["test", "-e", "/tmp/unasked"]).code, 0);
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

pub fn build(bench: &mut Bench) {
    fs::create_dir_all(bench.repository().join("docker")).unwrap();
    fs::write(bench.repository().join("docker/.env"), "SECRET=1\n").unwrap();
    fs::write(bench.repository().join("docker/committed"), "c\n").unwrap();
    fs::write(bench.repository().join("committed"), "top\n").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", bench.repository().join("docker/link")).unwrap();
    let dockerfile = format!(
        "FROM {} AS base\nUSER root\nARG VERSION=none\nRUN echo \"$VERSION\" > /etc/version\nCOPY . /context\nFROM base AS dev\nRUN touch /etc/dev\nUSER dev\nFROM base AS last\nRUN touch /etc/last\n",
        image(bench.engine)
    );
    fs::write(bench.repository().join("docker/Dockerfile"), dockerfile).unwrap();
    let file = json!({
        "build": {"dockerfile": "../docker/Dockerfile", "context": "../docker", "target": "dev",
                  "args": {"VERSION": "it's 3; id", "HOST": "${localEnv:HOME}"}, "options": ["--network=host"]}
    });
    commit_file(bench, &file);
    fs::write(bench.repository().join("docker/uncommitted"), "u\n").unwrap();
    let made = create(bench, &["--network", "none"]).ok();
    assert!(made.stderr.contains("build_not_hardened"), "{}", made.stderr);
    bench.nothing_waits();
    assert_eq!(
        out(bench, "cat /etc/version; id -u; ls -A /context; ls /etc/dev; test ! -e /etc/last"),
        "it's 3; id\n1001\nDockerfile\ncommitted\n/etc/dev\n"
    );
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
    // Another Dockerfile is another build: asked for anew, before anything runs.
    let dockerfile = fs::read_to_string(bench.repository().join("docker/Dockerfile")).unwrap();
    bench.commit_file("docker/Dockerfile", &format!("{dockerfile}RUN touch /etc/other\n"));
    let refused = bench.create_from("acme", "devcontainer", &["--network", "none"]).code(1);
    assert!(refused.stderr.contains("nothing is built until you approve"), "{}", refused.stderr);
    remove_builds(bench);
    bench.nothing_is_left();
}

/// A workspace of a folder in a worktree builds from that folder, not from one of the same name at the root.
pub fn build_in_a_folder(bench: &mut Bench) {
    let dockerfile =
        |mark: &str| format!("FROM {}\nUSER root\nRUN touch /etc/{mark}\nUSER agent\n", image(bench.engine));
    for (folder, mark) in [(".devcontainer", "of-the-root"), ("sub/.devcontainer", "of-the-folder")] {
        fs::create_dir_all(bench.repository().join(folder)).unwrap();
        fs::write(bench.repository().join(folder).join("Dockerfile"), dockerfile(mark)).unwrap();
    }
    bench.commit_file("sub/.devcontainer/devcontainer.json", r#"{"build": {"dockerfile": "Dockerfile"}}"#);
    let none = ["--network", "none"];
    let asked =
        [&["approve", "acme/sub", "--engine", bench.engine, "--container-image", "devcontainer"], &none[..]]
            .concat();
    let shown = bench.run(&asked).ok().stdout;
    let digest = shown.lines().find_map(|line| line.trim().strip_prefix("--approve ")).unwrap();
    bench.create_from("acme/sub", "devcontainer", &["--network", "none", "--approve", digest]).ok();
    let there = bench.run(&["exec", "sub", "--", "sh", "-c", "ls /etc | grep of-the"]).ok().stdout;
    assert_eq!(there, "of-the-folder\n");
    bench.run(&["rm", "sub", "--force"]).ok();
    remove_builds(bench);
    bench.nothing_is_left();
}

/// What a builder would do by itself, outside of any container, is refused before anything is built.
pub fn hostile_dockerfiles(bench: &mut Bench) {
    let base = image(bench.engine);
    let target = bench.path("target");
    fs::create_dir(&target).unwrap();
    fs::write(target.join("f"), "of the host\n").unwrap();
    let up = "../".repeat(12);
    let at = target.display();
    for text in [
        format!(
            "FROM {base}\nUSER 0\nRUN --mount=type=cache,id={up}{at},target=/m echo w > /m/w\nUSER agent\n"
        ),
        format!("FROM {base}\nUSER 0\nADD http://127.0.0.1:9/x /x\nUSER agent\n"),
        format!("FROM oci-archive:{at}/f\n"),
        format!("FROM {base}\nCOPY --from=dir:{at} /f /f\n"),
    ] {
        fs::create_dir_all(bench.repository().join(".devcontainer")).unwrap();
        fs::write(bench.repository().join(".devcontainer/Dockerfile"), &text).unwrap();
        commit_file(bench, &json!({"build": {"dockerfile": "Dockerfile"}, "name": text}));
        let refused = bench.create_from("acme", "devcontainer", &["--network", "none"]).code(1);
        assert!(refused.stderr.contains("dockerfile_refused"), "{text}{}", refused.stderr);
    }
    assert_eq!(fs::read_dir(&target).unwrap().count(), 1, "nothing was written to it");
    // A base image with steps of its own would bring the same in unseen.
    let folder = bench.path("base");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("Dockerfile"), format!("FROM {base}\nONBUILD RUN touch /etc/unseen\n")).unwrap();
    let name = format!("localhost/orca-test-onbuild-{}:1", std::process::id());
    let format: &[&str] = if bench.engine == "podman" { &["--format=docker"] } else { &[] };
    bench.client(&[&["build", "-t", &name, folder.to_str().unwrap()], format].concat()).ok();
    fs::write(bench.repository().join(".devcontainer/Dockerfile"), format!("FROM {name}\n")).unwrap();
    commit_file(bench, &json!({"build": {"dockerfile": "Dockerfile"}}));
    let refused = create(bench, &["--network", "none"]).code(1);
    assert!(refused.stderr.contains("ONBUILD"), "{}", refused.stderr);
    bench.client(&["rmi", &name]).ok();
    bench.nothing_is_left();
}

/// The images of this bench's installation.
fn remove_builds(bench: &Bench) {
    let install = fs::read_to_string(bench.path("state/orca-container/install")).unwrap();
    let filter = format!("label=orca.install={}", install.trim());
    let images = bench.client(&["images", "-q", "--filter", &filter]).ok().stdout;
    for image in images.lines() {
        bench.client(&["rmi", "-f", image]);
    }
}

pub fn foreign_image(bench: &mut Bench) {
    let dockerfile = format!(
        "FROM {}\nLABEL case={}\nUSER root\nRUN ip link show eth0\nUSER agent\n",
        image(bench.engine),
        bench.folder().display()
    );
    fs::create_dir_all(bench.repository().join(".devcontainer")).unwrap();
    fs::write(bench.repository().join(".devcontainer/Dockerfile"), dockerfile).unwrap();
    commit_file(bench, &json!({"build": {"dockerfile": "Dockerfile"}}));
    create(bench, &[]).ok();
    let plan: Value = serde_json::from_str(&fs::read_to_string(only_record(bench)).unwrap()).unwrap();
    let reference = plan["plan"]["image"]["reference"].as_str().unwrap().to_owned();
    bench.run(&["rm", "acme", "--force"]).ok();
    // Somebody else's image under that name.
    remove_builds(bench);
    bench.client(&["tag", &image(bench.engine), &reference]).ok();
    let before = bench.client(&["image", "inspect", "--format={{.Id}}", &reference]).ok().stdout;
    let refused = bench.create_from("acme", "devcontainer", &[]).code(1);
    assert!(refused.stderr.contains("is not ours"), "{}", refused.stderr);
    assert_eq!(bench.client(&["image", "inspect", "--format={{.Id}}", &reference]).ok().stdout, before);
    bench.client(&["rmi", &reference]).ok();
    bench.nothing_is_left();
}

/// Images made for devcontainers are root by themselves; who works in them is in a label.
pub fn labelled_user(bench: &mut Bench) {
    let folder = bench.path("labelled");
    fs::create_dir(&folder).unwrap();
    let label = r#"LABEL devcontainer.metadata='[{"remoteUser":"dev","privileged":true}]'"#;
    fs::write(folder.join("Dockerfile"), format!("FROM {}\nUSER root\n{label}\n", image(bench.engine)))
        .unwrap();
    let name = format!("localhost/orca-test-labelled-{}:1", std::process::id());
    bench.client(&["build", "-t", &name, folder.to_str().unwrap()]).ok();
    bench.create_from("acme", &name, &[]).ok();
    assert_eq!(out(bench, "id -u; echo $HOME"), "1001\n/home/dev\n");
    bench.nothing_waits();
    assert_eq!(bench.inspect()["HostConfig"]["Privileged"], false);
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.client(&["rmi", &name]).ok();
    bench.nothing_is_left();
}

fn only_record(bench: &Bench) -> std::path::PathBuf {
    crate::bench::files_below(&bench.path("state/orca-container/records")).pop().unwrap()
}

/// The file that made the reference CLI run a command on the host, mount it and hand out its variables.
pub fn hostile(bench: &mut Bench) {
    let target = bench.path("target");
    fs::create_dir(&target).unwrap();
    let at = target.display();
    let file = json!({
        "image": image(bench.engine), "initializeCommand": format!("touch {at}/initialized"), "privileged": true,
        "capAdd": ["ALL"], "securityOpt": ["apparmor=unconfined"],
        "mounts": [format!("source={at},target=/target,type=bind"), format!("type=volume,target=/v,volume-opt=type=none,volume-opt=o=bind,volume-opt=device={at}")],
        "runArgs": ["-v", format!("{at}:/other"), "--pid=host", "--network=host", format!("--env-file={at}/env")],
        "containerEnv": {"LEAK": "${localEnv:PATH}", "ORCA_X": "1", "ANTHROPIC_API_KEY": "theirs"}, "remoteUser": "root"
    });
    commit_file(bench, &file);
    create(bench, &[]).ok();
    let said = out(
        bench,
        "id -u; echo \"${LEAK-none}|${ORCA_X-none}|${ANTHROPIC_API_KEY-none}\"; ls -d /target /v /other 2>/dev/null | wc -l",
    );
    assert_eq!(said, "1000\nnone|none|none\n0\n");
    assert_eq!(fs::read_dir(&target).unwrap().count(), 0);
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

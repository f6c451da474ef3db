//! Variables: what arrives, and what never reaches the client on the host.

use crate::bench::Bench;
use serde_json::json;
use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;

/// Settings of the person, where the command looks for them.
pub fn write_settings(bench: &Bench, settings: &serde_json::Value) {
    let folder = bench.path("config/orca-container");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
}

/// A pipe whose reading end the command inherits, already filled.
pub fn secrets_file(bench: &Bench, secrets: &serde_json::Value) -> fs::File {
    let path = bench.path("secrets.json");
    fs::write(&path, secrets.to_string()).unwrap();
    let file = fs::File::open(&path).unwrap();
    fs::remove_file(path).unwrap();
    file
}

/// Runs `exec` with a descriptor that holds the secrets.
pub fn exec_with_secrets(bench: &Bench, secrets: &serde_json::Value, words: &[&str]) -> crate::bench::Ran {
    let file = secrets_file(bench, secrets);
    crate::bench::Ran::of(&exec_reading(bench, &file, words).output().unwrap())
}

/// An `exec` that reads its secrets from an open file.
pub fn exec_reading(bench: &Bench, file: &fs::File, words: &[&str]) -> std::process::Command {
    exec_flagged(bench, &[], file, words)
}

/// The same with flags of the program before it.
pub fn exec_flagged(bench: &Bench, flags: &[&str], file: &fs::File, words: &[&str]) -> std::process::Command {
    // The command opens the descriptor by its number, so it must survive the exec: a shell hands it on as 9.
    let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    let mut shell = std::process::Command::new("/bin/sh");
    shell.args(["-c", "exec 9<\"$0\"; exec \"$@\"", &path, crate::bench::COMMAND]);
    shell.args(flags).args(["exec", "acme", "--secrets-fd", "9", "--"]);
    shell.args(words).env_clear().envs(&bench.env).current_dir(bench.path(""));
    shell
}

pub fn every_layer_arrives(bench: &mut Bench) {
    let long = "x".repeat(100_000);
    let mut hard = json!({
        "NEWLINES": "\na\n\nb\n", "EQUALS": "=a=b==", "DOLLAR": "$(id)`id`${HOME}$$", "QUOTES": "'\"\\'", "UTF8": "🦀 é e\u{301}", "EMPTY": "",
        "CR": "a\r\nb\r", "BACKSLASH": "\\n\\\\n\\0101\\c"
    });
    hard["LONG"] = json!(long);
    let mut repositories = serde_json::Map::new();
    repositories.insert(
        bench.repository().to_str().unwrap().to_owned(),
        json!({"commandSourcePolicy": "run-both", "agentEnv": {"PROJECT": "project\nvalue"}, "container": {"env": {"LOCAL": "local"}}}),
    );
    write_settings(
        bench,
        &json!({
            "agent": "claude", "secrets": [{"name": "SECRET"}],
            "globalSettings": {"agentDefaultEnv": {"claude": {"AGENT": "agent"}}, "container": {"env": hard, "forwardHostEnv": ["HOSTVAR"]}},
            "repositories": repositories
        }),
    );
    bench.commit_file("orca.yaml", "worktree:\n  container:\n    env:\n      SHARED: 1.10\n");
    let file = bench.path("w.env");
    fs::write(&file, "FILE=from=file\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    bench.env.insert("HOSTVAR".into(), "host\nvalue".into());
    let world = &*bench;
    world.create(&["--container-env", "CHOICE=a=b c", "--container-env-file", file.to_str().unwrap()]).ok();
    let secrets = json!({"SECRET": "s3cret\n"});
    let expected = [
        ("AGENT", "agent"),
        ("PROJECT", "project\nvalue"),
        ("HOSTVAR", "host\nvalue"),
        ("SECRET", "s3cret\n"),
        ("SHARED", "1.10"),
        ("LOCAL", "local"),
        ("FILE", "from=file"),
        ("CHOICE", "a=b c"),
    ];
    let hard_values: Vec<(String, String)> = hard
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned()))
        .collect();
    let all =
        expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).chain(hard_values);
    for (name, value) in all {
        let script = format!("printf '%s' \"${name}\"; [ -n \"${{{name}+set}}\" ] && printf '|set'");
        let got = exec_with_secrets(world, &secrets, &["sh", "-c", &script]).ok().stdout;
        assert!(got == format!("{value}|set"), "{name}: {} bytes", got.len());
    }
    // Directly, through a shell, and through a login shell: the same, by the container's own env.
    for words in [vec!["env"], vec!["sh", "-c", "env"], vec!["sh", "-lc", "env"]] {
        let lines = exec_with_secrets(world, &secrets, &words).ok().stdout;
        assert!(lines.lines().any(|line| line == "CHOICE=a=b c"), "{words:?}");
    }
    // Without its value a declared secret is an error before anything starts.
    let without = world.exec(&["true"]).code(1);
    assert!(without.stderr.contains("SECRET"), "{}", without.stderr);
    world.run(&["rm", "acme", "--force"]).ok();
    world.nothing_is_left();
}

/// DOCKER_HOST, loaders, configuration files of clients: in the container as they were set, on the host without
/// any effect.
pub fn client_hijack(bench: &mut Bench) {
    let trap = bench.path("trap.so");
    fs::write(&trap, "not a library").unwrap();
    let conf = bench.path("containers.conf");
    let marker = bench.path("marker");
    let evil = bench.path("evil.sh");
    fs::write(&evil, format!("#!/bin/sh\ntouch {}\nexit 1\n", marker.display())).unwrap();
    fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(&conf, format!("[engine]\nruntime=\"{}\"\n", evil.display())).unwrap();
    let variables = [
        ("DOCKER_HOST", "unix:///nowhere.sock".to_owned()),
        ("DOCKER_CONTEXT", "nowhere".to_owned()),
        ("DOCKER_CONFIG", bench.path("nowhere").display().to_string()),
        ("CONTAINER_HOST", "unix:///nowhere.sock".to_owned()),
        ("CONTAINERS_CONF", conf.display().to_string()),
        ("CONTAINERS_STORAGE_CONF", conf.display().to_string()),
        ("LD_PRELOAD", trap.display().to_string()),
        ("GODEBUG", "x=1".to_owned()),
        ("XDG_RUNTIME_DIR", "/nowhere".to_owned()),
        ("GIT_SSH_COMMAND", evil.display().to_string()),
        ("HTTPS_PROXY", "http://nowhere:1".to_owned()),
    ];
    let mut flags = Vec::new();
    for (name, value) in &variables {
        flags.extend(["--container-env".to_owned(), format!("{name}={value}")]);
    }
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    bench.create(&flags).ok();
    for (name, value) in &variables {
        // busybox reads LD_PRELOAD from nobody: it is static; its value is compared like the others.
        assert_eq!(
            bench.exec(&["sh", "-c", &format!("printf '%s' \"${name}\"")]).ok().stdout,
            *value,
            "{name}"
        );
    }
    assert!(!marker.exists(), "a variable of the workspace ran a program on the host");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

pub fn docker_config_stays_outside(bench: &mut Bench) {
    let folder = bench.path("home/.docker");
    fs::create_dir_all(&folder).unwrap();
    let config = json!({
        "proxies": {"default": {"httpProxy": "http://user:CANARYPROXY1@proxy.invalid:1", "httpsProxy": "http://user:CANARYPROXY1@proxy.invalid:1"}},
        "auths": {"registry.invalid": {"auth": "Q0FOQVJZQVVUSDE="}}, "psFormat": "broken {{", "detachKeys": "ctrl-a"
    });
    fs::write(folder.join("config.json"), config.to_string()).unwrap();
    let mut world = Bench::new(bench.engine);
    world.env.insert("HOME".into(), bench.path("home").to_str().unwrap().into());
    world.env.insert("http_proxy".into(), "http://user:CANARYPROXY2@proxy.invalid:1".into());
    world.env.insert("HTTPS_PROXY".into(), "http://user:CANARYPROXY2@proxy.invalid:1".into());
    world.create(&[]).ok();
    let inside = world.exec(&["env"]).ok().stdout;
    let inspect = world.inspect().to_string();
    for text in [&inside, &inspect] {
        assert!(!text.contains("CANARY") && !text.to_ascii_lowercase().contains("http_proxy"), "{text}");
    }
    world.run(&["rm", "acme", "--force"]).ok();
    world.nothing_is_left();
}

pub fn approvals(bench: &mut Bench) {
    bench.commit_file("orca.yaml", "worktree:\n  container:\n    env:\n      ANTHROPIC_BASE_URL: https://repo.invalid\n      NODE_ENV: test\n");
    let asked =
        bench.run(&["approve", "acme", "--container-image", &crate::bench::image(bench.engine)]).ok().stdout;
    assert!(!asked.contains("repo.invalid"), "{asked}");
    bench.create(&[]).ok();
    assert_eq!(
        bench.exec(&["sh", "-c", "echo ${ANTHROPIC_BASE_URL-absent} $NODE_ENV"]).ok().stdout,
        "absent test\n"
    );
    bench.run(&["rm", "acme", "--force"]).ok();
    let digest = asked.split("--approve ").nth(1).unwrap().split_whitespace().next().unwrap();
    bench.create(&["--approve", digest]).ok();
    assert_eq!(
        bench.exec(&["sh", "-c", "echo ${ANTHROPIC_BASE_URL-absent}"]).ok().stdout,
        "https://repo.invalid\n"
    );
    bench.run(&["rm", "acme", "--force"]).ok();
    let wrong = bench.create(&["--approve", &"0".repeat(64)]).code(1);
    assert!(wrong.stderr.contains("asked"), "{}", wrong.stderr);
    bench.nothing_is_left();
}

//! `doctor` without an engine, and with clients that answer what no engine would.

use crate::runs::{Repository, Run, one_line};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

/// A world whose only client is called docker: a script that prints these answers.
fn with_docker(version: &str, info: &str) -> Repository {
    let mut repository = Repository::new();
    for (name, text) in [("version.json", version), ("info.json", info)] {
        fs::write(repository.home.path().join(name), text).unwrap();
    }
    let bin = repository.home.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let home = repository.home.path().display();
    let script = format!(
        "#!/bin/sh\ncase \"$1\" in\n--version) echo 'Docker version 1' ;;\ncontext) /bin/cat {home}/context.json ;;\n\
         version|info) /bin/cat {home}/$1.json ;;\n*) exit 1 ;;\nesac\n"
    );
    let context = r#"{"Name":"default","Endpoints":{"docker":{"Host":"unix:///nowhere/docker.sock"}}}"#;
    fs::write(repository.home.path().join("context.json"), context).unwrap();
    fs::write(bin.join("docker"), script).unwrap();
    fs::set_permissions(bin.join("docker"), fs::Permissions::from_mode(0o755)).unwrap();
    repository.host.push(("PATH".into(), bin.to_str().unwrap().into()));
    repository
}

const SERVER: &str = r#"{"Server": {"Components": [{"Name": "Engine", "Version": "1"}]}}"#;

fn codes(report: &Value) -> Vec<&str> {
    let findings = report["engines"][0]["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["code"].as_str().unwrap()).collect()
}

#[test]
fn without_an_engine_the_exit_code_is_three_and_the_report_is_empty() {
    let mut repository = Repository::new();
    repository.host.push(("PATH".into(), "/nowhere".into()));
    for args in [vec!["doctor"], vec!["doctor", "--engine", "docker"], vec!["doctor", "--engine", "podman"]] {
        let run = repository.ends(3, &args);
        assert!(run.stdout.is_empty() && run.stderr.contains("on PATH"), "{run:?}");
        let run = repository.ends(3, &[&args[..], &["--json"]].concat());
        assert_eq!(run.stdout, "{\"schemaVersion\":1,\"engines\":[]}\n");
    }
}

#[test]
fn an_engine_that_does_not_answer_is_in_the_report_and_the_exit_code_is_three() {
    let repository = with_docker("", "");
    let run = repository.ends(3, &["doctor", "--json"]);
    let report = one_line(&run.stdout);
    assert_eq!(codes(&report), ["engine_unusable"]);
    assert_eq!(report["engines"][0].get("facts"), None);
    let run = repository.ends(3, &["doctor"]);
    assert!(run.stdout.starts_with("docker does not answer\n"), "{run:?}");
}

#[test]
fn a_problem_on_every_engine_ends_with_one_and_accepted_limits_are_a_cost() {
    let info = r#"{"NCPU": 4, "MemTotal": 8589934592, "InitBinary": "docker-init", "SecurityOptions": ["name=seccomp,profile=default"]}"#;
    let repository = with_docker(SERVER, info);
    let run = repository.ends(1, &["doctor"]);
    assert!(
        run.stdout.contains("What stops a create") && run.stdout.contains("acceptAdvisoryLimits"),
        "{run:?}"
    );
    repository.write("settings.json", r#"{"globalSettings": {"policy": {"acceptAdvisoryLimits": true}}}"#);
    let run = repository.ends(0, &["doctor", "--settings", "settings.json"]);
    assert!(!run.stdout.contains("What stops a create") && run.stdout.contains("discards limits"), "{run:?}");
}

#[test]
fn an_answer_that_cannot_be_read_is_said_to_be_such() {
    for (version, info) in [("no json", "{}"), (SERVER, "{\"NCPU\": 1"), (SERVER, "")] {
        let run = with_docker(version, info).ends(3, &["doctor"]);
        let said = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("what it says of itself cannot be read"), "{run:?}");
    }
}

#[test]
fn hostile_answers_are_escaped_and_bounded() {
    let odd = r#"{"NCPU": "many", "MemTotal": -1, "Runtimes": [1], "SecurityOptions": "x", "DockerRootDir": {"a": 1},
        "ServerVersion": ["1"], "InitBinary": 7, "CgroupVersion": 2, "KernelVersion": null}"#;
    let text = r"\u001b]0;x\u0007\u009b2J\u202e\n\u0000";
    let controls = format!(
        r#"{{"NCPU": 1, "ServerVersion": "{text}", "InitBinary": "{text}", "DockerRootDir": "/{text}", "DefaultRuntime": "{text}",
            "KernelVersion": "{text}", "Runtimes": {{"{text}": {{}}, "runsc.{text}": {{}}}}, "SecurityOptions": ["name={text}"]}}"#
    );
    let many: Vec<String> = (0..20_000).map(|number| format!("\"runtime-{number}\": {{}}")).collect();
    let long = "y".repeat(500_000);
    let huge = format!(
        r#"{{"NCPU": 18446744073709551615, "MemTotal": 18446744073709551615, "ServerVersion": "{long}", "DockerRootDir": "/{long}", "Runtimes": {{{}}}}}"#,
        many.join(",")
    );
    let plain = |run: &Run| {
        let moves = |c: char| c != '\n' && orca_container_core::is_deceptive(c);
        assert!(!run.stdout.chars().chain(run.stderr.chars()).any(moves), "{run:?}");
        assert!(run.stdout.len() < 40_000, "{} bytes", run.stdout.len());
    };
    for info in [odd, &controls, &huge] {
        let repository = with_docker(SERVER, info);
        let run = repository.ends(1, &["doctor", "--json"]);
        assert_eq!(one_line(&run.stdout)["engines"][0]["kind"], "docker");
        plain(&run);
        plain(&repository.ends(1, &["doctor"]));
    }
    // Answers that are no document at all: as if there were none.
    for info in [
        "[[[",
        "null",
        "[]",
        "\"\u{1b}\"",
        &"[".repeat(100_000),
        &format!("{{\"NCPU\":\"{}\"}}", "x".repeat(6_000_000)),
    ] {
        let repository = with_docker(SERVER, info);
        plain(&repository.ends(3, &["doctor"]));
    }
}

#[test]
fn no_value_of_a_variable_is_printed() {
    let mut repository = with_docker(SERVER, r#"{"NCPU": 1}"#);
    for name in ["DOCKER_HOST", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY", "NPM_TOKEN", "http_proxy"] {
        repository.host.push((name.into(), "tcp://canary-x7:2375".into()));
    }
    repository.write(
        "settings.json",
        r#"{"globalSettings": {"container": {"env": {"A": "canary-x7"}}, "agentDefaultEnv": {"claude": {"B": "canary-x7"}}}}"#,
    );
    for args in [vec!["doctor"], vec!["doctor", "--json"]] {
        let run = repository.ends(1, &[&args[..], &["--settings", "settings.json"]].concat());
        assert!(!run.stdout.contains("canary") && !run.stderr.contains("canary"), "{run:?}");
        assert!(run.stdout.contains("TCP"), "{run:?}");
    }
}

#[test]
fn nothing_is_written() {
    let repository = with_docker(SERVER, r#"{"NCPU": 1}"#);
    let before = fs::read_dir(repository.home.path()).unwrap().count();
    repository.ends(1, &["doctor"]);
    assert_eq!(fs::read_dir(repository.home.path()).unwrap().count(), before);
}

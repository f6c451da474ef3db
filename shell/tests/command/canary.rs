//! A marker as the value of every input comes out of no command, in no spelling.

use crate::runs::Repository;
use orca_container_testkit::Canary;

/// Inputs that can hold a value.
const INPUTS: [&str; 12] = [
    "flag",
    "flag that lost",
    "env file",
    "orca.yaml",
    "redirecting in orca.yaml",
    "reserved in orca.yaml",
    "agent env",
    "agent default env",
    "global container env",
    "repository container env",
    "remote",
    "host",
];

fn marker(input: &str) -> String {
    assert!(INPUTS.contains(&input));
    Canary::new(input).marker().into()
}

/// Commands that show something, each with what was planted.
const COMMANDS: [&[&str]; 11] = [
    &["plan"],
    &["plan", "--json"],
    &["env"],
    &["env", "--json"],
    &["env", "--format=markdown"],
    &["env", "--why", "DATABASE_URL"],
    &["env", "--why", "ANTHROPIC_BASE_URL"],
    &["env", "--why", "FROM_AGENT"],
    &["check"],
    &["check", "--format", "json"],
    &["check", "--strict"],
];

fn look(repository: &Repository, more: &[&str]) {
    for command in COMMANDS {
        let args = [command, more].concat();
        let run = repository.run(&args);
        assert!(!run.stderr.contains("panicked"), "{args:?}: {run:?}");
        for input in INPUTS {
            let canary = Canary::new(input);
            canary.assert_absent(&format!("standard output of {command:?}"), run.stdout.as_bytes());
            canary.assert_absent(&format!("standard error of {command:?}"), run.stderr.as_bytes());
        }
    }
}

fn planted() -> Repository {
    let mut repository = Repository::new();
    let url = format!("https://someone:{}@git.example.invalid/acme.git", marker("remote"));
    repository.git(&["remote", "add", "origin", &url]);
    repository.host.push(("GRADLE_OPTS".into(), marker("host")));
    repository.write("orca.yaml", orca_yaml(""));
    repository.write("workspace.env", format!("DATABASE_URL={}\nFROM_FILE=a\n", marker("env file")));
    repository.write(
        "settings.json",
        format!(
            r#"{{"globalSettings": {{"container": {{"image": "alpine:3", "env": {{"FROM_GLOBAL": "{}"}},
                                                    "forwardHostEnv": ["GRADLE_OPTS"]}},
                                     "agentDefaultEnv": {{"claude": {{"FROM_AGENT": "{}"}}}}}},
                 "repositories": {{".": {{"commandSourcePolicy": "run-both", "agentEnv": {{"FROM_PROJECT": "{}"}},
                                          "container": {{"env": {{"FROM_REPOSITORY": "{}"}}}}}}}},
                 "agent": "claude"}}"#,
            marker("global container env"),
            marker("agent default env"),
            marker("agent env"),
            marker("repository container env"),
        ),
    );
    repository
}

fn orca_yaml(more: &str) -> String {
    format!(
        "worktree:\n  container:\n    env:\n      DATABASE_URL: {}\n      ANTHROPIC_BASE_URL: https://{}.invalid\n{more}",
        marker("orca.yaml"),
        marker("redirecting in orca.yaml"),
    )
}

fn flags() -> Vec<String> {
    vec![
        "--settings=settings.json".into(),
        "--container-env-file=workspace.env".into(),
        format!("--container-env=FROM_FLAG={}", marker("flag that lost")),
        format!("--container-env=FROM_FLAG={}", marker("flag")),
    ]
}

fn look_with(repository: &Repository, flags: &[String]) {
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    look(repository, &flags);
}

#[test]
fn values_of_a_plan_come_out_nowhere() {
    let repository = planted();
    let shown = repository.ends(0, &["env", "--settings=settings.json"]).stdout;
    for name in
        ["FROM_GLOBAL", "FROM_AGENT", "FROM_PROJECT", "FROM_REPOSITORY", "DATABASE_URL", "GRADLE_OPTS"]
    {
        assert!(shown.contains(name), "the marker of {name} must get as far as the environment: {shown}");
    }
    look_with(&repository, &flags());
}

#[test]
fn values_of_a_refusal_come_out_nowhere() {
    let repository = planted();
    let reserved = format!("      ANTHROPIC_API_KEY: {}\n", marker("reserved in orca.yaml"));
    repository.write("orca.yaml", orca_yaml(&reserved));
    look_with(&repository, &flags());
    for broken in [
        format!("      FROM_YAML: \"{}\n", marker("reserved in orca.yaml")),
        format!("      FROM_YAML: [{}]\n", marker("reserved in orca.yaml")),
        format!("      FROM_YAML: *{}\n", marker("reserved in orca.yaml")),
        format!("      FROM_YAML: !{} x\n", marker("reserved in orca.yaml")),
        format!("      FROM_YAML: a\n   {}\n", marker("reserved in orca.yaml")),
    ] {
        repository.write("orca.yaml", orca_yaml(&broken));
        look_with(&repository, &flags());
    }
}

#[test]
fn broken_files_of_values_are_named_by_line_only() {
    let repository = planted();
    let value = marker("env file");
    for line in [format!("NAME {value}"), format!("A B={value}"), format!("A=b\0{value}"), value.clone()] {
        repository.write("workspace.env", format!("OK=1\n{line}\n"));
        look_with(&repository, &flags());
    }
    repository.write("workspace.env", [b"A=1\nB=\xff", value.as_bytes()].concat());
    let run = repository.ends(1, &["plan", "--container-env-file=workspace.env"]);
    assert_eq!(run.stderr, "error: workspace.env: A file of variables is UTF-8; line 2 is not.\n");
    look_with(&repository, &flags());
}

/// A key in PEM spans lines; one that ends in "=" looks like an assignment to an odd name.
#[test]
fn half_a_secret_is_no_name() {
    let repository = planted();
    repository.write("workspace.env", format!("KEY=-----BEGIN\n{}/+x==\n", marker("env file")));
    look_with(&repository, &flags());
}

#[test]
fn broken_settings_are_named_by_place_only() {
    let repository = planted();
    let value = marker("agent env");
    for broken in [
        format!(r#"{{"repositories": {{".": {{"agentEnv": {{"A": ["{value}"]}}}}}}}}"#),
        format!(r#"{{"repositories": {{".": {{"agentEnv": "{value}"}}}}}}"#),
        format!(r#"{{"globalSettings": "{value}""#),
        format!(r#"{{"globalSettings": {{}}}} {value}"#),
        format!(r#"{{"approvals": [{{"kind": "{value}", "digest": ""}}]}}"#),
    ] {
        repository.write("settings.json", &broken);
        let run = repository.ends(1, &["plan", "--settings=settings.json"]);
        assert!(run.stderr.starts_with("error: settings.json:1:"), "{broken}: {run:?}");
        look_with(&repository, &flags());
    }
}

#[test]
fn usage_errors_repeat_no_value() {
    let repository = planted();
    let value = marker("flag");
    for args in [
        vec!["plan", "--container-env", &value],
        vec!["plan", "--container-env", "NAME", "=", &value],
        vec!["plan", "--container-env", "NAME=a", ".", &value],
        vec!["plan", &format!("--container-env={value}")],
        vec!["plan", &format!("--containr-env=NAME={value}")],
        vec!["plan", "--env", &format!("NAME={value}")],
        vec!["plan", ".", &format!("NAME={value}")],
        vec!["plan", "--container-env", &format!("postgres://user:{value}@h/?a=b")],
    ] {
        let run = repository.ends(2, &args);
        Canary::new("flag").assert_absent(&format!("{args:?}"), format!("{run:?}").as_bytes());
    }
}

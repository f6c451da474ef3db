//! The canary: a marker planted as the value of every input comes out nowhere but in `launch`'s `env`.

use crate::support::{approve_all, launch_request, launched, parse, request, set, with_devcontainer};
use orca_container_core::{effective_environment, environment_table, json, why};
use orca_container_testkit::Canary;
use serde_json::{Value, json};

/// One canary per input, planted.
fn planted(engine: &str) -> (Value, Value, Vec<(Canary, bool)>) {
    let mut value = request(engine);
    let mut launch = launch_request();
    let mut canaries = Vec::new();
    // Whether the value is one that a launch hands over.
    let mut plant = |seed: &str, launched: bool| {
        let canary = Canary::new(seed);
        let marker = canary.marker().to_owned();
        canaries.push((canary, launched));
        marker
    };
    set(&mut value, "agent", json!("claude"));
    set(&mut value, "repoSettings.commandSourcePolicy", json!("run-both"));
    set(&mut value, "repoSettings.ghAccount", json!({"host": "github.com", "user": "ada"}));
    set(&mut value, "globalSettings.agentDefaultEnv.claude.AGENT", json!(plant("agent", true)));
    set(&mut value, "globalSettings.agentDefaultEnv.codex.OTHER", json!(plant("another agent", false)));
    set(&mut value, "repoSettings.agentEnv.PROJECT", json!(plant("project", true)));
    set(&mut value, "repoSettings.container.env.LOCAL", json!(plant("repo settings", true)));
    set(&mut value, "globalSettings.container.env.GLOBAL", json!(plant("global settings", true)));
    set(&mut value, "choices.env.CHOICE", json!(plant("choices", true)));
    set(&mut value, "choices.env.START", json!(plant("start", false)));
    set(&mut value, "choices.startEnv", json!(["START"]));
    let file = format!("FILE={}\nnot a line {}\n", plant("env file", true), "");
    set(&mut value, "choices.envFile", json!({"name": "w.env", "text": file.replace("not a line \n", "")}));
    let yaml = format!(
        "scripts: {{setup: {}}}\nworktree:\n  container:\n    env:\n      YAML: {}\n      HTTPS_PROXY: {}\n",
        plant("orca.yaml script", false),
        plant("orca.yaml", true),
        plant("redirecting", false),
    );
    set(&mut value, "orcaYaml", json!({"path": "orca.yaml", "text": yaml}));
    set(
        &mut value,
        "devcontainer",
        json!({"path": ".devcontainer.json", "text": format!("{{\"x\": \"{}\"}}", plant("devcontainer", false))}),
    );
    set(
        &mut value,
        "imageFacts.env",
        json!([
            "PATH=/bin",
            format!("IMAGE={}", plant("image", false)),
            format!("ORCA_X={}", plant("image reserved", false))
        ]),
    );
    set(
        &mut value,
        "workspace.remoteUrl",
        json!(format!("https://u:{}@host.example/a.git", plant("remote", false))),
    );
    set(&mut value, "choices.forwardHostEnv", json!(["HOST"]));
    set(&mut value, "host.envNames", json!(["HOST"]));
    set(&mut value, "secrets", json!([{"name": "SECRET"}]));
    set(&mut launch, "values.host.HOST", json!(plant("host", true)));
    set(&mut launch, "values.host.UNLISTED", json!(plant("unlisted host", false)));
    set(&mut launch, "values.secrets.SECRET", json!(plant("secret", true)));
    set(&mut launch, "values.secrets.UNDECLARED", json!(plant("undeclared secret", false)));
    set(&mut launch, "values.orca.ORCA_TERMINAL_HANDLE", json!(plant("orca", false)));
    set(&mut launch, "values.ghToken", json!(plant("gh token", true)));
    (value, launch, canaries)
}

/// Everything that the core says of a request and a launch.
fn outputs(value: &Value, launch_value: &Value) -> Vec<(&'static str, String)> {
    let request = parse(value);
    let answer = orca_container_core::plan(&request);
    let report = effective_environment(&request);
    let launch_request: orca_container_core::input::LaunchRequest =
        orca_container_core::input::read_json(&launch_value.to_string()).unwrap();
    let launch = launched(value, launch_value).unwrap();
    let stories: String = report.environment.iter().flat_map(|entry| why(&entry.name, &report)).collect();
    assert!(answer.planned().is_some(), "{answer:?}");
    let findings = orca_container_core::devcontainer_findings(&request);
    let standing = standing(value, &answer);
    let read: json::StandingEnvelope = orca_container_core::input::read_json(&standing).unwrap();
    vec![
        ("the standing", json::standing(&standing).0),
        ("the standing's Debug", format!("{read:?}")),
        ("the plan's JSON", json::write(&answer)),
        ("the plan's Debug", format!("{answer:?}")),
        ("the request's Debug", format!("{request:?}")),
        ("the report's JSON", json::write(&report)),
        ("the report's Debug", format!("{report:?}")),
        ("the table", environment_table(&report.environment, 80)),
        ("the stories", stories),
        ("the file's findings", json::write(&findings)),
        ("the launch request's Debug", format!("{launch_request:?}")),
        ("the launch's Debug", format!("{launch:?}")),
        ("the launch's arguments", launch.args.join("\n")),
        ("its terminate", format!("{:?}", launch.terminate)),
        ("its notices", format!("{:?}", launch.notices)),
    ]
}

/// What a program asks about a workspace of this request whose settings changed, with the values that its container has.
fn standing(value: &Value, answer: &orca_container_core::PlanAnswer) -> String {
    let mut now = value.clone();
    set(&mut now, "globalSettings.container.template", json!("large"));
    let start = value["choices"]["env"]["START"].as_str().unwrap_or_default();
    let there = json!({"state": "present", "ours": true, "checked": false});
    let runs =
        json!({"state": "present", "ours": true, "checked": false, "running": true, "processChecked": false});
    let envelope = json!({
        "name": "acme", "plan": answer.planned().unwrap().plan, "request": now,
        "record": orca_container_core::Record::new(false),
        "configured": [format!("START=not {start}"), format!("OTHER={start}")],
        "observed": {
            "image": {"state": "absent"}, "network": {"state": "absent"}, "workspaceVolume": there,
            "agentVolume": there, "container": runs
        }
    });
    assert!(json::standing(&envelope.to_string()).0.contains("limits.template"));
    envelope.to_string()
}

#[test]
fn no_value_is_in_any_answer_or_debug() {
    for engine in ["docker", "podman"] {
        let (value, launch_value, canaries) = planted(engine);
        for (what, output) in &outputs(&value, &launch_value) {
            for (canary, _) in &canaries {
                canary.assert_absent(what, output.as_bytes());
            }
        }
    }
}

#[test]
fn no_value_of_a_devcontainer_is_in_any_answer_or_debug_and_it_arrives() {
    let names = ["container", "remote", "flag", "redirecting", "host", "reserved", "dropped"];
    let canaries = names.map(Canary::new);
    let marker = |name: &str| canaries[names.iter().position(|n| *n == name).unwrap()].marker().to_owned();
    let text = format!(
        r#"{{"image": "a:1",
            "containerEnv": {{"A": "{}", "HTTPS_PROXY": "{}", "ORCA_X": "{}", "B=C": "{}"}},
            "remoteEnv": {{"R": "{}", "H": "<${{localEnv:HOSTED}}>"}},
            "runArgs": ["-e", "F={}", "--env-file={}"]}}"#,
        marker("container"),
        marker("redirecting"),
        marker("reserved"),
        marker("dropped"),
        marker("remote"),
        marker("flag"),
        marker("dropped"),
    );
    for engine in ["docker", "podman"] {
        let value = approve_all(with_devcontainer(engine, &text));
        let mut launch = launch_request();
        set(&mut launch, "values.host.HOSTED", json!(marker("host")));
        for (what, output) in &outputs(&value, &launch) {
            for canary in &canaries {
                canary.assert_absent(what, output.as_bytes());
            }
        }
        let env = format!("{:?}", launched(&value, &launch).unwrap().env.values().collect::<Vec<_>>());
        let arrived: Vec<bool> =
            canaries.iter().map(|canary| canary.found_in(env.as_bytes()).is_some()).collect();
        assert_eq!(arrived, [true, true, true, true, true, false, false], "{names:?}");
        let known = orca_container_core::values_in(&parse(&value));
        for name in ["container", "remote", "flag", "redirecting", "reserved"] {
            assert!(
                known.iter().any(|value| value.reveal().contains(&marker(name))),
                "{name} is known to who masks"
            );
        }
    }
}

#[test]
fn a_launch_holds_exactly_the_values_it_hands_over_and_only_in_env() {
    for engine in ["docker", "podman"] {
        let (value, launch_value, canaries) = planted(engine);
        let answer = launched(&value, &launch_value).unwrap();
        let env: String = answer.env.values().map(|value| format!("{value}\n")).collect();
        for (canary, handed_over) in &canaries {
            assert_eq!(canary.found_in(env.as_bytes()).is_some(), *handed_over, "{canary:?}");
            canary.assert_absent("the names", answer.env.keys().cloned().collect::<String>().as_bytes());
        }
    }
}

#[test]
fn no_value_is_in_any_refusal() {
    let canary = Canary::new("refused");
    let marker = canary.marker();
    let cases = [
        ("choices.env", json!({"ORCA_X": marker})),
        ("choices.env", json!({"A-B": marker})),
        ("choices.env", json!({"A": format!("{marker}\0")})),
        ("choices.env", json!({"A": format!("{marker}{}", "x".repeat(131_072))})),
        ("choices.env", json!({format!("A={marker}"): "1"})),
        ("choices.startEnv", json!([format!("A={marker}")])),
        ("choices.forwardHostEnv", json!([format!("A={marker}")])),
        ("repoSettings.agentEnv", json!({format!("A={marker}"): "1"})),
        ("secrets", json!([{"name": format!("A={marker}")}])),
        (
            "orcaYaml",
            json!({"path": "orca.yaml", "text": format!("worktree: {{container: {{forwardHostEnv: ['A={marker}'], env: {{'B={marker}': x, 'B={marker}': y}}}}}}\n")}),
        ),
        ("choices.env", json!({"A": [marker]})),
        ("choices.env", json!({"A": {"value": marker}})),
        ("choices.env", json!({"A": 5})),
        ("choices.env", json!(marker)),
        ("choices.image", json!([marker])),
        (
            "choices.envFile",
            json!({"name": "w.env", "text": format!("{marker}\nexport A={marker}\n={marker}\n")}),
        ),
        ("choices.envFile", json!({"name": "w.env", "text": [marker]})),
        ("repoSettings.agentEnv", json!({"ORCA_X": marker})),
        ("secrets", json!([marker])),
        ("orcaYaml", json!({"path": "orca.yaml", "text": format!("a: [{marker}\n")})),
        ("orcaYaml", json!({"path": "orca.yaml", "text": [marker]})),
        ("workspace.remoteUrl", json!({"x": marker})),
        ("install", json!(marker)),
        ("schemaVersion", json!(marker)),
    ];
    for (path, bad) in cases {
        let mut value = request("docker");
        set(&mut value, path, bad);
        let answer = json::plan(&value.to_string());
        assert!(answer.starts_with("{\"ok\":false"), "{path}: {answer}");
        canary.assert_absent(path, answer.as_bytes());
    }
    for text in [
        format!("{{\"a\": \"{marker}\", \"a\": 1}}"),
        format!("{{{marker}"),
        format!("\"{marker}"),
        format!("[1] {marker}"),
    ] {
        canary.assert_absent("broken JSON", json::plan(&text).as_bytes());
        canary.assert_absent("broken JSON", json::launch(&text).0.as_bytes());
    }
}

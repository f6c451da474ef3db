//! Special names, in every layer and every letter case.

use crate::support::{answer, orca_yaml, parse, planned, request, set, with};
use orca_container_core::{Code, EnvState, PlanAnswer, Severity, effective_environment};
use serde_json::{Value, json};

const ORCAS: &[&str] = &[
    "ORCA_TERMINAL_HANDLE",
    "ORCA_X",
    "CONDUCTOR_ROOT_PATH",
    "GHOSTX_ROOT_PATH",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "ORCA_CODEX_HOME",
];
const ACCOUNTS: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "ANTHROPIC_CUSTOM_HEADERS",
];

/// A request that sets `name` in one layer, and that layer's word.
fn in_layer(layer: &str, name: &str) -> Value {
    let env = json!({name: "value"});
    match layer {
        "agent" => with(
            "docker",
            &[("agent", json!("claude")), ("globalSettings.agentDefaultEnv", json!({"claude": env}))],
        ),
        "project" => with("docker", &[("repoSettings.agentEnv", env)]),
        "host" => {
            with("docker", &[("choices.forwardHostEnv", json!([name])), ("host.envNames", json!([name]))])
        }
        "secret" => with("docker", &[("secrets", json!([{"name": name}]))]),
        "orca.yaml" => {
            with("docker", &[("orcaYaml", orca_yaml(&format!("    env:\n      {name}: value\n")))])
        }
        "repo settings" => with("docker", &[("repoSettings.container", json!({"env": env}))]),
        "env file" => with(
            "docker",
            &[("choices.envFile", json!({"name": "w.env", "text": format!("{name}=value\n")}))],
        ),
        "choices" => with("docker", &[("choices.env", env)]),
        other => panic!("{other}"),
    }
}

const LAYERS: &[&str] =
    &["agent", "project", "host", "secret", "orca.yaml", "repo settings", "env file", "choices"];

fn spellings(name: &str) -> [String; 3] {
    let mixed =
        name.chars().enumerate().map(|(i, c)| if i % 2 == 0 { c.to_ascii_lowercase() } else { c }).collect();
    [name.to_owned(), name.to_ascii_lowercase(), mixed]
}

#[test]
fn reserved_names_are_refused_in_every_layer_and_letter_case_with_key_and_place() {
    for name in ORCAS.iter().chain(ACCOUNTS) {
        for spelling in spellings(name) {
            for layer in LAYERS {
                let PlanAnswer::Refused(refusal) = answer(&in_layer(layer, &spelling)) else {
                    panic!("{spelling} in {layer}")
                };
                assert_eq!(refusal.code, Code::ReservedKey, "{spelling} in {layer}");
                let problem = &refusal.problems[0];
                assert!(
                    problem.message.contains(&spelling) && problem.message.contains("layer"),
                    "{}",
                    problem.message
                );
                assert!(problem.source.path.is_some() || problem.source.line.is_some(), "{layer}");
            }
        }
    }
}

#[test]
fn names_that_only_look_reserved_are_allowed() {
    for name in ["ORCA", "ORCAX", "orca", "ANTHROPIC_MODEL", "MY_ORCA_X"] {
        for layer in LAYERS.iter().filter(|layer| **layer != "host" && **layer != "orca.yaml") {
            assert!(answer(&in_layer(layer, name)).planned().is_some(), "{name} in {layer}");
        }
    }
}

#[test]
fn account_names_are_admitted_from_persons_only_and_only_when_allowed() {
    for name in ACCOUNTS {
        for layer in LAYERS {
            let mut request = in_layer(layer, name);
            set(&mut request, "globalSettings.policy.allowAccountKeys", json!(true));
            assert_eq!(answer(&request).planned().is_some(), *layer != "orca.yaml", "{name} in {layer}");
        }
    }
    for name in ORCAS {
        let mut request = in_layer("choices", name);
        set(&mut request, "globalSettings.policy.allowAccountKeys", json!(true));
        assert!(answer(&request).refusal().is_some(), "{name}");
    }
}

#[test]
fn reserved_names_of_the_image_are_removed_on_both_engines() {
    for (engine, flags) in
        [("docker", vec!["-e", "claude_config_dir"]), ("podman", vec!["--unsetenv=claude_config_dir"])]
    {
        let mut request = request(engine);
        set(&mut request, "imageFacts.env", json!(["PATH=/bin", "claude_config_dir=/x"]));
        let planned = planned(&request);
        assert_eq!(planned.plan.removed_env, ["claude_config_dir"]);
        let create = planned
            .commands
            .create
            .iter()
            .find(|c| c.captures == Some(orca_container_core::ReferenceName::ContainerId))
            .unwrap();
        let words = crate::support::words(create);
        assert!(words.windows(flags.len()).any(|window| window == flags), "{words:?}");
        assert!(!create.env.contains_key("claude_config_dir"));
    }
}

#[test]
fn one_name_rule_gives_one_verdict_in_every_layer() {
    for name in ["foo-bar", "my.key", "1A"] {
        for layer in LAYERS {
            let refusal = answer(&in_layer(layer, name));
            let refusal = refusal.refusal().unwrap_or_else(|| panic!("{name} in {layer}"));
            let expected = if *layer == "env file" { Code::EnvFileInvalid } else { Code::NameInvalid };
            assert_eq!(refusal.code, expected, "{name} in {layer}");
        }
    }
}

#[test]
fn redirecting_names_of_a_repository_are_absent_and_pending_in_every_letter_case() {
    for name in [
        "ANTHROPIC_BASE_URL",
        "HTTPS_PROXY",
        "LD_PRELOAD",
        "PATH",
        "GIT_CONFIG_GLOBAL",
        "DOCKER_HOST",
        "NODE_OPTIONS",
    ] {
        for spelling in spellings(name) {
            let planned = planned(&in_layer("orca.yaml", &spelling));
            let entry = planned.environment.iter().find(|e| e.name == spelling).unwrap();
            let waits = entry.state == EnvState::Pending
                || entry.shadows.iter().any(|s| s.state == EnvState::Pending);
            assert!(waits, "{spelling}: {entry:?}");
            assert!(
                planned
                    .notices
                    .iter()
                    .any(|n| n.severity == Severity::Asked && n.message.contains(&spelling))
            );
        }
    }
}

#[test]
fn a_value_that_no_process_can_carry_is_refused_by_name_in_every_layer() {
    for (value, code) in [("a\0b".to_owned(), Code::ValueInvalid), ("x".repeat(131_072), Code::ValueTooLarge)]
    {
        let env = json!({"BIG": value});
        for request in [
            with("docker", &[("choices.env", env.clone())]),
            with("docker", &[("repoSettings.agentEnv", env.clone())]),
            with("docker", &[("repoSettings.container", json!({"env": env}))]),
        ] {
            let refusal = crate::support::refused(&request);
            assert_eq!(refusal.code, code);
            assert!(refusal.problems[0].message.contains("\"BIG\""));
        }
    }
}

#[test]
fn the_size_bound_is_exact() {
    let room = 131_072 - 9 - 2 - "BIG".len();
    assert!(
        answer(&with("docker", &[("choices.env", json!({"BIG": "x".repeat(room)}))])).planned().is_some()
    );
    assert!(
        answer(&with("docker", &[("choices.env", json!({"BIG": "x".repeat(room + 1)}))])).refusal().is_some()
    );
}

#[test]
fn the_report_shows_refused_names_too() {
    let report = effective_environment(&parse(&in_layer("choices", "ORCA_X")));
    assert!(!report.ok);
    assert_eq!(report.environment.iter().find(|e| e.name == "ORCA_X").unwrap().state, EnvState::Refused);
    let story = orca_container_core::why("ORCA_X", &report);
    assert!(story[0].contains("refused"), "{story:?}");
}

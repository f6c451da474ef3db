//! A launch: names on the command line, values in the client's environment under our prefix only.

use crate::support::{launch_request, launched, orca_yaml, parse, request, sealed, set, with};
use orca_container_core::{Code, Refusal, launch, launch_secret_names};
use serde_json::{Value, json};

fn code(result: Result<orca_container_core::LaunchAnswer, Refusal>) -> Code {
    result.unwrap_err().code
}

fn with_launch(changes: &[(&str, Value)]) -> Value {
    let mut value = launch_request();
    for (path, new) in changes {
        set(&mut value, path, new.clone());
    }
    value
}

#[test]
fn docker_gets_names_as_arguments_and_values_under_our_prefix() {
    let request = with(
        "docker",
        &[("choices.env", json!({"DATABASE_URL": "postgres://db", "DOCKER_HOST": "tcp://evil"}))],
    );
    let answer =
        launched(&request, &with_launch(&[("tty", json!(true)), ("command", json!(["claude"]))])).unwrap();
    let id = "c".repeat(64);
    assert_eq!(answer.file, "/usr/bin/docker");
    let expected = [
        "exec",
        "-i",
        "-t",
        "--detach-keys=",
        "--workdir=/workspace/acme",
        "-e",
        "ORCA_ENV_CLAUDE_CONFIG_DIR",
        "-e",
        "ORCA_ENV_CODEX_HOME",
        "-e",
        "ORCA_ENV_DATABASE_URL",
        "-e",
        "ORCA_ENV_DOCKER_HOST",
        "--",
        &id,
        "/bin/sh",
        "-c",
        orca_container_core::ENVIRONMENT_SHIM,
        "sh",
        "0123456789abcdef0123456789abcdef",
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "DATABASE_URL",
        "DOCKER_HOST",
        "--",
        "--",
        "claude",
    ];
    assert_eq!(answer.args, expected);
    let names: Vec<&str> = answer.env.keys().map(String::as_str).collect();
    let expected = [
        "HOME",
        "ORCA_ENV_CLAUDE_CONFIG_DIR",
        "ORCA_ENV_CODEX_HOME",
        "ORCA_ENV_DATABASE_URL",
        "ORCA_ENV_DOCKER_HOST",
        "PATH",
    ];
    assert_eq!(names, expected);
    assert_eq!((answer.env["PATH"].as_str(), answer.cwd.as_str()), ("/usr/bin:/bin", "/"));
}

#[test]
fn podman_gets_values_by_descriptor_through_the_helper() {
    let request = with("podman", &[("choices.env", json!({"A": "1"}))]);
    let answer = launched(&request, &launch_request()).unwrap();
    assert_eq!(answer.file, "/opt/orca-container");
    assert_eq!(answer.args[..6], ["__deliver", "--", "/usr/bin/podman", "exec", "-i", "--detach-keys="]);
    assert!(answer.args.windows(2).any(|pair| pair == ["--preserve-fds", "1"]));
    assert!(!answer.args.iter().any(|arg| arg == "-e" || arg.starts_with("ORCA_ENV_A")));
    assert_eq!(answer.env["ORCA_ENV_A"], "1");
}

#[test]
fn podman_without_the_helper_or_on_a_remote_engine_gets_no_values() {
    let without = with_launch(&[("helper", json!("relative"))]);
    assert_eq!(code(launched(&request("podman"), &without)), Code::PodmanNeedsHelper);
    let remote = with("podman", &[("engine.endpoint", json!("ssh")), ("choices.env", json!({"A": "1"}))]);
    assert_eq!(code(launched(&remote, &launch_request())), Code::PodmanRemoteValues);
}

#[test]
fn terminate_runs_in_the_same_container_with_the_launch_id_and_no_value() {
    let answer = launched(&with("docker", &[("choices.env", json!({"A": "1"}))]), &launch_request()).unwrap();
    assert_eq!(answer.terminate.file, "/usr/bin/docker");
    assert_eq!(answer.terminate.args.last().map(String::as_str), Some("0123456789abcdef0123456789abcdef"));
    assert!(answer.terminate.args.contains(&"c".repeat(64)));
    assert!(answer.terminate.env.keys().all(|name| !name.starts_with("ORCA_ENV_")));
}

#[test]
fn commands_are_passed_on_as_they_are() {
    for command in [
        json!(["sh", "-c", "echo hi"]),
        json!(["claude", "--dangerously-skip-permissions"]),
        json!(["bash", "-c", "echo $X $(id) `id` \"q\" 's'"]),
        json!(["--", "-x"]),
        json!(["a", ""]),
    ] {
        let answer = launched(&request("docker"), &with_launch(&[("command", command.clone())])).unwrap();
        let words: Vec<String> = serde_json::from_value(command).unwrap();
        assert!(answer.args.ends_with(&words), "{:?}", answer.args);
    }
}

#[test]
fn a_shell_is_the_images_own() {
    let answer = launched(&request("docker"), &with_launch(&[("command", json!("shell"))])).unwrap();
    assert!(answer.args.last().unwrap().contains("exec bash"));
}

#[test]
fn commands_folders_and_ids_that_cannot_be_are_refused() {
    for (field, value, expected) in [
        ("command", json!([]), Code::CommandInvalid),
        ("command", json!([""]), Code::CommandInvalid),
        ("command", json!(["a\u{0}b"]), Code::CommandInvalid),
        ("workdir", json!("relative"), Code::WorkdirInvalid),
        ("workdir", json!("/a\nb"), Code::WorkdirInvalid),
        ("containerId", json!("orca-ws-x"), Code::RequestInvalid),
        ("containerId", json!("-".repeat(64)), Code::RequestInvalid),
        ("launchId", json!("short"), Code::RequestInvalid),
    ] {
        assert_eq!(
            code(launched(&request("docker"), &with_launch(&[(field, value.clone())]))),
            expected,
            "{field} {value}"
        );
    }
}

#[test]
fn host_secret_and_account_values_come_at_launch() {
    let mut value =
        with("docker", &[("repoSettings.ghAccount", json!({"host": "github.com", "user": "ada"}))]);
    set(&mut value, "choices.forwardHostEnv", json!(["GRADLE_OPTS"]));
    set(&mut value, "choices.env", json!({"DB": {"secret": "TOKEN"}}));
    set(&mut value, "host.envNames", json!(["GRADLE_OPTS"]));
    set(&mut value, "secrets", json!([{"name": "TOKEN"}]));
    let values = json!({"host": {"GRADLE_OPTS": ""}, "secrets": {"TOKEN": "s"}, "ghToken": "g"});
    let answer = launched(&value, &with_launch(&[("values", values)])).unwrap();
    for (name, expected) in
        [("GRADLE_OPTS", ""), ("TOKEN", "s"), ("DB", "s"), ("GH_TOKEN", "g"), ("GH_PROMPT_DISABLED", "1")]
    {
        assert_eq!(answer.env[&format!("ORCA_ENV_{name}")], expected, "{name}");
    }
}

#[test]
fn a_missing_secret_or_token_is_an_error_and_a_missing_host_variable_is_absent() {
    let secret = with("docker", &[("secrets", json!([{"name": "TOKEN"}]))]);
    assert_eq!(code(launched(&secret, &launch_request())), Code::SecretMissing);
    let account = with("docker", &[("repoSettings.ghAccount", json!({"host": "github.com", "user": "ada"}))]);
    assert_eq!(code(launched(&account, &launch_request())), Code::GhBoundAccountUnavailable);
    let host = with("docker", &[("choices.forwardHostEnv", json!(["H"])), ("host.envNames", json!(["H"]))]);
    let answer = launched(&host, &launch_request()).unwrap();
    assert!(!answer.names.contains(&"H".to_owned()));
    assert!(answer.notices.iter().any(|notice| notice.code == Code::HostEnvMissing));
}

fn secret_names(request: &Value, command: &Value) -> Vec<String> {
    let command = serde_json::from_value(command.clone()).unwrap();
    launch_secret_names(&sealed(request), &parse(request), &command)
}

#[test]
fn only_secrets_that_are_handed_over_are_named_each_once_and_in_their_order() {
    let declared = json!([{"name": "Z"}, {"name": "SHADOWED"}, {"name": "A"}, {"name": "OTHER"}]);
    let env = json!({"SHADOWED": "plain", "ONE": {"secret": "A"}, "TWO": {"secret": "A"}, "OTHER": {"secret": "Z"}});
    let request = with("docker", &[("secrets", declared), ("choices.env", env)]);
    assert_eq!(secret_names(&request, &json!(["true"])), ["Z", "A"]);
    assert_eq!(secret_names(&request, &json!("shell")), ["Z", "A"]);
    assert_eq!(secret_names(&request, &json!({"lifecycle": "postCreateCommand"})), [""; 0]);
    // These are enough for the launch.
    let values = json!({"secrets": {"Z": "z", "A": "a"}});
    let answer = launched(&request, &with_launch(&[("values", values)])).unwrap();
    for (name, expected) in [("SHADOWED", "plain"), ("ONE", "a"), ("TWO", "a"), ("OTHER", "z"), ("A", "a")] {
        assert_eq!(answer.env[&format!("ORCA_ENV_{name}")], expected, "{name}");
    }
}

#[test]
fn a_secret_of_either_settings_is_named_under_any_variable() {
    for place in ["repoSettings.container.env", "globalSettings.container.env"] {
        let by_name = (place, json!({"DATABASE_URL": {"secret": "DB"}}));
        let request = with("docker", &[("secrets", json!([{"name": "DB"}])), by_name]);
        assert_eq!(secret_names(&request, &json!(["true"])), ["DB"], "{place}");
        let values = json!({"secrets": {"DB": "d"}});
        let answer = launched(&request, &with_launch(&[("values", values)])).unwrap();
        assert_eq!(answer.env["ORCA_ENV_DATABASE_URL"], "d", "{place}");
    }
}

#[test]
fn start_variables_are_not_handed_over_again() {
    let request =
        with("docker", &[("choices.env", json!({"A": "1", "B": "2"})), ("choices.startEnv", json!(["A"]))]);
    let answer = launched(&request, &launch_request()).unwrap();
    assert!(answer.names.contains(&"B".to_owned()) && !answer.names.contains(&"A".to_owned()));
    let text = orca_container_core::start_env_text(&parse(&request)).unwrap();
    assert_eq!(text.reveal(), "A=1\n");
}

#[test]
fn a_launch_belongs_to_its_sealed_plan_and_its_texts() {
    let launch_value = || orca_container_core::input::read_json(&launch_request().to_string()).unwrap();
    let request = with("docker", &[("orcaYaml", orca_yaml("    template: small\n"))]);
    let plan = sealed(&request);
    let refuses = |plan: &orca_container_core::ContainerPlan, request: &Value| {
        code(launch(plan, &parse(request), &launch_value()))
    };

    let mut other_text = request.clone();
    set(&mut other_text, "orcaYaml", orca_yaml("    template: large\n"));
    assert_eq!(refuses(&plan, &other_text), Code::PlanMismatch);

    let mut other_workspace = request.clone();
    set(&mut other_workspace, "workspace.instanceId", json!("another"));
    assert_eq!(refuses(&plan, &other_workspace), Code::PlanMismatch);

    let mut changed = plan.clone();
    changed.limits.pids = 100_000;
    assert_eq!(refuses(&changed, &request), Code::PlanMismatch);

    let mut unchecked = plan.clone();
    unchecked.expectations.retain(|row| row.evidence == orca_container_core::Evidence::Kernel);
    assert_ne!(unchecked, plan);
    assert_eq!(refuses(&unchecked, &request), Code::PlanMismatch);

    let mut relabelled = plan.clone();
    relabelled.labels.insert("orca.plan".into(), "0".repeat(64));
    assert_ne!(relabelled, plan);
    assert_eq!(refuses(&relabelled, &request), Code::PlanMismatch);

    let mut other_image = request.clone();
    set(&mut other_image, "imageFacts.id", json!(format!("sha256:{}", "b".repeat(64))));
    assert_eq!(refuses(&plan, &other_image), Code::PlanMismatch);

    let mut preview = plan.clone();
    preview.digest = None;
    assert_eq!(refuses(&preview, &request), Code::PlanMismatch);
    assert!(launch(&plan, &parse(&request), &launch_value()).is_ok());
}

#[test]
fn container_options_of_now_do_not_change_a_launch() {
    let mut asked =
        with("docker", &[("orcaYaml", orca_yaml("    env:\n      ANTHROPIC_BASE_URL: https://x\n"))]);
    let pending = crate::support::planned(&asked).pending_approvals;
    set(&mut asked, "approvals", json!([{"kind": pending[0].kind, "digest": pending[0].digest}]));
    let plan = sealed(&asked);
    let launch_value = orca_container_core::input::read_json(&launch_request().to_string()).unwrap();
    let before = launch(&plan, &parse(&asked), &launch_value).unwrap();
    set(&mut asked, "globalSettings.container.image", json!("other/image:2"));
    set(&mut asked, "choices.network", json!("none"));
    set(&mut asked, "choices.template", json!("large"));
    let after = launch(&plan, &parse(&asked), &launch_value).unwrap();
    assert!(before.names.contains(&"ANTHROPIC_BASE_URL".to_owned()));
    assert!(before == after);
}

/// A launch on an engine that came to be reached in another way since its plan was made.
fn moved(engine: &str, endpoint: &str, env: &Value) -> Result<orca_container_core::LaunchAnswer, Refusal> {
    let request = with(engine, &[("choices.env", env.clone())]);
    let plan = sealed(&request);
    let mut moved = request.clone();
    set(&mut moved, "engine.endpoint", json!(endpoint));
    let terminal = json!({"TERM": "xterm-canary", "COLORTERM": "truecolor", "LANG": "C"});
    let launch_value = with_launch(&[("tty", json!(true)), ("terminal", terminal)]);
    launch(&plan, &parse(&moved), &orca_container_core::input::read_json(&launch_value.to_string()).unwrap())
}

#[test]
fn an_engine_reached_in_the_clear_gets_no_value_on_either_engine() {
    for engine in ["docker", "podman"] {
        let refusal = moved(engine, "plain", &json!({"A": "1"})).unwrap_err();
        assert_eq!(refusal.code, Code::EndpointPlainWithValues, "{refusal:?}");
    }
}

/// What is in every build of ours is nobody's value: without it no workspace could be used there at all.
#[test]
fn where_no_value_may_go_our_own_constants_go_and_nothing_else() {
    for (engine, endpoint) in [("docker", "plain"), ("podman", "plain"), ("podman", "ssh"), ("podman", "tls")]
    {
        let answer = moved(engine, endpoint, &json!({})).unwrap();
        assert_eq!(answer.file, format!("/usr/bin/{engine}"), "{endpoint}: no descriptor reaches it");
        assert_eq!(answer.names, ["CLAUDE_CONFIG_DIR", "CODEX_HOME"], "{engine} {endpoint}");
        assert!(answer.args.contains(&"ORCA_ENV_CODEX_HOME".into()), "{:?}", answer.args);
        assert!(!answer.args.iter().any(|word| word == "--preserve-fds"), "{:?}", answer.args);
        assert!(!answer.env.values().any(|value| value.contains("canary")));
    }
    let answer = moved("docker", "ssh", &json!({"A": "1"})).unwrap();
    assert_eq!(answer.env["ORCA_ENV_TERM"], "xterm-canary");
}

/// A docker in debug mode writes what exec is handed into its log (measured on 20.10).
#[test]
fn a_docker_in_debug_mode_gets_no_value_that_is_kept_nowhere() {
    let debug = ("engine.debug", json!(true));
    let secret = ("secrets", json!([{"name": "S"}]));
    let forwarded = [("choices.forwardHostEnv", json!(["H"])), ("host.envNames", json!(["H"]))];
    let values = |path: &str, name: &str| with_launch(&[(path, json!({name: "canary"}))]);
    let by_secret = with("docker", &[debug.clone(), secret.clone()]);
    let by_host = with("docker", &[std::slice::from_ref(&debug), &forwarded[..]].concat());
    for (request, launch_value) in
        [(by_secret, values("values.secrets", "S")), (by_host, values("values.host", "H"))]
    {
        let refusal = launched(&request, &launch_value).unwrap_err();
        assert_eq!(refusal.code, Code::EngineDebugWithSecrets, "{refusal:?}");
        assert!(!format!("{refusal:?}").contains("canary"));
    }
    let typed = with("docker", &[debug.clone(), ("choices.env", json!({"A": "1"}))]);
    assert_eq!(launched(&typed, &launch_request()).unwrap().env["ORCA_ENV_A"], "1");
    // podman's values take another way.
    let podman = with("podman", &[debug, secret]);
    assert!(launched(&podman, &values("values.secrets", "S")).is_ok());
}

#[test]
fn names_that_differ_only_in_case_cannot_leave_a_windows_host_together() {
    let changes = [
        ("host.platform", json!("win32")),
        ("workspace.repoPath", json!("C:\\acme")),
        ("workspace.worktreePath", json!("C:\\wt")),
        ("workspace.gitCommonDir", json!("C:\\acme\\.git")),
        ("engine.client.program", json!("C:\\docker.exe")),
        ("choices.env", json!({"Token": "1", "TOKEN": "2"})),
    ];
    let refusal = launched(&with("docker", &changes), &launch_request()).unwrap_err();
    assert_eq!(refusal.code, Code::NameInvalid, "{refusal:?}");
    let linux = with("docker", &[("choices.env", json!({"Token": "1", "TOKEN": "2"}))]);
    assert!(launched(&linux, &launch_request()).is_ok());
}

#[test]
fn an_edit_reaches_the_next_launch_and_changes_no_digest() {
    let one = with("docker", &[("choices.env", json!({"A": "1"}))]);
    let two = with("docker", &[("choices.env", json!({"A": "2", "B": "3"}))]);
    assert_eq!(sealed(&one).digest, sealed(&two).digest);
    assert_eq!(launched(&two, &launch_request()).unwrap().env["ORCA_ENV_A"], "2");
}

#[test]
fn terminal_variables_are_weaker_than_any_layer_but_the_image() {
    let launch_value = with_launch(&[("terminal", json!({"TERM": "xterm-256color", "LANG": "C.UTF-8"}))]);
    let request = with("docker", &[("choices.env", json!({"LANG": "de_DE.UTF-8"}))]);
    let answer = launched(&request, &launch_value).unwrap();
    assert_eq!(
        (answer.env["ORCA_ENV_TERM"].as_str(), answer.env["ORCA_ENV_LANG"].as_str()),
        ("xterm-256color", "de_DE.UTF-8")
    );
}

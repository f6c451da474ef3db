//! Requests for tests: one complete request per engine, changed field by field.

use orca_container_core::{
    ContainerPlan, LaunchAnswer, PlanAnswer, Refusal,
    input::{LaunchRequest, PlanRequest, read_json},
    json, launch, plan,
};
use proptest::test_runner::Config as ProptestConfig;
use serde_json::{Value, json};

/// A property's configuration: `cases` runs, times `ORCA_TEST_FACTOR` where that is set (a long run).
pub fn cases(cases: u32) -> ProptestConfig {
    let factor = std::env::var("ORCA_TEST_FACTOR").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1);
    ProptestConfig {
        cases: cases.saturating_mul(factor),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// A request that gives a sealed plan on `engine` ("docker" or "podman").
pub fn request(engine: &str) -> Value {
    json!({
        "schemaVersion": 1,
        "install": {"id": "install-1"},
        "workspace": {
            "id": "repo1::/home/u/wt/feature", "instanceId": "instance-1", "repositoryId": "/home/u/acme/.git",
            "name": "feature", "branch": "feature", "base": "main", "repoPath": "/home/u/acme",
            "worktreePath": "/home/u/wt/feature", "gitCommonDir": "/home/u/acme/.git"
        },
        "choices": {"enabled": true},
        "globalSettings": {"experimentalContainerWorkspaces": true, "container": {"image": "acme/base:1"}},
        "host": {"platform": "linux", "envNames": []},
        "engine": {
            "kind": engine, "version": "28.2.2", "endpoint": "local", "cpus": 8, "memoryBytes": 16_000_000_000_u64,
            "limits": ["memory", "swap", "cpu", "pids"], "runtimes": ["runc", "runsc"],
            "client": {"program": format!("/usr/bin/{engine}"), "env": {"PATH": "/usr/bin:/bin", "HOME": "/home/u"}}
        },
        "imageFacts": {
            "id": format!("sha256:{}", "a".repeat(64)), "env": ["PATH=/usr/bin:/bin"], "user": "node", "uid": 1000, "gid": 1000,
            "home": "/home/node"
        }
    })
}

/// A launch of `env` in the container.
pub fn launch_request() -> Value {
    json!({
        "containerId": "c".repeat(64), "launchId": "0123456789abcdef0123456789abcdef",
        "command": ["/usr/bin/env", "-0"], "helper": "/opt/orca-container"
    })
}

/// Sets a value at a path of keys joined by dots, making objects on the way.
pub fn set(value: &mut Value, path: &str, new: Value) {
    let mut at = value;
    for key in path.split('.') {
        at = &mut at[key];
    }
    *at = new;
}

/// The request with changes.
pub fn with(engine: &str, changes: &[(&str, Value)]) -> Value {
    let mut value = request(engine);
    for (path, new) in changes {
        set(&mut value, path, new.clone());
    }
    value
}

/// A container block of orca.yaml around `body`, which is indented by four blanks already.
pub fn orca_yaml(body: &str) -> Value {
    json!({"path": "orca.yaml", "text": format!("worktree:\n  container:\n{body}")})
}

pub fn parse(value: &Value) -> PlanRequest {
    read_json(&value.to_string()).unwrap_or_else(|error| panic!("{error}"))
}

pub fn answer(value: &Value) -> PlanAnswer {
    match json::read_request(&value.to_string()) {
        Ok(request) => plan(&request),
        Err(refusal) => PlanAnswer::Refused(refusal),
    }
}

pub fn planned(value: &Value) -> orca_container_core::Planned {
    match answer(value) {
        PlanAnswer::Planned(planned) => *planned,
        PlanAnswer::Refused(refusal) => panic!("refused: {refusal:#?}"),
    }
}

pub fn refused(value: &Value) -> Refusal {
    match answer(value) {
        PlanAnswer::Planned(planned) => panic!("planned: {:#?}", planned.notices),
        PlanAnswer::Refused(refusal) => refusal,
    }
}

pub fn sealed(value: &Value) -> ContainerPlan {
    let planned = planned(value);
    assert!(planned.plan.digest.is_some(), "a preview: {:?}", planned.needs);
    planned.plan
}

pub fn launched(value: &Value, launch_value: &Value) -> Result<LaunchAnswer, Refusal> {
    let request = parse(value);
    let launch_request: LaunchRequest =
        read_json(&launch_value.to_string()).unwrap_or_else(|error| panic!("{error}"));
    launch(&sealed(value), &request, &launch_request)
}

/// The words of every command of an answer, references as `{ref}`.
pub fn words(command: &orca_container_core::Command) -> Vec<String> {
    command
        .argv
        .iter()
        .map(|arg| match arg {
            orca_container_core::Arg::Text(text) => text.clone(),
            orca_container_core::Arg::Reference { reference } => format!("{{{reference}}}"),
        })
        .collect()
}

/// The request with a devcontainer.json that counts.
pub fn with_devcontainer(engine: &str, text: &str) -> Value {
    with(
        engine,
        &[
            ("choices.image", json!("devcontainer")),
            ("devcontainer", json!({"path": ".devcontainer/devcontainer.json", "text": text})),
        ],
    )
}

/// The request with everything approved that it asks, also what it asks because something was approved.
pub fn approve_all(mut request: Value) -> Value {
    let mut approvals: Vec<Value> = Vec::new();
    for _ in 0..4 {
        let pending = planned(&request).pending_approvals;
        approvals.extend(pending.iter().map(|p| json!({"kind": p.kind, "digest": p.digest})));
        set(&mut request, "approvals", json!(approvals));
    }
    request
}

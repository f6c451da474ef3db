//! An arbitrary devcontainer.json that counts, once with nothing approved and once with everything it asks for.
//!
//! The first byte chooses: `p` podman, `v` a preview without any facts, anything else docker. The rest is the text of the
//! file. Whatever it says: an answer comes, the same each time, without a value; a plan is hardened and within the
//! ceiling, also when a person approved all of it; and a launch of it holds values in its environment only.
#![no_main]

use libfuzzer_sys::fuzz_target;
use orca_container_core::{devcontainer_findings, json};
use serde_json::{Value, json};

#[path = "../shared/mod.rs"]
mod shared;
use shared::{judge, marker, preview, request};

fuzz_target!(|data: &[u8]| {
    let Some((mode, rest)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    let marker = marker(rest);
    let mut request = match mode {
        b'p' => request("podman", "", &marker),
        b'v' => preview("", &marker),
        _ => request("docker", "", &marker),
    };
    request["choices"]["image"] = json!("devcontainer");
    let dockerfile = json!({"path": ".devcontainer/Dockerfile", "digest": "d".repeat(64), "text": "FROM alpine:3\n"});
    request["devcontainer"] =
        json!({"path": ".devcontainer/devcontainer.json", "text": text, "dockerfile": dockerfile});
    for finding in devcontainer_findings(&json::read_request(&request.to_string()).expect("a request")) {
        assert!(finding.message.ends_with('.'), "{}", finding.message);
    }
    let first = answer(&request, &marker);
    if first["ok"] == json!(true) {
        let asked = first["pendingApprovals"].as_array().expect("a list");
        let approvals = asked.iter().map(|one| json!({"kind": one["kind"], "digest": one["digest"]}));
        request["approvals"] = approvals.collect();
        let second = answer(&request, &marker);
        launch(&request, &second);
    }
});

fn answer(request: &Value, marker: &str) -> Value {
    let request = request.to_string();
    let answer = json::plan(&request);
    assert_eq!(answer, json::plan(&request), "the same request gives the same bytes");
    assert!(!answer.contains(marker), "a value is in the answer");
    let read: Value = serde_json::from_str(&answer).expect("the answer is JSON");
    if read["ok"] == json!(true) {
        judge(&request, &read);
    }
    read
}

/// Starts something, and each of the commands that were allowed.
fn launch(request: &Value, answer: &Value) {
    let mut commands = vec![json!(["id"])];
    let allowed = answer["plan"]["devcontainer"]["commands"].as_array();
    commands.extend(allowed.into_iter().flatten().map(|command| json!({"lifecycle": command["stage"]})));
    for command in commands {
        let value = "HOSTVALUEHOSTVALUE";
        let launch = json!({
            "containerId": "c".repeat(64), "launchId": "0123456789abcdef0123456789abcdef", "command": command,
            "helper": "/opt/orca-container", "values": {"host": {"GRADLE_OPTS": value}, "secrets": {"NPM_TOKEN": value}}
        });
        let envelope = json!({"plan": answer["plan"], "request": request, "launch": launch});
        let (text, ok) = json::launch(&envelope.to_string());
        let read: Value = serde_json::from_str(&text).expect("the answer is JSON");
        if ok {
            assert!(!read["args"].to_string().contains(value), "a value is an argument");
            assert!(!command.is_object() || !text.contains(value), "a command of the repository has a value of a person");
        }
    }
}

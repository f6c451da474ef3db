//! A plan request with an arbitrary orca.yaml, or an arbitrary request.
//!
//! The first byte chooses: `p` podman, `v` a preview without any facts, `r` the rest is the whole request, anything
//! else docker. The rest is the text of orca.yaml. Whatever it says: the answer is JSON with `ok`, the same each
//! time, holds no value that a person typed, and a plan is hardened and within the ceiling.
#![no_main]

use libfuzzer_sys::fuzz_target;
use orca_container_core::{ApprovalKind, Said, ceiling, json, plan};
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Flags of every `create`, whatever was asked for.
const HARDENING: [&str; 10] = [
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--init",
    "--ipc=private",
    "--restart=no",
    "--pull=never",
    "--log-driver=none",
    "--no-healthcheck",
    "--workdir=/",
    "--ulimit=core=0:0",
];

/// Words that would undo it.
const NEVER: [&str; 7] =
    ["--privileged", "--cap-add", "seccomp=", "apparmor=", "--pid=", "--device", "--network=host"];

fuzz_target!(|data: &[u8]| {
    let Some((mode, rest)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    // Of the input's hash, so that the fuzzer cannot learn to write it into the input.
    let marker = marker(rest);
    let request = match mode {
        b'r' => text.into_owned(),
        b'p' => request("podman", &text, &marker).to_string(),
        b'v' => preview(&text, &marker).to_string(),
        _ => request("docker", &text, &marker).to_string(),
    };
    let answer = json::plan(&request);
    assert_eq!(answer, json::plan(&request), "the same request gives the same bytes");
    assert!(!answer.contains(&marker), "a value is in the answer");
    let read: Value = serde_json::from_str(&answer).expect("the answer is JSON");
    match read["ok"].as_bool().expect("the answer has ok") {
        true => judge(&request, &read),
        false => assert!(read["code"].is_string() && read["problems"].is_array()),
    }
});

/// Holds a plan against the hardening and the ceiling.
fn judge(request: &str, answer: &Value) {
    for command in answer["commands"]["create"].as_array().expect("commands") {
        if command["action"] != "create_container" {
            continue;
        }
        let argv = command["argv"].as_array().expect("argv");
        for flag in HARDENING {
            assert!(argv.iter().any(|word| word == flag), "{flag} is missing");
        }
        let flags = argv.iter().take_while(|word| *word != "--").filter_map(Value::as_str);
        for flag in flags.filter(|flag| !flag.starts_with("--label=")) {
            assert!(!NEVER.iter().any(|never| flag.contains(never)), "{flag}");
        }
    }
    let request = json::read_request(request).expect("what was planned can be read");
    let ceiling = ceiling(&request);
    let answer = plan(&request);
    let plan = &answer.planned().expect("planned").plan;
    let approved = |kind| ceiling.approvals.iter().any(|approval| approval.kind == kind);
    assert!(ceiling.modes.contains(&plan.mode));
    assert!(plan.limits.template <= ceiling.template);
    assert!(plan.network.mode <= ceiling.network || approved(ApprovalKind::Network));
    assert!(plan.ports.iter().all(|port| ceiling.ports.contains(&port.container)));
    match plan.image.said {
        Said::Person => assert!(ceiling.images.contains(&plan.image.reference)),
        Said::Repository => assert!(plan.digest.is_none() || approved(ApprovalKind::Image)),
    }
}

/// Twelve letters that no input of this hash holds.
fn marker(input: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    input.hash(&mut hasher);
    let mut hash = hasher.finish();
    std::iter::repeat_with(|| {
        let letter = char::from(b'A' + (hash % 26) as u8);
        hash /= 26;
        letter
    })
    .take(12)
    .collect()
}

/// A complete request: a plan, when orca.yaml asks for nothing that stops it.
fn request(engine: &str, orca_yaml: &str, marker: &str) -> Value {
    let mut request = preview(orca_yaml, marker);
    request["engine"] = json!({
        "kind": engine, "version": "28.2.2", "endpoint": "local", "cpus": 8, "memoryBytes": 16_000_000_000_u64,
        "limits": ["memory", "swap", "cpu", "pids"], "runtimes": ["runc", "runsc"],
        "client": {"program": format!("/usr/bin/{engine}"), "env": {"PATH": "/usr/bin:/bin", "HOME": "/home/u"}}
    });
    request["imageFacts"] = json!({
        "id": format!("sha256:{}", "a".repeat(64)), "env": ["PATH=/usr/bin:/bin"], "user": "node", "uid": 1000,
        "gid": 1000, "home": "/home/node"
    });
    request
}

/// The same before anything was measured.
fn preview(orca_yaml: &str, marker: &str) -> Value {
    json!({
        "schemaVersion": 1,
        "install": {"id": "install-1"},
        "workspace": {
            "id": "repo1::/home/u/wt/feature", "instanceId": "instance-1", "repositoryId": "/home/u/acme/.git",
            "name": "feature", "branch": "feature", "base": "main", "repoPath": "/home/u/acme",
            "worktreePath": "/home/u/wt/feature", "gitCommonDir": "/home/u/acme/.git"
        },
        "agent": "claude",
        "choices": {"enabled": true, "env": {"TOKEN": marker, "NODE_ENV": marker}},
        "repoSettings": {"commandSourcePolicy": "run-both", "agentEnv": {"PROJECT": marker}},
        "globalSettings": {
            "experimentalContainerWorkspaces": true, "container": {"image": "acme/base:1", "network": "none"}
        },
        "orcaYaml": {"path": "orca.yaml", "text": orca_yaml},
        "host": {"platform": "linux", "envNames": ["GRADLE_OPTS", "HOME"]},
        "secrets": [{"name": "NPM_TOKEN"}]
    })
}

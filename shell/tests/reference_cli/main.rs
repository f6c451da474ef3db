//! References in strings of devcontainer.json, held against the reference implementation: the same texts give the same
//! values where we mean to agree. `ORCA_TEST_REFERENCE_CLI` names its program (`@devcontainers/cli` from npm); unset, the
//! test is reported as ignored; set and not there, it fails. No engine is asked: a stand-in answers nothing.
//!
//! Left out, since we decided otherwise (docs/decisions/0018 and 0020): `${localWorkspaceFolder}`, which would tell a path
//! of the host; a default with colons, which the reference cuts; a variable that is not set and has no default, which is
//! absent here and empty there; references without a name, which break its whole file.
#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test fails by panicking")]

use libtest_mimic::{Arguments, Trial};
use orca_container_core::json;
use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};
use serde_json::{Map, Value, json};
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
};

/// Files that are tried, and variables in each.
const FILES: usize = 6;
const VARIABLES: usize = 60;

/// Variables of this computer, one of them empty, one with a reference in it that nobody may read again.
const HOST: [(&str, &str); 4] =
    [("ALPHA", "a b"), ("EMPTY", ""), ("AGAIN", "${localEnv:ALPHA}"), ("UNI", "é\"\\$x")];

fn main() {
    let arguments = Arguments::from_args();
    let program = std::env::var("ORCA_TEST_REFERENCE_CLI").unwrap_or_default();
    let on = !program.is_empty();
    let run = move || {
        agree_everywhere(&program);
        Ok(())
    };
    let name = "reference_cli::references_give_the_same_values";
    libtest_mimic::run(&arguments, vec![Trial::test(name, run).with_ignored_flag(!on)]).exit();
}

/// A text of references, words that look like some, and anything between.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec![
            "${localEnv:ALPHA}", "${env:ALPHA}", "${localEnv:EMPTY:d}", "${localEnv:AGAIN}", "${localEnv:UNI}", "${localEnv:NOPE:some default}",
            "${env:NOPE:}", "${localWorkspaceFolderBasename}", "${containerWorkspaceFolder}", "${containerWorkspaceFolderBasename}",
        ]),
        3 => prop::sample::select(vec![
            "$", "{", "}", "${", "$${", "${}", "${unknown}", "${LOCALENV:ALPHA}", "${ localEnv:ALPHA}", "${localEnv :ALPHA}", "${HOME}", "${workspaceFolder}",
            "${localWorkspaceFolderBaseName}", "${un\nclosed}", "${unclosed ${localEnv:ALPHA}", "\\${localEnv:ALPHA}", "${templateOption:x}",
        ]),
        1 => prop::sample::select(vec!["a", " ", "\"", "\\", "é", "\t"]),
    ];
    prop::collection::vec(piece, 1..6).prop_map(|pieces| pieces.concat())
}

fn agree_everywhere(program: &str) {
    let mut runner = TestRunner::deterministic();
    let mut different = Vec::new();
    let mut changed = 0_usize;
    for _ in 0..FILES {
        let texts: Vec<String> =
            (0..VARIABLES).map(|_| text().new_tree(&mut runner).unwrap().current()).collect();
        let variables: Map<String, Value> =
            texts.iter().enumerate().map(|(index, text)| (format!("V{index}"), json!(text))).collect();
        let file = json!({"image": "a:1", "workspaceFolder": "/workspace/acme", "workspaceMount": "", "remoteEnv": variables});
        let theirs = reference(program, &file);
        let ours = launched(&file);
        for (index, text) in texts.iter().enumerate() {
            let name = format!("V{index}");
            let (theirs, ours) = (
                theirs.get(&name).and_then(Value::as_str),
                ours.get(format!("ORCA_ENV_{name}")).and_then(Value::as_str),
            );
            if theirs != ours {
                different.push(format!("{text:?}: theirs {theirs:?}, ours {ours:?}"));
            }
            if theirs != Some(text) {
                changed = changed.saturating_add(1);
            }
        }
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
    // Texts that nobody changes would show nothing.
    assert!(changed > FILES * VARIABLES / 3, "{changed}");
}

/// What the reference implementation makes of the variables.
fn reference(program: &str, file: &Value) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().join("acme");
    fs::create_dir_all(workspace.join(".devcontainer")).unwrap();
    fs::write(workspace.join(".devcontainer/devcontainer.json"), file.to_string()).unwrap();
    let docker = folder.path().join("docker");
    fs::write(&docker, "#!/bin/sh\nexit 0\n").unwrap();
    fs::set_permissions(&docker, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(program);
    command
        .args(["read-configuration", "--workspace-folder"])
        .arg(&workspace)
        .arg("--docker-path")
        .arg(&docker);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", folder.path()).envs(HOST);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read: Value = serde_json::from_slice(&output.stdout).unwrap();
    read.pointer("/configuration/remoteEnv").unwrap().clone()
}

/// What a launch hands over of the same file, every host variable granted.
fn launched(file: &Value) -> Value {
    let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden/base.json");
    let mut request: Value = serde_json::from_str(&fs::read_to_string(base).unwrap()).unwrap();
    let names: Vec<&str> = HOST.iter().map(|(name, _)| *name).chain(["NOPE"]).collect();
    request["choices"] = json!({"enabled": true, "image": "devcontainer", "forwardHostEnv": names});
    request["devcontainer"] = json!({"path": ".devcontainer/devcontainer.json", "text": file.to_string()});
    let asked: Value = serde_json::from_str(&json::plan(&request.to_string())).unwrap();
    let pending = asked["pendingApprovals"].as_array().unwrap();
    request["approvals"] =
        pending.iter().map(|one| json!({"kind": one["kind"], "digest": one["digest"]})).collect();
    let planned: Value = serde_json::from_str(&json::plan(&request.to_string())).unwrap();
    let host: Map<String, Value> = HOST.iter().map(|(name, value)| ((*name).into(), json!(value))).collect();
    let launch = json!({
        "containerId": "c".repeat(64), "launchId": "0123456789abcdef0123456789abcdef", "command": ["true"],
        "helper": "/opt/orca-container", "values": {"host": host}
    });
    let envelope = json!({"plan": planned["plan"], "request": request, "launch": launch});
    let (answer, ok) = json::launch(&envelope.to_string());
    assert!(ok, "{answer}");
    serde_json::from_str::<Value>(&answer).unwrap()["env"].clone()
}

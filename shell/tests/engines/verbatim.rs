//! The plan is executable as it stands: its commands, word for word, by somebody who only knows the JSON.

use crate::bench::{Bench, COMMAND, Ran, image, runtime};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

fn request(bench: &Bench) -> Value {
    let image = image(bench.engine);
    let id = bench.client(&["image", "inspect", "--format={{.Id}}", &image]).ok().stdout.trim().to_owned();
    let id = if id.starts_with("sha256:") { id } else { format!("sha256:{id}") };
    let program = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|folder| folder.join(bench.engine))
        .find(|path| path.exists())
        .unwrap();
    let pids: u64 = std::fs::read_to_string("/proc/sys/kernel/pid_max").unwrap().trim().parse().unwrap();
    std::fs::create_dir_all(bench.path("docker")).unwrap();
    let mut request = json!({
        "schemaVersion": 1,
        "install": {"id": format!("verbatim-{}", std::process::id())},
        "workspace": {"id": "w", "instanceId": "i", "repositoryId": "r", "name": "w", "branch": "feature/x", "base": "main",
                      "repoPath": bench.repository(), "remoteUrl": "https://user:password@example.invalid/acme.git"},
        "choices": {"enabled": true, "image": image, "env": {"START": "at start", "LATER": "a\nb\n"}, "startEnv": ["START"]},
        "globalSettings": {"experimentalContainerWorkspaces": true},
        "host": {"platform": "linux"},
        "engine": {"kind": bench.engine, "version": "1", "endpoint": "local", "cpus": 2, "memoryBytes": 1,
                   "limits": ["memory", "swap", "cpu", "pids"], "nprocNeeded": pids,
                   "client": {"program": program, "env": {"PATH": std::env::var("PATH").unwrap(), "HOME": bench.path("home"),
                              "DOCKER_CONFIG": bench.path("docker")}}},
        "imageFacts": {"id": id, "env": ["PATH=/usr/bin:/bin"], "user": "agent", "uid": 1000, "gid": 1000, "home": "/home/agent"}
    });
    if let Some(runtime) = runtime(bench.engine) {
        request["choices"]["runtime"] = json!(runtime);
        request["engine"]["runtimes"] = json!([runtime]);
    }
    request
}

fn ask(args: &[&str], input: &Value) -> Value {
    let mut child =
        Command::new(COMMAND).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
    serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap()
}

/// Exactly these words, each reference replaced by what the capturing step printed.
fn carry_out(command: &Value, captured: &mut BTreeMap<String, String>) {
    let words: Vec<String> = command["argv"]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| {
            word.as_str().map_or_else(|| captured[word["ref"].as_str().unwrap()].clone(), String::from)
        })
        .collect();
    let Some((program, args)) = words.split_first() else { return };
    let env: BTreeMap<String, String> = serde_json::from_value(command["env"].clone()).unwrap();
    let input = match command["stdin"]["kind"].as_str() {
        Some("start_env") => b"START=at start\n".to_vec(),
        Some("bundle") => {
            let git: Vec<String> = serde_json::from_value(command["stdin"]["argv"].clone()).unwrap();
            let git_env: BTreeMap<String, String> =
                serde_json::from_value(command["stdin"]["env"].clone()).unwrap();
            let output = Command::new(&git[0]).args(&git[1..]).envs(git_env).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            output.stdout
        }
        _ => Vec::new(),
    };
    let mut child = Command::new(program)
        .args(args)
        .env_clear()
        .envs(env)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(&input);
    let ran = Ran::of(&child.wait_with_output().unwrap());
    let ok: Vec<i32> = serde_json::from_value(command["ok"].clone()).unwrap();
    assert!(ok.contains(&ran.code), "{words:?}: {ran:?}");
    if let Some(name) = command["captures"].as_str() {
        captured.insert(name.to_owned(), ran.stdout.trim().to_owned());
    }
}

pub fn commands_create_run_as_they_stand(bench: &mut Bench) {
    let request = request(bench);
    let answer = ask(&["plan", "--request", "-"], &request);
    assert_eq!(answer["ok"], json!(true), "{answer}");
    let mut captured = BTreeMap::new();
    for command in answer["commands"]["create"].as_array().unwrap() {
        carry_out(command, &mut captured);
    }
    let id = captured["containerId"].clone();
    let launch = json!({"plan": answer["plan"], "request": request, "launch": {
        "containerId": id, "launchId": "0123456789abcdef0123456789abcdef", "helper": COMMAND,
        "command": ["/bin/sh", "-c", "git log -1 --format=%s; git remote get-url origin; printf '%s|%s|' \"$START\" \"$LATER\""]
    }});
    let process = ask(&["launch", "--request", "-"], &launch);
    let args: Vec<String> = serde_json::from_value(process["args"].clone()).unwrap();
    let env: BTreeMap<String, String> = serde_json::from_value(process["env"].clone()).unwrap();
    let output = Command::new(process["file"].as_str().unwrap())
        .args(args)
        .env_clear()
        .envs(env)
        .current_dir("/")
        .output()
        .unwrap();
    let expected = "two\nhttps://example.invalid/acme.git\nat start|a\nb\n|";
    assert_eq!(Ran::of(&output).ok().stdout, expected);

    for command in answer["commands"]["remove"].as_array().unwrap() {
        carry_out(command, &mut captured);
    }
    let names = &answer["plan"]["names"];
    for (kind, name) in [
        ("container", "container"),
        ("volume", "workspaceVolume"),
        ("volume", "agentVolume"),
        ("network", "network"),
    ] {
        let name = names[name].as_str().unwrap();
        assert_ne!(bench.client(&[kind, "inspect", name]).code, 0, "{name} is left");
    }
}

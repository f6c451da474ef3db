//! `launch`: the one answer with values, and only in `env`.

use crate::runs::{Repository, one_line};
use orca_container_testkit::Canary;
use serde_json::{Value, json};

fn request(value: &str) -> Value {
    json!({
        "schemaVersion": 1,
        "install": {"id": "i"},
        "workspace": {"id": "w", "instanceId": "n", "repositoryId": "r", "branch": "main", "repoPath": "/r"},
        "choices": {"enabled": true, "image": "alpine:3", "env": {"TOKEN_OF_TEST": value}},
        "globalSettings": {"experimentalContainerWorkspaces": true},
        "host": {"platform": "linux"},
        "engine": {
            "kind": "docker", "version": "28.2.2", "endpoint": "local", "cpus": 8, "memoryBytes": 16_000_000_000_u64,
            "limits": ["memory", "swap", "cpu", "pids"],
            "client": {"program": "/usr/bin/docker", "env": {"PATH": "/usr/bin"}}
        },
        "imageFacts": {"id": format!("sha256:{}", "a".repeat(64)), "uid": 1000, "gid": 1000, "home": "/home/node"}
    })
}

#[test]
fn values_are_in_the_environment_of_the_answer_and_nowhere_else() {
    let repository = Repository::new();
    let canary = Canary::new("a variable of a launch");
    let request = request(canary.marker());
    let planned = repository.run_with_input(&["plan", "--request", "-"], &request.to_string());
    canary.assert_absent("the plan", planned.stdout.as_bytes());
    let planned = one_line(&planned.stdout);
    assert_eq!(planned["needs"], json!([]));
    let launch = json!({"containerId": "b".repeat(64), "launchId": "c".repeat(32), "command": ["claude"]});
    let envelope = json!({"plan": planned["plan"], "request": request, "launch": launch});
    let run = repository.run_with_input(&["launch", "--request", "-"], &envelope.to_string());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
    let mut answer = one_line(&run.stdout);
    assert_eq!(answer["ok"], true);
    assert_eq!(answer["env"]["ORCA_ENV_TOKEN_OF_TEST"], canary.marker());
    answer["env"] = Value::Null;
    canary.assert_absent("the answer beside env", answer.to_string().as_bytes());
}

#[test]
fn a_refused_launch_holds_no_value_and_ends_with_one() {
    let repository = Repository::new();
    let canary = Canary::new("a variable of a refused launch");
    let envelope = json!({"plan": {}, "request": request(canary.marker()), "launch": {}});
    for text in [envelope.to_string(), format!("{{\"plan\": \"{0}\", \"{0}", canary.marker())] {
        let run = repository.run_with_input(&["launch", "--request", "-"], &text);
        assert_eq!((run.code, run.stderr.as_str()), (1, ""), "{run:?}");
        assert_eq!(one_line(&run.stdout)["ok"], false);
        canary.assert_absent("the refusal", run.stdout.as_bytes());
    }
}

//! Whose settings count.

use crate::runs::{Repository, Run, one_line};
use serde_json::Value;

fn plan(repository: &Repository, settings: &str) -> Run {
    repository.write("settings.json", settings);
    repository.run(&["plan", "--json", "--settings", "settings.json", "--container-image", "alpine:3"])
}

fn answer(repository: &Repository, settings: &str) -> Value {
    let run = plan(repository, settings);
    assert_eq!(run.code, 0, "{run:?}");
    one_line(&run.stdout)
}

#[test]
fn a_repository_is_found_by_any_path_in_it() {
    let repository = Repository::new();
    repository.write("deep/er/file", "");
    let absolute = repository.root.join("deep").to_str().unwrap().to_owned();
    for key in [".", "deep", "deep/er", "./deep/..", &absolute] {
        let settings = format!(r#"{{"repositories": {{"{key}": {{"agentEnv": {{"A": "1"}}}}}}}}"#);
        let answer = answer(&repository, &settings);
        assert_eq!(answer["environment"][0]["name"], "A", "{key}");
        assert_eq!(answer["environment"][0]["layer"], "project", "{key}");
    }
}

#[test]
fn settings_of_another_repository_do_not_count_and_a_missing_one_is_said() {
    let repository = Repository::new();
    let other = Repository::new();
    let elsewhere = other.root.to_str().unwrap();
    let settings =
        format!(r#"{{"repositories": {{"{elsewhere}": {{"agentEnv": {{"A": "1"}}}}, "gone": {{}}}}}}"#);
    let run = plan(&repository, &settings);
    assert!(!run.stdout.contains("\"A\""), "{run:?}");
    assert_eq!(run.stderr, "warning: The settings for \"gone\" are passed over: no git worktree is there.\n");
}

#[test]
fn a_repository_that_is_named_twice_is_an_error() {
    let repository = Repository::new();
    repository.write("deep/file", "");
    let run = plan(&repository, r#"{"repositories": {".": {}, "deep": {}}}"#);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.contains("\".\" and \"deep\" are in the same one"), "{run:?}");
}

#[test]
fn malformed_settings_name_line_and_column_and_no_value() {
    let repository = Repository::new();
    for (settings, expected) in [
        ("{\n  \"agnt\": \"x\"\n}", "error: settings.json:2:8: "),
        ("{\"agent\": null}", "settings.json:1:14: "),
        ("{\"repositories\": {\".\": {}, \".\": {}}}", "\".\" stands twice"),
        ("{\"secrets\": [{\"name\": 1}]}", "settings.json:1:"),
        ("{", "settings.json:1:1: The text is one well-formed JSON document"),
    ] {
        let run = plan(&repository, settings);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{settings}");
        assert!(run.stderr.contains(expected), "{settings}: {run:?}");
    }
    assert_eq!(repository.run(&["plan", "--settings", "none.json"]).code, 1);
}

#[test]
fn a_secret_has_one_source_at_most_and_no_argument_is_repeated() {
    let repository = Repository::new();
    for (secrets, said) in [
        (
            r#"[{"name": "S", "command": ["pass", "hunter2"], "keyring": {"service": "s", "account": "a"}}]"#,
            "one source",
        ),
        (r#"[{"name": "S"}, {"name": "S"}]"#, "stands twice"),
        (r#"[{"name": "S", "command": ["bin/pass"]}]"#, "absolute path"),
        (r#"[{"name": "S", "command": "hunter2"}]"#, "secrets[0].command"),
        (r#"[{"name": "S", "comand": ["pass"]}]"#, "\"comand\" is not one"),
        (r#"[{"name": "S", "keyring": {"service": "s"}}]"#, "needs the field \"account\""),
    ] {
        let run = plan(&repository, &format!("{{\"secrets\": {secrets}}}"));
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{secrets}");
        assert!(run.stderr.contains(said) && !run.stderr.contains("hunter2"), "{secrets}: {run:?}");
    }
    let asked = repository.root.join("asked");
    let script = format!("touch '{}'", asked.display());
    let sources = serde_json::json!([
        {"name": "COMMAND", "command": ["/bin/sh", "-c", script]},
        {"name": "KEYRING", "keyring": {"service": "s", "account": "a"}}
    ]);
    let answer = answer(&repository, &format!("{{\"secrets\": {sources}}}"));
    let names: Vec<_> =
        answer["environment"].as_array().unwrap().iter().map(|entry| &entry["name"]).collect();
    assert!(names.contains(&&"COMMAND".into()) && names.contains(&&"KEYRING".into()), "{names:?}");
    assert!(!asked.exists(), "a plan asks no source");
}

#[test]
fn a_person_who_says_no_is_heard() {
    let repository = Repository::new();
    for settings in [
        r#"{"globalSettings": {"container": {"enabled": false}}}"#,
        r#"{"repositories": {".": {"container": {"enabled": false}}}}"#,
        r#"{"globalSettings": {"container": {"enabled": true}},
            "repositories": {".": {"container": {"enabled": false}}}}"#,
    ] {
        let run = plan(&repository, settings);
        assert_eq!((run.code, &one_line(&run.stdout)["code"]), (1, &"container_not_requested".into()));
        let asked = ["plan", "--container", "--settings", "settings.json", "--container-image", "alpine:3"];
        assert_eq!(repository.run(&asked).code, 0, "the command line wins");
    }
}

#[test]
fn agent_secrets_orca_variables_and_approvals_are_the_requests() {
    let repository = Repository::new();
    let settings = r#"{"agent": "claude", "secrets": [{"name": "NPM_TOKEN"}], "orcaEnv": ["ORCA_NOBODY_KNOWS"],
        "globalSettings": {"agentDefaultEnv": {"claude": {"A": "1"}, "codex": {"B": "1"}}}}"#;
    let answer = answer(&repository, settings);
    let names: Vec<&str> =
        answer["environment"].as_array().unwrap().iter().map(|e| e["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"A") && names.contains(&"NPM_TOKEN") && !names.contains(&"B"), "{names:?}");
    let other = ["env", "--settings", "settings.json", "--agent", "codex", "--container-image", "alpine:3"];
    let run = repository.ends(0, &other);
    assert!(run.stdout.contains("\nB "), "{}", run.stdout);
}

#[test]
fn the_usual_place_is_read_and_the_repository_is_not_such_a_place() {
    let repository = Repository::new();
    let settings = r#"{"globalSettings": {"container": {"image": "alpine:3"}}}"#;
    repository.write("settings.json", settings);
    repository.write("orca-container/settings.json", settings);
    repository.ends(1, &["plan"]);
    repository.write("../.config/orca-container/settings.json", settings);
    repository.ends(0, &["plan"]);
}

//! `check` on devcontainer.json: found by the three places, judged line by line, told in three formats.

use crate::runs::Repository;
use serde_json::Value;
use std::fs;

const HOSTILE: &str = "{\n  \"image\": \"a:1\",\n  \"privileged\": true,\n  \"containerEnv\": { \"TOKEN\": \"hunter2hunter2\" }\n}\n";

fn write(repository: &Repository, path: &str, text: &str) {
    let path = repository.root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn what_is_left_out_is_told_with_its_line_and_fails_only_when_strict() {
    let repository = Repository::new();
    write(&repository, ".devcontainer/devcontainer.json", HOSTILE);
    let text = repository.ends(0, &["check"]).stdout;
    assert!(text.contains(".devcontainer/devcontainer.json:3:3"), "{text}");
    assert!(text.contains("[devcontainer_key_dropped]"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
    assert_eq!(repository.ends(1, &["check", "--strict"]).stdout, text);
}

#[test]
fn sarif_is_read_back_by_types_made_from_its_schema() {
    let repository = Repository::new();
    write(&repository, ".devcontainer.json", HOSTILE);
    write(&repository, "orca.yaml", "worktree:\n  container:\n    template: huge\n");
    let text = repository.ends(1, &["check", "--format", "sarif"]).stdout;
    let value: Value = serde_json::from_str(&text).unwrap();
    let read: serde_sarif::sarif::Sarif = serde_json::from_str(&text).unwrap();
    // Nothing was lost, so every field is one of the schema's.
    assert_eq!(serde_json::to_value(&read).unwrap(), value);
    let results = value["runs"][0]["results"].as_array().unwrap();
    let dropped = results.iter().find(|result| result["ruleId"] == "devcontainer_key_dropped").unwrap();
    assert_eq!(dropped["level"], "warning");
    let place = &dropped["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], ".devcontainer.json");
    assert_eq!((&place["region"]["startLine"], &place["region"]["startColumn"]), (&3.into(), &3.into()));
    let rules = value["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
    }
    assert!(results.iter().any(|result| result["level"] == "error"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn several_files_are_listed_until_one_is_named() {
    let repository = Repository::new();
    for name in ["web", "api"] {
        write(&repository, &format!(".devcontainer/{name}/devcontainer.json"), "{\"image\": \"a:1\"}");
    }
    let several = repository.ends(1, &["check"]).stdout;
    assert!(
        several.contains("\".devcontainer/api/devcontainer.json\", \".devcontainer/web/devcontainer.json\""),
        "{several}"
    );
    let chosen =
        repository.ends(0, &["check", "--devcontainer", ".devcontainer/web/devcontainer.json"]).stdout;
    assert!(chosen.contains(".devcontainer/web/devcontainer.json:1:11"), "{chosen}");
    for wrong in ["../x/devcontainer.json", ".devcontainer/none/devcontainer.json", "orca.yaml"] {
        let refused = repository.ends(1, &["check", "--devcontainer", wrong]).stderr;
        assert!(refused.contains("No devcontainer.json is at"), "{refused}");
    }
}

#[test]
fn links_and_pipes_are_no_devcontainer() {
    let repository = Repository::new();
    write(&repository, "elsewhere/devcontainer.json", HOSTILE);
    std::os::unix::fs::symlink("elsewhere", repository.root.join(".devcontainer")).unwrap();
    assert!(repository.ends(1, &["check"]).stderr.contains("symbolic link"));
    fs::remove_file(repository.root.join(".devcontainer")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(repository.root.join(".devcontainer.json"))
        .status()
        .unwrap();
    assert!(made.success());
    assert!(repository.ends(1, &["check"]).stderr.contains("regular file"));
}

//! What a create of another branch would do, shown before there is one.

use crate::runs::{Repository, one_line};
use serde_json::Value;

/// A repository on `main` with a branch `side`, each with an orca.yaml of its own and the one on `main` edited since.
fn repository() -> Repository {
    let repository = Repository::new();
    let says = |word: &str| {
        format!("worktree:\n  container:\n    image: alpine:3\n    env:\n      WHERE_{word}: x\n")
    };
    repository.write("orca.yaml", says("SIDE"));
    repository.commit();
    repository.git(&["branch", "side"]);
    repository.write("orca.yaml", says("MAIN"));
    repository.commit();
    repository.write("orca.yaml", says("EDITED"));
    repository
}

/// The clone of a plan, and the variable that tells which text was read.
fn planned(repository: &Repository, flags: &[&str]) -> (Value, String) {
    let words = ["plan", "--json", "--container-image", "alpine:3"];
    let answer = one_line(&repository.ends(0, &[&words[..], flags].concat()).stdout);
    (answer["plan"]["clone"].clone(), where_from(&answer))
}

fn where_from(answer: &Value) -> String {
    let names = answer["environment"].as_array().unwrap().iter().filter_map(|entry| entry["name"].as_str());
    names.filter(|name| name.starts_with("WHERE_")).collect()
}

#[test]
fn a_plan_of_a_branch_goes_by_what_is_committed_there() {
    let repository = repository();
    let (clone, read) = planned(&repository, &[]);
    assert_eq!((clone["branch"].as_str(), read.as_str()), (Some("main"), "WHERE_EDITED"));
    let (clone, read) = planned(&repository, &["--branch", "side"]);
    assert_eq!((clone["branch"].as_str(), read.as_str()), (Some("side"), "WHERE_SIDE"));
    // The branch that is checked out, by its name: a workspace beside the folder's own, of what is committed.
    let (clone, read) = planned(&repository, &["--branch", "main"]);
    assert_eq!((clone["branch"].as_str(), read.as_str()), (Some("main"), "WHERE_MAIN"));
    let (clone, read) = planned(&repository, &["--new-branch", "try/it", "--base", "side"]);
    assert_eq!((clone["newBranch"].as_bool(), clone["base"].as_str()), (Some(true), Some("side")));
    assert_eq!((clone["branch"].as_str(), read.as_str()), (Some("try/it"), "WHERE_SIDE"));
}

#[test]
fn an_environment_of_a_branch_is_that_of_its_create() {
    let repository = repository();
    let words = ["env", ".", "--json", "--container-image", "alpine:3", "--branch", "side"];
    let report = one_line(&repository.ends(0, &words).stdout);
    assert_eq!(where_from(&report), "WHERE_SIDE");
}

#[test]
fn a_branch_that_is_not_there_or_there_already_is_told_and_nothing_is_written() {
    let repository = repository();
    for (flags, words) in [
        (&["--branch", "none"][..], "no branch \"none\""),
        (&["--new-branch", "side"], "has a branch \"side\" already"),
    ] {
        for command in [&["plan", "--container-image", "alpine:3"][..], &["env", "."]] {
            let run = repository.ends(1, &[command, flags].concat());
            assert!(run.stderr.contains(words) && run.stdout.is_empty(), "{run:?}");
        }
    }
    repository.ends(2, &["plan", "--request", "-", "--branch", "side"]);
    let left = std::fs::read_dir(repository.home.path()).unwrap().count();
    assert_eq!(left, 1, "the repository alone");
}

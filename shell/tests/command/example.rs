//! The example of the README: what it prints, and that it fits.

use crate::runs::{Repository, Run, project};
use std::fs;
use std::path::Path;

const FOLDER: &str = "examples/acme-web";
const README: [&str; 6] = [
    "plan",
    FOLDER,
    "--settings",
    "examples/acme-web/settings.json",
    "--container-env-file",
    "examples/acme-web/workspace.env",
];

/// The example in a repository of its own, so that no name of a folder or a branch is that of a computer.
pub(crate) fn repository() -> Repository {
    let repository = Repository::new();
    for entry in fs::read_dir(project(FOLDER)).unwrap() {
        let path = entry.unwrap().path();
        let name = Path::new(FOLDER).join(path.file_name().unwrap());
        repository.write(name.to_str().unwrap(), fs::read(&path).unwrap());
    }
    repository
}

fn run(repository: &Repository, command: &str) -> Run {
    let mut args = README.to_vec();
    args[0] = command;
    repository.ends(0, &args)
}

fn snapshot(name: &str, repository: &Repository, text: &str) {
    let text = text.replace(repository.root.to_str().unwrap(), "[ROOT]");
    insta::with_settings!({filters => vec![("[0-9a-f]{64}", "[DIGEST]")], omit_expression => true}, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn the_readme_command_prints_this() {
    let repository = repository();
    let run = run(&repository, "plan");
    assert_eq!(run.stderr, "");
    snapshot("example_plan", &repository, &run.stdout);
}

#[test]
fn its_environment_and_its_check_are_this() {
    let repository = repository();
    snapshot("example_env", &repository, &run(&repository, "env").stdout);
    snapshot("example_check", &repository, &run(&repository, "check").stdout);
}

/// A line that is longer than a terminal holds one word only, as a shell counts words.
#[test]
fn lines_fit_eighty_columns() {
    let repository = repository();
    for command in ["plan", "env"] {
        for line in run(&repository, command).stdout.lines().filter(|line| line.chars().count() > 80) {
            let words = line.trim().trim_end_matches(" \\");
            let in_quotes =
                words.starts_with('\'') && words.ends_with('\'') && words.matches('\'').count() == 2;
            assert!(in_quotes || !words.contains(' '), "{line}");
        }
    }
}

#[test]
fn no_value_of_the_example_is_printed() {
    let repository = repository();
    for command in ["plan", "env", "check"] {
        let text = run(&repository, command).stdout;
        for value in
            ["development", "db.internal", "llm-gateway", "16000", "new-checkout", "acme_feature", "5173"]
        {
            assert!(!text.contains(value), "{command} prints {value}");
        }
    }
}

//! Exit codes, and that results are alone on standard output.

use crate::runs::{Repository, one_line, project};
use std::fs;

const IMAGE: [&str; 2] = ["--container-image", "alpine:3"];

fn with<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [args, &IMAGE].concat()
}

#[test]
fn a_plan_ends_with_zero_and_a_refusal_with_one() {
    let repository = Repository::new();
    let plan = repository.ends(0, &with(&["plan"]));
    assert!(plan.stdout.starts_with("Preview of a plan for acme (docker, volume mode)\n"), "{}", plan.stdout);
    assert!(plan.stdout.contains("--cap-drop=ALL") && plan.stderr.is_empty());
    let refused = repository.ends(1, &["plan"]);
    assert!(refused.stdout.starts_with("Refused: A container needs an image"), "{}", refused.stdout);
    for refused in [
        vec!["plan", "--no-container"],
        vec!["plan", "--container=shared"],
        vec!["plan", "--container=mounted"],
        vec!["plan", "--container-template", "huge"],
        vec!["plan", "--network", "host"],
        vec!["plan", "--engine", "lxc"],
        vec!["plan", "--container-env", "ANTHROPIC_API_KEY=x"],
    ] {
        let run = repository.ends(1, &with(&refused));
        assert!(run.stdout.starts_with("Refused: "), "{refused:?}: {}", run.stdout);
        assert!(run.stdout.contains("--"), "the flag is named: {}", run.stdout);
    }
}

#[test]
fn json_is_one_line_and_alone() {
    let repository = Repository::new();
    for args in [["plan", "--json"], ["env", "--json"], ["check", "--json"], ["check", "--format=json"]] {
        let run = repository.ends(0, &with(&args));
        assert_eq!(one_line(&run.stdout)["ok"], true, "{args:?}");
        assert_eq!(run.stderr, "");
        let run = repository.ends(1, &with(&[args[0], args[1], "--network=host"]));
        assert_eq!(one_line(&run.stdout)["ok"], false, "{args:?}");
    }
}

#[test]
fn check_judges_files_that_do_not_count_yet() {
    let repository = Repository::new();
    repository.ends(0, &["check"]);
    repository.write("orca.yaml", b"worktree:\n  container:\n    template: huge\n");
    assert!(repository.ends(1, &["check"]).stdout.contains("orca.yaml:3:15"));
}

#[test]
fn what_is_no_worktree_is_a_clear_error() {
    let repository = Repository::new();
    let outside = tempfile::tempdir().unwrap();
    for (command, path) in [("plan", outside.path()), ("env", outside.path()), ("check", outside.path())] {
        let run = repository.ends(1, &with(&[command, path.to_str().unwrap()]));
        assert!(run.stderr.starts_with("error: The folder ") && run.stdout.is_empty(), "{run:?}");
    }
    let run = repository.ends(1, &with(&["plan", "no-such-folder"]));
    assert!(run.stderr.contains("cannot be read"), "{run:?}");
    repository.write("orca.yaml", b"a: \xff\n");
    assert!(repository.ends(1, &with(&["plan"])).stderr.contains("must be UTF-8"));
}

#[test]
fn usage_ends_with_two() {
    let repository = Repository::new();
    for args in [
        vec![],
        vec!["pla"],
        vec!["plan", "--container", "--no-container"],
        vec!["plan", "--container-env", "NAME"],
        vec!["plan", "--container-env", "=x"],
        vec!["plan", "--container-env", "my-name=x"],
        vec!["plan", "--approve", "123"],
        vec!["plan", "--request", "-", "."],
        vec!["plan", "--request", "-", "--network", "none"],
        vec!["launch"],
        vec!["env", "--format", "yaml"],
        vec!["check", "--format", "xml"],
        vec!["doctor", "--engine", "lxc"],
        vec!["schema", "nothing"],
        vec!["completions", "cmd"],
    ] {
        let run = repository.ends(2, &args);
        assert!(run.stdout.is_empty() && !run.stderr.is_empty(), "{args:?}: {run:?}");
    }
    for args in [vec!["--help"], vec!["--version"], vec!["plan", "--help"]] {
        let run = repository.ends(0, &args);
        assert!(!run.stdout.is_empty() && run.stderr.is_empty(), "{args:?}");
    }
    assert!(repository.ends(0, &["plan", "--help"]).stdout.contains("--container-env-file instead"));
}

#[test]
fn a_request_comes_whole_from_a_file_or_from_standard_input() {
    let repository = Repository::new();
    let request = r#"{"schemaVersion":1,"install":{"id":"i"},"workspace":{"id":"w","instanceId":"n",
        "repositoryId":"r","repoPath":"/r"},"choices":{"enabled":true,"image":"alpine:3"},
        "globalSettings":{"experimentalContainerWorkspaces":true},"host":{"platform":"linux"}}"#;
    let piped = repository.run_with_input(&["plan", "--request", "-"], request);
    assert_eq!((piped.code, piped.stderr.as_str()), (0, ""));
    assert_eq!(one_line(&piped.stdout)["ok"], true);
    repository.write("request.json", request);
    assert_eq!(repository.ends(0, &["plan", "--request", "request.json"]).stdout, piped.stdout);
    let refused = repository.run_with_input(&["plan", "--request", "-"], "{}");
    assert_eq!((refused.code, &one_line(&refused.stdout)["ok"]), (1, &false.into()));
    assert_eq!(repository.ends(1, &["plan", "--request", "none.json"]).stdout, "");
}

#[test]
fn check_names_each_line_and_can_be_strict() {
    let repository = Repository::new();
    repository.write(
        "orca.yaml",
        "worktree:\n  container:\n    forwardHostEnv:\n      - PATH\n    network: allowlist\n",
    );
    let run = repository.ends(0, &with(&["check"]));
    let places: Vec<&str> = run.stdout.lines().filter(|line| line.starts_with("orca.yaml:")).collect();
    assert!(places[0].starts_with("orca.yaml:4:9: dropped: "), "{places:?}");
    assert!(places[1].starts_with("orca.yaml:5:14: dropped: "), "{places:?}");
    assert!(places[0].ends_with("[repository_host_env_never]"), "{places:?}");
    repository.ends(1, &with(&["check", "--strict"]));
    repository.write("orca.yaml", "worktree:\n  container:\n    privileged: true\n");
    let run = repository.ends(1, &with(&["check"]));
    assert!(run.stdout.starts_with("orca.yaml:3:5: refused: "), "{}", run.stdout);
}

#[test]
fn env_tells_stories_and_is_shown_also_where_the_plan_is_refused() {
    let repository = Repository::new();
    let run = repository.ends(0, &with(&["env", "--container-env", "A=1", "--container-env", "A=2"]));
    assert!(run.stdout.contains("A ") && run.stdout.contains("--container-env"), "{}", run.stdout);
    let run = repository.ends(0, &with(&["env", "--why", "A", "--container-env", "A=1"]));
    assert!(run.stdout.starts_with("\"A\" is set: layer \"container_workspace\""), "{}", run.stdout);
    let run = repository.ends(1, &["env", "--container-env", "A=1"]);
    assert!(run.stdout.contains("NAME") && run.stdout.contains("What was refused"), "{}", run.stdout);
    let run = repository.ends(0, &with(&["env", "--format", "markdown", "--container-env", "A=1"]));
    let row = "| `A` | active | launch | container_workspace | `--container-env` |  | next_launch |";
    assert!(run.stdout.lines().any(|line| line == row), "{}", run.stdout);
}

#[test]
fn an_approval_is_granted_by_its_digest() {
    let repository = Repository::new();
    repository.write("orca.yaml", "worktree:\n  container:\n    image: ghcr.io/acme/base:1\n");
    let pending = |run: &str| one_line(run)["pendingApprovals"].as_array().unwrap().clone();
    let asked = pending(&repository.ends(0, &["plan", "--json"]).stdout);
    let digest = asked[0]["digest"].as_str().unwrap();
    assert_eq!(pending(&repository.ends(0, &["plan", "--json", "--approve", digest]).stdout), [0; 0]);
}

#[test]
fn this_very_checkout_can_be_planned() {
    let repository = Repository::new();
    let here = project("");
    let run = repository.run(&with(&["plan", here.to_str().unwrap()]));
    assert!(matches!(run.code, 0 | 1) && !run.stderr.contains("panicked"), "{run:?}");
}

#[test]
fn completions_are_there_for_each_shell() {
    let repository = Repository::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let run = repository.ends(0, &["completions", shell]);
        assert!(run.stdout.contains("container-template"), "{shell}");
    }
}

#[test]
fn a_reader_that_has_gone_is_no_panic() {
    use std::process::{Command, Stdio};
    let repository = Repository::new();
    fs::create_dir_all(repository.root.join("empty")).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_orca-container"))
        .current_dir(&repository.root)
        .args(with(&["plan", "--json"]))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
}

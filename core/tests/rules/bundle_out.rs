//! The text that brings a branch out of a container, under every shell that an image may have as sh.

use crate::shim::shells;
use orca_container_core::{BUNDLE_OUT, BundleHead, NO_BRANCH_INSIDE, NOTHING_NEW_INSIDE};
use std::path::Path;
use std::process::{Command, Output};

fn git(repository: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=n", "-c", "user.email=e", "-C"]).arg(repository).args(args);
    let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn run(shell: &[&str], parameters: &[&str]) -> Output {
    let mut command = Command::new(shell[0]);
    command.args(&shell[1..]).args(["-c", BUNDLE_OUT, "sh"]).args(parameters).env_clear();
    command.output().unwrap()
}

#[test]
fn a_branch_comes_out_without_what_is_known_and_says_when_there_is_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let clone = folder.path().join("it's a \"clone\" $(x)");
    std::fs::create_dir(&clone).unwrap();
    let branch = "feature/$(touch${IFS}x);'y'";
    git(&clone, &["init", "-q", "-b", branch]);
    git(&clone, &["commit", "-q", "--allow-empty", "-m", "one"]);
    let one = git(&clone, &["rev-parse", "HEAD"]);
    git(&clone, &["commit", "-q", "--allow-empty", "-m", "two"]);
    let two = git(&clone, &["rev-parse", "HEAD"]);
    let unknown = "0123456789abcdef0123456789abcdef01234567";
    let target = clone.to_str().unwrap();
    for shell in shells() {
        let small = run(&shell, &[target, branch, unknown, &one]);
        assert_eq!(small.status.code(), Some(0), "{shell:?}: {}", String::from_utf8_lossy(&small.stderr));
        assert_eq!(BundleHead::read(&small.stdout, branch).unwrap().commit, two);
        assert!(String::from_utf8_lossy(&small.stdout).contains(&format!("\n-{one}")), "{shell:?}");
        for haves in [vec![], vec![unknown]] {
            let whole = run(&shell, &[&[target, branch], &haves[..]].concat());
            assert_eq!(BundleHead::read(&whole.stdout, branch).unwrap().commit, two, "{shell:?}");
            assert!(!String::from_utf8_lossy(&whole.stdout).contains(&one), "{shell:?}");
        }
        let nothing = run(&shell, &[target, branch, &one, &two]);
        assert_eq!(nothing.status.code(), Some(NOTHING_NEW_INSIDE), "{shell:?}");
        assert_eq!(String::from_utf8(nothing.stdout).unwrap(), format!("{two}\n"));
        for (target, branch) in [(target, "other"), ("/nowhere", branch), (target, "--all"), (target, "")] {
            let absent = run(&shell, &[target, branch, &one]);
            assert_eq!(absent.status.code(), Some(NO_BRANCH_INSIDE), "{shell:?} {target} {branch}");
            assert_eq!(absent.stdout, b"", "{shell:?}");
        }
    }
    assert!(!clone.join("x").exists() && !Path::new("x").exists());
}

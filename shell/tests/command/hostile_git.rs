//! Git folders that lead elsewhere: nothing of them runs on this computer, nothing of another repository is read.

use crate::runs::{Repository, Run};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

/// A repository whose committed files are about to be read.
fn committed() -> Repository {
    let repository = Repository::new();
    repository.write("orca.yaml", "worktree:\n  container:\n    template: small\n");
    repository.commit();
    repository
}

fn approve(repository: &Repository) -> Run {
    repository.run(&["approve", "--container", "--container-image", "alpine:3", "."])
}

fn fails_with(repository: &Repository, words: &str) {
    let run = approve(repository);
    assert!(run.code == 1 && run.stderr.contains(words), "{words}: {run:?}");
}

#[test]
fn a_whole_repository_is_read() {
    assert_eq!(approve(&committed()).code, 0);
}

#[test]
fn objects_and_references_of_another_repository_are_not_borrowed() {
    let victim = committed();
    for place in ["objects", "refs", "objects/pack", "refs/heads"] {
        let repository = committed();
        let ours = repository.root.join(".git").join(place);
        fs::remove_dir_all(&ours).unwrap();
        symlink(victim.root.join(".git").join(place), &ours).unwrap();
        let run = approve(&repository);
        assert_eq!(run.code, 1, "{place}: {run:?}");
    }
    let repository = committed();
    repository.write(".git/objects/info/alternates", victim.root.join(".git/objects").to_str().unwrap());
    fails_with(&repository, "lead to another repository");
}

#[test]
fn loose_objects_of_another_repository_are_not_borrowed() {
    let repository = committed();
    let folder = some_loose_folder(&repository);
    let elsewhere = repository.home.path().join("elsewhere");
    fs::rename(&folder, &elsewhere).unwrap();
    symlink(&elsewhere, &folder).unwrap();
    fails_with(&repository, "lead to another repository");

    let repository = committed();
    let folder = some_loose_folder(&repository);
    let object = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let elsewhere = repository.home.path().join("elsewhere");
    fs::rename(&object, &elsewhere).unwrap();
    symlink(&elsewhere, &object).unwrap();
    fails_with(&repository, "lead to another repository");
}

fn some_loose_folder(repository: &Repository) -> std::path::PathBuf {
    let folders = fs::read_dir(repository.root.join(".git/objects")).unwrap().flatten();
    let loose = folders.map(|folder| folder.path()).find(|path| path.file_name().unwrap().len() == 2);
    loose.unwrap()
}

#[test]
fn a_repository_that_would_fetch_is_refused_and_its_transport_never_runs() {
    for promise in ["promisor=true", "partialclonefilter=blob:none"] {
        let repository = committed();
        let (name, value) = promise.split_once('=').unwrap();
        repository.write("ran.sh", "#!/bin/sh\ntouch \"$HOME/ran\"\n");
        let script = repository.root.join("ran.sh");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        repository.git(&["config", "protocol.ext.allow", "always"]);
        repository.git(&["config", "remote.origin.url", &format!("ext::{}", script.display())]);
        repository.git(&["config", &format!("remote.origin.{name}"), value]);
        remove_orca_yaml_object(&repository);
        fails_with(&repository, "partial clone");
        assert!(!repository.home.path().join("ran").exists());
    }
}

/// What git refuses is told in its own words, and not as a branch without a commit.
#[test]
fn a_git_that_refuses_says_why() {
    let repository = committed();
    let refused = "#!/bin/sh\ncase \"$*\" in *rev-parse*) echo 'fatal: detected dubious ownership' >&2; exit 128;; esac\n";
    let run = with_git(repository, refused);
    assert!(run.stderr.contains("detected dubious ownership"), "{run:?}");

    let repository = committed();
    let lost = "1".repeat(40);
    repository.write(".git/refs/heads/main", format!("{lost}\n"));
    fails_with(&repository, "git cannot read the branch's commit");
}

/// `approve` with a git that a script stands before.
fn with_git(mut repository: Repository, script: &str) -> Run {
    let bin = repository.home.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let path = std::env::var("PATH").unwrap();
    let script = format!("{script}PATH='{path}' exec git \"$@\"\n");
    fs::write(bin.join("git"), script).unwrap();
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    repository.host.push(("PATH".into(), format!("{}:{path}", bin.display())));
    let run = approve(&repository);
    assert_eq!(run.code, 1, "{run:?}");
    run
}

#[test]
fn a_missing_object_is_an_error_not_an_absent_file() {
    let repository = committed();
    remove_orca_yaml_object(&repository);
    fails_with(&repository, "git cannot read orca.yaml");
}

#[test]
fn a_program_of_the_repository_is_never_taken_for_git() {
    let mut repository = committed();
    repository.write("bin/git", "#!/bin/sh\ntouch \"$HOME/ran\"\n");
    fs::set_permissions(repository.root.join("bin/git"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    repository.host.push(("PATH".into(), format!("./bin:{path}")));
    assert_eq!(approve(&repository).code, 0);
    assert!(!repository.home.path().join("ran").exists());
}

/// A file of zeros takes no room on a disk, and git reads patterns whole.
#[test]
#[cfg(target_os = "linux")]
fn gigabytes_of_patterns_are_not_read() {
    for place in [".gitignore", ".git/info/exclude"] {
        let repository = committed();
        repository.write(".worktreeinclude", "*.local\n");
        repository.write(place, "");
        let file = fs::File::options().write(true).open(repository.root.join(place)).unwrap();
        file.set_len(3 << 30).unwrap();
        let run = repository.run(&["plan", "--container", "--copy-ignored-files", "."]);
        assert_eq!(run.code, 1, "{place}: {run:?}");
        assert!(run.stderr.contains("git ls-files gave no usable answer"), "{place}: {run:?}");
        assert!(run.stderr.contains("memory"), "{place}: {run:?}");
    }
}

fn remove_orca_yaml_object(repository: &Repository) {
    let output = repository.command("git").args(["rev-parse", "HEAD:orca.yaml"]).output().unwrap();
    let id = String::from_utf8(output.stdout).unwrap();
    let (folder, file) = id.trim().split_at(2);
    fs::remove_file(repository.root.join(".git/objects").join(folder).join(file)).unwrap();
}

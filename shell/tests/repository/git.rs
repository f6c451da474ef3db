//! Repositories made by git, away from the configuration of whoever runs the tests.

use orca_container::gather::repository::{RepositoryError, find_repository};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

pub(crate) fn git_output(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_bytes().starts_with(b"GIT_")) {
        command.env_remove(name);
    }
    command
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "Nobody")))
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "nobody@example.invalid")))
        .args(args)
        .output()
        .unwrap()
}

pub(crate) fn git(folder: &Path, args: &[&str]) {
    let output = git_output(folder, args);
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// What git prints, without its last line end; `None` when it fails.
pub(crate) fn ask(folder: &Path, args: &[&str]) -> Option<Vec<u8>> {
    let output = git_output(folder, args);
    output.status.success().then(|| output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout).to_vec())
}

pub(crate) fn ask_path(folder: &Path, args: &[&str]) -> PathBuf {
    let bytes = ask(folder, args).unwrap();
    folder.join(OsStr::from_bytes(&bytes)).canonicalize().unwrap()
}

/// A repository with one commit on `main`, in a folder of that name.
pub(crate) fn repository_in(parent: &Path, name: &str) -> PathBuf {
    let root = parent.join(name);
    fs::create_dir_all(&root).unwrap();
    git(&root, &["init", "-q", "-b", "main"]);
    git(&root, &["commit", "-q", "--allow-empty", "-m", "first"]);
    root.canonicalize().unwrap()
}

pub(crate) fn repository() -> (TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let root = repository_in(parent.path(), "acme");
    (parent, root)
}

pub(crate) fn write_config(root: &Path, text: &str) {
    let file = root.join(".git/config");
    let core = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
    fs::write(file, format!("{core}{text}")).unwrap();
}

/// The refusal of a folder, after a look at its message.
pub(crate) fn refusal(folder: &Path) -> RepositoryError {
    let error = find_repository(folder).unwrap_err();
    let message = error.to_string();
    assert!(message.ends_with('.') && !message.contains('\n'), "{message}");
    error
}

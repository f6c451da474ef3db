//! What is refused, among it what git itself would take.

use crate::git::{ask, git, refusal, repository, write_config};
use crate::same_as_git::same_as_git;
use orca_container::gather::repository::{RepositoryError, find_repository};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

#[test]
fn no_repository_no_folder() {
    let parent = tempfile::tempdir().unwrap();
    assert!(matches!(refusal(parent.path()), RepositoryError::NotARepository { .. }));
    assert!(matches!(refusal(&parent.path().join("none")), RepositoryError::Unreadable { .. }));
    fs::write(parent.path().join("file"), "").unwrap();
    assert!(matches!(refusal(&parent.path().join("file")), RepositoryError::NotAFolder { .. }));
}

#[test]
fn a_link_in_place_of_git_is_refused() {
    let (parent, root) = repository();
    let other = parent.path().join("other");
    fs::create_dir(&other).unwrap();
    symlink(root.join(".git"), other.join(".git")).unwrap();
    assert!(ask(&other, &["rev-parse", "--show-toplevel"]).is_some(), "git itself would take it");
    assert!(matches!(refusal(&other), RepositoryError::GitIsLink { .. }));
}

#[test]
fn a_folder_cannot_claim_to_be_a_worktree_of_a_repository() {
    let (parent, root) = repository();
    let linked = parent.path().join("wt");
    git(&root, &["worktree", "add", "-q", linked.to_str().unwrap()]);
    let claim = parent.path().join("claim");
    fs::create_dir(&claim).unwrap();
    for target in [root.join(".git"), root.join(".git/worktrees/wt")] {
        fs::write(claim.join(".git"), format!("gitdir: {}\n", target.display())).unwrap();
        assert!(ask(&claim, &["rev-parse", "--git-common-dir"]).is_some(), "git itself would take it");
        assert!(matches!(refusal(&claim), RepositoryError::NotNamedBack { .. }));
    }
    fs::remove_file(claim.join(".git")).unwrap();
    fs::create_dir(claim.join(".git")).unwrap();
    fs::write(claim.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(claim.join(".git/commondir"), root.join(".git").as_os_str().as_bytes()).unwrap();
    fs::write(claim.join(".git/gitdir"), claim.join(".git").as_os_str().as_bytes()).unwrap();
    assert!(ask(&claim, &["rev-parse", "--git-common-dir"]).is_some(), "git itself would take it");
    assert!(matches!(refusal(&claim), RepositoryError::NotNamedBack { .. }));
}

#[test]
fn a_separate_git_directory_must_name_its_worktree() {
    let parent = tempfile::tempdir().unwrap();
    git(parent.path(), &["init", "-q", "--separate-git-dir=kept", "work"]);
    let work = parent.path().join("work");
    assert!(matches!(refusal(&work), RepositoryError::NotNamedBack { .. }));
    git(&work, &["config", "core.worktree", work.to_str().unwrap()]);
    same_as_git(&work);
    git(&work, &["config", "core.worktree", parent.path().to_str().unwrap()]);
    assert!(matches!(refusal(&work), RepositoryError::WorktreeElsewhere { .. }));
}

#[test]
fn bad_pointers_are_refused() {
    let parent = tempfile::tempdir().unwrap();
    for text in ["", "gitdir:", "gitdir: ", "gitdir: \n", "gitdir: gone\n", "gitdir: a\0b\n", "gitdir: .\n"] {
        fs::write(parent.path().join(".git"), text).unwrap();
        assert!(matches!(refusal(parent.path()), RepositoryError::PointerInvalid { .. }), "{text:?}");
    }
    fs::write(parent.path().join(".git"), "x".repeat(5000)).unwrap();
    assert!(matches!(refusal(parent.path()), RepositoryError::TooLarge { cap: 4096, .. }));
}

#[test]
fn pipes_and_links_in_place_of_gits_files_do_not_hang() {
    for file in ["HEAD", "config", "commondir"] {
        let (_parent, root) = repository();
        let path = root.join(".git").join(file);
        let _ = fs::remove_file(&path);
        make_pipe(&path);
        assert!(
            matches!(refusal(&root), RepositoryError::NotRegular { found: "a named pipe", .. }),
            "{file}"
        );
        fs::remove_file(&path).unwrap();
        symlink("/dev/zero", &path).unwrap();
        assert!(
            matches!(refusal(&root), RepositoryError::NotRegular { found: "a symbolic link", .. }),
            "{file}"
        );
    }
    let parent = tempfile::tempdir().unwrap();
    make_pipe(&parent.path().join(".git"));
    assert!(matches!(refusal(parent.path()), RepositoryError::NotRegular { .. }));
    make_pipe(&parent.path().join("HEAD"));
    fs::remove_file(parent.path().join(".git")).unwrap();
    assert!(matches!(refusal(parent.path()), RepositoryError::NotARepository { .. }));
}

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn bad_configuration_is_refused_without_its_text() {
    let (_parent, root) = repository();
    let marker = "MARKERabc123";
    write_config(&root, &format!("[remote \"origin\"]\n\turl = \"{marker}\n"));
    let error = refusal(&root);
    assert!(matches!(error, RepositoryError::ConfigSyntax { line: 5, .. }), "{error}");
    assert!(!format!("{error}{error:?}").contains(marker));
    write_config(&root, &format!("[core]\n\tbare = {marker}\n"));
    let error = refusal(&root);
    assert!(matches!(error, RepositoryError::ConfigValue { name: "core.bare", .. }));
    assert!(!format!("{error}{error:?}").contains(marker));
    write_config(&root, "[remote \"origin\"]\n\turl\n");
    assert!(matches!(refusal(&root), RepositoryError::ConfigValue { name: "remote.origin.url", .. }));
    write_config(&root, &format!("[remote \"origin\"]\n\turl = {marker}\n"));
    assert!(!format!("{:?}", find_repository(&root).unwrap()).contains(marker));
    write_config(&root, &"#".repeat(1024 * 1024));
    assert!(matches!(refusal(&root), RepositoryError::TooLarge { .. }));
}

#[test]
fn messages_escape_names() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("a\n\u{202e}\"b");
    fs::create_dir(&folder).unwrap();
    let message = refusal(&folder).to_string();
    assert!(message.contains(r#"a\n\u{202e}\"b""#), "{message}");
}

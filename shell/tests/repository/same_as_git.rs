//! Every answer is the one that git gives.

use crate::git::{ask, ask_path, git, git_output, refusal, repository, repository_in, write_config};
use orca_container::gather::repository::{Repository, RepositoryError, find_repository};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Finds a repository and compares every answer with git's.
pub(crate) fn same_as_git(folder: &Path) -> Repository {
    let found = find_repository(folder).unwrap();
    assert_eq!(found.worktree_path, ask_path(folder, &["rev-parse", "--show-toplevel"]));
    assert_eq!(found.common_dir, ask_path(folder, &["rev-parse", "--git-common-dir"]));
    assert_eq!(found.git_dir, ask_path(folder, &["rev-parse", "--absolute-git-dir"]));
    let branch = ask(folder, &["symbolic-ref", "--short", "HEAD"]);
    assert_eq!(found.branch.as_deref().map(str::as_bytes), branch.as_deref());
    let url = ask(folder, &["remote", "get-url", "origin"]);
    assert_eq!(found.remote_url.as_ref().map(|url| url.reveal().as_bytes()), url.as_deref());
    found
}

#[test]
fn a_plain_repository_and_a_folder_in_it() {
    let (_parent, root) = repository();
    git(&root, &["remote", "add", "origin", "git@example.invalid:acme/acme.git"]);
    let inner = root.join("src/deep");
    fs::create_dir_all(&inner).unwrap();
    let found = same_as_git(&inner);
    assert_eq!(found, same_as_git(&root));
    assert_eq!(found.primary_checkout, root);
    assert_eq!(found.branch.as_deref(), Some("main"));
}

#[test]
fn a_link_to_a_folder_gives_the_real_path() {
    let (parent, root) = repository();
    let link = parent.path().join("link");
    symlink(&root, &link).unwrap();
    assert_eq!(same_as_git(&link).worktree_path, root);
}

#[test]
fn a_linked_worktree_knows_the_primary_checkout() {
    let (parent, root) = repository();
    let linked = parent.path().join("wt");
    git(&root, &["worktree", "add", "-q", "-b", "feature/ünï-漢", linked.to_str().unwrap()]);
    let found = same_as_git(&linked);
    assert_eq!(found.primary_checkout, root);
    assert_eq!(found.branch.as_deref(), Some("feature/ünï-漢"));
    let inside = root.join("nested/wt");
    git(&root, &["worktree", "add", "-q", "-b", "nested", inside.to_str().unwrap()]);
    assert_eq!(same_as_git(&inside).primary_checkout, root);
}

#[test]
fn names_with_blanks_newlines_and_quotes() {
    let parent = tempfile::tempdir().unwrap();
    let root = repository_in(parent.path(), "a b\n\"c\" 'd' $e\\f");
    same_as_git(&root);
    for name in ["x y\nz\"", "ends in blank "] {
        let linked = parent.path().join(name);
        git(&root, &["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
        assert_eq!(same_as_git(&linked).primary_checkout, root);
        git(&root, &["worktree", "remove", linked.to_str().unwrap()]);
        git(&root, &["branch", "-q", "-D", "side"]);
    }
    let odd = parent.path().join(OsStr::from_bytes(b"not-utf8-\xff"));
    fs::create_dir(&odd).unwrap();
    git(&odd, &["init", "-q"]);
    same_as_git(&odd);
}

#[test]
fn relative_pointers_both_ways() {
    let (parent, root) = repository();
    let linked = parent.path().join("wt").canonicalize().unwrap_or(parent.path().join("wt"));
    git(&root, &["worktree", "add", "-q", linked.to_str().unwrap()]);
    fs::write(linked.join(".git"), "gitdir: ../acme/.git/worktrees/wt\r\n\n").unwrap();
    same_as_git(&linked);
    fs::write(root.join(".git/worktrees/wt/gitdir"), "../../../../wt/.git\n").unwrap();
    same_as_git(&linked);
}

#[test]
fn head_detached_unborn_or_elsewhere() {
    let (parent, root) = repository();
    git(&root, &["checkout", "-q", "--detach"]);
    assert_eq!(same_as_git(&root).branch, None);
    let fresh = parent.path().join("fresh");
    fs::create_dir(&fresh).unwrap();
    git(&fresh, &["init", "-q", "-b", "not/yet"]);
    assert_eq!(same_as_git(&fresh).branch.as_deref(), Some("not/yet"));
    fs::write(root.join(".git/HEAD"), "ref: refs/heads/.invalid\n").unwrap();
    assert_eq!(find_repository(&root).unwrap().branch, None);
    fs::write(root.join(".git/HEAD"), "ref: refs/heads/a b\n").unwrap();
    assert!(matches!(refusal(&root), RepositoryError::BranchName { .. }));
}

#[test]
fn a_sha256_repository_and_a_reftable_one() {
    let parent = tempfile::tempdir().unwrap();
    git(parent.path(), &["init", "-q", "--object-format=sha256", "s"]);
    same_as_git(&parent.path().join("s"));
    let reftable = git_output(parent.path(), &["init", "-q", "--ref-format=reftable", "r"]);
    if reftable.status.success() {
        let found = find_repository(&parent.path().join("r")).unwrap();
        assert_eq!(found.branch, None);
    }
}

#[test]
fn the_url_is_the_one_that_git_fetches_from() {
    let (_parent, root) = repository();
    let texts = [
        "[remote \"origin\"]\n\turl = https://u:p@example.invalid/a.git\n\tfetch = +refs/heads/*:refs/x/*\n",
        "[remote \"origin\"]\n\turl = first\n\turl = second\n",
        "[remote \"origin\"]\n\turl = \"https://example.invalid/a#b;c\" # not this\n",
        "[remote \"origin\"]\n\turl = https://example.invalid/a#b\n",
        "[remote \"Origin\"]\n\turl = other\n[REMOTE \"origin\"]\n\tURL = this\n",
        "[remote \"Origin\"]\n\turl = other\n",
        "[remote.Origin]\n\turl = old-style\n",
        "[remote \"o\\rigin\"] url = escaped\n",
        "[remote \"origin\"]\n\turl = a\\\n  b \\\"c\\\" \n",
        "[remote \"origin\"]\n\turl = one\n[branch \"x\"]\n\tremote = y\n[remote \"origin\"]\n\turl = two\n",
        "[remote \"upstream\"]\n\turl = no\n# [remote \"origin\"]\n; url = no\n",
    ];
    for text in texts {
        write_config(&root, text);
        same_as_git(&root);
    }
}

#[test]
fn several_urls_and_an_empty_one() {
    let (_parent, root) = repository();
    write_config(&root, "[remote \"origin\"]\n\turl = first\n\turl = second\n");
    // `git config --get` says the last one; git fetches from the first.
    assert_eq!(ask(&root, &["config", "--get", "remote.origin.url"]).unwrap(), b"second");
    assert_eq!(same_as_git(&root).remote_url.unwrap().reveal(), "first");
    write_config(&root, "[remote \"origin\"]\n\turl = first\n\turl =\n\turl = third\n");
    assert_eq!(find_repository(&root).unwrap().remote_url.unwrap().reveal(), "third");
    write_config(&root, "[remote \"origin\"]\n\turl = first\n\turl =\n");
    assert_eq!(find_repository(&root).unwrap().remote_url, None);
}

#[test]
fn includes_and_rewrites_are_not_followed() {
    let (parent, root) = repository();
    let other = parent.path().join("other");
    fs::write(&other, "[remote \"origin\"]\n\turl = included\n").unwrap();
    write_config(&root, &format!("[include]\n\tpath = {}\n", other.display()));
    assert_eq!(find_repository(&root).unwrap().remote_url, None);
    write_config(&root, "[url \"secret:\"]\n\tinsteadOf = x:\n[remote \"origin\"]\n\turl = x:y\n");
    assert_eq!(find_repository(&root).unwrap().remote_url.unwrap().reveal(), "x:y");
}

#[test]
fn worktree_configuration_is_read_where_it_is_on() {
    let (parent, root) = repository();
    let linked = parent.path().join("wt");
    git(&root, &["worktree", "add", "-q", linked.to_str().unwrap()]);
    git(&root, &["remote", "add", "origin", "common"]);
    fs::write(root.join(".git/worktrees/wt/config.worktree"), "[remote \"origin\"]\nurl=\nurl = own\n")
        .unwrap();
    assert_eq!(same_as_git(&linked).remote_url.unwrap().reveal(), "common");
    git(&root, &["config", "extensions.worktreeConfig", "true"]);
    assert_eq!(find_repository(&linked).unwrap().remote_url.unwrap().reveal(), "own");
    assert_eq!(same_as_git(&root).remote_url.unwrap().reveal(), "common");
}

#[test]
fn a_submodule_is_a_worktree_of_its_own() {
    let (parent, root) = repository();
    let outer = repository_in(parent.path(), "outer");
    let allow = "protocol.file.allow=always";
    git(&outer, &["-c", allow, "submodule", "-q", "add", root.to_str().unwrap(), "sub"]);
    let sub = outer.join("sub");
    let found = same_as_git(&sub);
    assert_eq!((found.worktree_path, found.primary_checkout), (sub.clone(), sub));
}

#[test]
fn worktrees_of_a_bare_repository_have_no_primary_checkout() {
    let (parent, root) = repository();
    for bare in ["bare.git", "hub/.git"] {
        let bare = parent.path().join(bare);
        git(&root, &["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
        let linked = bare.with_extension("wt");
        git(&bare, &["worktree", "add", "-q", linked.to_str().unwrap(), "main"]);
        let found = same_as_git(&linked);
        assert_eq!(found.primary_checkout, found.worktree_path);
        assert!(matches!(refusal(&bare), RepositoryError::Bare { .. }));
    }
    assert!(matches!(refusal(&parent.path().join("hub")), RepositoryError::Bare { .. }));
    assert!(matches!(refusal(&root.join(".git/objects")), RepositoryError::Bare { .. }));
}

#[test]
fn an_empty_git_folder_is_passed_over_as_git_does() {
    let (_parent, root) = repository();
    fs::create_dir_all(root.join("sub/.git")).unwrap();
    assert_eq!(same_as_git(&root.join("sub")).worktree_path, root);
}

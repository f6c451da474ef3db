//! Which branch a workspace has: that of the worktree, another one of the repository, or a new one that begins inside.
//!
//! A new branch is in the repository on the host once it is fetched. Until then that one is only read, but for the reference
//! that holds a bare commit while it is cloned.

use std::path::Path;

use orca_container_core::input::Workspace;
use orca_container_core::{begin_reference, branch_reference, is_object_id, quoted};

use super::host_git::git;
use crate::engine::ClientError;
use crate::fault::effect;
use crate::store::RecordedWorkspace;

/// The branch that a person asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Branch {
    /// What is checked out in the worktree.
    #[default]
    CheckedOut,
    /// One that the repository has.
    Existing(String),
    /// One that the repository does not have, from a branch of it or of a remote; from what is checked out without one.
    New {
        /// Its name.
        name: String,
        /// What it begins at.
        base: Option<String>,
    },
    /// One that begins at a commit of the repository, whatever the repository's own branch of that name is at.
    At {
        /// Its name.
        name: String,
        /// The commit's whole id.
        commit: String,
    },
}

/// Why there is no such branch.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BranchError {
    /// It is not in the repository.
    #[error(
        "The repository has no branch {0}; a new one is made with --new-branch, from a branch or one of a remote."
    )]
    Missing(String),
    /// It is in the repository.
    #[error("The repository has a branch {0} already; a workspace of it is made with --branch.")]
    Exists(String),
    /// It is a reference's whole name.
    #[error(
        "A branch is named without refs/heads/ before it, and one of a remote is a --base only; {0} is neither."
    )]
    WholeName(String),
    /// git keeps branches as files and folders.
    #[error("The repository has a branch below or above {0}; git has no room for both.")]
    InTheWay(String),
    /// Nothing is checked out that it could begin at.
    #[error("A new branch begins at a branch, and none is checked out; name one with --base.")]
    NoBase,
    /// The commit is not here.
    #[error("The repository on this computer has no commit {0}; fetch it first (git fetch).")]
    NoCommit(String),
    /// git could not be run.
    #[error("git could not be run: {0}")]
    Git(#[from] ClientError),
}

/// Gives the workspace another branch than the checked-out one, and with it an id and a name of its own: what is in the
/// worktree's folder belongs to the branch that is checked out there. A real path never has the two slashes that part them.
pub fn choose(workspace: &mut Workspace, branch: &Branch) -> Result<(), BranchError> {
    let name = match branch {
        Branch::CheckedOut => return Ok(()),
        Branch::Existing(name) | Branch::New { name, .. } | Branch::At { name, .. } => name.clone(),
    };
    let repository = workspace.git_common_dir.clone().unwrap_or_else(|| workspace.repo_path.clone());
    if name.starts_with("refs/") {
        return Err(BranchError::WholeName(quoted(&name)));
    }
    let has = |reference: &str| is_there(Path::new(&repository), reference);
    let is_there = has(&branch_reference(&name))?;
    match branch {
        Branch::At { commit, .. } => {
            if !is_object_id(commit) || !is_commit(Path::new(&repository), commit)? {
                return Err(BranchError::NoCommit(quoted(commit)));
            }
            workspace.base = Some(commit.clone());
            workspace.new_branch = true;
        }
        Branch::New { .. } if is_there => return Err(BranchError::Exists(quoted(&name))),
        Branch::New { .. } if is_in_the_way(Path::new(&repository), &name)? => {
            return Err(BranchError::InTheWay(quoted(&name)));
        }
        Branch::New { base, .. } => {
            let base = base.clone().or(workspace.branch.take()).ok_or(BranchError::NoBase)?;
            let remote = format!("refs/remotes/{base}");
            workspace.base = Some(match () {
                () if has(&branch_reference(&base))? => base,
                () if has(&remote)? => remote,
                () => return Err(BranchError::Missing(quoted(&base))),
            });
            workspace.new_branch = true;
        }
        _ if !is_there => return Err(BranchError::Missing(quoted(&name))),
        _ => {}
    }
    workspace.id = format!("{}//{name}", workspace.id);
    workspace.name = format!("{}@{name}", workspace.name);
    workspace.branch = Some(name);
    Ok(())
}

/// The folder of the worktree that a workspace was made of, which its id begins with.
pub(crate) fn folder_of(id: &str) -> &str {
    id.split_once("//").map_or(id, |(folder, _)| folder)
}

/// What a workspace is cloned at: a new branch begins at its base, whatever the host has by its name.
pub(crate) fn start(workspace: &Workspace) -> Option<String> {
    let base = workspace.base.as_deref().filter(|_| workspace.new_branch);
    base.or(workspace.branch.as_deref()).map(branch_reference)
}

/// Where a workspace's branch is on the host; a new one that was never fetched is where it began.
pub(crate) fn tip(workspace: &Workspace) -> Option<String> {
    let own = branch_reference(workspace.branch.as_deref()?);
    let Some(base) = workspace.base.as_deref().filter(|_| workspace.new_branch) else { return Some(own) };
    let repository = workspace.git_common_dir.as_deref().unwrap_or(&workspace.repo_path);
    let fetched = is_there(Path::new(repository), &own).unwrap_or(false);
    // What is committed at the base later is none of what the workspace has.
    Some(if fetched { own } else { workspace.commit.clone().unwrap_or_else(|| branch_reference(base)) })
}

/// Whether a reference is there, by exactly this name. What git cannot say is an error, never an absence.
fn is_there(repository: &Path, reference: &str) -> Result<bool, ClientError> {
    let answer = git(repository, &["show-ref", "--verify", "--quiet", "--", reference])?;
    match answer.code {
        0 => Ok(true),
        1 => Ok(false),
        _ => Err(answer.unusable("git")),
    }
}

/// Whether a branch is there whose name is a beginning of this one, or goes on after it.
fn is_in_the_way(repository: &Path, name: &str) -> Result<bool, ClientError> {
    let below = git(repository, &["for-each-ref", "--count=1", &format!("refs/heads/{name}/")])?;
    let mut above = name;
    while let Some((start, _)) = above.rsplit_once('/') {
        if is_there(repository, &branch_reference(start))? {
            return Ok(true);
        }
        above = start;
    }
    Ok(!below.stdout.is_empty())
}

/// Whether the repository has a commit.
fn is_commit(repository: &Path, id: &str) -> Result<bool, ClientError> {
    Ok(git(repository, &["cat-file", "-e", &format!("{id}^{{commit}}")])?.code == 0)
}

/// The reference under which a commit is handed over that a branch begins at: a bundle holds references only. It is there
/// while the clone is made.
pub(crate) fn hold(record: &RecordedWorkspace, name: &str) -> Result<(), ClientError> {
    let Some(commit) = bare_commit(record) else { return Ok(()) };
    let reference = begin_reference(name);
    let words = ["update-ref", "--no-deref", &reference, commit];
    let answer = effect(|| Some("git update-ref".into()), || git(Path::new(repository_of(record)), &words))?;
    if answer.code == 0 { Ok(()) } else { Err(answer.unusable("git")) }
}

/// Takes that reference away. What cannot be removed now goes with the workspace.
pub(crate) fn let_go(record: &RecordedWorkspace, name: &str) {
    if bare_commit(record).is_some() {
        let reference = begin_reference(name);
        let words = ["update-ref", "--no-deref", "-d", &reference];
        let _ = effect(|| Some("git update-ref".into()), || git(Path::new(repository_of(record)), &words));
    }
}

/// The commit that the workspace's branch begins at, where no reference is its base.
fn bare_commit(record: &RecordedWorkspace) -> Option<&str> {
    record.base.as_deref().filter(|base| record.new_branch && is_object_id(base))
}

fn repository_of(record: &RecordedWorkspace) -> &str {
    record.git_common_dir.as_deref().unwrap_or(&record.repo_path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository() -> (tempfile::TempDir, Workspace) {
        let folder = tempfile::tempdir().unwrap();
        let script = "git init -q -b main . && git -c user.name=n -c user.email=e commit -q --allow-empty -m one \
            && git branch other && git update-ref refs/remotes/origin/topic HEAD";
        let made = std::process::Command::new("sh")
            .args(["-ec", script])
            .current_dir(folder.path())
            .status()
            .unwrap();
        assert!(made.success());
        let gathered = crate::gather::request::gather(
            folder.path(),
            &crate::settings::Settings::default(),
            crate::gather::request::Words::default(),
        );
        (folder, gathered.unwrap().request.workspace)
    }

    fn new(name: &str, base: Option<&str>) -> Branch {
        Branch::New { name: name.into(), base: base.map(String::from) }
    }

    #[test]
    fn what_is_checked_out_keeps_the_folders_id_and_what_is_named_has_one_of_its_own() {
        let (_folder, workspace) = repository();
        let id_of = |branch: &Branch| {
            let mut chosen = workspace.clone();
            choose(&mut chosen, branch).unwrap();
            assert_eq!(chosen.branch.as_deref(), Some("main"));
            chosen.id
        };
        assert_eq!(id_of(&Branch::CheckedOut), workspace.id);
        assert_eq!(id_of(&Branch::Existing("main".into())), format!("{}//main", workspace.id));
    }

    #[test]
    fn another_branch_is_another_workspace_of_the_same_folder() {
        let (_folder, mut workspace) = repository();
        let folder = workspace.id.clone();
        choose(&mut workspace, &Branch::Existing("other".into())).unwrap();
        assert_eq!(workspace.id, format!("{folder}//other"));
        assert_eq!(folder_of(&workspace.id), folder);
        assert_eq!(tip(&workspace).as_deref(), Some("refs/heads/other"));
    }

    #[test]
    fn a_new_branch_begins_at_a_branch_or_at_one_of_a_remote() {
        let (_folder, workspace) = repository();
        for (base, reference) in [
            (None, "refs/heads/main"),
            (Some("other"), "refs/heads/other"),
            (Some("origin/topic"), "refs/remotes/origin/topic"),
        ] {
            let mut chosen = workspace.clone();
            choose(&mut chosen, &new("feature/x", base)).unwrap();
            assert!(chosen.new_branch && chosen.branch.as_deref() == Some("feature/x"));
            assert_eq!(tip(&chosen).as_deref(), Some(reference));
        }
    }

    #[test]
    fn what_is_not_there_or_there_already_is_refused() {
        let (_folder, workspace) = repository();
        for branch in [
            Branch::Existing("none".into()),
            Branch::Existing("refs/remotes/origin/topic".into()),
            new("other", None),
            new("other/x", None),
            new("x", Some("none")),
        ] {
            assert!(choose(&mut workspace.clone(), &branch).is_err(), "{branch:?}");
        }
        let mut detached = workspace.clone();
        detached.branch = None;
        assert!(matches!(choose(&mut detached, &new("x", None)), Err(BranchError::NoBase)));
    }
}

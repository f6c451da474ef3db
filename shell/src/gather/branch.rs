//! Which branch a workspace has: that of the worktree, another one of the repository, or a new one that begins inside.
//!
//! The repository on the host is only read: a new branch is in it once it is fetched.

use std::path::Path;

use orca_container_core::input::Workspace;
use orca_container_core::{branch_reference, quoted};

use super::host_git::git;
use crate::engine::ClientError;

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
    /// Nothing is checked out that it could begin at.
    #[error("A new branch begins at a branch, and none is checked out; name one with --base.")]
    NoBase,
    /// git could not be run.
    #[error("git could not be run: {0}")]
    Git(#[from] ClientError),
}

/// Gives the workspace another branch than the checked-out one, and with it an id and a name of its own: what is in the
/// worktree's folder belongs to the branch that is checked out there. A real path never has the two slashes that part them.
pub fn choose(workspace: &mut Workspace, branch: &Branch) -> Result<(), BranchError> {
    let name = match branch {
        Branch::CheckedOut => return Ok(()),
        Branch::Existing(name) if workspace.branch.as_ref() == Some(name) => return Ok(()),
        Branch::Existing(name) | Branch::New { name, .. } => name.clone(),
    };
    let repository = workspace.git_common_dir.clone().unwrap_or_else(|| workspace.repo_path.clone());
    let has = |reference: &str| is_there(Path::new(&repository), reference);
    let is_there = has(&branch_reference(&name))?;
    match branch {
        Branch::New { .. } if is_there => return Err(BranchError::Exists(quoted(&name))),
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

/// Where a workspace's branch is on the host; a new one that was never fetched is where it began.
pub(crate) fn tip(workspace: &Workspace) -> Option<String> {
    let own = branch_reference(workspace.branch.as_deref()?);
    let Some(base) = workspace.base.as_deref().filter(|_| workspace.new_branch) else { return Some(own) };
    let repository = workspace.git_common_dir.as_deref().unwrap_or(&workspace.repo_path);
    let fetched = is_there(Path::new(repository), &own).unwrap_or(false);
    Some(if fetched { own } else { branch_reference(base) })
}

/// Whether a reference is there, by exactly this name.
fn is_there(repository: &Path, reference: &str) -> Result<bool, ClientError> {
    Ok(git(repository, &["show-ref", "--verify", "--quiet", "--", reference])?.code == 0)
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
    fn what_is_checked_out_keeps_the_folders_id() {
        let (_folder, workspace) = repository();
        for branch in [Branch::CheckedOut, Branch::Existing("main".into())] {
            let mut chosen = workspace.clone();
            choose(&mut chosen, &branch).unwrap();
            assert_eq!((chosen.id, chosen.branch.as_deref()), (workspace.id.clone(), Some("main")));
        }
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
        for branch in [Branch::Existing("none".into()), new("other", None), new("x", Some("none"))] {
            assert!(choose(&mut workspace.clone(), &branch).is_err(), "{branch:?}");
        }
        let mut detached = workspace.clone();
        detached.branch = None;
        assert!(matches!(choose(&mut detached, &new("x", None)), Err(BranchError::NoBase)));
    }
}

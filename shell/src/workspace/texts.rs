//! The repository's texts as they are committed.

use std::path::{Path, PathBuf};

use orca_container_core::input::{PlanRequest, RepositoryFile, WorktreeIncludeFile};
use orca_container_core::{Sensitive, limits};

use super::{Ui, WorkspaceError};
use crate::gather::branch::{Branch, choose, folder_of, start, tip};
use crate::gather::committed::Committed;
use crate::gather::devcontainer;
use crate::gather::request::{devcontainer_file, know, worktree_include};

/// What the texts are read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texts {
    /// A workspace that is made.
    Created,
    /// One that is there, and takes what is committed.
    Adopted,
}

/// Where a workspace's folder, by its id, lies in its worktree, by their names: the folder need not be there now.
pub(super) fn inside_of(id: &str, worktree: Option<&str>) -> PathBuf {
    let inside = worktree.and_then(|worktree| Path::new(folder_of(id)).strip_prefix(worktree).ok());
    inside.unwrap_or(Path::new("")).to_path_buf()
}

/// Makes a request one of another branch, with the texts that are committed there: what a create of it would judge.
pub fn take_branch(
    request: &mut PlanRequest,
    branch: &Branch,
    chosen: Option<&str>,
    ui: &mut dyn Ui,
) -> Result<(), WorkspaceError> {
    choose(&mut request.workspace, branch)?;
    use_committed_texts(request, chosen, Texts::Created, ui)
}

/// The repository's texts of the commit that is cloned, not of the files that somebody is editing.
pub(super) fn use_committed_texts(
    request: &mut PlanRequest,
    chosen: Option<&str>,
    texts: Texts,
    ui: &mut dyn Ui,
) -> Result<(), WorkspaceError> {
    let place = match texts {
        Texts::Created => start(&request.workspace),
        Texts::Adopted => tip(&request.workspace),
    };
    let Some(tip) = place else { return Ok(()) };
    let Some(worktree) = request.workspace.worktree_path.clone() else { return Ok(()) };
    // The worktree may be gone where the branch is another one than it had.
    let repository = request.workspace.git_common_dir.clone().unwrap_or_else(|| worktree.clone());
    let committed = Committed::at_reference(Path::new(&repository), &tip)?;
    request.workspace.commit = Some(committed.commit().to_owned());
    let include = match texts {
        // Ignored files are in no commit: they and the list of them are the primary checkout's.
        Texts::Created => worktree_include(Path::new(&request.workspace.repo_path))?,
        // What somebody writes there meanwhile is no word of a person: only a commit is adopted.
        Texts::Adopted => committed
            .text(".worktreeinclude", limits::WORKTREE_INCLUDE_BYTES)?
            .map(|text| WorktreeIncludeFile { text: text.into(), ignored: Vec::new() })
            .or(request.worktree_include.take()),
    };
    request.worktree_include = include;
    let inside = inside_of(&request.workspace.id, Some(&worktree));
    let path_of = |name: &str| inside.join(name).to_string_lossy().into_owned();
    request.orca_yaml = committed
        .text(&path_of("orca.yaml"), limits::ORCA_YAML_BYTES)?
        .map(|text| RepositoryFile { path: "orca.yaml".into(), text: Sensitive::from(text) });
    let text = |path: &str| committed.text(&path_of(path), limits::DEVCONTAINER_BYTES);
    let found = devcontainer::find(chosen, text, || committed.folders(&path_of(".devcontainer")))?;
    request.devcontainer = found.file.map(devcontainer_file);
    request.devcontainer_candidates = found.candidates;
    let dockerfile = |path: &str| committed.text(&path_of(path), limits::DOCKERFILE_BYTES);
    if let Some(path) = devcontainer::missing_dockerfile(request, dockerfile)? {
        return Err(WorkspaceError::NoDockerfile { path });
    }
    know(request);
    let notes = committed.notes()?;
    if notes.submodules {
        ui.progress("notice: The repository has submodules; they are not cloned.");
    }
    if notes.lfs {
        ui.progress("notice: Files of the repository are kept by git LFS; they are cloned as pointers.");
    }
    Ok(())
}

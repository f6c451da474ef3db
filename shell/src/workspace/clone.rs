//! A workspace whose project lives in its volume only: cloned from a URL by git in the container, over the one connection
//! that a person hands a token or a key for.
//!
//! What the repository says is known once it is there. So the workspace is made without it, and made anew with it before
//! anybody works inside: then it is judged, shown and asked like any other repository's word.

use orca_container_core::input::{ContainerOptions, DevcontainerFile, PlanRequest, RepositoryFile};
use orca_container_core::{CloneFrom, PlanAnswer, Sensitive, limits, plan};

use super::create::{Making, create_locked, worktree_lock};
use super::drift::{FoundInside, file_inside};
use super::recreate::{RecreateOptions, recreate};
use super::{Told, Ui, WorkspaceError};
use crate::gather::devcontainer;
use crate::gather::remote::{Credential, Remote, gather_remote, handed_over};
use crate::gather::request::{Words, devcontainer_file, know};
use crate::settings::Settings;
use crate::store::{Store, WorkspaceRecord};

/// What is cloned, and how.
#[derive(Debug)]
pub struct CloneOptions<'a> {
    /// From where.
    pub remote: Remote,
    /// What the clone may use.
    pub credential: Credential,
    /// Settings.
    pub settings: &'a Settings,
    /// The command line.
    pub words: Words,
    /// Digests that are approved here and now.
    pub approve: Vec<String>,
}

/// A workspace that was cloned.
#[derive(Debug)]
pub struct Cloned {
    /// Its record.
    pub record: WorkspaceRecord,
    /// Why the repository's files do not count yet, where they do not.
    pub not_adopted: Option<WorkspaceError>,
}

/// Makes the workspace; `tell` gets what the repository's files change, before anything is asked.
pub fn clone(
    options: CloneOptions<'_>,
    store: &Store,
    ui: &mut dyn Ui,
    tell: &mut dyn FnMut(&Told<'_>, &mut dyn Ui),
) -> Result<Cloned, WorkspaceError> {
    super::remove_leftovers(store);
    let chosen = options.words.devcontainer.clone();
    let request = gather_remote(&options.remote, options.settings, options.words);
    // Refused before a host is looked up or a key is read.
    if let PlanAnswer::Refused(refusal) = plan(&request) {
        return Err(refusal.into());
    }
    let secret = handed_over(&options.remote.url, &options.credential)?;
    let making = Making {
        approve: &of_the_image(&request, &options.approve),
        chosen: chosen.as_deref(),
        clone_secret: Some(secret),
    };
    let lock = worktree_lock(store, &request)?;
    let made = create_locked(request, making, store, ui);
    lock.remove();
    let record = made?;
    if !has_texts(&record)? {
        return Ok(Cloned { record, not_adopted: None });
    }
    let adopting = RecreateOptions {
        settings: options.settings,
        choices: ContainerOptions::default(),
        devcontainer: chosen,
        adopt: true,
        reset_agent: false,
        approve: options.approve,
        dry_run: false,
    };
    ui.progress("Taking what the repository's files say");
    match recreate(&record, store, &adopting, ui, tell) {
        Ok(record) => Ok(Cloned { record, not_adopted: None }),
        Err(cause) => Ok(Cloned { record, not_adopted: Some(cause) }),
    }
}

/// Digests that are asked for without the repository's files; the others are about these.
fn of_the_image(request: &PlanRequest, approve: &[String]) -> Vec<String> {
    let PlanAnswer::Planned(planned) = plan(request) else { return Vec::new() };
    let asked = |digest: &&String| planned.pending_approvals.iter().any(|one| one.digest == **digest);
    approve.iter().filter(asked).cloned().collect()
}

/// Whether the clone has a file that says something about the container.
fn has_texts(record: &WorkspaceRecord) -> Result<bool, WorkspaceError> {
    let mut empty = None;
    for path in ["orca.yaml", ".devcontainer.json", ".devcontainer/devcontainer.json"] {
        empty = text_inside(record, path, limits::DEVCONTAINER_BYTES)?;
        if empty.is_some() {
            break;
        }
    }
    Ok(empty.is_some())
}

/// The texts as they are in the clone now: there is no other place where they are committed.
pub(super) fn use_texts_inside(
    request: &mut PlanRequest,
    record: &WorkspaceRecord,
    chosen: Option<&str>,
) -> Result<(), WorkspaceError> {
    debug_assert_eq!(record.workspace.clone_from, CloneFrom::Remote);
    let orca_yaml = text_inside(record, "orca.yaml", limits::ORCA_YAML_BYTES)?;
    request.orca_yaml =
        orca_yaml.map(|text| RepositoryFile { path: "orca.yaml".into(), text: Sensitive::from(text) });
    let text = |path: &str| text_inside(record, path, limits::DEVCONTAINER_BYTES);
    // A folder is not listed from outside; whoever has several files names one.
    let found = devcontainer::find(chosen, text, || Ok::<_, WorkspaceError>(Vec::new()))?;
    request.devcontainer = found.file.map(|file| -> DevcontainerFile { devcontainer_file(file) });
    request.devcontainer_candidates = found.candidates;
    know(request);
    let none = |_: &str| Ok::<_, WorkspaceError>(None);
    match devcontainer::missing_dockerfile(request, none)? {
        Some(_) => Err(WorkspaceError::NothingToBuildFrom),
        None => Ok(()),
    }
}

fn text_inside(record: &WorkspaceRecord, path: &str, cap: usize) -> Result<Option<String>, WorkspaceError> {
    match file_inside(record, path, cap) {
        FoundInside::Absent => Ok(None),
        FoundInside::Text(text) => Ok(Some(text)),
        FoundInside::Other => Err(WorkspaceError::Blocked(vec![format!(
            "{} in the clone must be a regular file in UTF-8.",
            orca_container_core::quoted(path)
        )])),
        FoundInside::Unknown => Err(WorkspaceError::Blocked(vec![format!(
            "{} in the clone cannot be read; the workspace's container must be there.",
            orca_container_core::quoted(path)
        )])),
    }
}

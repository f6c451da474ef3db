//! A workspace whose project lives in its volume only: cloned from a URL by git in the container, over the one connection
//! that a person hands a token or a key for.
//!
//! What the repository says is known once it is there. So the workspace is made without it, and made anew with it before
//! anybody works inside: then it is judged, shown and asked like any other repository's word.

use orca_container_core::input::{ContainerOptions, PlanRequest};
use orca_container_core::{PlanAnswer, plan};

use super::create::{Making, create_locked, worktree_lock};
use super::recreate::{RecreateOptions, recreate};
use super::texts_inside::has_texts;
use super::{Told, Ui, WorkspaceError};
use crate::gather::remote::{Credential, Remote, gather_remote, handed_over};
use crate::gather::request::Words;
use crate::settings::Settings;
use crate::store::{Store, WorkspaceRecord};

/// The image that a person chooses to take that of devcontainer.json.
const DEVCONTAINER: &str = "devcontainer";

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
    /// Its record, as it is now.
    pub record: WorkspaceRecord,
    /// What failed after it was cloned; while `texts_due` is set the repository's files do not count yet.
    pub failed: Option<WorkspaceError>,
}

/// Makes the workspace; `tell` gets what the repository's files change, before anything is asked. A clone that was killed in
/// between goes on where it was.
pub fn clone(
    options: CloneOptions<'_>,
    store: &Store,
    ui: &mut dyn Ui,
    tell: &mut dyn FnMut(&Told<'_>, &mut dyn Ui),
) -> Result<Cloned, WorkspaceError> {
    super::remove_leftovers(store);
    let chosen = options.words.devcontainer.clone();
    let image = options.words.choices.image.clone();
    let mut words = options.words;
    if image.as_deref() == Some(DEVCONTAINER) {
        // There is none before it is cloned: until then it is the settings' image.
        words.choices.image = None;
    }
    let request = gather_remote(&options.remote, options.settings, words);
    // Refused before a host is looked up or a key is read.
    if let PlanAnswer::Refused(refusal) = plan(&request) {
        return Err(refusal.into());
    }
    name_is_free(store, &request)?;
    let lock = worktree_lock(store, &request)?;
    let adopting = RecreateOptions {
        settings: options.settings,
        choices: ContainerOptions { image, ..ContainerOptions::default() },
        devcontainer: chosen,
        adopt: true,
        reset_agent: false,
        approve: options.approve,
        dry_run: false,
    };
    let cloned = cloned(request, &options.remote, &options.credential, &adopting, store, ui)
        .map(|record| (settle(&record, store, &adopting, ui, tell).err(), record));
    lock.remove();
    let (failed, record) = cloned?;
    let record = store.record(record.file_name())?.unwrap_or(record);
    Ok(Cloned { record, failed })
}

/// The clone that is there, or a new one.
fn cloned(
    request: PlanRequest,
    remote: &Remote,
    credential: &Credential,
    adopting: &RecreateOptions<'_>,
    store: &Store,
    ui: &mut dyn Ui,
) -> Result<WorkspaceRecord, WorkspaceError> {
    if let Some(record) = unfinished(store, &request)? {
        return Ok(record);
    }
    let secret = handed_over(&remote.url, credential)?;
    let chosen = adopting.devcontainer.as_deref();
    create_locked(request, Making { approve: &[], chosen, clone_secret: Some(secret) }, store, ui)
}

/// Two workspaces of one name could not be told apart by it.
fn name_is_free(store: &Store, request: &PlanRequest) -> Result<(), WorkspaceError> {
    let (records, _) = store.records()?;
    let asked = &request.workspace;
    let taken =
        |record: &WorkspaceRecord| record.workspace.name == asked.name && record.workspace.id != asked.id;
    if records.iter().any(taken) {
        return Err(WorkspaceError::NameTaken(orca_container_core::quoted(&asked.name)));
    }
    Ok(())
}

/// A workspace of this URL whose clone is there and whose files were not looked at.
fn unfinished(store: &Store, request: &PlanRequest) -> Result<Option<WorkspaceRecord>, WorkspaceError> {
    let (records, _) = store.records()?;
    let installed = store.install_id()?;
    Ok(records.into_iter().find(|record| {
        record.workspace.id == request.workspace.id
            && installed.as_ref() == Some(&record.install_id)
            && record.texts_due
            && !record.progress.phase.is_unfinished()
    }))
}

/// Makes the container anew by what the repository's files say; where there are none, that is written down.
fn settle(
    record: &WorkspaceRecord,
    store: &Store,
    adopting: &RecreateOptions<'_>,
    ui: &mut dyn Ui,
    tell: &mut dyn FnMut(&Told<'_>, &mut dyn Ui),
) -> Result<(), WorkspaceError> {
    let wants_file =
        adopting.devcontainer.is_some() || adopting.choices.image.as_deref() == Some(DEVCONTAINER);
    if wants_file || has_texts(record)? {
        ui.progress("Taking what the repository's files say");
        return recreate(record, store, adopting, ui, tell).map(drop);
    }
    if let Some(digest) = adopting.approve.first() {
        return Err(WorkspaceError::NothingAsked(orca_container_core::quoted(digest)));
    }
    let _lock = store.lock(record.file_name())?;
    if let Some(mut now) = store.record(record.file_name())? {
        now.texts_due = false;
        store.write_record(&now)?;
    }
    Ok(())
}

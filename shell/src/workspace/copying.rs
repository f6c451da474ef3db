//! `copy`: ignored files into a workspace that is there, by the frozen list, once more.

use std::path::Path;

use orca_container_core::copies;

use super::helper::remove_leftovers;
use super::recreate::request_of;
use super::{Again, Copying, Runner, Ui, WorkspaceError};
use crate::copy::CopyReport;
use crate::gather::request::list_ignored;
use crate::settings::Settings;
use crate::store::{Store, WorkspaceRecord};

/// Copies the ignored files that the frozen .worktreeinclude lists, as they are on the host now. Whoever asks for it grants
/// it. The container may live meanwhile and do what it likes with its files: the tar that runs in it is its user's.
pub fn copy_again(
    record: &WorkspaceRecord,
    store: &Store,
    settings: &Settings,
    again: Again,
    ui: &mut dyn Ui,
) -> Result<CopyReport, WorkspaceError> {
    let name = || orca_container_core::quoted(&record.workspace.name);
    remove_leftovers(store);
    let _lock = store.lock(record.file_name())?;
    let record = store.record(record.file_name())?.ok_or_else(|| WorkspaceError::NotFound(name()))?;
    if record.progress.is_unfinished() {
        return Err(WorkspaceError::Unfinished(name()));
    }
    let mut request = request_of(&record, store, settings)?;
    request.choices.copy_ignored_files = Some(true);
    if request.worktree_include.is_none() {
        let why = "There was no .worktreeinclude when the workspace was made, so there is nothing to copy.";
        return Err(WorkspaceError::Blocked(vec![why.into()]));
    }
    if let Some(note) = list_ignored(&mut request)? {
        ui.progress(&note);
    }
    let files = copies(&request)?.files;
    let checkout = Path::new(&record.workspace.repo_path).to_path_buf();
    let commit = record.workspace.commit.clone().unwrap_or_default();
    let mut runner = Runner::new(store, record, true);
    runner.observe();
    runner.require_container()?;
    if !runner.is_running() {
        let why = "Files are copied into a container that runs; start the workspace first.";
        return Err(WorkspaceError::Blocked(vec![why.into()]));
    }
    runner.copy = Some(Copying { checkout, commit, files, again: Some(again) });
    runner.copy_ignored_files(ui)?;
    store.write_record(&runner.record)?;
    Ok(runner.record.copied.unwrap_or_default())
}

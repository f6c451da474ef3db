//! Which folder a command is about and whose settings count.

use std::path::{Path, PathBuf};

use clap::Args;
use orca_container_core::input::PlanRequest;
use orca_container_core::quoted;

use super::container_flags::ContainerFlags;
use super::person::Person;
use super::workspace::failure;
use super::{Failure, Io};
use crate::gather::branch::Branch;
use crate::gather::request::{gather, list_ignored};
use crate::gather::settings_file::SettingsPlace;
use crate::settings::Settings;
use crate::workspace::take_branch;

/// A folder in a git worktree, and settings.
#[derive(Debug, Args)]
pub(super) struct Target {
    /// Folder in a git worktree; the current one by default
    path: Option<PathBuf>,
    /// Settings file; by default orca-container/settings.json in the folder for configuration
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
}

/// The ids and approvals that this machine's store knows for the folder; what it does not know stays a preview.
#[cfg(unix)]
fn known_ids(request: &mut PlanRequest) {
    let Ok(store) = crate::store::Store::of_process() else { return };
    if let Ok(Some(id)) = store.install_id() {
        request.install.id = id;
    }
    if let Ok((records, _)) = store.records()
        && let Some(record) = records.into_iter().find(|record| record.workspace.id == request.workspace.id)
    {
        request.workspace.instance_id = record.workspace.instance_id;
    }
    if let Ok(approvals) = store.approvals() {
        request.approvals.extend(approvals.of_repository(&request.workspace.repository_id));
    }
}

#[cfg(not(unix))]
fn known_ids(_: &mut PlanRequest) {}

impl Target {
    /// The target of these words.
    pub(super) fn of(path: Option<PathBuf>, settings: Option<PathBuf>) -> Self {
        Self { path, settings }
    }

    /// The request for the folder, with its files as they are.
    pub(super) fn request(&self, flags: ContainerFlags, io: &mut Io<'_>) -> Result<PlanRequest, Failure> {
        self.request_of(flags, &Branch::CheckedOut, io)
    }

    /// The same for a branch of it. Of another branch than the one that is checked out the committed files count, as they do
    /// for its create.
    pub(super) fn request_of(
        &self,
        flags: ContainerFlags,
        branch: &Branch,
        io: &mut Io<'_>,
    ) -> Result<PlanRequest, Failure> {
        let words = flags.words()?;
        let chosen = words.devcontainer.clone();
        let settings = self.settings()?;
        let folder = self.folder();
        let gathered = gather(folder, &settings, words).map_err(|error| Failure::of(&error))?;
        for key in &gathered.passed_over {
            writeln!(
                io.stderr,
                "warning: The settings for {} are passed over: no git worktree is there.",
                quoted(key)
            )?;
        }
        let mut request = gathered.request;
        if *branch != Branch::CheckedOut {
            let taken = take_branch(&mut request, branch, chosen.as_deref(), &mut Person::new(io));
            taken.map_err(|error| failure(error, io))?;
        }
        known_ids(&mut request);
        if let Some(note) = list_ignored(&mut request).map_err(|error| Failure::of(&error))? {
            writeln!(io.stderr, "{note}")?;
        }
        Ok(request)
    }

    /// The folder.
    pub(super) fn folder(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new("."))
    }

    /// The settings.
    pub(super) fn settings(&self) -> Result<Settings, Failure> {
        let file = SettingsPlace::of_process(self.settings.as_deref())
            .read()
            .map_err(|error| Failure::of(&error))?;
        file.map_or_else(|| Ok(Settings::default()), |file| Settings::of(&file))
            .map_err(|error| Failure::of(&error))
    }
}

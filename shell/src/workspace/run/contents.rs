//! What comes from this computer into a workspace's volume: the clone and ignored files.

use std::path::{Path, PathBuf};

use orca_container_core::{Action, Arg, CloneFrom, RepositoryPath, UNPACK, UNPACK_OVER, is_object_id};

use super::super::{Ui, WorkspaceError};
use super::Runner;
use crate::copy::{Budget, Collected, collect, write_archive};
use crate::engine::{Supplies, Writer, check_room};
use crate::gather::git_head::is_branch_name;
use crate::gather::ignored::{is_ignored, tracked};
use crate::gather::own_objects::OwnObjects;

/// Which ignored files are copied, and from where.
#[derive(Debug)]
pub struct Copying {
    /// The checkout that has them.
    pub checkout: PathBuf,
    /// The commit that is cloned: what is in it is not written over.
    pub commit: String,
    /// What the plan says is copied.
    pub files: Vec<RepositoryPath>,
    /// What becomes of files that the clone has, where this is not its first copy.
    pub again: Option<Again>,
}

/// What a later copy does with files that are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// They are kept.
    Keep,
    /// They are replaced.
    Replace,
}

impl Runner<'_> {
    /// What is cloned lies in the repository itself, right before the bundle and still after it.
    pub(super) fn clone_repository(&mut self) -> Result<(), WorkspaceError> {
        if self.record.workspace.clone_from == CloneFrom::Remote {
            return self.clone_remote();
        }
        let own = OwnObjects::check(Path::new(&self.record.workspace.repo_path))?;
        self.carry_out(Action::Clone)?;
        Ok(own.still()?)
    }

    /// The container fetches it by itself; what it says of branch and commit is kept where git could have said it.
    fn clone_remote(&mut self) -> Result<(), WorkspaceError> {
        let command = self.command(Action::Clone);
        let secret = self.clone_secret.take();
        let supplies = Supplies { clone_secret: secret.as_ref(), ..Supplies::default() };
        let said = self.carry.run(Action::Clone, &command, supplies)?.text();
        let mut lines = said.lines();
        let (branch, commit) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        if !is_branch_name(branch) || !is_object_id(commit) {
            let why = "The clone was made, and what it says of its branch is nothing that git says.";
            return Err(WorkspaceError::Blocked(vec![why.into()]));
        }
        self.record.workspace.branch = Some(branch.into());
        self.record.workspace.commit = Some(commit.into());
        Ok(())
    }

    /// Measured before a byte is written; what is left out is told and kept in the record.
    pub(in crate::workspace) fn copy_ignored_files(&mut self, ui: &mut dyn Ui) -> Result<(), WorkspaceError> {
        let missing = || WorkspaceError::NotFound("the list of ignored files".into());
        let Copying { checkout, commit, files, again } = self.copy.take().ok_or_else(missing)?;
        let tracked = tracked(&checkout, &commit, &files)?;
        let ignores = |path: &[u8]| is_ignored(&checkout, path).unwrap_or(false);
        let found =
            collect(&checkout, &files, &tracked, Budget::ORCA, &ignores).map_err(WorkspaceError::Checkout)?;
        let Collected { mut items, mut report } = found;
        if let Some(again) = again {
            items = self.without_those_there(items, &mut report, again)?;
        }
        self.leaves_room_for(report.bytes)?;
        let mut command = self.command(Action::CopyIgnoredFiles);
        if again == Some(Again::Replace) {
            // The same words but for the script: what is there gives way.
            let over = |arg: &mut Arg| *arg = Arg::Text(UNPACK_OVER.into());
            command.argv.iter_mut().filter(|arg| **arg == Arg::Text(UNPACK.into())).for_each(over);
        }
        let files: Writer<'_> = Box::new(|output| write_archive(&checkout, &items, &mut report, output));
        let supplies = Supplies { archive: Some(files), ..Supplies::default() };
        self.carry.run(Action::CopyIgnoredFiles, &command, supplies)?;
        report.lines().iter().for_each(|line| ui.progress(line));
        self.record.copied = Some(report);
        Ok(())
    }

    /// The floor holds after the copy as well: what is copied is known before a byte of it is written.
    fn leaves_room_for(&self, bytes: u64) -> Result<(), WorkspaceError> {
        check_room(self.record.engine.kind, &self.record.engine.data_places, bytes)?;
        Ok(())
    }
}

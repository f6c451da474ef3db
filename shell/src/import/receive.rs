//! The bundle out of the container, into a file of ours. All that is written there is somebody else's word.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use orca_container_core::{
    BUNDLE_OUT, BundleFault, BundleHead, NO_BRANCH_INSIDE, NOTHING_NEW_INSIDE, is_object_id, limits,
};

use super::ImportError;
use super::quarantine::{Quarantine, start_of};
use crate::engine::{Bounds, DISK_FLOOR, NO_PROGRESS, OutBounds, TakeOutError, free_bytes, take_out};
use crate::store::WorkspaceRecord;

/// Bytes after which the disk is looked at again.
const PORTION: u64 = 64 * 1024 * 1024;

/// What came.
#[derive(Debug)]
pub(super) enum Received {
    /// A bundle, and what its head says.
    Bundle(File, BundleHead),
    /// Nothing that is not known: the branch is at this commit.
    Nothing(String),
}

/// Has the container write its branch, without what the known commits reach.
pub(super) fn receive(
    record: &WorkspaceRecord,
    branch: &str,
    known: &[String],
    quarantine: &Quarantine,
    root: &Path,
) -> Result<Received, ImportError> {
    let mut file = quarantine.unnamed_file().map_err(ImportError::Folder)?;
    let command = command(record, branch, known);
    let bounds = OutBounds {
        call: Bounds::time(Duration::from_secs(u64::from(limits::BUNDLE_DEADLINE_S))),
        no_progress: NO_PROGRESS,
        most: limits::BUNDLE_BYTES,
    };
    let mut sink = Sparing { file: &mut file, root, left: 0 };
    let ended =
        take_out(command, &record.engine.program, &mut sink, bounds).map_err(|error| match error {
            TakeOutError::TooLarge(_) => ImportError::TooLarge,
            error => ImportError::NotReceived(error),
        })?;
    let start =
        start_of(&mut file, limits::BUNDLE_HEAD_BYTES.saturating_add(1)).map_err(ImportError::Folder)?;
    match ended.code {
        0 => {
            let head = BundleHead::read(&start, branch).map_err(|fault| not_usable(fault, branch))?;
            Ok(Received::Bundle(file, head))
        }
        NOTHING_NEW_INSIDE => {
            let said = String::from_utf8_lossy(&start).trim_end().to_owned();
            if is_object_id(&said) { Ok(Received::Nothing(said)) } else { Err(ImportError::NoCommit) }
        }
        NO_BRANCH_INSIDE => Err(ImportError::NoBranchInside { branch: branch.into() }),
        code => Err(ImportError::Inside { code, why: ended.complaint() }),
    }
}

/// A command of ours in the container: absolute paths, an empty environment, nothing to read.
fn command(record: &WorkspaceRecord, branch: &str, known: &[String]) -> Command {
    let mut command = Command::new(&record.engine.program);
    let id = record.container_id.as_deref().unwrap_or_default();
    let target = record.plan.clone.as_ref().map_or("", |clone| clone.target.as_str());
    command.args(["exec", "--workdir=/", "--", id, "/usr/bin/env", "-i", "/bin/sh", "-c", BUNDLE_OUT, "sh"]);
    command.args([target, branch]).args(known);
    command.env_clear().envs(&record.engine.env).current_dir("/").stdin(Stdio::null());
    command
}

fn not_usable(fault: BundleFault, branch: &str) -> ImportError {
    let branch = orca_container_core::quoted(branch);
    let why = match fault {
        BundleFault::NotABundle => "it is no bundle of git's".into(),
        BundleFault::HeadTooLong => "its head does not end where an honest one does".into(),
        BundleFault::OtherKind => "it is a bundle with a filter, or of another object format".into(),
        BundleFault::NotTheBranch => format!("it does not bring the branch {branch} once"),
    };
    ImportError::NoBundle(why)
}

/// A file that leaves room on its disk for others.
struct Sparing<'f> {
    file: &'f mut File,
    root: &'f Path,
    left: u64,
}

impl Write for Sparing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if count > self.left {
            if free_bytes(self.root).is_some_and(|free| free < DISK_FLOOR) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.left = PORTION;
        }
        self.left = self.left.saturating_sub(count);
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

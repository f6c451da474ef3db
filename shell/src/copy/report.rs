//! What a copy brought and what it left out.

use orca_container_core::{RepositoryPath, quoted};
use serde::{Deserialize, Serialize};

/// Names that are kept in a report, and names that a line shows.
const KEPT: usize = 1000;
const SHOWN: usize = 5;

/// Why something was not copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// A link that leads out of the repository, or into a `.git`.
    LinkLeavesRepository,
    /// A link to a file that git does not ignore.
    LinkToUnignored,
    /// A folder that is a repository or worktree of its own.
    NestedRepository,
    /// A pipe, socket or device.
    NotAFile,
    /// The clone has it already.
    ExistsInClone,
    /// The bytes of the whole copy would be too many.
    OverBytes,
    /// The files of the whole copy would be too many.
    OverEntries,
    /// There is too much in it to be measured.
    OverSizing,
    /// Its path is longer than a path may be.
    PathTooLong,
    /// It changed while it was read.
    ChangedWhileRead,
    /// The system refused to read it.
    Unreadable,
}

impl Reason {
    /// The reason as the end of a sentence about some things.
    fn words(self) -> &'static str {
        match self {
            Self::LinkLeavesRepository => "a link that is copied leads to a file of the repository",
            Self::LinkToUnignored => "a link that is copied leads to a file that git ignores as well",
            Self::NestedRepository => "a folder with a .git of its own is another repository's or worktree's",
            Self::NotAFile => {
                "only regular files, folders and links are copied, no pipes, sockets or devices"
            }
            Self::ExistsInClone => "the clone has a file of that name, which is kept",
            Self::OverBytes | Self::OverEntries | Self::OverSizing => {
                "copying it would exceed the 2 GB / 50,000 file limit that keeps workspace creation responsive; copy it in by hand if this workspace needs it"
            }
            Self::PathTooLong => "a path has at most 4,095 bytes",
            Self::ChangedWhileRead => "it changed while it was read",
            Self::Unreadable => "it could not be read",
        }
    }
}

/// Something that was not copied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its path in the checkout.
    pub path: RepositoryPath,
    /// Why.
    pub reason: Reason,
}

/// What a copy did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CopyReport {
    /// Files, folders and links that were copied.
    pub entries: u64,
    /// Bytes of the files.
    pub bytes: u64,
    /// What was left out, by name; at most a thousand.
    pub left_out: Vec<LeftOut>,
    /// How many more were left out.
    #[serde(default)]
    pub more_left_out: u64,
}

impl CopyReport {
    /// Notes that something was left out.
    pub(crate) fn leave_out(&mut self, path: &[u8], reason: Reason) {
        if self.left_out.len() < KEPT {
            self.left_out.push(LeftOut { path: path.to_vec().into(), reason });
        } else {
            self.more_left_out = self.more_left_out.saturating_add(1);
        }
    }

    /// One line for what was copied, and one for each reason why something was not.
    pub fn lines(&self) -> Vec<String> {
        let mut lines =
            vec![format!("Copied {} ignored files and folders ({} bytes).", self.entries, self.bytes)];
        let mut reasons: Vec<Reason> = self.left_out.iter().map(|left| left.reason).collect();
        reasons.sort_unstable();
        reasons.dedup_by_key(|reason| reason.words());
        for reason in reasons {
            let of_reason = self.left_out.iter().filter(|left| left.reason.words() == reason.words());
            let names: Vec<String> = of_reason.map(|left| quoted(&left.path.lossy())).collect();
            let mut shown = names.get(..SHOWN.min(names.len())).unwrap_or_default().join(", ");
            if let Some(more) = names.len().checked_sub(SHOWN).filter(|more| *more > 0) {
                shown.push_str(&format!(" and {more} more"));
            }
            lines.push(format!("notice: Not copied: {shown}: {}.", reason.words()));
        }
        if self.more_left_out > 0 {
            lines.push(format!("notice: Not copied: {} more.", self.more_left_out));
        }
        lines
    }
}

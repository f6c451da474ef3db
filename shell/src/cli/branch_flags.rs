//! Which branch a command is about.

use clap::Args;

use crate::gather::branch::Branch;

/// The branch of a workspace, where it is not the one that is checked out.
#[derive(Debug, Args)]
pub(super) struct BranchFlags {
    /// Another branch of the repository than the one that is checked out
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// A branch that begins in the workspace; the repository on this computer has it once it is fetched
    #[arg(long, value_name = "NAME", conflicts_with = "branch")]
    new_branch: Option<String>,
    /// Branch, or branch of a remote (origin/main), that the new one begins at; by default the one that is checked out
    #[arg(long, value_name = "NAME", requires = "new_branch")]
    base: Option<String>,
    /// Commit, by its whole id, that the new one begins at
    #[arg(long, value_name = "COMMIT", requires = "new_branch", conflicts_with = "base")]
    at: Option<String>,
}

impl BranchFlags {
    /// Whether any was given.
    pub(super) fn is_any(&self) -> bool {
        self.branch.is_some() || self.new_branch.is_some()
    }

    /// Which branch that is.
    pub(super) fn said(self) -> Branch {
        match (self.branch, self.new_branch) {
            (_, Some(name)) if self.at.is_some() => Branch::At { name, commit: self.at.unwrap_or_default() },
            (_, Some(name)) => Branch::New { name, base: self.base },
            (Some(name), None) => Branch::Existing(name),
            (None, None) => Branch::CheckedOut,
        }
    }
}

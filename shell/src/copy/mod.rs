//! Ignored files of the checkout into the workspace volume.
//!
//! ```text
//! paths of the plan ─► collect: walked without following links, measured ─► archive: a tar on the engine's stdin
//! ```
//!
//! The repository decided which names are tried, and whoever wrote into it what lies behind them: nothing is read
//! but regular files below the checkout's root, reached through real folders, and what is left out is told.

mod archive;
mod beneath;
mod collect;
mod links;
mod report;

pub use archive::write_archive;
pub use collect::{Collected, Item, ItemKind, collect};
pub use report::{CopyReport, LeftOut, Reason};

/// What a copy may bring at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Bytes of all files.
    pub bytes: u64,
    /// Files, folders and links.
    pub entries: u64,
    /// Entries that are looked at while it is measured.
    pub looked_at: u64,
}

impl Budget {
    /// Orca's own limits for a worktree (`facts` orca 2.5).
    pub const ORCA: Self = Self { bytes: 2 * 1024 * 1024 * 1024, entries: 50_000, looked_at: 5 * 50_000 };
}

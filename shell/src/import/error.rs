//! Why a branch was not brought home.

use std::io;

use orca_container_core::{limits, quoted};

use crate::engine::{ClientError, Output, TakeOutError, gibibytes};
use crate::gather::committed::CommittedError;

/// Why a branch was not brought home. Nothing on the host was changed, unless it says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The workspace was made without one.
    #[error("The workspace has no branch of a repository on this machine.")]
    NoRepository,
    /// Its container does not run.
    #[error("A branch is written by the container that holds it; start {} first.", quoted(.0))]
    NotRunning(String),
    /// The branch has a name that git does not take.
    #[error("The branch {} must have a name that git takes.", quoted(.0))]
    Name(String),
    /// A reference stands for another one.
    #[error(
        "The reference {} stands for {}; a branch is moved only where it stands for itself.",
        quoted(reference),
        quoted(to)
    )]
    Symbolic {
        /// The reference.
        reference: String,
        /// The other one.
        to: String,
    },
    /// A reference is at something else than a commit.
    #[error("The reference {} must be at a commit, with an id of 40 digits (sha1).", quoted(.0))]
    OddReference(String),
    /// Our own folder cannot be used.
    #[error("The folder in which a fetch is judged, imports in the store, cannot be used: {0}.")]
    Folder(io::Error),
    /// The container wrote too much.
    #[error(
        "What the workspace wrote is larger than {}; it was dropped. Bring so much home by git push from inside.",
        gibibytes(limits::BUNDLE_BYTES)
    )]
    TooLarge,
    /// The container did not write it.
    #[error("What the workspace wrote was not taken, and was dropped: {0}.")]
    NotReceived(TakeOutError),
    /// The branch is not in the clone.
    #[error(
        "The workspace's clone has no branch {} any more; give its commits that name inside (git branch), and fetch again.",
        quoted(branch)
    )]
    NoBranchInside {
        /// The branch.
        branch: String,
    },
    /// The container said no.
    #[error("The workspace's git did not write the branch; it ended with {code}: {why}.")]
    Inside {
        /// The exit code.
        code: i32,
        /// The container's own words.
        why: String,
    },
    /// What the container wrote is none of it.
    #[error("What the workspace wrote cannot be used, and was dropped: {0}.")]
    NoBundle(String),
    /// What it calls the branch's commit is none.
    #[error(
        "What the workspace wrote cannot be used, and was dropped: the branch must be at a commit that is there."
    )]
    NoCommit,
    /// git refuses the objects.
    #[error("git refuses what the workspace wrote, and it was dropped: {0}.")]
    Refused(String),
    /// A tree names more paths than can be told.
    #[error(
        "What the workspace wrote changes more paths than can be listed, and was dropped; a commit is taken only where it can be told what it changes."
    )]
    TooManyPaths,
    /// Something that git had to read or judge here was too much for its bounds.
    #[error("git did not get to the end of what the workspace wrote: {0}.")]
    Steps(TakeOutError),
    /// git on the host said no.
    #[error("git cannot use {what} of the repository: {why}.")]
    Git {
        /// What.
        what: &'static str,
        /// git's own words.
        why: String,
    },
    /// The branch could not be moved.
    #[error(
        "The branch {} was not moved: {why}. What came is kept in {kept}; run the command again.",
        quoted(branch)
    )]
    NotMoved {
        /// The branch.
        branch: String,
        /// Where what came is kept.
        kept: String,
        /// git's own words.
        why: String,
    },
    /// The repository cannot be brought anything safely.
    #[error(transparent)]
    Committed(#[from] CommittedError),
    /// git could not be run.
    #[error(transparent)]
    Client(#[from] ClientError),
}

impl ImportError {
    /// What git could not do, in its own words.
    pub(super) fn git(what: &'static str, answer: &Output) -> Self {
        Self::Git { what, why: answer.complaint() }
    }
}

//! Workspaces on an engine: make one, work in it, stop and start it, remove it.
//!
//! The core decides: what may be done comes from `next_actions`, what it looks like from `render`, what must be
//! true from `expectations`. This module observes, carries out and records.

mod build;
mod clone;
mod copying;
mod create;
mod drift;
mod environment;
mod find;
mod helper;
mod judging;
mod launch;
mod lifecycle;
mod ready;
mod recreate;
mod run;
mod sizes;
mod status;
mod sweep;
mod texts;
mod texts_inside;
mod unpushed;
mod waiting;

pub use clone::{CloneOptions, Cloned, clone};
pub use copying::copy_again;
pub use create::{CreateOptions, create, create_only};
pub use drift::{drift, drift_on_host};
pub use environment::{Edit, Edited, edit, environment};
pub use find::find;
pub use helper::remove_leftovers;
pub use judging::{Approved, Asked, approve};
pub use launch::{LaunchOptions, disk_low, know_values, launch_answer, launch_request};
pub use lifecycle::{AFTER_START, BEFORE_SHELL, OF_CREATE, run_stages};
pub use ready::ready;
pub use recreate::{Difference, RecreateOptions, Told, recreate};
pub use run::{Again, Copying, Runner};
pub use sizes::{Size, sizes};
pub use status::{Status, status};
pub use sweep::{Fate, Swept, survey, sweep};
pub use texts::take_branch;
pub use unpushed::{Unpushed, keep_work};
pub use waiting::waiting;

use orca_container_core::{LifecycleStage, PendingApproval, Refusal};

use crate::engine::{CarryOutError, ClientError, DiskLow, EngineError, ImageError};
use crate::gather::branch::BranchError;
use crate::gather::committed::CommittedError;
use crate::gather::remote::CredentialError;
use crate::gather::request::GatherError;
use crate::import::ImportError;
use crate::secrets::SecretsError;
use crate::settings::SettingsError;
use crate::store::{LockError, StoreError};

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// The core refused; every reason is in it.
    #[error("{}", .0.message)]
    Refused(Box<Refusal>),
    /// Something blocking waits for a person.
    #[error("Nothing was made: {} waits for your approval.", .0.len())]
    NeedsApproval(Vec<PendingApproval>),
    /// A digest was approved that nothing asks for.
    #[error("Nothing that is asked here has the digest {0}.")]
    NothingAsked(String),
    /// The plan is a preview still.
    #[error("Nothing was made: the plan still needs {0}.")]
    Preview(String),
    /// There is a workspace already.
    #[error("There is a workspace {0} of it already; use it, or remove it with rm.")]
    Exists(String),
    /// Its making, or its removal, did not end.
    #[error("The workspace {0} is not whole: its create or its rm was interrupted. Run that command again.")]
    Unfinished(String),
    /// Its docker logs what it is handed.
    #[error(
        "The docker daemon is in debug mode, in which its log holds what a launch is handed; a launch with a secret is refused (engine_debug_with_secrets). Start the daemon without debug."
    )]
    DebugWithSecrets,
    /// It has no container now.
    #[error("The workspace {0} has no container now, its volumes are kept: make it anew with recreate.")]
    NoContainer(String),
    /// Its container does not run: stopped, or removed by somebody else.
    #[error("Nothing was started in {name}. {reason} {help}")]
    NotRunning {
        /// The workspace.
        name: String,
        /// Why.
        reason: String,
        /// What to do.
        help: String,
    },
    /// A recreate did not end.
    #[error("The recreate of the workspace {0} did not end: recreate it again.")]
    Anew(String),
    /// There is none.
    #[error("There is no workspace {0}; ls shows those there are.")]
    NotFound(String),
    /// What was to be taken away is not set.
    #[error(
        "Not among the variables of {0} itself: {1}; env {0} --why NAME tells where one comes from.",
        orca_container_core::quoted(workspace),
        names.iter().map(|name| orca_container_core::quoted(name)).collect::<Vec<_>>().join(", ")
    )]
    NotSet {
        /// The names.
        names: Vec<String>,
        /// The workspace.
        workspace: String,
    },
    /// Its record is another installation's.
    #[error(
        "The record of the workspace {0} is of another installation, whose store it was copied from; use it there. Move the record away to go on without it."
    )]
    Foreign(String),
    /// A name means several.
    #[error("The name {name} means several workspaces: {}.", which.join(", "))]
    Ambiguous {
        /// The name.
        name: String,
        /// Their ids.
        which: Vec<String>,
    },
    /// What the engine made is not what the plan says.
    #[error("What the engine made is not what the plan says: {}", .0.join(" "))]
    Difference(Vec<String>),
    /// The kernel's evidence is required and cannot be read.
    #[error("The policy is strict, and the kernel's view of the container's process cannot be read here.")]
    NoKernelEvidence,
    /// The image lacks tools.
    #[error(
        "The image lacks {}; an image needs sh, env, git, tar, grep and the usual file tools. On Debian: apt-get install git tar.",
        .0.join(", ")
    )]
    MissingTools(Vec<String>),
    /// The workspace's user cannot write to its volumes.
    #[error(
        "The workspace's user {user} writes to its volumes; it cannot write to {}. What gives volumes to a user is the image's chown (docker) or the engine (podman).",
        folders.join(", ")
    )]
    NotWritable {
        /// uid and gid.
        user: String,
        /// Where.
        folders: Vec<String>,
    },
    /// The Dockerfile of a devcontainer.json is not in the commit.
    #[error(
        "The devcontainer.json builds from {}, which is not in the commit.",
        orca_container_core::quoted(path)
    )]
    NoDockerfile {
        /// Its path in the repository.
        path: String,
    },
    /// A command of the repository failed; the workspace stands.
    #[error(
        "The workspace is there, but the repository's {stage} {}; the commands after it were not run.",
        if *timed_out { "did not end in time".to_owned() } else { format!("ended with {code}") }
    )]
    CommandFailed {
        /// Of which stage.
        stage: LifecycleStage,
        /// How it ended.
        code: i32,
        /// Whether it was ended at its deadline.
        timed_out: bool,
    },
    /// It holds work that is nowhere else.
    #[error(
        "The workspace {name} holds work that is nowhere else: {what}. Bring it home (git push in it, or commit it and fetch), or remove it all the same with rm --force."
    )]
    Unpushed {
        /// The workspace.
        name: String,
        /// What.
        what: Unpushed,
    },
    /// Whether it holds work is not known.
    #[error(
        "Whether the workspace {name} holds work that is nowhere else could not be found out, so it is kept: {why} Remove it all the same with rm --force."
    )]
    UnpushedUnknown {
        /// The workspace.
        name: String,
        /// Why.
        why: Box<WorkspaceError>,
    },
    /// Something stands in the way.
    #[error("It cannot go on: {}", .0.join(" "))]
    Blocked(Vec<String>),
    /// A step failed, and undoing it as well.
    #[error("{cause} Undoing it failed too: {undo} Run rm {name} when the engine answers again.")]
    NotUndone {
        /// What failed.
        cause: Box<WorkspaceError>,
        /// What failed then.
        undo: Box<WorkspaceError>,
        /// The workspace.
        name: String,
    },
    /// There is no engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Too little is free where the engine keeps its data.
    #[error(transparent)]
    Disk(#[from] DiskLow),
    /// A client failed.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A step failed.
    #[error(transparent)]
    Step(#[from] CarryOutError),
    /// The image cannot be used.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The repository cannot be cloned from.
    #[error(transparent)]
    Committed(#[from] CommittedError),
    /// Another one is called so.
    #[error("A workspace is called {0} already; give this one another name with --name.")]
    NameTaken(String),
    /// A clone from a remote that was not finished.
    #[error(
        "What the files of the repository of {0} say was not settled yet. Take them: recreate {0} --adopt-repository-config; or go on without them: recreate {0}."
    )]
    TextsDue(String),
    /// They count as they were cloned, or not at all.
    #[error(
        "The repository of {0} lives in its volume only, where an agent can write what it likes: its files count as they were when it was cloned. Clone it anew, under another name, to take others."
    )]
    NoTextsInside(String),
    /// An engine that is reached in the clear.
    #[error(
        "The engine is reached in the clear; a token or a key is not handed over there (endpoint_plain_with_values). Reach it by a local socket, by ssh or with TLS."
    )]
    SecretInTheClear,
    /// Nothing can be handed over to a clone.
    #[error(transparent)]
    Credential(#[from] CredentialError),
    /// A build of what is cloned from a remote.
    #[error(
        "The image of devcontainer.json is built from files of the repository, and those are taken from a repository on this computer: clone it here and create the workspace from it, or name an image with --container-image."
    )]
    NothingToBuildFrom,
    /// There is no such branch.
    #[error(transparent)]
    Branch(#[from] BranchError),
    /// The branch was not brought home.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The checkout whose ignored files are copied cannot be read.
    #[error("The checkout whose ignored files are to be copied cannot be read: {0}.")]
    Checkout(std::io::Error),
    /// The world cannot be read.
    #[error(transparent)]
    Gather(#[from] GatherError),
    /// Secrets of a launch have no value.
    #[error(transparent)]
    Secrets(#[from] SecretsError),
    /// Settings cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A lock is held.
    #[error(transparent)]
    Lock(#[from] LockError),
}

impl From<Refusal> for WorkspaceError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

/// What a person is told and asked while something is done.
pub trait Ui {
    /// One line of progress.
    fn progress(&mut self, line: &str);
    /// A person's answer to something that is asked; `None` where there is no person.
    fn ask(&mut self, asked: &Asked<'_>) -> Option<bool>;
}

//! Resources and actions into the words of one engine: what to do next, and how to say it.
//!
//! Pure text and pure decisions; nothing is run. A new engine is a new [`dialect::Dialect`] beside docker's
//! and podman's.

mod action;
mod build_argv;
mod command;
mod create_argv;
mod dialect;
mod docker;
mod launch;
mod look;
mod podman;
mod render;
mod route;
mod scripts;
mod sequencer;
mod simulate;
mod ssh;

pub use action::{Action, ActionKind};
pub use command::{AddedFile, Arg, Command, CommandLists, ReferenceName, Stdin};
pub use create_argv::EVERY_CONTAINER;
pub(crate) use launch::check_plan;
pub use launch::{launch, launch_host_names, launch_secret_names};
pub use look::look_argv;
pub(crate) use render::create_words;
pub use render::{HOST_GIT_ENV, HOST_GIT_FLAGS, RenderContext, begin_reference, branch_reference, render};
pub use scripts::{
    ARE_THERE, BUNDLE_OUT, COMMITTED_LISTING, COMMITTED_TEXT, DESCRIPTOR_SHIM, ENV_PREFIX, ENVIRONMENT_SHIM,
    MISSING_TOOLS, NO_BRANCH_INSIDE, NO_TEXT_INSIDE, NOT_REGULAR_INSIDE, NOT_WRITABLE, NOTHING_NEW_INSIDE,
    TERMINATE, TRY_PORTS, UNPACK, UNPACK_OVER,
};
pub use sequencer::{
    Blocked, ContainerFacts, ImageKnown, NetworkFacts, Next, Observed, Record, Resource, VolumeFacts,
    next_actions,
};
pub use simulate::{World, command_lists};
pub use ssh::{
    SSH_ASKS, SshLogin, SshLoginError, ssh_environment_command, ssh_login, ssh_login_argv, ssh_refused_argv,
    ssh_serve_argv,
};

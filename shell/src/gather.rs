//! What the shell reads before anything is planned.
//!
//! Takes a path that a person named and this process's own environment. Gives texts, names and facts as
//! they are on disk; the core parses and judges them. Refuses what is not the kind of file it should be.
//! Nothing here starts a process unless ignored files are to be copied or texts of a commit are wanted: planning a
//! workspace must cost less than starting one `git`.

#[cfg(unix)]
pub mod branch;
#[cfg(unix)]
pub mod committed;
#[cfg(unix)]
pub mod context;
pub mod env_file;
pub mod host;
#[cfg(unix)]
pub mod ignored;
#[cfg(unix)]
pub mod remote;
pub mod repository;
pub mod request;
pub mod settings_file;
pub mod text_file;

mod bounded_read;
pub(crate) mod devcontainer;
mod git_config;
mod git_dir;
pub(crate) mod git_head;
#[cfg(unix)]
pub(crate) mod host_git;
#[cfg(unix)]
pub mod own_objects;
mod shown;

pub(crate) use bounded_read::read_at_most;
pub use repository::RemoteUrl;
pub(crate) use shown::shown_bare;

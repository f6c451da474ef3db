//! git on the host, in a repository that somebody else may have arranged: hooks, monitors, transports and lazy
//! fetches off, an environment of ours, bounded time and output.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use orca_container_core::{HOST_GIT_ENV, HOST_GIT_FLAGS};

use crate::engine::{Bounds, ClientError, Input, Output, QUESTION_MEMORY, Wanted, host_path, host_program};

const PATIENCE: Duration = Duration::from_secs(60);

/// Runs git in a repository.
pub(crate) fn git(repository: &Path, args: &[impl AsRef<OsStr>]) -> Result<Output, ClientError> {
    git_with(repository, args, Input::None, Wanted::Kept)
}

/// Runs git in a repository with something to read, or with a long answer.
pub(super) fn git_with(
    repository: &Path,
    args: &[impl AsRef<OsStr>],
    input: Input<'_>,
    wanted: Wanted,
) -> Result<Output, ClientError> {
    crate::engine::run_bounded(
        command(repository, args)?,
        "git",
        input,
        wanted,
        Bounds { deadline: PATIENCE, memory: Some(QUESTION_MEMORY) },
    )
}

/// A git in a repository that is not started yet.
pub(super) fn command(repository: &Path, args: &[impl AsRef<OsStr>]) -> Result<Command, ClientError> {
    let program = host_program("git").ok_or_else(|| ClientError::Missing { program: "git".into() })?;
    let mut command = Command::new(program);
    command.args(HOST_GIT_FLAGS).args(["--no-pager", "-C"]).arg(repository).args(args);
    command.env_clear().envs(HOST_GIT_ENV).env("LC_ALL", "C").env("PATH", host_path());
    // safe.directory is the user's own word about whose repositories are trusted.
    command.envs(std::env::var_os("HOME").map(|home| ("HOME", home)));
    Ok(command)
}

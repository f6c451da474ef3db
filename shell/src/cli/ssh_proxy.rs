//! `ssh-proxy WORKSPACE`: what ssh's ProxyCommand runs.

use std::path::PathBuf;

use clap::Args;

use super::person::Person;
use super::workspace::{failure, found, settings_of};
use super::{Ended, Failure, Io};
use crate::ssh::{SshError, connect};

/// Connect standard input and output to a workspace, as the ProxyCommand of ssh; a stopped one is started
#[derive(Debug, Args)]
pub(super) struct SshProxyArgs {
    /// Workspace: a path, its id, or its name
    workspace: String,
    /// Settings file
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
}

pub(super) fn run(args: &SshProxyArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let (store, record) = found(&args.workspace)?;
    let settings = || settings_of(args.settings.as_deref()).map_err(Failure::words);
    // Both ends are the client's: nobody is asked here, and nothing but the connection is on standard output.
    let mut ui = Person { io: &mut *io, quiet: false, asks: false };
    let ended = connect(&record, &store, &settings, &mut ui);
    match ended {
        Ok(0) => Ok(Ended::Done),
        Ok(_) => Err(Failure::Shown),
        Err(SshError::Workspace(error)) => Err(failure(error, io)),
        Err(error) => Err(Failure::of(&error)),
    }
}

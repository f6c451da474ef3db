//! `ssh-proxy WORKSPACE`: what ssh's ProxyCommand runs.

use std::path::PathBuf;
use std::process::Command;

use clap::Args;

use super::person::Person;
use super::workspace::{failure, found, settings_of};
use super::{Ended, Failure, Io};
use crate::own_program::own_program;
use crate::ssh::{SshError, connect};
use crate::workspace::{AFTER_START, Ui, run_stages};

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
    let program = own_program()
        .map_err(|error| Failure::Failed(format!("The path of this program is not known: {error}.")))?;
    let mut after_start = Command::new(program);
    after_start.args(["__after-start", record.file_name()]);
    after_start.args(args.settings.iter().flat_map(|file| ["--settings".as_ref(), file.as_os_str()]));
    let ended = connect(&record, &store, &settings, &mut after_start, &mut ui);
    match ended {
        Ok(0) => Ok(Ended::Done),
        Ok(_) => Err(Failure::Shown),
        Err(SshError::Workspace(error)) => Err(failure(error, io)),
        Err(error) => Err(Failure::of(&error)),
    }
}

/// What the repository wants after a start, beside the connection that started the workspace.
pub(super) fn after_start(args: &SshProxyArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let (store, mut record) = found(&args.workspace)?;
    let settings = settings_of(args.settings.as_deref())?;
    let mut ui = Person { io: &mut *io, quiet: false, asks: false };
    if let Err(error) = run_stages(&AFTER_START, &mut record, &store, &settings, &mut ui) {
        ui.progress(&format!("warning: {error}"));
    }
    Ok(Ended::Done)
}

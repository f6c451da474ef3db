//! `exec` and `shell`: the launch of now, in place of ourselves; `__deliver`: podman's way to get values.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use clap::Args;
use orca_container_core::LaunchAnswer;
use orca_container_core::input::LaunchCommand;
use std::io::IsTerminal;
use std::path::PathBuf;

use super::person::Person;
use super::workspace::{failure, found, settings_of, tell_drift_of};
use super::{Ended, Failure, Io};
use crate::deliver;
use crate::secrets::Handed;
use crate::trace;
use crate::workspace::{BEFORE_SHELL, LaunchOptions, disk_low, launch_answer, ready, run_stages};

/// Run a command in a workspace, with the variables of now
#[derive(Debug, Args)]
pub(super) struct ExecArgs {
    /// Workspace: a path, its id, or its name
    workspace: String,
    /// Settings file
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// Folder in the container; the clone by default
    #[arg(long, value_name = "PATH")]
    workdir: Option<String>,
    #[command(flatten)]
    secrets: SecretsArgs,
    /// The command and its arguments
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

/// Open a shell in a workspace, with the variables of now
#[derive(Debug, Args)]
pub(super) struct ShellArgs {
    /// Workspace: a path, its id, or its name
    workspace: String,
    /// Settings file
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    #[command(flatten)]
    secrets: SecretsArgs,
}

// No doc comment: clap would take it for the command's own text.
#[derive(Debug, Args)]
struct SecretsArgs {
    /// Descriptor that gives secrets' values as one JSON object
    #[arg(long, value_name = "N")]
    secrets_fd: Option<u32>,
    /// Standard input's first line gives secrets' values as one JSON object; the rest is the process's own input
    #[arg(long, conflicts_with = "secrets_fd")]
    secrets_stdin: bool,
}

impl SecretsArgs {
    fn handed(&self) -> Handed {
        match self.secrets_fd {
            Some(number) => Handed::Descriptor(number),
            None if self.secrets_stdin => Handed::StandardInput,
            None => Handed::Nothing,
        }
    }
}

/// Hand the values of our environment to podman by descriptor
#[derive(Debug, Args)]
pub(super) struct DeliverArgs {
    /// podman's command
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

pub(super) fn exec(args: ExecArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let options = LaunchOptions {
        command: LaunchCommand::Argv(args.command),
        tty: std::io::stdin().is_terminal() && std::io::stdout().is_terminal(),
        workdir: args.workdir,
        secrets: args.secrets.handed(),
    };
    run(&args.workspace, args.settings.as_ref(), options, io)
}

pub(super) fn shell(args: &ShellArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let tty = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let options =
        LaunchOptions { command: LaunchCommand::Shell, tty, workdir: None, secrets: args.secrets.handed() };
    run(&args.workspace, args.settings.as_ref(), options, io)
}

fn run(
    workspace: &str,
    settings: Option<&PathBuf>,
    options: LaunchOptions,
    io: &mut Io<'_>,
) -> Result<Ended, Failure> {
    let (store, mut record) = found(workspace)?;
    let settings = settings_of(settings.map(PathBuf::as_path))?;
    // Before a source of a secret is asked, which may open a window.
    let drift = ready(&record).map_err(|error| failure(error, io))?;
    // What the repository wants before a person works in it, who works on when it fails.
    if options.command == LaunchCommand::Shell
        && let Err(error) = run_stages(&BEFORE_SHELL, &mut record, &store, &settings, &mut Person::new(io))
    {
        writeln!(io.stderr, "warning: {error}")?;
    }
    let prepared = launch_answer(&record, &store, &settings, options).map_err(|error| failure(error, io))?;
    if let Err(error) = store.write_last_launch(&record, &prepared.launched) {
        writeln!(io.stderr, "warning: What this launch has is not written down: {error}")?;
    }
    tell_drift_of(&drift, io)?;
    if let Some(low) = disk_low(&record) {
        writeln!(io.stderr, "warning: {low}")?;
    }
    io.stdout.flush()?;
    Err(replace(&prepared.answer))
}

/// Becomes the engine's client: exit code, signals and terminal are its own. Returns only when it cannot.
fn replace(answer: &LaunchAnswer) -> Failure {
    let mut command = Command::new(&answer.file);
    command.args(&answer.args).env_clear().envs(&answer.env).current_dir(&answer.cwd);
    trace::becomes(&answer.file, answer.args.iter());
    let error = command.exec();
    Failure::Failed(format!("The engine's client cannot be run: {error}."))
}

pub(super) fn deliver(args: &DeliverArgs) -> Result<Ended, Failure> {
    Err(Failure::of(&deliver::deliver(&args.command)))
}

//! The command line: the table of commands, and how each ends.
//!
//! Results go to standard output, everything else to standard error. No argument is ever repeated where one of
//! them may hold a value.

use std::ffi::OsString;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use orca_container_core::Goal;

use crate::redact::mask;
pub use crate::render::Look;

mod branch_flags;
mod check;
mod clone;
mod completions;
mod container_flags;
mod doctor;
mod env;
mod env_edit;
mod exec;
mod fetch;
mod input;
mod launch;
mod person;
mod plan;
mod recipe;
mod recipe_init;
mod renew;
mod schema;
mod ssh_proxy;
mod sweep;
mod target;
mod workspace;

pub use schema::{SCHEMA_NAMES, schema_text};

/// One hardened container per git worktree: what would run, and why.
#[derive(Debug, Parser)]
#[command(name = "orca-container", version, max_term_width = 100)]
struct CommandLine {
    /// Tell every program that is run and how it ended, on standard error, without values
    #[arg(long, global = true)]
    debug: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Plan(plan::PlanArgs),
    Launch(launch::LaunchArgs),
    Env(env::EnvArgs),
    Check(check::CheckArgs),
    Approve(workspace::ApproveArgs),
    Create(workspace::CreateArgs),
    Clone(clone::CloneArgs),
    Exec(exec::ExecArgs),
    Shell(exec::ShellArgs),
    Ls(workspace::LsArgs),
    Status(workspace::StatusArgs),
    /// Start a stopped workspace
    Start(workspace::OneArgs),
    /// Stop a running workspace
    Stop(workspace::OneArgs),
    /// Stop and start a workspace
    Restart(workspace::OneArgs),
    Recreate(renew::RecreateArgs),
    Copy(renew::CopyArgs),
    Fetch(fetch::FetchArgs),
    Rm(workspace::RmArgs),
    Sweep(sweep::SweepArgs),
    Recipe(recipe::RecipeArgs),
    SshProxy(ssh_proxy::SshProxyArgs),
    #[command(name = "__after-start", hide = true)]
    AfterStart(ssh_proxy::SshProxyArgs),
    Doctor(doctor::DoctorArgs),
    #[command(name = "__deliver", hide = true)]
    Deliver(exec::DeliverArgs),
    Schema(schema::SchemaArgs),
    Completions(completions::CompletionsArgs),
}

/// What a command reads from and writes to.
struct Io<'a> {
    look: Look,
    stdin: &'a mut dyn BufRead,
    stdout: &'a mut dyn Write,
    stderr: &'a mut dyn Write,
}

/// How a command that could do its work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Done,
    Refused,
    /// As another process of ours ended, which has said why.
    As(u8),
}

impl Ended {
    fn ok(ok: bool) -> Self {
        if ok { Self::Done } else { Self::Refused }
    }
}

/// Why a command could not do its work. No text in it holds a value.
#[derive(Debug)]
enum Failure {
    /// The arguments are wrong.
    Usage(String),
    /// The world is.
    Failed(String),
    /// There is no engine.
    Engine(String),
    /// The reasons were shown already.
    Shown,
    /// The result could not be written.
    Output(io::Error),
}

impl Failure {
    fn of(error: &impl std::error::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

impl Failure {
    /// Its words; none where they were shown already.
    fn words(self) -> String {
        match self {
            Self::Usage(why) | Self::Failed(why) | Self::Engine(why) => why,
            Self::Shown => String::new(),
            Self::Output(error) => format!("The result cannot be written: {error}."),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

const REFUSED: u8 = 1;
const USAGE: u8 = 2;
const NO_ENGINE: u8 = 3;

/// Runs the command that the arguments ask for. Exit code: 0 done, 1 refused or failed, 2 usage, 3 no engine.
pub fn main(
    args: impl Iterator<Item = OsString>,
    look: Look,
    stdin: &mut dyn BufRead,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> ExitCode {
    let args: Vec<OsString> = args.collect();
    let mut io = Io { look, stdin, stdout, stderr };
    let ended = match CommandLine::try_parse_from(&args) {
        Ok(line) => {
            #[cfg(unix)]
            if line.debug {
                crate::trace::turn_on();
            }
            run(line.command, &mut io)
        }
        Err(error) => return usage(&error, &args, &mut io),
    };
    let flushed = ended.and_then(|ended| io.stdout.flush().map(|()| ended).map_err(Failure::from));
    match flushed {
        Ok(Ended::Done) => ExitCode::SUCCESS,
        Ok(Ended::Refused) => ExitCode::from(REFUSED),
        Ok(Ended::As(code)) => ExitCode::from(code),
        Err(failure) => failed(&failure, &mut io),
    }
}

fn run(command: Command, io: &mut Io<'_>) -> Result<Ended, Failure> {
    match command {
        Command::Plan(args) => plan::run(args, io),
        Command::Launch(args) => launch::run(&args, io),
        Command::Env(args) => env::run(args, io),
        Command::Check(args) => check::run(args, io),
        Command::Approve(args) => workspace::approve(args, io),
        Command::Create(args) => workspace::create(args, io),
        Command::Clone(args) => clone::run(args, io),
        Command::Exec(args) => exec::exec(args, io),
        Command::Shell(args) => exec::shell(&args, io),
        Command::Ls(args) => workspace::ls(&args, io),
        Command::Status(args) => workspace::status(&args, io),
        Command::Start(args) => workspace::reach(Goal::Start, &args, io),
        Command::Stop(args) => workspace::reach(Goal::Stop, &args, io),
        Command::Recreate(args) => renew::run_recreate(args, io),
        Command::Copy(args) => renew::run_copy(&args, io),
        Command::Fetch(args) => fetch::run(&args, io),
        Command::Restart(args) => workspace::restart(&args, io),
        Command::Rm(args) => workspace::rm(&args, io),
        Command::Sweep(args) => sweep::run(&args, io),
        Command::Recipe(args) => recipe::run(args, io),
        Command::SshProxy(args) => ssh_proxy::run(&args, io),
        Command::AfterStart(args) => ssh_proxy::after_start(&args, io),
        Command::Doctor(args) => doctor::run(&args, io),
        Command::Deliver(args) => exec::deliver(&args),
        Command::Schema(args) => schema::run(&args, io),
        Command::Completions(args) => completions::run(&args, io),
    }
}

fn failed(failure: &Failure, io: &mut Io<'_>) -> ExitCode {
    // INVARIANT: where standard error cannot be written either, the exit code is all that is left to say.
    let (code, message) = match failure {
        Failure::Usage(message) => (USAGE, message.clone()),
        Failure::Failed(message) => (REFUSED, message.clone()),
        Failure::Engine(message) => (NO_ENGINE, message.clone()),
        Failure::Shown => return ExitCode::from(REFUSED),
        // Whoever closed the pipe has read enough; there is nothing to complain about.
        Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            return ExitCode::from(REFUSED);
        }
        Failure::Output(error) => (REFUSED, format!("The result cannot be written: {error}.")),
    };
    let _ = writeln!(io.stderr, "error: {}", mask(&message));
    ExitCode::from(code)
}

/// What clap says about arguments, or help. Its errors repeat arguments, so they are cut down to their kind
/// where a value may be among these (as in `--container-env NAME = value`).
fn usage(error: &clap::Error, args: &[OsString], io: &mut Io<'_>) -> ExitCode {
    let asked_for = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if !asked_for && args.iter().any(may_carry_value) {
        let kind = error.kind();
        let _ = writeln!(
            io.stderr,
            "error: {kind}\n\nThe arguments are not repeated here, since one may hold a value.\nFor more information, try '--help'."
        );
        return ExitCode::from(USAGE);
    }
    let text = error.render();
    let out: &mut dyn Write = if asked_for { &mut *io.stdout } else { &mut *io.stderr };
    let written =
        if asked_for && io.look.colour { write!(out, "{}", text.ansi()) } else { write!(out, "{text}") };
    match (asked_for, written.and_then(|()| out.flush())) {
        (true, Ok(())) => ExitCode::SUCCESS,
        (true, Err(_)) => ExitCode::from(REFUSED),
        (false, _) => ExitCode::from(USAGE),
    }
}

/// Whether an argument is or was meant to be `--container-env`, or is an assignment that lost its flag.
fn may_carry_value(arg: &OsString) -> bool {
    let text = arg.to_string_lossy();
    // A URL with a user may hold a password.
    if text.contains("://") && text.contains('@') {
        return true;
    }
    if !text.starts_with("--") {
        return text.contains('=');
    }
    let flag = text.split('=').next().unwrap_or_default();
    flag.contains("env") && !matches!(flag, "--container-env-file" | "--forward-host-env")
}

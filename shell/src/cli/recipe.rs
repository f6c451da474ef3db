//! `recipe create|suspend|resume|destroy|init`: workspaces for the Orca of today, by its recipe contract. Standard output holds
//! the one JSON object of create and resume, and nothing else, whatever happens.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use orca_container_core::{Goal, quoted};
use serde_json::Value;

use super::container_flags::ContainerFlags;
use super::person::Person;
use super::recipe_init::{InitArgs, init};
use super::workspace::{OneArgs, failure, found, reach_to, settings_of, store};
use super::{Ended, Failure, Io};
use crate::gather::branch::Branch;
use crate::gather::read_at_most;
use crate::recipe::{Asked, resource_of, result};
use crate::ssh::{SshError, keys};
use crate::store::{Store, WorkspaceRecord};
use crate::workspace::{self, AFTER_START, CreateOptions, WorkspaceError};

/// How long a connection that starts the workspace is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes of Orca's payload.
const PAYLOAD: usize = 1024 * 1024;

/// Provide workspaces for Orca: what the environmentRecipes of orca.yaml call
#[derive(Debug, Args)]
pub(super) struct RecipeArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Make a workspace for the branch and commit that Orca names in its variables, from the repository of the current folder
    Create(Box<CreateArgs>),
    /// Stop the workspace of Orca's payload
    Suspend,
    /// Start the workspace of Orca's payload again
    Resume(SettingsArgs),
    /// Remove the workspace of Orca's payload; one that holds work that is nowhere else is kept
    Destroy(DestroyArgs),
    Init(InitArgs),
}

#[derive(Debug, Args)]
struct CreateArgs {
    /// Settings file
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    #[command(flatten)]
    flags: ContainerFlags,
}

#[derive(Debug, Args)]
struct SettingsArgs {
    /// Settings file
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct DestroyArgs {
    /// Remove it with all the work in it
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: RecipeArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    match args.what {
        What::Init(args) => init(&args, io),
        What::Create(args) => create(*args, io),
        What::Suspend => {
            let one = of_payload(io)?;
            reach_to(Goal::Stop, &one, false, io)?;
            Ok(Ended::Done)
        }
        What::Resume(args) => resume(&args, io),
        What::Destroy(args) => {
            let name = payload(io)?;
            if let Err(WorkspaceError::NotFound(_)) = workspace::find(&store()?, &name) {
                // Gone already, by an earlier destroy or by rm.
                writeln!(io.stderr, "There is no workspace {} any more.", quoted(&name))?;
                return Ok(Ended::Done);
            }
            let one = OneArgs::of(&name);
            reach_to(Goal::Remove, &one, !args.force, io)?;
            Ok(Ended::Done)
        }
    }
}

fn create(args: CreateArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let asked = Asked::of(|name| std::env::var(name).ok()).map_err(|error| Failure::of(&error))?;
    let approve = args.flags.digests()?;
    let mut words = args.flags.words()?;
    words.approvals.clear();
    let settings = settings_of(args.settings.as_deref())?;
    let store = store()?;
    let Asked { branch: name, commit } = asked;
    let how = format!("orca-container approve --new-branch {} --at {commit}", quoted(&name));
    let branch = Branch::At { name, commit };
    let options = CreateOptions { folder: Path::new("."), settings: &settings, words, branch, approve };
    let made = workspace::create_only(options, &store, &mut silent(io));
    let mut record = match made {
        Ok(record) => record,
        Err(error @ WorkspaceError::NeedsApproval(_)) => {
            let failed = failure(error, io);
            writeln!(
                io.stderr,
                "Answer in this folder, with the flags of the recipe's create and one --approve for each: {how} --approve DIGEST. Then try again."
            )?;
            return Err(failed);
        }
        Err(error) => return Err(failure(error, io)),
    };
    // A command of the repository that fails is told, and mended from inside.
    let ran = workspace::run_stages(&AFTER_START, &mut record, &store, &settings, &mut silent(io));
    if let Err(error) = ran {
        writeln!(io.stderr, "warning: {error}")?;
    }
    match reached(&record, &store, args.settings.as_deref()) {
        Ok(value) => say(&value, io),
        Err(why) => {
            // Orca knows nothing of a workspace that it got no result for.
            let one = OneArgs::of(record.file_name());
            if let Err(left) = reach_to(Goal::Remove, &one, false, io) {
                writeln!(
                    io.stderr,
                    "warning: The workspace {} could not be removed. {}",
                    quoted(one.name()),
                    left.words()
                )?;
            }
            Err(why)
        }
    }
}

fn resume(args: &SettingsArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let one = of_payload(io)?;
    reach_to(Goal::Start, &one, false, io)?;
    let (store, record) = found(one.name())?;
    let value = reached(&record, &store, args.settings.as_deref())?;
    say(&value, io)
}

/// How the workspace is reached, with keys of its own.
fn reached(record: &WorkspaceRecord, store: &Store, settings: Option<&Path>) -> Result<Value, Failure> {
    let lock = store.lock_patiently(record.file_name(), PATIENCE).map_err(|error| Failure::of(&error))?;
    let keys = keys(store, record).map_err(|error: SshError| Failure::of(&error))?;
    drop(lock);
    let failed =
        |error: std::io::Error| Failure::Failed(format!("This program's path is not known: {error}."));
    let command = std::env::current_exe().map_err(failed)?;
    let settings = settings.map(std::path::absolute).transpose().map_err(failed)?;
    result(record, &keys, &command, settings.as_deref()).map_err(|error| Failure::of(&error))
}

fn say(value: &Value, io: &mut Io<'_>) -> Result<Ended, Failure> {
    writeln!(io.stdout, "{value}")?;
    Ok(Ended::Done)
}

/// Nobody is there to be asked.
fn silent<'a, 'io>(io: &'a mut Io<'io>) -> Person<'a, 'io> {
    Person { io, quiet: false, asks: false }
}

fn of_payload(io: &mut Io<'_>) -> Result<OneArgs, Failure> {
    let name = payload(io)?;
    found(&name)?;
    Ok(OneArgs::of(&name))
}

/// The name that Orca's payload has.
fn payload(io: &mut Io<'_>) -> Result<String, Failure> {
    let unreadable = |error| Failure::Failed(format!("Orca's payload cannot be read: {error}."));
    let payload = read_at_most(&mut *io.stdin, PAYLOAD).map_err(unreadable)?;
    resource_of(&payload).map_err(|error| Failure::of(&error))
}

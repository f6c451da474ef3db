//! `recipe create|suspend|resume|destroy|init`: workspaces for the Orca of today, by its recipe contract. Standard output holds
//! the one JSON object of create and resume, and nothing else, whatever happens.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use orca_container_core::{Goal, quoted};
use serde_json::Value;

use super::container_flags::ContainerFlags;
use super::person::Person;
use super::recipe_init::{InitArgs, init};
use super::workspace::{Reach, failure, found, reach_to, settings_of, store};
use super::{CommandLine, Ended, Failure, Io};
use crate::engine::Client;
use crate::gather::branch::Branch;
use crate::gather::read_at_most;
use crate::own_program::own_program;
use crate::recipe::{Asked, Maker, hand_over, resource_of, result};
use crate::redact::mask;
use crate::settings::Settings;
use crate::ssh::{SshError, keeps_to_itself, keys, make_known};
use crate::store::{Store, WorkspaceRecord};
use crate::workspace::{self, AFTER_START, CreateOptions, WorkspaceError};

/// How long another command on the workspace is waited for: Orca does not try again.
const PATIENCE: Duration = Duration::from_secs(60);

/// A host as every workspace is called, for a configuration that names them by a pattern.
const ANY_WORKSPACE: &str = "orca-ws-any";

/// How long it takes until a create learns that Orca gave it up.
const LOOK: Duration = Duration::from_millis(100);

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
    /// The process that makes what create hands over
    #[command(name = "__make", hide = true)]
    Make,
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
        What::Create(_) => {
            // Also what a closed standard output is by the time that we see it.
            if is_null(&io::stdout()) {
                return Err(Failure::Failed(
                    "Nobody reads the result: standard output is closed. Nothing was made.".into(),
                ));
            }
            let words: Vec<OsString> = std::env::args_os().collect();
            let mut maker = Command::new(own_program().map_err(|error| unknown_path(&error))?);
            let code = hand_over(maker.args(["recipe", "__make"]), &words, io.stdout);
            Ok(Ended::As(code.map_err(|error| Failure::of(&error))?))
        }
        What::Make => make(io),
        What::Suspend => {
            let name = of_payload(io)?;
            reach_to(&Reach { patience: PATIENCE, ..Reach::new(Goal::Stop, &name) }, io)?;
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
            let to = Reach { guarded: !args.force, patience: PATIENCE, ..Reach::new(Goal::Remove, &name) };
            reach_to(&to, io)?;
            Ok(Ended::Done)
        }
    }
}

/// The maker's part of create: makes the workspace, and takes it back unless its result is taken.
fn make(io: &mut Io<'_>) -> Result<Ended, Failure> {
    let unheard = |_| Failure::Failed("The words of recipe create were not told.".into());
    let (words, maker) = Maker::begin().map_err(unheard)?;
    let flags = flags_of(&words);
    let line =
        CommandLine::try_parse_from(words).map_err(|error| Failure::Usage(error.kind().to_string()))?;
    let super::Command::Recipe(RecipeArgs { what: What::Create(args) }) = line.command else {
        return Err(Failure::Usage("These are no words of recipe create.".into()));
    };
    if line.debug {
        crate::trace::turn_on();
    }
    // Before anything is made: what it says of one workspace it says of all.
    keeps_to_itself(ANY_WORKSPACE).map_err(|error| Failure::of(&error))?;
    let (store, settings) = (store()?, settings_of(args.settings.as_deref())?);
    let named = args.settings.clone();
    let mut record = made(*args, &flags, &store, &settings, io)?;
    run_wanted(&mut record, &store, &settings, &maker, io);
    let said = if maker.is_given_up_within(Duration::ZERO) {
        Err(Failure::Failed("Orca gave the workspace up.".into()))
    } else {
        reached(&record, &store, named.as_deref(), io).and_then(|result| say(&result, io))
    };
    let why = match said {
        Ok(()) if maker.is_taken() => return Ok(Ended::Done),
        Ok(()) => Failure::Failed("Orca did not take the result; the workspace is removed.".into()),
        Err(why) => why,
    };
    // Orca knows nothing of a workspace that it got no result for.
    let to = Reach { patience: PATIENCE, ..Reach::new(Goal::Remove, record.file_name()) };
    if let Err(left) = reach_to(&to, io) {
        warn(
            &format!("The workspace {} could not be removed. {}", quoted(record.file_name()), left.words()),
            io,
        );
    }
    Err(why)
}

/// Runs what the repository wants, unless nobody wants the workspace any more. A command that fails is told, and mended from
/// inside.
fn run_wanted(
    record: &mut WorkspaceRecord,
    store: &Store,
    settings: &Settings,
    maker: &Maker,
    io: &mut Io<'_>,
) {
    let client = Client { program: record.engine.program.clone(), env: record.engine.env.clone() };
    let id = record.container_id.clone().unwrap_or_default();
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                if maker.is_given_up_within(LOOK) {
                    // Whatever runs in there ends with it.
                    let _ = client.ask(&["kill", "--", &id], PATIENCE);
                    return;
                }
            }
        });
        let ran = workspace::run_stages(&AFTER_START, record, store, settings, &mut silent(io));
        is_done.store(true, Ordering::Relaxed);
        if let Err(error) = ran {
            warn(&error.to_string(), io);
        }
    });
}

/// The flags of recipe create as a shell reads them, without variables: those that a person needs to answer it.
fn flags_of(words: &[OsString]) -> String {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let mut flags = words.iter().skip_while(|word| *word != "create").skip(1);
    let mut told = String::new();
    while let Some(flag) = flags.next() {
        if flag == "--container-env" || flag == "--approve" {
            flags.next();
        } else if !flag.starts_with("--container-env=") && !flag.starts_with("--approve=") {
            told.push_str(&format!(" {}", shell_word(flag)));
        }
    }
    told
}

/// One word, as a shell reads it back.
fn shell_word(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| quoted(word), Cow::into_owned)
}

/// The workspace that Orca asks for, without the repository's commands.
fn made(
    args: CreateArgs,
    flags: &str,
    store: &Store,
    settings: &Settings,
    io: &mut Io<'_>,
) -> Result<WorkspaceRecord, Failure> {
    let asked = Asked::of(|name| std::env::var(name).ok()).map_err(|error| Failure::of(&error))?;
    let (branch, how) = match asked {
        Asked::Workspace { branch: name, commit } => {
            let how = format!("--new-branch {} --at {}", shell_word(&name), shell_word(&commit));
            (Branch::At { name, commit }, how)
        }
        Asked::Trial { branch: name } => {
            let _ = writeln!(
                io.stderr,
                "Orca names no branch and no commit: this is a trial, of what is checked out."
            );
            let how = format!("--new-branch {}", shell_word(&name));
            (Branch::New { name, base: None }, how)
        }
    };
    let approve = args.flags.digests()?;
    let mut words = args.flags.words()?;
    words.approvals.clear();
    let options = CreateOptions { folder: Path::new("."), settings, words, branch, approve };
    workspace::create_only(options, store, &mut silent(io)).map_err(|error| {
        let digests: Vec<String> = match &error {
            WorkspaceError::NeedsApproval(asked) => {
                asked.iter().map(|one| format!(" --approve {}", one.digest)).collect()
            }
            _ => Vec::new(),
        };
        let failed = failure(error, io);
        if !digests.is_empty() {
            let _ = writeln!(
                io.stderr,
                "To agree to all of it, run this here and try again:\n  orca-container approve{flags} {how}{}",
                digests.concat()
            );
        }
        failed
    })
}

fn resume(args: &SettingsArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let name = of_payload(io)?;
    let settings = args.settings.as_deref();
    let start = Reach { patience: PATIENCE, settings, lenient: true, ..Reach::new(Goal::Start, &name) };
    reach_to(&start, io)?;
    let (store, record) = found(&name)?;
    let result = reached(&record, &store, settings, io)?;
    say(&result, io)?;
    Ok(Ended::Done)
}

/// How the workspace is reached, with keys of its own, by a host that the person's ssh knows.
fn reached(
    record: &WorkspaceRecord,
    store: &Store,
    settings: Option<&Path>,
    io: &mut Io<'_>,
) -> Result<Value, Failure> {
    keeps_to_itself(record.file_name()).map_err(|error| Failure::of(&error))?;
    let lock = store.lock_patiently(record.file_name(), PATIENCE).map_err(|error| Failure::of(&error))?;
    let keys = keys(store, record).map_err(|error: SshError| Failure::of(&error))?;
    if let Err(error) = make_known(store, record.file_name(), &keys) {
        warn(&format!("{error} ssh does not know this workspace's host without it."), io);
    }
    drop(lock);
    let command = own_program().map_err(|error| unknown_path(&error))?;
    let settings = settings.map(std::path::absolute).transpose().map_err(|error| unknown_path(&error))?;
    let reached =
        result(record, &keys, &command, settings.as_deref()).map_err(|error| Failure::of(&error))?;
    if !reached.sftp {
        warn("The image has no sftp-server. On Debian: apt-get install openssh-sftp-server.", io);
    }
    Ok(reached.result)
}

fn unknown_path(error: &io::Error) -> Failure {
    Failure::Failed(format!("The path of this program, or of a file that is named, is not known: {error}."))
}

/// Whether what is written there goes nowhere.
fn is_null(out: &impl AsFd) -> bool {
    let device = |path: &Path| std::fs::metadata(path).map(|found| found.rdev());
    let there = out.as_fd().try_clone_to_owned().and_then(|out| File::from(out).metadata());
    there.is_ok_and(|out| {
        out.file_type().is_char_device() && device(Path::new("/dev/null")).ok() == Some(out.rdev())
    })
}

/// What cannot be told is lost; the work goes on.
fn warn(text: &str, io: &mut Io<'_>) {
    let _ = writeln!(io.stderr, "warning: {}", mask(text));
}

/// The one JSON object.
fn say(result: &Value, io: &mut Io<'_>) -> Result<(), Failure> {
    writeln!(io.stdout, "{result}")?;
    Ok(io.stdout.flush()?)
}

/// Nobody is there to be asked.
fn silent<'a, 'io>(io: &'a mut Io<'io>) -> Person<'a, 'io> {
    Person { io, quiet: false, asks: false }
}

fn of_payload(io: &mut Io<'_>) -> Result<String, Failure> {
    let name = payload(io)?;
    found(&name)?;
    Ok(name)
}

/// The name that Orca's payload has.
fn payload(io: &mut Io<'_>) -> Result<String, Failure> {
    let unreadable = |error| Failure::Failed(format!("Orca's payload cannot be read: {error}."));
    let payload = read_at_most(&mut *io.stdin, PAYLOAD).map_err(unreadable)?;
    resource_of(&payload).map_err(|error| Failure::of(&error))
}

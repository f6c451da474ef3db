//! `env set`, `env unset`, `env import`: variables of one workspace, in its next launch without a recreate.

use std::ffi::OsStr;
use std::io::IsTerminal;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{Args, Subcommand};
use orca_container_core::input::{EnvSetting, UniqueMap};
use orca_container_core::{EnvState, Layer, Sensitive, limits, place, quoted, why};
use serde_json::json;

use super::container_flags::{env_file, is_name};
use super::workspace::{failure, found, settings_of};
use super::{Ended, Failure, Io};
use crate::gather::read_at_most;
use crate::redact;
use crate::workspace::{Edit, Edited, edit};

/// Edits of a workspace's own variables.
#[derive(Debug, Subcommand)]
pub(super) enum EditCommand {
    Set(SetArgs),
    Unset(UnsetArgs),
    Import(ImportArgs),
}

/// Which workspace, and how to answer.
#[derive(Debug, Args)]
pub(super) struct Which {
    /// Workspace: a path, its id, or its name
    workspace: String,
    /// Settings file
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Set variables of a workspace; its next launch has them, running processes keep what they have
#[derive(Debug, Args)]
pub(super) struct SetArgs {
    #[command(flatten)]
    which: Which,
    /// NAME=VALUE, or NAME alone, whose value is read from standard input without its last line end. Other users of this
    /// computer can read our arguments
    #[arg(required = true, value_name = "NAME[=VALUE]", value_parser = OsStringValueParser::new().map(|typed| Typed::read(&typed)))]
    variables: Vec<Typed>,
    /// Take the value of NAME from this declared secret, at each launch
    #[arg(long, value_name = "SECRET")]
    secret: Option<String>,
}

/// Take variables of a workspace away
#[derive(Debug, Args)]
pub(super) struct UnsetArgs {
    #[command(flatten)]
    which: Which,
    /// Their names
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
}

/// Set the variables of a file, one NAME=value on a line, in place of those of the file before
#[derive(Debug, Args)]
pub(super) struct ImportArgs {
    #[command(flatten)]
    which: Which,
    /// The file
    file: PathBuf,
}

/// What was typed, taken in without an error, since clap's errors repeat it.
#[derive(Clone, Debug)]
enum Typed {
    Value(String, Sensitive),
    Name(String),
    Broken,
}

impl Typed {
    fn read(typed: &OsStr) -> Self {
        // A name that breaks the rule may be half a value, so it must not reach a message.
        match typed.to_str().map(|typed| typed.split_once('=').ok_or(typed)) {
            Some(Ok((name, value))) if is_name(name) => Self::Value(name.into(), Sensitive::new(value)),
            Some(Err(name)) if is_name(name) => Self::Name(name.into()),
            _ => Self::Broken,
        }
    }
}

pub(super) fn run(command: EditCommand, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let (which, edit) = match command {
        EditCommand::Set(args) => {
            let env = variables(args.variables, args.secret.as_deref(), io)?;
            (args.which, Edit::Set(env))
        }
        EditCommand::Unset(args) => {
            if !args.names.iter().all(|name| is_name(name)) {
                return Err(Failure::Usage("env unset takes names of variables.".into()));
            }
            (args.which, Edit::Unset(args.names))
        }
        EditCommand::Import(args) => (args.which, Edit::Import(env_file(&args.file)?)),
    };
    apply(&which, edit, io)
}

/// The variables that are to be set.
fn variables(
    typed: Vec<Typed>,
    secret: Option<&str>,
    io: &mut Io<'_>,
) -> Result<UniqueMap<EnvSetting>, Failure> {
    let bare = typed.iter().filter(|typed| matches!(typed, Typed::Name(_))).count();
    if secret.is_some() && (bare != 1 || typed.len() != 1) {
        return Err(Failure::Usage("--secret takes exactly one NAME, without a value.".into()));
    }
    if bare > 1 {
        return Err(Failure::Usage("Standard input gives the value of one NAME at a time.".into()));
    }
    let mut variables = UniqueMap::default();
    for one in typed {
        match (one, secret) {
            (Typed::Value(name, value), _) => variables.insert(name, EnvSetting::Value(value)),
            (Typed::Name(name), Some(secret)) => variables.insert(name, EnvSetting::Secret(secret.into())),
            (Typed::Name(name), None) => {
                let value = from_standard_input(&name, io)?;
                variables.insert(name, EnvSetting::Value(value));
            }
            (Typed::Broken, _) => {
                let message = "env set takes NAME=value or NAME; a name has letters, digits and underscores and does not begin with a digit.";
                return Err(Failure::Usage(message.into()));
            }
        }
    }
    Ok(variables)
}

/// A value from standard input, without its last line end, as a shell's `$(…)` would give it.
fn from_standard_input(name: &str, io: &mut Io<'_>) -> Result<Sensitive, Failure> {
    if std::io::stdin().is_terminal() {
        let message = "A value is read from standard input, and this one is a terminal, where it would be seen: pipe it in.";
        return Err(Failure::Usage(message.into()));
    }
    let most = limits::ENV_STRING_BYTES.saturating_add(2);
    let unreadable =
        |why: &str| Failure::Failed(format!("The value of {} on standard input {why}.", quoted(name)));
    let bytes = read_at_most(&mut *io.stdin, most)
        .map_err(|error| unreadable(&format!("cannot be read: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|_| unreadable("is not UTF-8"))?;
    if text.is_empty() {
        // A program in front that failed prints nothing, and must not take the value of before with it.
        return Err(unreadable("is empty; write NAME= for an empty value"));
    }
    let text = Sensitive::from(text);
    let value = text.reveal();
    let value = value.strip_suffix('\n').map_or(value, |line| line.strip_suffix('\r').unwrap_or(line));
    redact::know(value);
    Ok(Sensitive::new(value))
}

fn apply(which: &Which, what: Edit, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let (store, record) = found(&which.workspace)?;
    let settings = settings_of(which.settings.as_deref())?;
    let edited = edit(&record, &store, &settings, what).map_err(|error| failure(error, io))?;
    let name = &record.workspace.name;
    if which.json {
        let answer = json!({"ok": true, "name": name, "set": edited.set, "unset": edited.unset, "recreate": edited.recreate});
        writeln!(io.stdout, "{answer}")?;
    } else {
        for sentence in told(name, &edited) {
            writeln!(io.stdout, "{sentence}")?;
        }
    }
    Ok(Ended::Done)
}

/// What came of it, in sentences; each name that the next launch does not simply have gets one of its own.
fn told(workspace: &str, edited: &Edited) -> Vec<String> {
    let entry = |name: &str| edited.environment.environment.iter().find(|entry| entry.name == name);
    let list = |names: &[&String]| names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    let waits = |name: &String| edited.recreate.contains(name);
    let arrives = |name: &&String| {
        entry(name).is_some_and(|e| e.state == EnvState::Active && e.layer == Layer::ContainerWorkspace)
            && !waits(name)
    };
    let (arriving, others): (Vec<&String>, Vec<&String>) = edited.set.iter().partition(arrives);
    let mut told = Vec::new();
    if !arriving.is_empty() {
        told.push(format!("Set for {}: {}.", quoted(workspace), list(&arriving)));
    }
    let unset: Vec<&String> = edited.unset.iter().collect();
    if !unset.is_empty() {
        told.push(format!("No longer set for {}: {}.", quoted(workspace), list(&unset)));
    }
    if edited.set.is_empty() && unset.is_empty() {
        told.push(format!("The file sets nothing, so nothing changed for {}.", quoted(workspace)));
    }
    if !arriving.is_empty() || unset.iter().any(|name| !waits(name)) {
        told.push("The next launch goes by it; running processes keep what they have.".into());
    }
    for name in others.into_iter().filter(|name| !waits(name)) {
        told.extend(why(name, &edited.environment).into_iter().take(1));
    }
    for name in &edited.unset {
        if let Some(entry) = entry(name).filter(|entry| entry.state == EnvState::Active && !waits(name)) {
            let place = place(&entry.source);
            told.push(format!("{} comes from layer \"{}\" ({place}) now.", quoted(name), entry.layer));
        }
    }
    for name in &edited.recreate {
        let name = quoted(name);
        told.push(format!(
            "{name} is a start variable: the container keeps its value of before until a recreate."
        ));
    }
    told
}

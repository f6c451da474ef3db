//! `recreate` and `copy`: a workspace's container anew, and its copy of ignored files once more.

use std::path::PathBuf;

use clap::Args;
use orca_container_core::{EnvChange, PlanChange, is_deceptive, quoted};
use serde_json::json;

use super::container_flags::ContainerFlags;
use super::person::Person;
use super::workspace::{failure, found, settings_of, tell_drift};
use super::{Ended, Failure, Io};
use crate::workspace::{Again, Difference, RecreateOptions, Told, Ui, copy_again, recreate};

/// Characters of a fact that are shown; a mount has fewer.
const FACT: usize = 400;

/// Make the container of a workspace anew; its volumes are kept
///
/// Settings and variables are those of now, and so is what is chosen here; what was chosen at create stays otherwise. The
/// repository's files count as they were when the workspace was made, unless they are adopted. Running processes end, and
/// what lies outside of the volumes goes.
#[derive(Debug, Args)]
pub(super) struct RecreateArgs {
    /// Workspace: a path, its id, or its name
    workspace: String,
    /// Take orca.yaml, devcontainer.json and .worktreeinclude as they are committed on the host now (of a URL: as they were cloned)
    #[arg(long)]
    adopt_repository_config: bool,
    /// Take the agent volume, with the settings and logins of agents, away and make a fresh one
    #[arg(long)]
    reset_agent: bool,
    /// Show the difference and what would be asked, and touch nothing
    #[arg(long)]
    dry_run: bool,
    /// Settings file
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    flags: ContainerFlags,
}

/// Copy the ignored files that .worktreeinclude listed when the workspace was made, once more
#[derive(Debug, Args)]
pub(super) struct CopyArgs {
    /// Workspace: a path, its id, or its name
    workspace: String,
    /// Replace files that are there; without it they are kept
    #[arg(long)]
    replace: bool,
    /// Settings file
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run_recreate(args: RecreateArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let approve = args.flags.digests()?;
    let words = args.flags.words()?;
    if words.choices.env.is_some() || words.choices.env_file.is_some() {
        return Err(Failure::Usage(
            "Variables of a workspace are edited by env set, env unset and env import.".into(),
        ));
    }
    if words.choices.enabled == Some(false) || words.choices.engine.is_some() || words.agent.is_some() {
        return Err(Failure::Usage("A recreate keeps the engine, the agent and the container.".into()));
    }
    let (store, record) = found(&args.workspace)?;
    let settings = settings_of(args.settings.as_deref())?;
    if !args.adopt_repository_config {
        tell_drift(&record, io)?;
    }
    let options = RecreateOptions {
        settings: &settings,
        choices: words.choices,
        devcontainer: words.devcontainer,
        adopt: args.adopt_repository_config,
        reset_agent: args.reset_agent,
        approve,
        dry_run: args.dry_run,
    };
    let mut told = None;
    let mut tell = |said: &Told<'_>, ui: &mut dyn Ui| {
        if args.reset_agent {
            ui.progress(
                "The agent volume goes, with the settings and logins of agents, and a fresh one is made.",
            );
        }
        tell_all(said, ui);
        told = Some(said.difference.clone());
    };
    let made = recreate(&record, &store, &options, &mut Person::new(io), &mut tell);
    let made = made.map_err(|error| failure(error, io))?;
    let name = &made.workspace.name;
    if args.json {
        let difference = json!(told);
        writeln!(
            io.stdout,
            "{}",
            json!({"ok": true, "name": name, "recreated": !args.dry_run, "resetAgent": args.reset_agent, "difference": difference})
        )?;
    } else if args.dry_run {
        writeln!(io.stdout, "Nothing was touched.")?;
    } else {
        let kept = if args.reset_agent {
            "the workspace volume is kept, the agent volume is a fresh one"
        } else {
            "its volumes are kept"
        };
        writeln!(io.stdout, "{} runs in a new container; {kept}.", quoted(name))?;
        writeln!(io.stdout, "It does not disinfect: what was left in a volume that is kept is still there.")?;
    }
    Ok(Ended::Done)
}

/// The difference, and what waits for an answer.
pub(super) fn tell_all(said: &Told<'_>, ui: &mut dyn Ui) {
    for line in lines(said.difference) {
        ui.progress(&line);
    }
    for asked in said.pending {
        ui.progress(&format!("Asked: {}", asked.message));
        ui.progress(&format!("    --approve {}", asked.digest));
    }
}

/// The difference for a person.
fn lines(difference: &Difference) -> Vec<String> {
    if difference.is_empty() {
        return vec!["Nothing differs from the container of before.".into()];
    }
    let mut lines = vec!["What differs from the container of before:".into()];
    lines.extend(
        difference.files.iter().map(|file| format!("  {} counts as it is committed now", quoted(file))),
    );
    for (which, patterns) in [("new", &difference.patterns_added), ("gone", &difference.patterns_removed)] {
        lines.extend(patterns.iter().map(|pattern| format!("    {which} in it: {}", quoted(pattern))));
    }
    lines.extend(difference.plan.iter().map(|field| format!("  {}", field_line(field))));
    for changed in &difference.variables {
        let what = match changed.change {
            EnvChange::New => "is new",
            EnvChange::Gone => "is gone",
            EnvChange::Moved => "comes from another place",
            EnvChange::Edited | EnvChange::Recreate => "has another value",
        };
        lines.push(format!("  {} {what}", quoted(&changed.name)));
    }
    lines
}

/// What becomes of a field of a plan.
pub(super) fn field_line(field: &PlanChange) -> String {
    if field.before.is_none() && field.after.is_none() {
        return format!("{} differs", field.field);
    }
    let shown = |value: &Option<serde_json::Value>| value.as_ref().map_or("nothing".into(), fact);
    format!("{}: {} becomes {}", field.field, shown(&field.before), shown(&field.after))
}

/// A fact of a plan as JSON, cut where it is long; nothing that a terminal obeys.
fn fact(value: &serde_json::Value) -> String {
    let text = value.to_string();
    let visible = |c: char| if is_deceptive(c) { c.escape_unicode().to_string() } else { c.to_string() };
    let mut shown: String = text.chars().take(FACT).map(visible).collect();
    if text.chars().nth(FACT).is_some() {
        shown.push('…');
    }
    shown
}

pub(super) fn run_copy(args: &CopyArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let (store, record) = found(&args.workspace)?;
    let settings = settings_of(args.settings.as_deref())?;
    tell_drift(&record, io)?;
    let again = if args.replace { Again::Replace } else { Again::Keep };
    let copied = copy_again(&record, &store, &settings, again, &mut Person::new(io));
    let report = copied.map_err(|error| failure(error, io))?;
    if args.json {
        writeln!(io.stdout, "{}", json!({"ok": true, "copied": report}))?;
    } else {
        let number = report.entries;
        let plural = if number == 1 { "y" } else { "ies" };
        writeln!(io.stdout, "{number} entr{plural} copied into {}.", quoted(&record.workspace.name))?;
    }
    Ok(Ended::Done)
}

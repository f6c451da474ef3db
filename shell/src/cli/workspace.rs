//! `create`, `ls`, `status`, `start`, `stop`, `rm`, `approve`: workspaces on an engine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use orca_container_core::{Drift, Goal, Verdict, Waiting, quoted};
use serde_json::json;

use super::branch_flags::BranchFlags;
use super::container_flags::ContainerFlags;
use super::person::Person;
use super::renew::field_line;
use super::target::Target;
use super::{Ended, Failure, Io};
use crate::engine::EngineError;
use crate::gather::settings_file::SettingsPlace;
use crate::render::{drift_line, refusal};
use crate::settings::Settings;
use crate::store::{Store, WorkspaceRecord};
use crate::workspace::{self, AFTER_START, CreateOptions, OF_CREATE, Runner, Size, WorkspaceError};

/// Make a workspace: one hardened container for the git worktree of a folder
#[derive(Debug, Args)]
pub(super) struct CreateArgs {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    branch: BranchFlags,
    #[command(flatten)]
    flags: ContainerFlags,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// List workspaces
#[derive(Debug, Args)]
pub(super) struct LsArgs {
    /// Also how much disk each takes, which the engine counts by walking every file
    #[arg(long, short)]
    size: bool,
    /// Settings file, for what waits for a recreate (told with --json)
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A workspace by path, id or name.
#[derive(Debug, Args)]
pub(super) struct OneArgs {
    /// Workspace: a path, its id, or its name
    workspace: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl OneArgs {
    /// The workspace, as it was named.
    pub(super) fn name(&self) -> &str {
        &self.workspace
    }
}

/// Say what became of a workspace, which files changed since it was made, and what to do
#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    #[command(flatten)]
    one: OneArgs,
    /// Settings file
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
}

/// Remove a workspace with its container and volumes; one that holds work that is nowhere else is kept
#[derive(Debug, Args)]
pub(super) struct RmArgs {
    #[command(flatten)]
    one: OneArgs,
    /// Remove it with all the work in it
    #[arg(long)]
    force: bool,
}

/// Show what a plan asks and by which line, and record answers by digest
#[derive(Debug, Args)]
pub(super) struct ApproveArgs {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    branch: BranchFlags,
    #[command(flatten)]
    flags: ContainerFlags,
}

/// The core's reasons are shown whole; an engine that is not there has an exit code of its own.
pub(super) fn failure(error: WorkspaceError, io: &mut Io<'_>) -> Failure {
    match error {
        WorkspaceError::Refused(refused) => {
            let text = refusal(&refused, io.look);
            shown(&text, io)
        }
        WorkspaceError::NeedsApproval(asked) => {
            // In our own words, which hold no value: masking could hide what is asked.
            let mut text = String::from("error: Nothing was made: these wait for your approval.\n");
            for one in asked {
                text.push_str(&format!("  {}\n    --approve {}\n", one.message, one.digest));
            }
            shown(&text, io)
        }
        // The engine is there; it is the way to it that is refused.
        WorkspaceError::Engine(error @ EngineError::TlsUnverified) => Failure::of(&error),
        WorkspaceError::Engine(error) => Failure::Engine(error.to_string()),
        error => Failure::of(&error),
    }
}

fn shown(text: &str, io: &mut Io<'_>) -> Failure {
    match io.stderr.write_all(text.as_bytes()) {
        Ok(()) => Failure::Shown,
        Err(error) => Failure::Output(error),
    }
}

pub(super) fn store() -> Result<Store, Failure> {
    Store::of_process().map_err(|error| Failure::of(&error))
}

/// The settings of a file, or those that launches read by themselves.
pub(super) fn settings_of(file: Option<&Path>) -> Result<Settings, Failure> {
    let file = SettingsPlace::of_process(file).read().map_err(|error| Failure::of(&error))?;
    file.map_or_else(|| Ok(Settings::default()), |file| Settings::of(&file))
        .map_err(|error| Failure::of(&error))
}

pub(super) fn found(written: &str) -> Result<(Store, WorkspaceRecord), Failure> {
    let store = store()?;
    let record = workspace::find(&store, written).map_err(|error| Failure::of(&error))?;
    workspace::know_values(&record, &store);
    Ok((store, record))
}

pub(super) fn create(args: CreateArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let approve = args.flags.digests()?;
    let mut words = args.flags.words()?;
    // Approved by digest once it is asked, so that it can be kept with its subject.
    words.approvals.clear();
    if words.choices.enabled == Some(false) {
        let message = "There is no workspace without a container; create makes containers only.";
        return Err(Failure::Failed(message.into()));
    }
    let settings = args.target.settings()?;
    let store = store()?;
    let folder = args.target.folder().to_path_buf();
    let branch = args.branch.said();
    let options = CreateOptions { folder: &folder, settings: &settings, words, branch, approve };
    let made = workspace::create(options, &store, &mut Person::new(io));
    let record = made.map_err(|error| failure(error, io))?;
    if args.json {
        writeln!(io.stdout, "{}", described(&record))?;
    } else {
        writeln!(io.stdout, "{} runs in {}.", quoted(&record.workspace.name), record.plan.names.container)?;
        writeln!(io.stdout, "Work in it with: orca-container shell {}", quoted(&record.workspace.name))?;
    }
    Ok(Ended::Done)
}

/// A workspace as data; no text of the repository and no value.
pub(super) fn described(record: &WorkspaceRecord) -> serde_json::Value {
    let mut value = json!({
        "id": record.workspace.id,
        "name": record.workspace.name,
        "branch": record.workspace.branch,
        "engine": record.engine.kind,
        "container": record.plan.names.container,
        "containerId": record.container_id,
        "phase": record.progress.phase,
        "image": record.plan.image.reference,
        "mode": record.plan.mode,
    });
    if let Some(object) = value.as_object_mut() {
        if let Some(copied) = &record.copied {
            object.insert("copied".into(), json!(copied));
        }
        if !record.commands.is_empty() {
            object.insert("commands".into(), json!(record.commands));
        }
    }
    value
}

fn with_status(record: &WorkspaceRecord, status: &workspace::Status) -> serde_json::Value {
    let mut value = described(record);
    if let (Some(object), Ok(serde_json::Value::Object(status))) =
        (value.as_object_mut(), serde_json::to_value(status))
    {
        object.extend(status);
    }
    value
}

pub(super) fn ls(args: &LsArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let store = store()?;
    let (records, broken) = store.records().map_err(|error| Failure::of(&error))?;
    for error in &broken {
        writeln!(io.stderr, "warning: {error}")?;
    }
    let sizes = if args.size { workspace::sizes(&records, io.stderr)? } else { BTreeMap::new() };
    if args.json {
        let settings = settings_of(args.settings.as_deref()).map_err(Failure::words);
        // What lies in a container takes calls of its engine: that is what `status` is for.
        let one = |record: &WorkspaceRecord| {
            let waiting = waiting(record, &store, settings.as_ref());
            let status = workspace::status(record, workspace::drift_on_host(record), waiting);
            let mut value = with_status(record, &status);
            if let (Some(object), Some(size)) = (value.as_object_mut(), sizes.get(record.file_name())) {
                object.insert("disk".into(), json!(size));
            }
            value
        };
        let list: Vec<serde_json::Value> = records.iter().map(one).collect();
        writeln!(io.stdout, "{}", serde_json::Value::Array(list))?;
        return Ok(Ended::ok(broken.is_empty()));
    }
    if records.is_empty() {
        writeln!(io.stdout, "No workspaces.")?;
        return Ok(Ended::ok(broken.is_empty()));
    }
    let disk = |text: &str| if args.size { format!("{text:>8} ") } else { String::new() };
    let head = disk("DISK");
    writeln!(io.stdout, "{:<20} {:<13} {:<7} {head}{:<16} WORKTREE", "NAME", "STATUS", "ENGINE", "BRANCH")?;
    for record in &records {
        let escaped = orca_container_core::escaped;
        let branch = escaped(record.workspace.branch.as_deref().unwrap_or("-"));
        let (name, worktree) = (escaped(&record.workspace.name), escaped(&record.workspace.id));
        let status =
            workspace::status(record, Vec::new(), Ok(Waiting::default())).of.standing.status.as_str();
        let size = sizes.get(record.file_name());
        let size = disk(&size.and_then(Size::total).map_or("?".into(), decimal));
        writeln!(
            io.stdout,
            "{name:<20} {status:<13} {:<7} {size}{branch:<16} {worktree}",
            record.engine.kind.as_str()
        )?;
    }
    Ok(Ended::ok(broken.is_empty()))
}

/// Two or more digits and a decimal unit, as engines write sizes.
fn decimal(bytes: u64) -> String {
    let tenths = [(100_000_000_000, "TB"), (100_000_000, "GB"), (100_000, "MB"), (100, "kB")];
    let counted = tenths.into_iter().find_map(|(tenth, unit)| {
        let count = bytes.checked_div(tenth).filter(|count| *count >= 10)?;
        let (whole, part) = (count.checked_div(10)?, count.checked_rem(10)?);
        Some(if whole < 10 { format!("{whole}.{part}{unit}") } else { format!("{whole}{unit}") })
    });
    counted.unwrap_or_else(|| format!("{bytes}B"))
}

pub(super) fn status(args: &StatusArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let (store, record) = found(&args.one.workspace)?;
    let settings = settings_of(args.settings.as_deref()).map_err(Failure::words);
    let waiting = waiting(&record, &store, settings.as_ref());
    let status = workspace::status(&record, workspace::drift(&record), waiting);
    if args.one.json {
        writeln!(io.stdout, "{}", with_status(&record, &status))?;
        return Ok(Ended::Done);
    }
    writeln!(
        io.stdout,
        "{}: {}. {}",
        orca_container_core::escaped(&record.workspace.name),
        status.of.standing.status,
        status.of.standing.reason
    )?;
    if let Some(help) = &status.of.standing.help {
        writeln!(io.stdout, "{help}")?;
    }
    for drift in &status.of.drift {
        writeln!(io.stdout, "{}; what it says now is not used.", drift_line(drift))?;
    }
    tell_waiting(&status, io)?;
    Ok(Ended::Done)
}

/// What waits for a recreate. Settings that cannot be read are no reason to be silent about it, nor to guess.
fn waiting(
    record: &WorkspaceRecord,
    store: &Store,
    settings: Result<&Settings, &String>,
) -> Result<Waiting, String> {
    let found = workspace::waiting(record, store, settings.map_err(String::clone)?);
    found.map_err(|error| error.to_string())
}

fn tell_waiting(status: &workspace::Status, io: &mut Io<'_>) -> Result<(), Failure> {
    for name in &status.of.waiting.start_variables {
        writeln!(io.stdout, "The start variable {} waits for a recreate.", quoted(name))?;
    }
    for field in &status.of.waiting.waiting_fields {
        writeln!(io.stdout, "Waits for a recreate: {}", field_line(field))?;
    }
    for problem in &status.of.waiting.not_plannable {
        writeln!(io.stdout, "No plan by the settings of now: {} [{}]", problem.message, problem.code)?;
    }
    if let Some(why) = &status.waiting_unknown {
        writeln!(io.stdout, "What waits for a recreate is not known: {why}")?;
    }
    Ok(())
}

/// Says which of the repository's files changed since a workspace was made.
pub(super) fn tell_drift(record: &WorkspaceRecord, io: &mut Io<'_>) -> Result<(), Failure> {
    tell_drift_of(&workspace::drift(record), io)
}

/// The same where it was looked for.
pub(super) fn tell_drift_of(drift: &[Drift], io: &mut Io<'_>) -> Result<(), Failure> {
    for one in drift {
        writeln!(io.stderr, "notice: {}; what it says now is not used.", drift_line(one))?;
    }
    Ok(())
}

/// Removal with a look for work first.
pub(super) fn rm(args: &RmArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let name = reach_to(&Reach { guarded: !args.force, ..Reach::new(Goal::Remove, args.one.name()) }, io)?;
    say(&name, "is removed, with its volumes", &args.one, io)
}

/// A stop, then a start that compares with the plan as every one does.
pub(super) fn restart(args: &OneArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    reach_to(&Reach::new(Goal::Stop, args.name()), io)?;
    reach(Goal::Start, args, io)
}

/// Start or stop: the same loop towards another goal.
pub(super) fn reach(goal: Goal, args: &OneArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let name = reach_to(&Reach::new(goal, args.name()), io)?;
    say(&name, if goal == Goal::Start { "runs" } else { "is stopped" }, args, io)
}

fn say(name: &str, done: &str, args: &OneArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    if args.json {
        writeln!(io.stdout, "{}", json!({"ok": true, "name": name}))?;
    } else {
        writeln!(io.stdout, "{} {done}.", quoted(name))?;
    }
    Ok(Ended::Done)
}

/// What is to become of a workspace.
#[derive(Debug)]
pub(super) struct Reach<'a> {
    /// The goal.
    pub(super) goal: Goal,
    /// The workspace: a path, its id, or its name.
    pub(super) workspace: &'a str,
    /// Whether work that is nowhere else keeps it.
    pub(super) guarded: bool,
    /// How long another command on it is waited for.
    pub(super) patience: Duration,
    /// Whether a command of the repository that fails is told and no failure.
    pub(super) lenient: bool,
    /// Settings file of the repository's commands after a start.
    pub(super) settings: Option<&'a Path>,
}

impl<'a> Reach<'a> {
    /// A goal for a person who waits for the answer.
    pub(super) fn new(goal: Goal, workspace: &'a str) -> Self {
        Self {
            goal,
            workspace,
            guarded: false,
            patience: Duration::from_secs(2),
            lenient: false,
            settings: None,
        }
    }
}

/// Reaches a goal under the workspace's lock; gives its name.
pub(super) fn reach_to(to: &Reach<'_>, io: &mut Io<'_>) -> Result<String, Failure> {
    let goal = to.goal;
    // What a killed create left without a record goes with any of these.
    workspace::remove_leftovers(&store()?);
    let (store, record) = found(to.workspace)?;
    let name = record.workspace.name.clone();
    let lock = store.lock_patiently(record.file_name(), to.patience).map_err(|error| Failure::of(&error))?;
    // Of now: somebody may have removed or changed it before its lock was ours.
    let Some(record) = store.record(record.file_name()).map_err(|error| Failure::of(&error))? else {
        return Err(Failure::of(&WorkspaceError::NotFound(quoted(&name))));
    };
    if to.guarded {
        workspace::keep_work(&record).map_err(|error| failure(error, io))?;
    }
    let ran_before = goal == Goal::Start
        && workspace::status(&record, Vec::new(), Ok(Waiting::default())).of.standing.verdict
            == Verdict::Live;
    let mut runner = Runner::new(&store, record, true);
    runner.observe();
    let reached = runner.reach(goal, &mut Person::new(io));
    if goal == Goal::Remove && reached.is_ok() {
        lock.remove();
    } else {
        drop(lock);
    }
    let mut record = runner.record;
    reached.map_err(|error| failure(error, io))?;
    if goal == Goal::Start {
        let settings = settings_of(to.settings)?;
        // What runs already was not started; what a create was interrupted in is still due.
        let stages = if ran_before { &OF_CREATE[..] } else { &AFTER_START[..] };
        let ran = workspace::run_stages(stages, &mut record, &store, &settings, &mut Person::new(io));
        match ran {
            Err(error) if to.lenient => {
                writeln!(io.stderr, "warning: {}", crate::redact::mask(&error.to_string()))?
            }
            ran => ran.map_err(|error| failure(error, io))?,
        }
    }
    Ok(name)
}

pub(super) fn approve(args: ApproveArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let digests = args.flags.digests()?;
    let mut words = args.flags.words()?;
    words.approvals.clear();
    let settings = args.target.settings()?;
    let store = store()?;
    let folder: PathBuf = args.target.folder().to_path_buf();
    let branch = args.branch.said();
    let options = CreateOptions { folder: &folder, settings: &settings, words, branch, approve: digests };
    let outcome = workspace::approve(options, &store, &mut Person::new(io));
    let outcome = outcome.map_err(|error| failure(error, io))?;
    for approved in &outcome.approved {
        writeln!(io.stdout, "Approved: {}", approved.message)?;
    }
    for asked in &outcome.open {
        writeln!(io.stdout, "Asked: {}", asked.message)?;
        writeln!(io.stdout, "    {}", orca_container_core::place(&asked.source))?;
        writeln!(io.stdout, "    --approve {}", asked.digest)?;
    }
    if outcome.approved.is_empty() && outcome.open.is_empty() {
        writeln!(io.stdout, "Nothing waits for you.")?;
    }
    Ok(Ended::Done)
}

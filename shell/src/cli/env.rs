//! `env`: the effective environment of a workspace, or of a folder where none is yet; never a value.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use orca_container_core::{effective_environment, json, why, why_in_workspace};

use super::branch_flags::BranchFlags;
use super::container_flags::ContainerFlags;
use super::env_edit::{self, EditCommand};
use super::target::Target;
use super::{Ended, Failure, Io};
use crate::render;

/// Show every variable of a workspace, where it was said and what it hides, never its value; or edit its own
///
/// For a folder without a workspace it shows what a create would give. A folder called like one of the commands is
/// written with its path, as ./set.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct EnvArgs {
    #[command(subcommand)]
    edit: Option<EditCommand>,
    /// Workspace (a path, its id, or its name), or a folder in a git worktree; the current one by default
    #[arg(value_name = "PATH|WORKSPACE")]
    path: Option<PathBuf>,
    /// Settings file; by default orca-container/settings.json in the folder for configuration
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// How to show it; markdown is made for bug reports
    #[arg(long, value_enum, default_value_t = EnvFormat::Table)]
    format: EnvFormat,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Tell one variable's story
    #[arg(long, value_name = "NAME", conflicts_with_all = ["format", "json"])]
    why: Option<String>,
    /// Show what a create of the folder would give, though a workspace is there
    #[arg(long)]
    preview: bool,
    #[command(flatten)]
    branch: BranchFlags,
    #[command(flatten)]
    flags: ContainerFlags,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EnvFormat {
    Table,
    Json,
    Markdown,
}

pub(super) fn run(mut args: EnvArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    if let Some(edit) = args.edit.take() {
        return env_edit::run(edit, io);
    }
    // A branch is named for a create of it; the workspace of one is called FOLDER@BRANCH.
    if !args.preview
        && !args.branch.is_any()
        && let Some(report) = of_workspace(&args)?
    {
        let text = match (&args.why, args.format()) {
            (Some(name), _) => render::sentences(&why_in_workspace(name, &report), io.look),
            (None, EnvFormat::Table) => render::workspace_environment(&report, io.look),
            (None, EnvFormat::Json) => json::write(&report) + "\n",
            (None, EnvFormat::Markdown) => render::workspace_markdown(&report),
        };
        io.stdout.write_all(text.as_bytes())?;
        return Ok(Ended::ok(report.effective.ok));
    }
    of_folder(args, io)
}

impl EnvArgs {
    fn format(&self) -> EnvFormat {
        if self.json { EnvFormat::Json } else { self.format }
    }
}

/// The report of the workspace that is meant, where there is one.
fn of_workspace(args: &EnvArgs) -> Result<Option<orca_container_core::WorkspaceEnvironment>, Failure> {
    use super::workspace::{settings_of, store};
    use crate::workspace::{self, WorkspaceError};
    let Ok(store) = store() else { return Ok(None) };
    let written = args.path.as_deref().unwrap_or(std::path::Path::new(".")).to_string_lossy();
    let record = match workspace::find(&store, &written) {
        Ok(record) => record,
        Err(WorkspaceError::NotFound(_)) => return Ok(None),
        Err(error) => return Err(Failure::of(&error)),
    };
    if args.flags.is_any() {
        let message =
            "A workspace is there, and its container is made: flags of a container are for --preview.";
        return Err(Failure::Usage(message.into()));
    }
    workspace::know_values(&record, &store);
    let settings = settings_of(args.settings.as_deref())?;
    let drift = workspace::drift(&record);
    let report = workspace::environment(&record, &store, &settings, drift);
    report.map(Some).map_err(|error| Failure::of(&error))
}

fn of_folder(args: EnvArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let format = args.format();
    let request = Target::of(args.path, args.settings).request_of(args.flags, &args.branch.said(), io)?;
    let report = effective_environment(&request);
    let text = match (&args.why, format) {
        (Some(name), _) => render::sentences(&why(name, &report), io.look),
        (None, EnvFormat::Table) => render::environment(&report, io.look),
        (None, EnvFormat::Json) => json::write(&report) + "\n",
        (None, EnvFormat::Markdown) => render::markdown(&report),
    };
    io.stdout.write_all(text.as_bytes())?;
    Ok(Ended::ok(report.ok))
}

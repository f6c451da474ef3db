//! `check`: what is wrong, line by line, for people, editors and pipelines.

use std::collections::BTreeSet;

use clap::{Args, ValueEnum};
use orca_container_core::{
    Code, Diagnostic, PlanAnswer, Severity, devcontainer_findings, input::PlanRequest, json, plan,
};
use serde::Serialize;

use super::container_flags::ContainerFlags;
use super::target::Target;
use super::{Ended, Failure, Io};
use crate::render;

/// Judge what the repository and the settings say, line by line
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    target: Target,
    /// Fail also when something was left out
    #[arg(long)]
    strict: bool,
    /// How to show it
    #[arg(long, value_enum, default_value_t = CheckFormat::Text)]
    format: CheckFormat,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    #[command(flatten)]
    flags: ContainerFlags,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CheckFormat {
    Text,
    Json,
    Sarif,
}

/// The answer as data.
#[derive(Debug, Serialize)]
struct CheckAnswer<'a> {
    ok: bool,
    problems: Vec<&'a Diagnostic>,
}

pub(super) fn run(args: CheckArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let mut request = args.target.request(args.flags, io)?;
    ask_for_everything(&mut request);
    let answer = plan(&request);
    let found = match &answer {
        PlanAnswer::Planned(planned) => &planned.notices,
        PlanAnswer::Refused(refusal) => &refusal.problems,
    };
    let of_devcontainer = devcontainer_findings(&request);
    let problems = in_order(found.iter().chain(&of_devcontainer));
    let fails = |problem: &&Diagnostic| match problem.severity {
        Severity::Refused => true,
        Severity::Dropped => args.strict,
        Severity::Asked | Severity::Notice => false,
    };
    let ok = !problems.iter().any(fails);
    let format = if args.json { CheckFormat::Json } else { args.format };
    let text = match format {
        CheckFormat::Text => render::check(&problems),
        CheckFormat::Json => json::write(&CheckAnswer { ok, problems }) + "\n",
        CheckFormat::Sarif => format!("{:#}\n", render::sarif(&problems)),
    };
    io.stdout.write_all(text.as_bytes())?;
    Ok(Ended::ok(ok))
}

/// Files are judged whether or not they count just now: a fault is one before the switch is thrown.
fn ask_for_everything(request: &mut PlanRequest) {
    request.repo_settings.command_source_policy = Some("run-both".into());
    request.global_settings.experimental_container_workspaces = true;
    request.choices.enabled = Some(true);
}

/// By file and line; what is in no file comes last, in the core's order.
fn in_order<'p>(problems: impl Iterator<Item = &'p Diagnostic>) -> Vec<&'p Diagnostic> {
    // That no image is named is nothing that a line of a file has wrong.
    // A file that counts is judged for the plan and by itself.
    let mut seen = BTreeSet::new();
    let mut first = |problem: &&'p Diagnostic| {
        let place = (&problem.source.file, problem.source.line, problem.source.column, &problem.source.path);
        seen.insert((problem.code, place, &problem.message))
    };
    let mut sorted: Vec<&Diagnostic> =
        problems.filter(|p| p.code != Code::ImageRequired).filter(|problem| first(problem)).collect();
    sorted.sort_by_key(|problem| {
        let source = &problem.source;
        (source.file.is_none(), source.file.clone(), source.line, source.column)
    });
    sorted
}

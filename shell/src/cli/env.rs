//! `env`: the effective environment, without a value.

use clap::{Args, ValueEnum};
use orca_container_core::{effective_environment, json};

use super::container_flags::ContainerFlags;
use super::target::Target;
use super::{Ended, Failure, Io};
use crate::render;

/// Show every variable of the workspace, where it was said and what it hides; never its value
#[derive(Debug, Args)]
pub(super) struct EnvArgs {
    #[command(flatten)]
    target: Target,
    /// How to show it; markdown is made for bug reports
    #[arg(long, value_enum, default_value_t = EnvFormat::Table)]
    format: EnvFormat,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Tell one variable's story
    #[arg(long, value_name = "NAME", conflicts_with_all = ["format", "json"])]
    why: Option<String>,
    #[command(flatten)]
    flags: ContainerFlags,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EnvFormat {
    Table,
    Json,
    Markdown,
}

pub(super) fn run(args: EnvArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let request = args.target.request(args.flags, io)?;
    let report = effective_environment(&request);
    let format = if args.json { EnvFormat::Json } else { args.format };
    let text = match (&args.why, format) {
        (Some(name), _) => render::story(name, &report, io.look),
        (None, EnvFormat::Table) => render::environment(&report, io.look),
        (None, EnvFormat::Json) => json::write(&report) + "\n",
        (None, EnvFormat::Markdown) => render::markdown(&report),
    };
    io.stdout.write_all(text.as_bytes())?;
    Ok(Ended::ok(report.ok))
}

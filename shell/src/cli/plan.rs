//! `plan`: what would run and why; no engine is needed.

use std::path::PathBuf;

use clap::Args;
use orca_container_core::{PlanAnswer, json, plan};

use super::branch_flags::BranchFlags;
use super::container_flags::ContainerFlags;
use super::target::Target;
use super::{Ended, Failure, Io, input};
use crate::render;

/// Show what would run and why; no engine is needed
#[derive(Debug, Args)]
pub(super) struct PlanArgs {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    branch: BranchFlags,
    /// Print the answer as one line of JSON
    #[arg(long)]
    json: bool,
    /// Take the whole request from a file of JSON instead, - is standard input; the answer is JSON
    #[arg(long, value_name = "FILE", conflicts_with_all = ["Target", "BranchFlags", "ContainerFlags"])]
    request: Option<PathBuf>,
    #[command(flatten)]
    flags: ContainerFlags,
}

pub(super) fn run(args: PlanArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let (name, answer) = if let Some(path) = &args.request {
        let text = input::read(path, io)?;
        let answer =
            json::read_request(text.reveal()).map_or_else(PlanAnswer::Refused, |request| plan(&request));
        (None, answer)
    } else {
        let request = args.target.request_of(args.flags, &args.branch.said(), io)?;
        (Some(request.workspace.name.clone()).filter(|_| !args.json), plan(&request))
    };
    let ended = Ended::ok(answer.planned().is_some());
    match (name, &answer) {
        (None, answer) => writeln!(io.stdout, "{}", json::write(answer))?,
        (Some(name), PlanAnswer::Planned(planned)) => {
            io.stdout.write_all(render::plan(&name, planned, io.look).as_bytes())?;
        }
        (Some(_), PlanAnswer::Refused(refusal)) => {
            io.stdout.write_all(render::refusal(refusal, io.look).as_bytes())?;
        }
    }
    Ok(ended)
}

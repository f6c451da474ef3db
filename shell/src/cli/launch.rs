//! `launch`: for programs. The one command that prints values, and nothing beside its answer.

use std::path::PathBuf;

use clap::Args;
use orca_container_core::{Sensitive, json};

use super::{Ended, Failure, Io, input};

/// Say how one process starts in a container: {"plan", "request", "launch"} in, the launch answer out
#[derive(Debug, Args)]
pub(super) struct LaunchArgs {
    /// File with the launch request; - is standard input
    #[arg(long, value_name = "FILE")]
    request: PathBuf,
}

pub(super) fn run(args: &LaunchArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let envelope = input::read(&args.request, io)?;
    let (answer, ok) = json::launch(envelope.reveal());
    let answer = Sensitive::from(answer);
    writeln!(io.stdout, "{}", answer.reveal())?;
    Ok(Ended::ok(ok))
}

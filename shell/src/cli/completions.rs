//! `completions`: what a shell completes, made from the table of commands.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::{CommandLine, Ended, Failure, Io};

/// Print completions for a shell
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn run(args: &CompletionsArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    // Made in memory first: the generator panics where it cannot write.
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut CommandLine::command(), "orca-container", &mut text);
    io.stdout.write_all(&text)?;
    Ok(Ended::Done)
}

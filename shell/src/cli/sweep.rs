//! `sweep`: removes what nobody uses any more.

use clap::Args;
use orca_container_core::escaped;

use super::person::Person;
use super::workspace::{failure, store};
use super::{Ended, Failure, Io};
use crate::workspace::{Fate, Swept, survey, sweep};

/// Remove workspaces whose worktree is gone, and what interrupted creates and removals left
#[derive(Debug, Args)]
pub(super) struct SweepArgs {
    /// Show what would be removed, and touch nothing
    #[arg(long)]
    dry_run: bool,
    /// Remove also what holds work that is nowhere else
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &SweepArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let store = store()?;
    let all = if args.dry_run { survey(&store) } else { sweep(&store, args.force, &mut Person::new(io)) };
    let all = all.map_err(|error| failure(error, io))?;
    if args.json {
        writeln!(io.stdout, "{}", serde_json::json!(all))?;
    } else {
        for line in lines(&all) {
            writeln!(io.stdout, "{line}")?;
        }
    }
    Ok(Ended::ok(!all.iter().any(|swept| swept.fate == Fate::Kept)))
}

fn lines(all: &[Swept]) -> Vec<String> {
    if all.is_empty() {
        return vec!["Nothing to sweep.".into()];
    }
    let line = |swept: &Swept| {
        let fate = match swept.fate {
            Fate::Remove => "would remove",
            Fate::Removed => "removed",
            Fate::Kept => "kept",
            Fate::Unverifiable => "left",
        };
        format!("{fate} {}: {}", escaped(&swept.name), swept.reason)
    };
    all.iter().map(line).collect()
}

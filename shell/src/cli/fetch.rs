//! `fetch`: a workspace's branch home.

use clap::Args;
use orca_container_core::{HostFile, quoted};
use serde_json::{Value, json};

use super::person::Person;
use super::workspace::{failure, found};
use super::{Ended, Failure, Io};
use crate::import::{Fetched, Held, Outcome, fetch};
use crate::render::shell_word;

/// Files that are shown to a person; the rest is counted.
const SHOWN_FILES: usize = 40;

/// Files that are in the JSON.
const LISTED_FILES: usize = 10_000;

/// Digits of a commit that a person needs.
const SHORT: usize = 12;

/// Bring the branch of a workspace to the host's repository
///
/// Only the recorded branch is moved, only forward, and only where no worktree holds it; in any case what came is kept
/// under refs/orca. Files that are run on the host are named. Nothing of the workspace runs on the host.
#[derive(Debug, Args)]
pub(super) struct FetchArgs {
    /// Workspace: a path, its id, or its name
    workspace: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &FetchArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let (store, record) = found(&args.workspace)?;
    let fetched = fetch(&record, &store, &mut Person::new(io)).map_err(|error| failure(error, io))?;
    if args.json {
        writeln!(io.stdout, "{}", as_json(&record.workspace.name, &fetched))?;
        return Ok(Ended::Done);
    }
    let lines = match fetched.outcome {
        Outcome::AlreadyThere => Vec::new(),
        _ => files(&fetched.changed),
    };
    for line in lines.iter().chain(&outcome(&fetched, &record.workspace.repo_path)) {
        writeln!(io.stdout, "{line}")?;
    }
    Ok(Ended::Done)
}

fn as_json(name: &str, fetched: &Fetched) -> Value {
    let mut value = json!({
        "ok": true,
        "name": name,
        "branch": fetched.branch,
        "from": fetched.from,
        "to": fetched.to,
        "moved": matches!(fetched.outcome, Outcome::Moved | Outcome::Made),
        "commits": fetched.commits,
        "changedHostFiles": fetched.changed.iter().take(LISTED_FILES).collect::<Vec<_>>(),
    });
    let mut more = |name: &str, said: Value| {
        if let Some(object) = value.as_object_mut() {
            object.insert(name.into(), said);
        }
    };
    if fetched.changed.len() > LISTED_FILES {
        more("changedHostFilesTotal", json!(fetched.changed.len()));
    }
    // Where there was nothing to bring, nothing was written there either.
    if fetched.outcome != Outcome::AlreadyThere {
        more("ref", json!(fetched.kept));
    }
    match &fetched.outcome {
        Outcome::Held(held) => {
            more("checkedOutAt", json!(held.place));
            if let Some(what) = held.under_way {
                more("heldBy", json!(what));
            }
        }
        Outcome::Diverged => more("diverged", json!(true)),
        Outcome::Gone => more("branchGone", json!(true)),
        Outcome::Made => more("branchMade", json!(true)),
        Outcome::AlreadyThere | Outcome::Moved => {}
    }
    value
}

/// The changed files that are run on the host.
fn files(changed: &[HostFile]) -> Vec<String> {
    if changed.is_empty() {
        return Vec::new();
    }
    let mut lines =
        vec!["Changed files that run on the host once they are checked out; look at them first:".into()];
    lines.extend(changed.iter().take(SHOWN_FILES).map(|file| {
        let gone = if file.gone { ", gone" } else { "" };
        format!("  {} ({}{gone})", quoted(&file.path), file.kind.as_str())
    }));
    let more = changed.len().saturating_sub(SHOWN_FILES);
    if more > 0 {
        lines.push(format!("  and {more} more"));
    }
    lines
}

/// What became of the branch, and what to do.
fn outcome(fetched: &Fetched, repository: &str) -> Vec<String> {
    let branch = quoted(&fetched.branch);
    let (commits, kept) = (commits(fetched.commits), &fetched.kept);
    let to = short(&fetched.to);
    let look =
        |base: &str| format!("  look:  {}", git(repository, &["log", "--stat", &format!("{base}..{kept}")]));
    match &fetched.outcome {
        Outcome::AlreadyThere => vec![format!("{branch} on the host has all that the workspace has ({to}).")],
        Outcome::Moved => {
            let from = fetched.from.as_deref().map(short).unwrap_or_default();
            vec![format!("{branch} moved forward by {commits}, from {from} to {to}.")]
        }
        Outcome::Held(held) => {
            let mut lines = vec![
                format!("{commits} came, up to {to}. {}", why_held(&branch, held)),
                look(fetched.from.as_deref().unwrap_or_default()),
            ];
            lines.push(what_to_do(held, repository, &fetched.changed, kept));
            lines
        }
        Outcome::Diverged => vec![
            format!(
                "{commits} came, up to {to}. {branch} on the host has commits that the workspace lacks, so it was left as it is."
            ),
            look(fetched.from.as_deref().unwrap_or_default()),
            format!("  take:  merge or rebase them yourself, from {}", word(kept)),
        ],
        Outcome::Made => {
            vec![format!(
                "{branch}, which began in the workspace, is in the repository now, at {to} ({commits})."
            )]
        }
        Outcome::Gone => vec![
            format!(
                "{commits} came, up to {to}. The repository has no branch {branch} any more, and none was made."
            ),
            format!("  look:  {}", git(repository, &["log", "--stat", kept])),
            format!("  take:  {}", git(repository, &["branch", &fetched.branch, kept])),
        ],
    }
}

fn why_held(branch: &str, held: &Held) -> String {
    let place = quoted(&held.place);
    match held.under_way {
        Some(what) => format!("A {what} in {place} will come back to {branch}, so it was left as it is."),
        None if held.gone => {
            format!("{branch} is checked out in {place}, which is gone, so it was left as it is.")
        }
        None => format!(
            "{branch} is checked out in {place}, so it was left as it is: a branch moves together with its files."
        ),
    }
}

fn what_to_do(held: &Held, repository: &str, changed: &[HostFile], kept: &str) -> String {
    match held.under_way {
        Some(what) => format!("  take:  end the {what}, and fetch again"),
        None if held.gone => format!("  take:  {}, and fetch again", git(repository, &["worktree", "prune"])),
        None => {
            // A hook that is in the repository, or that runs what is in it, would run what the agent wrote.
            let hooks: &[&str] = if changed.is_empty() { &[] } else { &["-c", "core.hooksPath=/dev/null"] };
            format!("  take:  {}", git(&held.place, &[hooks, &["merge", "--ff-only", kept]].concat()))
        }
    }
}

fn commits(count: u64) -> String {
    if count == 1 { "1 commit".into() } else { format!("{count} commits") }
}

fn short(id: &str) -> String {
    id.chars().take(SHORT).collect()
}

/// A command for a person's shell.
fn git(place: &str, words: &[&str]) -> String {
    let words: Vec<String> = ["git", "-C", place].iter().chain(words).map(|text| word(text)).collect();
    words.join(" ")
}

/// One word for a person's shell, in which nothing is obeyed.
fn word(text: &str) -> String {
    shell_word(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetched(outcome: Outcome) -> Fetched {
        Fetched {
            branch: "feature/$(x)'y".into(),
            from: Some("1".repeat(40)),
            to: "2".repeat(40),
            kept: "refs/orca/orca-ws-k/heads/feature/$(x)'y".into(),
            commits: 2,
            changed: Vec::new(),
            outcome,
        }
    }

    /// The words that a person's shell makes of a command.
    fn copied(lines: &[String], start: &str) -> Vec<String> {
        let line = lines.iter().find_map(|line| line.strip_prefix(start)).unwrap();
        shlex::split(line).unwrap()
    }

    #[test]
    fn names_of_the_repository_are_no_shell_text_in_what_a_person_copies() {
        let kept = "refs/orca/orca-ws-k/heads/feature/$(x)'y";
        let held = Held { place: "/home/ada/a c".into(), under_way: None, gone: false };
        let lines = outcome(&fetched(Outcome::Held(held)), "/home/ada/acme");
        let take = copied(&lines, "  take:  ");
        assert_eq!(take, ["git", "-C", "/home/ada/a c", "merge", "--ff-only", kept]);
        let lines = outcome(&fetched(Outcome::Gone), "/home/ada/acme");
        let take = copied(&lines, "  take:  ");
        assert_eq!(take, ["git", "-C", "/home/ada/acme", "branch", "feature/$(x)'y", kept]);
        let odd = word("a\u{1b}[2Jb\u{202e}");
        assert!(!odd.contains(['\u{1b}', '\u{202e}']), "{odd}");
    }

    #[test]
    fn hooks_are_off_in_the_command_where_files_that_run_changed() {
        let held = Held { place: "/a".into(), under_way: None, gone: false };
        let file =
            HostFile { path: "Makefile".into(), kind: orca_container_core::HostFileKind::Build, gone: false };
        let said = what_to_do(&held, "/r", &[file], "refs/orca/k/heads/x");
        assert_eq!(
            said,
            "  take:  git -C /a -c core.hooksPath=/dev/null merge --ff-only refs/orca/k/heads/x"
        );
    }

    #[test]
    fn a_long_list_is_counted_and_its_names_are_escaped() {
        let one = |n: usize| HostFile {
            path: format!("{n}\u{1b}[31m\n.sh"),
            kind: orca_container_core::HostFileKind::Script,
            gone: n == 0,
        };
        let lines = files(&(0..50).map(one).collect::<Vec<_>>());
        assert_eq!(lines.len(), 42);
        assert_eq!(lines[1], "  \"0\\u{1b}[31m\\u{a}.sh\" (script, gone)");
        assert_eq!(lines[41], "  and 10 more");
    }
}

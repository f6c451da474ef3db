//! Work in a workspace's volume that is nowhere else: looked for before the volume goes, in a throwaway container that
//! cannot change it. What cannot be looked at counts as work.

use std::path::Path;
use std::time::Duration;

use orca_container_core::{EngineKind, Resource, VolumeRef, branch_reference, differences, look_argv};

use super::WorkspaceError;
use crate::engine::{Client, Input, Inspector, Output, Wanted};
use crate::gather::host_git::git;
use crate::store::WorkspaceRecord;

/// How long the look may take; a status of a large clone reads every file once.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long removing the container that looked may take.
const REMOVAL: Duration = Duration::from_secs(60);

/// Bytes of a number that are believed.
const DIGITS: usize = 9;

/// What is in a volume and nowhere else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Unpushed {
    /// Commits that neither the host nor origin has.
    pub commits: u64,
    /// Files that are changed and not committed.
    pub changes: u64,
    /// Stashes.
    pub stashes: u64,
    /// What lies in the volume beside the clone.
    pub others: u64,
}

impl Unpushed {
    /// Whether there is none.
    pub fn is_none(self) -> bool {
        self == Self::default()
    }
}

impl std::fmt::Display for Unpushed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts = [
            (self.commits, "commit", "commits"),
            (self.changes, "changed file", "changed files"),
            (self.stashes, "stash", "stashes"),
            (self.others, "file or folder beside the clone", "files or folders beside the clone"),
        ];
        let said = parts.iter().filter(|(number, ..)| *number > 0);
        let said: Vec<String> = said
            .map(|(number, one, more)| format!("{number} {}", if *number == 1 { one } else { more }))
            .collect();
        f.write_str(&said.join(", "))
    }
}

/// Looks for work. The caller holds the workspace's lock. An error is a reason for not knowing.
fn unpushed(record: &WorkspaceRecord) -> Result<Unpushed, WorkspaceError> {
    // Nobody was ever let into it.
    if !record.progress.cloned {
        return Ok(Unpushed::default());
    }
    let client = Client { program: record.engine.program.clone(), env: record.engine.env.clone() };
    let inspector = Inspector { client: &client, plan: &record.plan };
    match inspector.workspace_volume() {
        Resource::Absent => return Ok(Unpushed::default()),
        Resource::Unknown { why } => return Err(WorkspaceError::Blocked(vec![why])),
        Resource::Present(_) => is_the_one_that_was_made(&inspector)?,
    }
    let name = format!("{}-look", record.plan.names.container);
    remove(&client, &inspector, &name);
    let known = known(record);
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let Some(words) = look_argv(&record.plan, &name, &known) else { return Ok(Unpushed::default()) };
    let answer = client.call(&words, Input::None, Wanted::Kept, PATIENCE);
    // What was ended at its deadline is still there.
    remove(&client, &inspector, &name);
    let answer = answer?;
    match counted(&answer) {
        Some(found) if answer.code == 0 => Ok(found),
        _ => Err(answer.unusable(&record.engine.program).into()),
    }
}

/// Somebody may have put another volume in its place, which leads to a folder of the host: nothing is mounted that is not
/// what the plan says.
fn is_the_one_that_was_made(inspector: &Inspector<'_>) -> Result<(), WorkspaceError> {
    let found = differences(&inspector.check_volume(VolumeRef::Workspace));
    if found.is_empty() { Ok(()) } else { Err(WorkspaceError::Difference(found)) }
}

/// What is nowhere else must not go. A removal that began, or a create that did not end, holds nothing that this would keep.
pub fn keep_work(record: &WorkspaceRecord) -> Result<(), WorkspaceError> {
    if record.progress.phase.is_unfinished() {
        return Ok(());
    }
    let name = orca_container_core::quoted(&record.workspace.name);
    match unpushed(record) {
        Ok(found) if found.is_none() => Ok(()),
        Ok(what) => Err(WorkspaceError::Unpushed { name, what }),
        Err(why) => Err(WorkspaceError::UnpushedUnknown { name, why: Box::new(why) }),
    }
}

/// Our own container of that name, by its labels.
fn remove(client: &Client, inspector: &Inspector<'_>, name: &str) {
    if let Some(id) = inspector.own_container(name) {
        let stop: &[&str] = if inspector.plan.engine.kind == EngineKind::Podman { &["-t", "0"] } else { &[] };
        let _ = client.ask(&[&["rm", "-f", "-v"], stop, &["--", &id]].concat(), REMOVAL);
    }
}

/// Commits that are safe: what was cloned, and what the host's branches are at now.
fn known(record: &WorkspaceRecord) -> Vec<String> {
    let workspace = &record.workspace;
    let repository = Path::new(workspace.git_common_dir.as_deref().unwrap_or(&workspace.repo_path));
    let mut known: Vec<String> = workspace.commit.iter().cloned().collect();
    let clone = record.plan.clone.as_ref().filter(|clone| clone.from.is_host());
    let branches = clone.iter().flat_map(|clone| [&clone.branch, &clone.base]).flatten();
    let name = &record.plan.names.container;
    for branch in branches {
        for reference in [branch_reference(branch), format!("refs/orca/{name}/heads/{branch}")] {
            let reference = format!("{reference}^{{commit}}");
            let asked =
                git(repository, &["rev-parse", "--verify", "--quiet", "--end-of-options", &reference]);
            known.extend(asked.ok().filter(|answer| answer.code == 0).map(|answer| answer.text()));
        }
    }
    known.retain(|id| id.bytes().all(|byte| byte.is_ascii_hexdigit()));
    known.sort();
    known.dedup();
    known
}

/// Four lines, each a word and a number; anything else is no answer.
fn counted(answer: &Output) -> Option<Unpushed> {
    let text = std::str::from_utf8(&answer.stdout).ok()?;
    let mut lines = text.lines();
    let mut number = |word: &str| -> Option<u64> {
        let digits = lines.next()?.strip_prefix(word)?.strip_prefix(' ')?;
        let plain =
            !digits.is_empty() && digits.len() <= DIGITS && digits.bytes().all(|b| b.is_ascii_digit());
        digits.parse().ok().filter(|_| plain)
    };
    let found = Unpushed {
        commits: number("commits")?,
        changes: number("changes")?,
        stashes: number("stashes")?,
        others: number("others")?,
    };
    lines.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Unpushed> {
        counted(&Output { stdout: text.into(), ..Output::default() })
    }

    #[test]
    fn four_numbers_are_an_answer_and_nothing_else_is() {
        let said = "commits 2\nchanges 0\nstashes 1\nothers 0\n";
        let found = of(said).unwrap();
        assert_eq!((found.commits, found.changes, found.stashes, found.others), (2, 0, 1, 0));
        assert_eq!(found.to_string(), "2 commits, 1 stash");
        assert!(of("commits 0\nchanges 0\nstashes 0\nothers 0\n").unwrap().is_none());
        for other in [
            "",
            "commits 0\n",
            "commits 0\nchanges 0\nstashes 0\nothers\n",
            "commits -1\nchanges 0\nstashes 0\nothers 0\n",
            "commits +1\nchanges 0\nstashes 0\nothers 0\n",
            "commits 99999999999999999999\nchanges 0\nstashes 0\nothers 0\n",
            "commits 0\nchanges 0\nstashes 0\nothers 0\nmore\n",
            "changes 0\ncommits 0\nstashes 0\nothers 0\n",
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}

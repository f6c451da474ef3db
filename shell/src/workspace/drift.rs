//! Files of the repository that are not what the workspace was made with. Nobody uses their new texts: a launch, a copy
//! and a recreate go by the frozen ones, whatever an agent writes; this only tells.

use std::path::{Path, PathBuf};
use std::time::Duration;

use orca_container_core::{Drift, DriftKind, DriftPlace, SHOW_FILES, limits};

use crate::engine::{Client, ClientError, Output};
use crate::gather::committed::{Committed, CommittedError};
use crate::gather::text_file::{TextFileError, read_repository_text};
use crate::store::{WorkspaceRecord, random_id};

/// How long the container may take to show its files.
const PATIENCE: Duration = Duration::from_secs(20);

/// The list of ignored files, which counts as it is in the primary checkout.
const INCLUDE: &str = ".worktreeinclude";

/// Where devcontainer.json is first looked for.
const DEVCONTAINER: [&str; 2] = [".devcontainer/devcontainer.json", ".devcontainer.json"];

/// A file that was frozen, or whose absence was.
struct Frozen<'r> {
    path: &'r str,
    cap: usize,
    text: Option<&'r str>,
}

/// What is found at a place.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Text(Vec<u8>),
    /// No regular file, or no text: not what was frozen in any case.
    Other,
    Absent,
    Unknown,
}

/// Everything that differs on the host, and in the container where that runs.
pub fn drift(record: &WorkspaceRecord) -> Vec<Drift> {
    let mut drift = drift_on_host(record);
    drift.extend(drift_inside(record));
    drift
}

/// What differs on the host: in the branch's commit, and in files that are not committed.
pub fn drift_on_host(record: &WorkspaceRecord) -> Vec<Drift> {
    let mut drift = Vec::new();
    let Some((worktree, inside)) = places(record) else { return drift };
    let branch = record.workspace.branch.as_deref().unwrap_or_default();
    let committed = Committed::at_branch(&worktree, branch);
    for frozen in frozen(record) {
        let mut tell = |place, found: &Found| drift.extend(frozen.differs(place, found));
        if frozen.path == INCLUDE {
            let checkout = Path::new(&record.workspace.repo_path);
            tell(DriftPlace::Worktree, &in_folder(checkout, INCLUDE, frozen.cap));
            continue;
        }
        let path = inside.join(frozen.path);
        let path = path.to_str().unwrap_or_default();
        let in_commit = match &committed {
            Ok(committed) => in_commit(committed, path, frozen.cap),
            Err(_) => Found::Unknown,
        };
        tell(DriftPlace::Commit, &in_commit);
        let on_disk = in_folder(&worktree, path, frozen.cap);
        if on_disk != in_commit {
            tell(DriftPlace::Worktree, &on_disk);
        }
    }
    drift
}

/// What differs in the clone, where the agent works. A container that does not run, or does not answer, tells nothing.
fn drift_inside(record: &WorkspaceRecord) -> Vec<Drift> {
    let (Some(id), Some(clone), Some((_, inside))) =
        (&record.container_id, &record.plan.clone, places(record))
    else {
        return Vec::new();
    };
    let frozen = frozen(record);
    let paths: Vec<String> = frozen
        .iter()
        .map(|file| Path::new(&clone.target).join(&inside).join(file.path).to_string_lossy().into_owned())
        .collect();
    let Ok(found) = shown(record, id, &paths) else { return Vec::new() };
    let told = frozen.iter().zip(&found).filter_map(|(file, found)| {
        // It may never have been committed, and then it is in no clone.
        let absent = file.path == INCLUDE && *found == Found::Absent;
        file.differs(DriftPlace::Workspace, found).filter(|_| !absent)
    });
    told.collect()
}

/// The worktree on the host, and the workspace's folder in it.
fn places(record: &WorkspaceRecord) -> Option<(PathBuf, PathBuf)> {
    let worktree = PathBuf::from(record.workspace.worktree_path.as_ref()?);
    let inside = Path::new(&record.workspace.id).strip_prefix(&worktree).unwrap_or(Path::new(""));
    Some((worktree.clone(), inside.to_path_buf()))
}

fn frozen(record: &WorkspaceRecord) -> Vec<Frozen<'_>> {
    let texts = &record.texts;
    let mut frozen = vec![
        Frozen {
            path: "orca.yaml",
            cap: limits::ORCA_YAML_BYTES,
            text: texts.orca_yaml.as_ref().map(|file| file.text.as_str()),
        },
        Frozen {
            path: INCLUDE,
            cap: limits::WORKTREE_INCLUDE_BYTES,
            text: texts.worktree_include.as_deref(),
        },
    ];
    let devcontainer = |path, text| Frozen { path, cap: limits::DEVCONTAINER_BYTES, text };
    match &texts.devcontainer {
        Some(file) => frozen.push(devcontainer(file.path.as_str(), Some(file.text.as_str()))),
        None => frozen.extend(DEVCONTAINER.map(|path| devcontainer(path, None))),
    }
    frozen
}

impl Frozen<'_> {
    fn differs(&self, place: DriftPlace, found: &Found) -> Option<Drift> {
        let kind = match (self.text, found) {
            (_, Found::Unknown) => DriftKind::Unknown,
            (None, Found::Absent) => return None,
            (Some(_), Found::Absent) => DriftKind::Removed,
            (None, Found::Text(_) | Found::Other) => DriftKind::Added,
            (Some(text), Found::Text(bytes)) if text.as_bytes() == bytes => return None,
            (Some(_), Found::Text(_) | Found::Other) => DriftKind::Changed,
        };
        Some(Drift { file: self.path.into(), place, kind })
    }
}

fn in_folder(root: &Path, path: &str, cap: usize) -> Found {
    match read_repository_text(root, path, cap) {
        Ok(Some(text)) => Found::Text(text.into_bytes()),
        Ok(None) => Found::Absent,
        Err(TextFileError::Unreadable { .. }) => Found::Unknown,
        Err(_) => Found::Other,
    }
}

fn in_commit(committed: &Committed<'_>, path: &str, cap: usize) -> Found {
    match committed.text(path, cap) {
        Ok(Some(text)) => Found::Text(text.into_bytes()),
        Ok(None) => Found::Absent,
        Err(CommittedError::NotRegular { .. } | CommittedError::NotUtf8 { .. }) => Found::Other,
        Err(_) => Found::Unknown,
    }
}

/// The files as the container shows them. What it says is believed in nothing but this report.
fn shown(record: &WorkspaceRecord, id: &str, paths: &[String]) -> Result<Vec<Found>, ClientError> {
    let client = Client { program: record.engine.program.clone(), env: record.engine.env.clone() };
    // Nobody in there knows it before, so no file can hold it.
    let mark = random_id().unwrap_or_default();
    let words =
        ["exec", "--workdir=/", "--", id, "/usr/bin/env", "-i", "/bin/sh", "-c", SHOW_FILES, "sh", &mark];
    let args: Vec<&str> = words.into_iter().chain(paths.iter().map(String::as_str)).collect();
    let answer = client.ask(&args, PATIENCE)?;
    if answer.code != 0 {
        return Err(answer.unusable(&record.engine.program));
    }
    Ok(parts(&answer, &mark, paths.len()))
}

/// An output is as long as what the agent wrote: of one that was cut nothing is known.
fn parts(answer: &Output, mark: &str, count: usize) -> Vec<Found> {
    let mut found = Vec::new();
    let mut rest = answer.stdout.as_slice();
    while let (false, Some((text, code, after))) = (answer.cut, part(rest, mark)) {
        found.push(if code == b"0" { Found::Text(text.into()) } else { Found::Absent });
        rest = after;
    }
    found.resize_with(count, || Found::Unknown);
    found
}

/// One file's text, its code, and what follows.
fn part<'o>(output: &'o [u8], mark: &str) -> Option<(&'o [u8], &'o [u8], &'o [u8])> {
    let line = format!("\n{mark} ");
    let at = output.windows(line.len()).position(|window| window == line.as_bytes())?;
    let (text, rest) = output.split_at_checked(at)?;
    let rest = rest.get(line.len()..)?;
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    Some((text, rest.get(..end)?, rest.get(end.saturating_add(1)..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(text: &str, cut: bool) -> Output {
        Output { stdout: text.into(), cut, ..Output::default() }
    }

    #[test]
    fn files_come_apart_at_a_mark_that_none_of_them_can_hold() {
        let answer = output("a\nb\n\nmark 0\n\nmark 1\n\nmarked 0\n\nmark 0\n", false);
        let found = parts(&answer, "mark", 4);
        assert_eq!(
            found,
            [
                Found::Text(b"a\nb\n".to_vec()),
                Found::Absent,
                Found::Text(b"\nmarked 0\n".to_vec()),
                Found::Unknown
            ]
        );
    }

    #[test]
    fn of_what_was_cut_nothing_is_known() {
        assert_eq!(parts(&output("x\nmark 0\n", true), "mark", 1), [Found::Unknown]);
    }

    #[test]
    fn what_was_absent_and_is_absent_is_no_drift() {
        let of = |text| Frozen { path: "orca.yaml", cap: 10, text };
        let kind = |text, found: Found| of(text).differs(DriftPlace::Commit, &found).map(|drift| drift.kind);
        assert_eq!(kind(None, Found::Absent), None);
        assert_eq!(kind(Some("a"), Found::Text(b"a".to_vec())), None);
        assert_eq!(kind(Some("a"), Found::Text(b"b".to_vec())), Some(DriftKind::Changed));
        assert_eq!(kind(Some("a"), Found::Absent), Some(DriftKind::Removed));
        assert_eq!(kind(None, Found::Other), Some(DriftKind::Added));
        assert_eq!(kind(None, Found::Unknown), Some(DriftKind::Unknown));
    }
}

//! Files of the repository that are not what the workspace was made with. Nobody uses their new texts: a launch, a copy
//! and a recreate go by the frozen ones, whatever an agent writes; this only tells.

mod inside;

use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use orca_container_core::{Drift, DriftKind, DriftPlace, limits};
use sha2::{Digest, Sha256};

use super::texts::inside_of;
use crate::engine::Client;
use crate::gather::branch::tip;
use crate::gather::committed::{Committed, CommittedError};
use crate::gather::repository::find_repository;
use crate::gather::text_file::{TextFileError, read_repository_text};
use crate::store::WorkspaceRecord;

/// The list of ignored files, which counts as it is in the primary checkout.
const INCLUDE: &str = ".worktreeinclude";

/// Where devcontainer.json is first looked for.
const DEVCONTAINER: [&str; 2] = [".devcontainer/devcontainer.json", ".devcontainer.json"];

/// A file that was frozen, or whose absence was.
struct Frozen<'r> {
    path: &'r str,
    cap: usize,
    /// SHA-256 of its text, hex.
    digest: Option<String>,
}

/// What is found at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Found {
    Text(Vec<u8>),
    /// No regular file, or no text: not what was frozen in any case.
    Other,
    Absent,
    Unknown,
}

/// Everything that differs, on the host and in the clone.
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
    let tip = tip(&record.workspace.workspace()).unwrap_or_default();
    // The worktree may be gone where the branch is another one than it had.
    let repository = record.workspace.git_common_dir.as_ref().map_or(worktree.clone(), PathBuf::from);
    let committed = Committed::at_reference(&repository, &tip);
    // Files of another branch say nothing about this one.
    let is_checked_out =
        find_repository(&worktree).is_ok_and(|found| found.branch.as_deref() == Some(branch));
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
        if is_checked_out && on_disk != in_commit {
            tell(DriftPlace::Worktree, &on_disk);
        }
    }
    drift
}

/// What differs in the clone, where the agent works: from what was frozen, and from what it was cloned with.
fn drift_inside(record: &WorkspaceRecord) -> Vec<Drift> {
    let (Some(id), Some(clone)) = (&record.container_id, &record.plan.clone) else { return Vec::new() };
    // Where it was cloned from a remote, no repository on the host knows what was cloned.
    let inside = places(record).map(|(_, inside)| inside).unwrap_or_default();
    let repository = record.workspace.git_common_dir.as_deref().map(Path::new);
    let client = Client { program: record.engine.program.clone(), env: record.engine.env.clone() };
    let mut frozen = frozen(record);
    // Without a repository on the host there is nothing that it could copy.
    frozen.retain(|file| clone.from.is_host() || file.path != INCLUDE);
    let in_clone =
        |path: &str| Path::new(&clone.target).join(&inside).join(path).to_string_lossy().into_owned();
    let wanted: Vec<(String, usize)> = frozen.iter().map(|file| (in_clone(file.path), file.cap)).collect();
    let found = inside::files(&client, id, &wanted);
    let commit = record.workspace.commit.as_deref().unwrap_or_default();
    let cloned = repository.map(|repository| Committed::at_commit(repository, commit));
    let told = frozen.iter().zip(&found).filter_map(|(file, found)| {
        let differs = file.differs(DriftPlace::Workspace, found)?;
        let path = inside.join(file.path);
        // The clone does not move when a recreate adopts a later commit.
        let as_cloned = cloned
            .as_ref()
            .and_then(|cloned| cloned.as_ref().ok())
            .is_some_and(|cloned| in_commit(cloned, path.to_str().unwrap_or_default(), file.cap) == *found);
        (!as_cloned).then_some(differs)
    });
    told.collect()
}

/// The worktree on the host, and the workspace's folder in it.
fn places(record: &WorkspaceRecord) -> Option<(PathBuf, PathBuf)> {
    let worktree = record.workspace.worktree_path.as_ref()?;
    Some((worktree.into(), inside_of(&record.workspace.id, Some(worktree))))
}

fn frozen(record: &WorkspaceRecord) -> Vec<Frozen<'_>> {
    let texts = &record.texts;
    let of = |path, cap, text: Option<&str>| Frozen {
        path,
        cap,
        digest: text.map(|text| digest(text.as_bytes())),
    };
    let orca_yaml = texts.orca_yaml.as_ref().map(|file| file.text.as_str());
    let mut frozen = vec![
        of("orca.yaml", limits::ORCA_YAML_BYTES, orca_yaml),
        of(INCLUDE, limits::WORKTREE_INCLUDE_BYTES, texts.worktree_include.as_deref()),
    ];
    match &texts.devcontainer {
        Some(file) => frozen.push(of(&file.path, limits::DEVCONTAINER_BYTES, Some(&file.text))),
        None => frozen.extend(DEVCONTAINER.map(|path| of(path, limits::DEVCONTAINER_BYTES, None))),
    }
    if let Some(build) = &record.plan.image.build {
        let (path, digest) = (build.dockerfile.as_str(), build.dockerfile_digest.clone());
        frozen.push(Frozen { path, cap: limits::DOCKERFILE_BYTES, digest });
    }
    frozen
}

fn digest(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

impl Frozen<'_> {
    fn differs(&self, place: DriftPlace, found: &Found) -> Option<Drift> {
        let kind = match (&self.digest, found) {
            (None, Found::Absent | Found::Unknown) => return None,
            (Some(_), Found::Unknown) => DriftKind::Unknown,
            (Some(_), Found::Absent) => DriftKind::Removed,
            (None, Found::Text(_) | Found::Other) => DriftKind::Added,
            (Some(frozen), Found::Text(bytes)) if *frozen == digest(bytes) => return None,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_absent_and_is_absent_or_not_seen_is_no_drift() {
        let of = |text: Option<&str>| {
            let digest = text.map(|text| digest(text.as_bytes()));
            Frozen { path: "orca.yaml", cap: 10, digest }
        };
        let kind = |text, found: Found| of(text).differs(DriftPlace::Commit, &found).map(|drift| drift.kind);
        assert_eq!(kind(None, Found::Absent), None);
        assert_eq!(kind(None, Found::Unknown), None);
        assert_eq!(kind(Some("a"), Found::Text(b"a".to_vec())), None);
        assert_eq!(kind(Some("a"), Found::Text(b"b".to_vec())), Some(DriftKind::Changed));
        assert_eq!(kind(Some("a"), Found::Other), Some(DriftKind::Changed));
        assert_eq!(kind(Some("a"), Found::Absent), Some(DriftKind::Removed));
        assert_eq!(kind(None, Found::Other), Some(DriftKind::Added));
        assert_eq!(kind(Some("a"), Found::Unknown), Some(DriftKind::Unknown));
    }
}

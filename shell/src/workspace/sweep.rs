//! What nobody uses any more: workspaces whose worktree is gone, creates and removals that did not end. Only what a record
//! of this installation names is removed, past a grace period; what carries our labels without a record is told and left.

use std::path::Path;
use std::time::{Duration, SystemTime};

use orca_container_core::{EngineKind, Goal, Phase};
use serde::Serialize;

use super::helper::remove_leftovers;
use super::{Runner, Ui, WorkspaceError, keep_work};
use crate::engine::{Client, detect};
use crate::gather::branch::folder_of;
use crate::store::{Store, WorkspaceRecord};

/// How old a record must be: whoever makes or moves a worktree at this moment is left alone.
pub const GRACE: Duration = Duration::from_secs(10 * 60);

/// How long an engine's list may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// What becomes of a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It goes.
    Remove,
    /// It is gone.
    Removed,
    /// It was to go and could not, or holds work.
    Kept,
    /// Nobody can say whose it is, so it is left.
    Unverifiable,
}

/// A thing that a sweep speaks of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Swept {
    /// The workspace's name, or what the engine calls the thing.
    pub name: String,
    /// The container's name where a record names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// What becomes of it.
    pub fate: Fate,
    /// Why, in a sentence.
    pub reason: String,
}

/// Everything that a sweep would act on or speak of; nothing is touched. A store that cannot be read is an error: then
/// nobody knows what is named.
pub fn survey(store: &Store) -> Result<Vec<Swept>, WorkspaceError> {
    let (records, broken) = store.records()?;
    if let Some(error) = broken.into_iter().next() {
        return Err(error.into());
    }
    let install = store.install_id()?;
    let judged = records.iter().filter_map(|record| judged(record, store, install.as_deref()));
    let mut found: Vec<Swept> = judged.collect();
    if let Some(install) = install {
        for engine in [EngineKind::Docker, EngineKind::Podman] {
            found.extend(strangers(store, engine, &install, &records));
        }
    }
    Ok(found)
}

/// Removes what a survey says goes. Each is judged again under its lock; work is kept unless `force` is said.
pub fn sweep(store: &Store, force: bool, ui: &mut dyn Ui) -> Result<Vec<Swept>, WorkspaceError> {
    remove_leftovers(store);
    let mut all = survey(store)?;
    for swept in &mut all {
        if swept.fate != Fate::Remove {
            continue;
        }
        match swept.container.as_deref().map(|name| remove(store, name, force, ui)) {
            Some(Ok(true)) => swept.fate = Fate::Removed,
            Some(Ok(false)) | None => {
                swept.fate = Fate::Kept;
                swept.reason = "It changed while it was looked at.".into();
            }
            Some(Err(error)) => {
                swept.fate = Fate::Kept;
                swept.reason = error.to_string();
            }
        }
    }
    Ok(all)
}

/// Whether it was removed: what is no orphan any more stays.
fn remove(store: &Store, name: &str, force: bool, ui: &mut dyn Ui) -> Result<bool, WorkspaceError> {
    let lock = store.lock(name)?;
    let install = store.install_id()?;
    let Some(record) = store.record(name)? else { return Ok(true) };
    if judged(&record, store, install.as_deref()).is_none_or(|now| now.fate != Fate::Remove) {
        return Ok(false);
    }
    if !force {
        keep_work(&record)?;
    }
    let mut runner = Runner::new(store, record, true);
    runner.observe();
    runner.reach(Goal::Remove, ui)?;
    lock.remove();
    Ok(true)
}

/// What is said of a record; nothing of one that is in use.
fn judged(record: &WorkspaceRecord, store: &Store, install: Option<&str>) -> Option<Swept> {
    let (fate, reason) = verdict(record, install)?;
    // A clock that jumped back makes a record young, which keeps it.
    let age = store.record_written(record).and_then(|at| SystemTime::now().duration_since(at).ok());
    let young = age.is_none_or(|age| age < GRACE);
    if young && fate == Fate::Remove {
        return None;
    }
    let container = Some(record.file_name().to_owned());
    Some(Swept { name: record.workspace.name.clone(), container, fate, reason: reason.into() })
}

fn verdict(record: &WorkspaceRecord, install: Option<&str>) -> Option<(Fate, &'static str)> {
    if install != Some(record.install_id.as_str()) {
        return Some((Fate::Unverifiable, "Its record is of another installation."));
    }
    match record.progress.phase {
        Phase::CleanupPending | Phase::CleanupFailed | Phase::Cleaned => {
            return Some((Fate::Remove, "Its removal was begun and not finished."));
        }
        Phase::Provisioning | Phase::Failed => {
            return Some((Fate::Remove, "Its create was interrupted, and nobody worked in it."));
        }
        Phase::Running | Phase::Suspended => {}
    }
    // Another branch's workspace does not end with the worktree that it was typed in.
    if folder_of(&record.workspace.id) != record.workspace.id {
        return None;
    }
    let worktree = Path::new(record.workspace.worktree_path.as_deref()?);
    if !is_gone(worktree) {
        return None;
    }
    // A drive that is not there looks like a folder that was removed; the repository beside it tells them apart.
    let repository = record.workspace.git_common_dir.as_deref().map(|folder| Path::new(folder).join("HEAD"));
    if repository.is_some_and(|head| head.exists()) {
        Some((Fate::Remove, "Its worktree is gone, and its repository is there."))
    } else {
        Some((
            Fate::Unverifiable,
            "Its worktree and its repository are gone, or cannot be reached now; rm removes it.",
        ))
    }
}

/// The system says that there is nothing; any other answer proves nothing.
fn is_gone(path: &Path) -> bool {
    matches!(path.symlink_metadata(), Err(error) if error.kind() == std::io::ErrorKind::NotFound)
}

/// Things on an engine that carry this installation's label and no record names.
fn strangers(store: &Store, engine: EngineKind, install: &str, records: &[WorkspaceRecord]) -> Vec<Swept> {
    let Ok(config) = store.docker_config() else { return Vec::new() };
    let Ok(detected) = detect(Some(engine), None, &config) else { return Vec::new() };
    let client = Client { program: detected.facts.client.program, env: detected.facts.client.env };
    let filter = format!("label=orca.install={install}");
    let mut found = Vec::new();
    let kinds: [(&str, &[&str]); 3] = [
        ("container", &["container", "ls", "--all", "--format={{.Names}}"]),
        ("volume", &["volume", "ls", "--format={{.Name}}"]),
        ("network", &["network", "ls", "--format={{.Name}}"]),
    ];
    for (kind, words) in kinds {
        let listed = client.ask(&[words, &["--filter", &filter]].concat(), PATIENCE);
        let Ok(listed) = listed else { continue };
        let text = listed.text();
        for name in text.lines().filter(|name| listed.code == 0 && !is_named(name, records)) {
            found.push(Swept {
                name: format!("{engine} {kind} {name}"),
                container: None,
                fate: Fate::Unverifiable,
                reason: "It carries this installation's label, and no record names it; it is left as it is."
                    .into(),
            });
        }
    }
    found
}

/// Whether a record names a thing: by its whole name, since names can begin alike.
fn is_named(name: &str, records: &[WorkspaceRecord]) -> bool {
    records.iter().any(|record| {
        let plan = &record.plan;
        let volumes = plan.volumes.iter().chain(&record.former_volumes);
        plan.names.container == name
            || plan.network.name.as_deref() == Some(name)
            || volumes.into_iter().any(|volume| volume.name == name)
    })
}

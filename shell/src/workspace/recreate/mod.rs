//! A container anew: the settings of now, the frozen texts or, where a person says so, those that are committed now. The
//! volumes with the work are kept. The difference is told before anything is asked or touched.

mod difference;

use std::path::Path;

use orca_container_core::input::{ContainerOptions, PlanRequest};
use orca_container_core::{
    CloneFrom, Goal, PendingApproval, Planned, Record, Resource, Sensitive, limits, start_env_text,
};

use super::create::{engine, image, measured};
use super::helper::remove_leftovers;
use super::judging::{is_strict, judge, needs};
use super::launch::launch_request;
use super::lifecycle::{AFTER_START, run_stages};
use super::texts::{Texts, inside_of, use_committed_texts};
use super::texts_inside::use_texts_inside;
use super::{Runner, Ui, WorkspaceError};
use crate::engine::{check_floor, spaces};
use crate::gather::committed::Committed;
use crate::gather::devcontainer;
use crate::gather::request::{know, list_ignored};
use crate::settings::Settings;
use crate::store::{FrozenTexts, RecordedChoices, RecordedEngine, RecordedImage, Store, WorkspaceRecord};

pub use difference::Difference;
use difference::{Side, difference, preview};

/// How a container is made anew.
#[derive(Debug)]
pub struct RecreateOptions<'a> {
    /// Settings.
    pub settings: &'a Settings,
    /// What is chosen otherwise than before; no variable.
    pub choices: ContainerOptions,
    /// The devcontainer.json that is chosen among several.
    pub devcontainer: Option<String>,
    /// Whether the repository's files count as they are committed now.
    pub adopt: bool,
    /// Whether the agent volume, with settings and logins of agents, is made afresh.
    pub reset_agent: bool,
    /// Digests that are approved here and now.
    pub approve: Vec<String>,
    /// Whether only the difference is wanted.
    pub dry_run: bool,
}

/// What a person is told of a recreate, before anything is touched.
#[derive(Debug)]
pub struct Told<'a> {
    /// The difference.
    pub difference: &'a Difference,
    /// What waits for an answer.
    pub pending: &'a [PendingApproval],
}

/// Makes the container of a workspace anew. `tell` gets the difference before anything is asked, pulled or built, and once
/// more where the image's look changes it.
pub fn recreate(
    record: &WorkspaceRecord,
    store: &Store,
    options: &RecreateOptions<'_>,
    ui: &mut dyn Ui,
    tell: &mut dyn FnMut(&Told<'_>, &mut dyn Ui),
) -> Result<WorkspaceRecord, WorkspaceError> {
    let name = || orca_container_core::quoted(&record.workspace.name);
    if !options.dry_run {
        remove_leftovers(store);
    }
    let lock = store.lock(record.file_name())?;
    let before = store.record(record.file_name())?.ok_or_else(|| WorkspaceError::NotFound(name()))?;
    if before.progress.phase.is_unfinished() {
        return Err(WorkspaceError::Unfinished(name()));
    }
    let asked = with_choices(&before, options);
    let mut request = request_of(&asked, store, options.settings)?;
    read_texts(&mut request, &asked, options.adopt, ui)?;
    let texts = if options.adopt { FrozenTexts::of(&request) } else { before.texts.clone() };
    // A recreate copies nothing; where the checkout is gone, what is ignored there is nobody's business.
    if let Ok(Some(note)) = list_ignored(&mut request) {
        ui.progress(&note);
    }
    let spaces = find_engine(&mut request, &before, store)?;
    let (first, pending) = preview(&before, &request, &texts, &options.approve, store, options.settings)?;
    tell(&Told { difference: &first, pending: &pending }, ui);
    if options.dry_run {
        return Ok(before);
    }
    let planned = planned(&mut request, &spaces, store, options, ui)?;
    let mut after = record_after(asked, &before, &request, &planned, texts, measured(&spaces));
    same_user(&before, &after)?;
    let side = Side { plan: &after.plan, request: &request, texts: &after.texts };
    let last = difference(&before, &side, store, options.settings)?;
    if last != first {
        tell(&Told { difference: &last, pending: &[] }, ui);
    }
    after.progress.reset_agent = options.reset_agent || before.progress.reset_agent;
    let mut made = exchange(before, after, &request, store, ui)?;
    drop(lock);
    run_stages(&AFTER_START, &mut made, store, options.settings, ui)?;
    Ok(made)
}

/// The record with what is chosen otherwise.
fn with_choices(before: &WorkspaceRecord, options: &RecreateOptions<'_>) -> WorkspaceRecord {
    let mut asked = before.clone();
    let mut choices = before.choices.clone().unwrap_or_else(|| RecordedChoices::of_plan(&before.plan));
    choices.take(&options.choices, options.devcontainer.as_deref());
    asked.choices = Some(choices);
    if let Some(names) = &options.choices.forward_host_env {
        asked.forward_host_env.clone_from(names);
    }
    asked
}

/// The request that made the workspace, with the settings and variables of now.
pub(super) fn request_of(
    record: &WorkspaceRecord,
    store: &Store,
    settings: &Settings,
) -> Result<PlanRequest, WorkspaceError> {
    let mut request = launch_request(record, store, settings)?;
    let chosen = record.choices.clone().unwrap_or_else(|| RecordedChoices::of_plan(&record.plan));
    let now = std::mem::take(&mut request.choices);
    request.choices = chosen.options();
    request.choices.engine = Some(record.engine.kind.to_string());
    request.choices.env = now.env;
    request.choices.env_file = now.env_file;
    request.choices.forward_host_env = now.forward_host_env;
    let clone = record.plan.clone.as_ref();
    if record.workspace.clone_from == CloneFrom::Remote {
        // The remote's own branch is no word of a person, and the plan has none.
        request.workspace.branch = clone.and_then(|clone| clone.branch.clone());
    } else {
        request.workspace.remote_url = clone.and_then(|clone| clone.remote.as_deref()).map(Sensitive::new);
    }
    Ok(request)
}

/// The texts that are committed now, or what belongs to the frozen ones.
fn read_texts(
    request: &mut PlanRequest,
    record: &WorkspaceRecord,
    adopt: bool,
    ui: &mut dyn Ui,
) -> Result<(), WorkspaceError> {
    if record.workspace.clone_from == CloneFrom::Remote {
        let chosen = record.choices.as_ref().and_then(|choices| choices.devcontainer.as_deref());
        return match (adopt, record.texts_due) {
            (false, _) => Ok(()),
            (true, true) => use_texts_inside(request, record, chosen),
            (true, false) => {
                let name = orca_container_core::quoted(&record.workspace.name);
                Err(WorkspaceError::NoTextsInside(name))
            }
        };
    }
    if adopt {
        let chosen = record.choices.as_ref().and_then(|choices| choices.devcontainer.as_deref());
        return use_committed_texts(request, chosen, Texts::Adopted, ui);
    }
    read_dockerfile(request, record)
}

/// The Dockerfile of the commit that the frozen texts are of, where the plan builds from one.
pub(super) fn read_dockerfile(
    request: &mut PlanRequest,
    record: &WorkspaceRecord,
) -> Result<(), WorkspaceError> {
    // A build needs files of a repository on this computer.
    if record.workspace.clone_from == CloneFrom::Remote {
        return Ok(());
    }
    let Some(commit) = record.texts.commit.as_ref().or(record.workspace.commit.as_ref()) else {
        return Ok(());
    };
    request.workspace.commit = Some(commit.clone());
    let repository = record.workspace.git_common_dir.as_deref().unwrap_or(&record.workspace.repo_path);
    let inside = inside_of(&record.workspace.id, record.workspace.worktree_path.as_deref());
    let dockerfile = |path: &str| {
        let committed = Committed::at_commit(Path::new(repository), commit)?;
        committed.text(&inside.join(path).to_string_lossy(), limits::DOCKERFILE_BYTES)
    };
    match devcontainer::missing_dockerfile(request, dockerfile)? {
        Some(path) => Err(WorkspaceError::NoDockerfile { path }),
        None => {
            know(request);
            Ok(())
        }
    }
}

/// The engine as it is now, which must be the one that has the volumes.
fn find_engine(
    request: &mut PlanRequest,
    before: &WorkspaceRecord,
    store: &Store,
) -> Result<Vec<crate::engine::Space>, WorkspaceError> {
    let engine = engine(request, store)?;
    let here = |env: &std::collections::BTreeMap<String, String>| {
        ["DOCKER_HOST", "CONTAINER_HOST"].map(|name| env.get(name).cloned())
    };
    if here(&engine.facts.client.env) != here(&before.engine.env) {
        let why =
            "The engine is reached at another place than when the workspace was made; reach it there again.";
        return Err(WorkspaceError::Blocked(vec![why.into()]));
    }
    let spaces = spaces(&engine);
    request.engine = Some(engine.facts);
    Ok(spaces)
}

/// The plan of now: judged, asked, its image looked at; nothing of the workspace is touched.
fn planned(
    request: &mut PlanRequest,
    spaces: &[crate::engine::Space],
    store: &Store,
    options: &RecreateOptions<'_>,
    ui: &mut dyn Ui,
) -> Result<Box<Planned>, WorkspaceError> {
    request.image_facts = None;
    let planned = judge(request, &options.approve, store, ui)?;
    check_floor(planned.plan.engine.kind, spaces)?;
    request.image_facts = Some(image(request, &planned, store, ui)?);
    let planned = judge(request, &[], store, ui)?;
    if planned.needs.is_empty() { Ok(planned) } else { Err(WorkspaceError::Preview(needs(&planned))) }
}

/// The record that the new container will have.
fn record_after(
    asked: WorkspaceRecord,
    before: &WorkspaceRecord,
    request: &PlanRequest,
    planned: &Planned,
    texts: FrozenTexts,
    data_places: Vec<String>,
) -> WorkspaceRecord {
    let mut after = asked;
    if let (Some(engine), Some(image)) = (&request.engine, &request.image_facts) {
        after.engine = RecordedEngine::of(engine);
        after.image = RecordedImage::of(image);
    }
    after.engine.data_places = data_places;
    after.plan = planned.plan.clone();
    after.texts = texts;
    // Taken, or left by a person's word.
    after.texts_due = false;
    // The file system is a fresh one: what the repository's commands did to it is gone.
    after.commands.clear();
    after.former_volumes = left_behind(before, &after);
    after
}

/// Volumes that one record has and the other's plan does not: they stay with the record that removes them.
fn left_behind(of: &WorkspaceRecord, by: &WorkspaceRecord) -> Vec<orca_container_core::VolumePlan> {
    let kept = &by.plan.volumes;
    let all = of.plan.volumes.iter().chain(&of.former_volumes).chain(&by.former_volumes);
    let mut left: Vec<orca_container_core::VolumePlan> = Vec::new();
    for volume in all {
        let known = kept.iter().chain(&left).any(|known| known.name == volume.name);
        if !known {
            left.push(volume.clone());
        }
    }
    left
}

/// What is in the volumes belongs to one user. Another one could not work with it, and git would not either.
fn same_user(before: &WorkspaceRecord, after: &WorkspaceRecord) -> Result<(), WorkspaceError> {
    let ids = |record: &WorkspaceRecord| (record.plan.user.uid, record.plan.user.gid);
    let ((old, old_group), (new, new_group)) = (ids(before), ids(after));
    if (old, old_group) == (new, new_group) {
        return Ok(());
    }
    let why = format!(
        "The volumes belong to the user {old}:{old_group}, and the container would run as {new}:{new_group}. Nothing was touched; choose an image or a user with the ids of before, or make the workspace anew."
    );
    Err(WorkspaceError::Blocked(vec![why]))
}

/// The container goes, the new plan is written down, the container is made. A failure leaves the record of before and
/// no container, from which the same command goes on.
fn exchange(
    mut before: WorkspaceRecord,
    mut after: WorkspaceRecord,
    request: &PlanRequest,
    store: &Store,
    ui: &mut dyn Ui,
) -> Result<WorkspaceRecord, WorkspaceError> {
    before.progress.anew = false;
    let mut runner = Runner::new(store, before, true);
    runner.observe();
    runner.reach(Goal::Recreate, ui)?;
    let mut before = runner.record;
    let reset_agent = after.progress.reset_agent;
    after.progress = Record { anew: true, reset_agent, ..before.progress.clone() };
    after.container_id = None;
    store.write_record(&after)?;
    let mut runner = Runner::new(store, after, true);
    runner.start_env = start_env_text(request);
    runner.strict = is_strict(request);
    runner.observe();
    match runner.reach(Goal::Recreate, ui) {
        Ok(()) => Ok(runner.record),
        Err(cause) => {
            ui.progress(
                "A step failed. The container of before is gone and the volumes are kept: mend what failed, and recreate again",
            );
            runner.record.progress.anew = false;
            runner.observe();
            runner.reach(Goal::Recreate, ui)?;
            if runner.observed_container() == &Resource::Absent {
                // What was made for the new plan has a name in a record still.
                before.former_volumes = left_behind(&runner.record, &before);
                before.container_id = None;
                before.progress.volumes_initialized = runner.record.progress.volumes_initialized;
                // Where the volume was not touched yet, nothing of it is due.
                before.progress.reset_agent =
                    runner.record.progress.reset_agent && runner.agent_volume_is_gone();
                store.write_record(&before)?;
            }
            Err(cause)
        }
    }
}

//! A container anew: the settings of now, the frozen texts or, where a person says so, those that are committed now. The
//! volumes with the work are kept. The difference is told before anything is touched.

use std::path::{Path, PathBuf};

use orca_container_core::input::PlanRequest;
use orca_container_core::{
    EnvChange, Goal, PlanChange, Planned, Resource, Sensitive, VariableChange, environment_changes, limits,
    plan_changes, start_env_text,
};

use super::create::{engine, image, measured};
use super::environment::waiting_for_recreate;
use super::judging::{judge, needs};
use super::launch::launch_request;
use super::lifecycle::{AFTER_START, run_stages};
use super::texts::use_committed_texts;
use super::{Runner, Ui, WorkspaceError};
use crate::engine::{check_floor, spaces};
use crate::gather::committed::Committed;
use crate::gather::devcontainer;
use crate::settings::Settings;
use crate::store::{FrozenTexts, RecordedChoices, RecordedEngine, RecordedImage, Store, WorkspaceRecord};

/// How a container is made anew.
#[derive(Debug)]
pub struct RecreateOptions<'a> {
    /// Settings.
    pub settings: &'a Settings,
    /// Whether the repository's files count as they are committed now.
    pub adopt: bool,
    /// Digests that are approved here and now.
    pub approve: Vec<String>,
    /// Whether only the difference is wanted.
    pub dry_run: bool,
}

/// What differs from the container of before; no value of a variable.
#[derive(Clone, Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// Files of the repository whose new text counts.
    pub files: Vec<String>,
    /// Fields of the plan.
    pub plan: Vec<PlanChange>,
    /// Variables.
    pub variables: Vec<VariableChange>,
}

impl Difference {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.plan.is_empty() && self.variables.is_empty()
    }
}

/// Makes the container of a workspace anew. `tell` gets the difference before anything is touched.
pub fn recreate(
    record: &WorkspaceRecord,
    store: &Store,
    options: &RecreateOptions<'_>,
    ui: &mut dyn Ui,
    tell: &mut dyn FnMut(&Difference, &mut dyn Ui),
) -> Result<WorkspaceRecord, WorkspaceError> {
    let name = || orca_container_core::quoted(&record.workspace.name);
    let lock = store.lock(record.file_name())?;
    let before = store.record(record.file_name())?.ok_or_else(|| WorkspaceError::NotFound(name()))?;
    if before.progress.phase.is_unfinished() {
        return Err(WorkspaceError::Unfinished(name()));
    }
    let was = launch_request(&before, store, options.settings)?;
    let mut request = request_of(&before, store, options.settings)?;
    read_texts(&mut request, &before, options.adopt, ui)?;
    let (planned, mut after) = planned(&mut request, &before, store, options, ui)?;
    after.texts = if options.adopt { FrozenTexts::of(&request) } else { before.texts.clone() };
    let mut difference = Difference {
        files: changed_files(&before.texts, &after.texts),
        plan: plan_changes(&before.plan, &after.plan),
        variables: environment_changes((&before.plan, &was), (&planned.plan, &request)),
    };
    let start = waiting_for_recreate(&before, store, options.settings).into_iter();
    let start = start.filter(|name| !difference.variables.iter().any(|changed| changed.name == *name));
    let start: Vec<_> = start.map(|name| VariableChange { name, change: EnvChange::Recreate }).collect();
    difference.variables.extend(start);
    tell(&difference, ui);
    if options.dry_run {
        return Ok(before);
    }
    let mut made = exchange(before, after, &request, store, ui)?;
    drop(lock);
    run_stages(&AFTER_START, &mut made, store, options.settings, ui)?;
    Ok(made)
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
    request.workspace.remote_url =
        record.plan.clone.as_ref().and_then(|clone| clone.remote.as_deref()).map(Sensitive::new);
    Ok(request)
}

/// The texts that are committed now, or what belongs to the frozen ones.
fn read_texts(
    request: &mut PlanRequest,
    record: &WorkspaceRecord,
    adopt: bool,
    ui: &mut dyn Ui,
) -> Result<(), WorkspaceError> {
    let folder = PathBuf::from(&record.workspace.id);
    if adopt {
        let chosen = record.choices.as_ref().and_then(|choices| choices.devcontainer.as_deref());
        return use_committed_texts(request, &folder, chosen, ui);
    }
    let Some(commit) = record.texts.commit.as_ref().or(record.workspace.commit.as_ref()) else {
        return Ok(());
    };
    request.workspace.commit = Some(commit.clone());
    let worktree = record.workspace.worktree_path.as_deref().unwrap_or(&record.workspace.repo_path);
    let inside = folder.strip_prefix(worktree).unwrap_or(Path::new("")).to_path_buf();
    let dockerfile = |path: &str| {
        let committed = Committed::at_commit(Path::new(worktree), commit)?;
        committed.text(&inside.join(path).to_string_lossy(), limits::DOCKERFILE_BYTES)
    };
    match devcontainer::missing_dockerfile(request, dockerfile)? {
        Some(path) => Err(WorkspaceError::NoDockerfile { path }),
        None => Ok(()),
    }
}

/// The plan of now and the record that it will have, everything judged and asked, nothing touched.
fn planned(
    request: &mut PlanRequest,
    before: &WorkspaceRecord,
    store: &Store,
    options: &RecreateOptions<'_>,
    ui: &mut dyn Ui,
) -> Result<(Box<Planned>, WorkspaceRecord), WorkspaceError> {
    request.image_facts = None;
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
    let planned = judge(request, &options.approve, store, ui)?;
    check_floor(planned.plan.engine.kind, &spaces)?;
    request.image_facts = Some(image(request, &planned, store, ui)?);
    let planned = judge(request, &[], store, ui)?;
    if !planned.needs.is_empty() {
        return Err(WorkspaceError::Preview(needs(&planned)));
    }
    let mut after = before.clone();
    if let (Some(engine), Some(image)) = (&request.engine, &request.image_facts) {
        after.engine = RecordedEngine::of(engine);
        after.image = RecordedImage::of(image);
    }
    after.engine.data_places = measured(&spaces);
    after.plan = planned.plan.clone();
    // The file system is a fresh one: what the repository's commands did to it is gone.
    after.commands.clear();
    keep_volumes(before, &mut after);
    Ok((planned, after))
}

/// Volumes that the new plan does not have stay with the record that removes them; new ones are given to the user.
fn keep_volumes(before: &WorkspaceRecord, after: &mut WorkspaceRecord) {
    let has =
        |record: &WorkspaceRecord, name: &str| record.plan.volumes.iter().any(|volume| volume.name == name);
    let now = after.plan.volumes.clone();
    let left = before.plan.volumes.iter().chain(&before.former_volumes);
    let mut left: Vec<_> =
        left.filter(|volume| !now.iter().any(|kept| kept.name == volume.name)).cloned().collect();
    left.dedup();
    after.former_volumes = left;
    if now.iter().any(|volume| !has(before, &volume.name)) {
        after.progress.volumes_initialized = false;
    }
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
    let before = runner.record;
    after.progress.phase = before.progress.phase;
    after.progress.anew = true;
    after.container_id = None;
    store.write_record(&after)?;
    let mut runner = Runner::new(store, after, true);
    runner.start_env = start_env_text(request);
    runner.strict =
        request.repo_settings.policy.strict.or(request.global_settings.policy.strict).unwrap_or(false);
    runner.observe();
    match runner.reach(Goal::Recreate, ui) {
        Ok(()) => Ok(runner.record),
        Err(cause) => {
            ui.progress(
                "A step failed; the volumes are kept, and recreate makes the container of before again",
            );
            runner.record.progress.anew = false;
            runner.observe();
            runner.reach(Goal::Recreate, ui)?;
            if runner.observed_container() == &Resource::Absent {
                store.write_record(&before)?;
            }
            Err(cause)
        }
    }
}

/// Names of the files whose frozen text is another.
fn changed_files(before: &FrozenTexts, after: &FrozenTexts) -> Vec<String> {
    let file = |text: &Option<crate::store::FrozenText>| {
        text.as_ref().map(|file| (file.path.clone(), file.text.clone()))
    };
    let mut changed = Vec::new();
    for (old, new) in [
        (file(&before.orca_yaml), file(&after.orca_yaml)),
        (file(&before.devcontainer), file(&after.devcontainer)),
    ] {
        if old != new {
            changed.extend(new.or(old).map(|(path, _)| path));
        }
    }
    if before.worktree_include != after.worktree_include {
        changed.push(".worktreeinclude".into());
    }
    changed
}

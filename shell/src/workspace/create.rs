//! Making a workspace: judge, ask, pull, look, judge again, make, compare, start, look again, clone, record.

use std::hash::{Hash, Hasher};
use std::path::Path;

use orca_container_core::input::{ContainerOptions, PlanRequest};
use orca_container_core::{
    Action, CloneFrom, Endpoint, EngineKind, Goal, Need, Planned, Record, RenderContext, render,
    start_env_text,
};

use super::build::{build_image, one_at_a_time};
use super::helper::{looked_up, remove_left, remove_leftovers};
use super::judging::{is_strict, judge, needs};
use super::lifecycle::{AFTER_START, run_stages};
use super::texts::{Texts, use_committed_texts};
use super::{Copying, Runner, Ui, WorkspaceError};
use crate::engine::{CarryOut, Client, Detected, ImageError, Space, Supplies, check_floor, detect, spaces};
use crate::gather::branch::{Branch, choose, folder_of};
use crate::gather::remote::HandedOver;
use crate::gather::request::{Words, gather, list_ignored};
use crate::settings::Settings;
use crate::store::{
    FrozenTexts, Lock, RecordedChoices, RecordedEngine, RecordedImage, RecordedWorkspace, Store,
    WorkspaceRecord, WorkspaceValues, random_id,
};

/// What a workspace is made of.
#[derive(Debug)]
pub struct CreateOptions<'a> {
    /// A folder in a git worktree.
    pub folder: &'a Path,
    /// Settings.
    pub settings: &'a Settings,
    /// The command line.
    pub words: Words,
    /// Its branch.
    pub branch: Branch,
    /// Digests that are approved here and now.
    pub approve: Vec<String>,
}

/// Makes a workspace; what an interrupted create of the same worktree left goes first. A failed step is undone. A command of
/// the repository that fails afterwards is an error, and the workspace stands.
pub fn create(
    options: CreateOptions<'_>,
    store: &Store,
    ui: &mut dyn Ui,
) -> Result<WorkspaceRecord, WorkspaceError> {
    let settings = options.settings;
    let mut record = create_only(options, store, ui)?;
    run_stages(&AFTER_START, &mut record, store, settings, ui)?;
    Ok(record)
}

/// The same without the repository's commands, which are then due.
pub fn create_only(
    options: CreateOptions<'_>,
    store: &Store,
    ui: &mut dyn Ui,
) -> Result<WorkspaceRecord, WorkspaceError> {
    remove_leftovers(store);
    let chosen = options.words.devcontainer.clone();
    let mut request = gather(options.folder, options.settings, options.words)?.request;
    choose(&mut request.workspace, &options.branch)?;
    let worktree = worktree_lock(store, &request)?;
    let making = Making { approve: &options.approve, chosen: chosen.as_deref(), clone_secret: None };
    let made = create_locked(request, making, store, ui);
    worktree.remove();
    made
}

/// What a create needs beside its request.
pub(super) struct Making<'a> {
    /// Digests that are approved here and now.
    pub(super) approve: &'a [String],
    /// The devcontainer.json that is chosen among several.
    pub(super) chosen: Option<&'a str>,
    /// What a clone from a remote is handed.
    pub(super) clone_secret: Option<HandedOver>,
}

/// Makes it; the caller holds the worktree's lock.
pub(super) fn create_locked(
    mut request: PlanRequest,
    making: Making<'_>,
    store: &Store,
    ui: &mut dyn Ui,
) -> Result<WorkspaceRecord, WorkspaceError> {
    let Making { approve, chosen, clone_secret } = making;
    remove_unfinished(store, &request, ui)?;
    request.install.id = store.ensure_install_id()?;
    use_committed_texts(&mut request, chosen, Texts::Created, ui)?;
    request.workspace.instance_id = random_id()?;
    request.approvals.extend(store.approvals()?.of_repository(&request.workspace.repository_id));
    let engine = engine(&request, store)?;
    let spaces = spaces(&engine);
    if engine.facts.endpoint == Endpoint::Plain && clone_secret.as_ref().is_some_and(|given| given.is_secret)
    {
        return Err(WorkspaceError::SecretInTheClear);
    }
    request.engine = Some(engine.facts);

    if let Some(note) = list_ignored(&mut request)? {
        ui.progress(&note);
    }
    // Judged before anything of the repository is pulled.
    let planned = judge(&mut request, approve, store, ui)?;
    check_floor(planned.plan.engine.kind, &spaces)?;
    request.image_facts = Some(image(&request, &planned, store, ui)?);
    if let Some(note) = list_ignored(&mut request)? {
        ui.progress(&note);
    }
    let planned = judge(&mut request, &[], store, ui)?;
    if !planned.needs.is_empty() {
        return Err(WorkspaceError::Preview(needs(&planned)));
    }
    for notice in &planned.notices {
        ui.progress(&format!("{}: {} [{}]", notice.severity, notice.message, notice.code));
    }
    let mut record = record_of(&request, &planned)?;
    record.choices = Some(RecordedChoices::of(&request.choices, chosen));
    record.texts_due = request.workspace.clone_from == CloneFrom::Remote;
    record.engine.data_places = measured(&spaces);
    let lock = store.lock(record.file_name())?;
    let values = WorkspaceValues::of(request.choices.env.as_ref(), request.choices.env_file.as_ref());
    let name = record.file_name().to_owned();
    let written = store.write_values(&record, &values).map_err(WorkspaceError::from);
    let mut runner = Runner::new(store, record, false);
    runner.start_env = start_env_text(&request);
    runner.clone_secret = clone_secret.map(|given| given.text);
    runner.copy = Some(Copying {
        checkout: request.workspace.repo_path.clone().into(),
        commit: request.workspace.commit.clone().unwrap_or_default(),
        files: planned.copy.files.clone(),
        again: None,
    });
    runner.strict = is_strict(&request);
    let made = written.and_then(|()| make(runner, ui));
    if made.is_err() && !store.has_record(&name) {
        store.forget_values(&name);
        lock.remove();
    }
    made
}

/// Makes it, and undoes what was made when a step fails.
fn make(mut runner: Runner<'_>, ui: &mut dyn Ui) -> Result<WorkspaceRecord, WorkspaceError> {
    runner.observe();
    match runner.reach(Goal::Create, ui) {
        Ok(()) => Ok(runner.record),
        Err(cause) => {
            ui.progress("A step failed; undoing what was made");
            let name = runner.record.workspace.name.clone();
            runner.observe();
            match runner.reach(Goal::Remove, ui) {
                Ok(()) => Err(cause),
                Err(undo) => {
                    Err(WorkspaceError::NotUndone { cause: Box::new(cause), undo: Box::new(undo), name })
                }
            }
        }
    }
}

/// Removes what an interrupted create or removal of this worktree left; a workspace that stands is an error.
///
/// Nobody worked in it: nothing is launched before a create has ended. It is not finished, since what is asked for
/// now may be another image, network or value than was asked for then.
fn remove_unfinished(store: &Store, request: &PlanRequest, ui: &mut dyn Ui) -> Result<(), WorkspaceError> {
    let (records, broken) = store.records()?;
    if let Some(error) = broken.into_iter().next() {
        return Err(error.into());
    }
    // A branch of a folder is one workspace, however it was named: by the folder it is checked out in, or by itself.
    let asked = &request.workspace;
    let is_it = |record: &WorkspaceRecord| {
        let workspace = &record.workspace;
        let same_branch = workspace.branch.is_some()
            && workspace.branch == asked.branch
            && folder_of(&workspace.id) == folder_of(&asked.id)
            && asked.clone_from.is_host();
        workspace.id == asked.id || same_branch
    };
    let Some(record) = records.into_iter().find(is_it) else { return Ok(()) };
    if store.install_id()?.as_ref() != Some(&record.install_id) {
        return Err(WorkspaceError::Foreign(orca_container_core::quoted(&record.workspace.name)));
    }
    if !record.progress.phase.is_unfinished() {
        return Err(WorkspaceError::Exists(orca_container_core::quoted(&record.workspace.name)));
    }
    ui.progress("Removing what an interrupted operation left");
    let lock = store.lock(record.file_name())?;
    let client = Client { program: record.engine.program.clone(), env: record.engine.env.clone() };
    remove_left(store, &client, record.engine.kind);
    let mut runner = Runner::new(store, record, true);
    runner.observe();
    runner.reach(Goal::Remove, ui)?;
    lock.remove();
    Ok(())
}

/// The lock of a worktree: two creates of one would make two workspaces of it.
pub(super) fn worktree_lock(store: &Store, request: &PlanRequest) -> Result<Lock, WorkspaceError> {
    let mut hasher = std::hash::DefaultHasher::new();
    request.workspace.id.hash(&mut hasher);
    Ok(store.lock(&format!("worktree-{:016x}", hasher.finish()))?)
}

/// The folders whose free space can be measured from here, for the launches to come.
pub(super) fn measured(spaces: &[Space]) -> Vec<String> {
    let measured = spaces.iter().filter(|space| space.free.is_some());
    measured.filter_map(|space| Some(space.place.to_str()?.to_owned())).collect()
}

/// The engine that is chosen, asked.
pub(super) fn engine(request: &PlanRequest, store: &Store) -> Result<Detected, WorkspaceError> {
    let strongest = |get: fn(&ContainerOptions) -> Option<&String>| {
        get(&request.choices)
            .or_else(|| request.repo_settings.container.as_ref().and_then(get))
            .or_else(|| get(&request.global_settings.container))
            .cloned()
    };
    let chosen = strongest(|options| options.engine.as_ref()).and_then(|word| EngineKind::parse(&word));
    let runtime = strongest(|options| options.runtime.as_ref());
    Ok(detect(chosen, runtime.as_deref(), &store.docker_config()?)?)
}

/// The image's facts, pulled first only when it is not there.
pub(super) fn image(
    request: &PlanRequest,
    planned: &Planned,
    store: &Store,
    ui: &mut dyn Ui,
) -> Result<orca_container_core::input::ImageFacts, WorkspaceError> {
    let facts = request.engine.as_ref().ok_or(WorkspaceError::Preview("an engine".into()))?;
    let client = Client { program: facts.client.program.clone(), env: facts.client.env.clone() };
    let asked = planned.needs.iter().find_map(|need| match need {
        Need::Image { user, .. } => user.as_deref(),
        _ => None,
    });
    let labels = [format!("--label=orca.install={}", request.install.id)];
    let reference = &planned.plan.image.reference;
    if planned.plan.image.build.is_some() {
        return one_at_a_time(store, ui, |ui| {
            build_image(request, planned, &client, store, ui)?;
            Ok(looked_up(store, &client, facts.kind, reference, asked, &labels)??)
        });
    }
    match looked_up(store, &client, facts.kind, reference, asked, &labels)? {
        Err(ImageError::Missing { .. }) => {}
        other => return Ok(other?),
    }
    ui.progress(&format!("Pulling {}", orca_container_core::escaped(reference)));
    let command = render(Action::PullImage, &planned.plan, &RenderContext::of(request));
    CarryOut::default().run(Action::PullImage, &command, Supplies::default())?;
    Ok(looked_up(store, &client, facts.kind, reference, asked, &labels)??)
}

pub(super) fn record_of(request: &PlanRequest, planned: &Planned) -> Result<WorkspaceRecord, WorkspaceError> {
    let engine = request.engine.as_ref().ok_or(WorkspaceError::Preview("an engine".into()))?;
    let image = request.image_facts.as_ref().ok_or(WorkspaceError::Preview("the image".into()))?;
    Ok(WorkspaceRecord {
        schema_version: 1,
        install_id: request.install.id.clone(),
        workspace: RecordedWorkspace::of(&request.workspace),
        engine: RecordedEngine::of(engine),
        image: RecordedImage::of(image),
        progress: Record::new(!planned.copy.files.is_empty()),
        container_id: None,
        commands: Vec::new(),
        copied: None,
        plan: planned.plan.clone(),
        agent: request.agent.clone(),
        choices: None,
        former_volumes: Vec::new(),
        forward_host_env: request.choices.forward_host_env.clone().unwrap_or_default(),
        texts: FrozenTexts::of(request),
        texts_due: false,
        more: serde_json::Map::new(),
    })
}

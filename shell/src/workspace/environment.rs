//! The environment of a workspace: what its next launch gets beside what its last one had, and edits of its own variables.

use std::time::Duration;

use orca_container_core::input::{EnvFile, EnvSetting, PlanRequest, UniqueMap};
use orca_container_core::{
    ContainerPlan, Diagnostic, Drift, EffectiveEnvironment, Refusal, Severity, WorkspaceEnvironment,
    launch_environment, start_variable_faults, workspace_environment,
};

use super::WorkspaceError;
use super::helper::remove_leftovers;
use super::launch::{give_image_values, launch_request, request_with};
use crate::engine::{Client, Inspector};
use crate::gather::request::know;
use crate::settings::Settings;
use crate::store::{Store, WorkspaceRecord};

/// How long another command's hold on the workspace is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a person edits of a workspace's own variables.
#[derive(Debug)]
pub enum Edit {
    /// Sets variables.
    Set(UniqueMap<EnvSetting>),
    /// Takes variables away.
    Unset(Vec<String>),
    /// Puts a file in place of the one before.
    Import(EnvFile),
}

/// What an edit came to; names only.
#[derive(Debug)]
pub struct Edited {
    /// Names that were set.
    pub set: Vec<String>,
    /// Names that are set no more.
    pub unset: Vec<String>,
    /// Start variables among them that the container has with another value.
    pub recreate: Vec<String>,
    /// What the next launch gets.
    pub environment: EffectiveEnvironment,
}

/// The report for a workspace. An engine that does not answer leaves out what only it can tell.
pub fn environment(
    record: &WorkspaceRecord,
    store: &Store,
    settings: &Settings,
    drift: Vec<Drift>,
) -> Result<WorkspaceEnvironment, WorkspaceError> {
    let values = store.values(record)?;
    let last = store.last_launch(record)?;
    let edited = values.edited_since(last.as_ref().map_or(0, |last| last.revision));
    let mut request = request_with(record, store, settings, &values)?;
    // Where the image cannot be asked, names are all that a report needs of it.
    let _ = give_image_values(&mut request, record);
    let observed = configured(record);
    let last = last.map(|last| last.variables);
    Ok(workspace_environment(&record.plan, &request, last, &edited, observed.as_deref(), drift))
}

/// The container's configured environment; asked only where the plan has start variables.
pub(super) fn configured(record: &WorkspaceRecord) -> Option<Vec<orca_container_core::Sensitive>> {
    let id = record.container_id.as_ref().filter(|_| !record.plan.start_env.is_empty())?;
    let client = Client { program: record.engine.program.clone(), env: record.engine.env.clone() };
    Inspector { client: &client, plan: &record.plan }.environment(id)
}

/// Edits a workspace's own variables: judged first, kept when nothing of it is refused. Running processes keep theirs.
pub fn edit(
    record: &WorkspaceRecord,
    store: &Store,
    settings: &Settings,
    edit: Edit,
) -> Result<Edited, WorkspaceError> {
    remove_leftovers(store);
    let _lock = store.lock_patiently(record.file_name(), PATIENCE)?;
    let gone = || WorkspaceError::NotFound(orca_container_core::quoted(&record.workspace.name));
    let record = &store.record(record.file_name())?.ok_or_else(gone)?;
    if record.progress.phase.is_unfinished() {
        return Err(WorkspaceError::Unfinished(orca_container_core::quoted(&record.workspace.name)));
    }
    let mut values = store.values(record)?;
    let before = refused(&record.plan, &launch_request(record, store, settings)?);
    let (set, unset) = match edit {
        Edit::Set(env) => {
            values.set(&env);
            (env.iter().map(|(name, _)| name.to_owned()).collect(), Vec::new())
        }
        Edit::Unset(names) => {
            let absent = values.unset(&names);
            if !absent.is_empty() {
                return Err(WorkspaceError::NotSet {
                    names: absent,
                    workspace: record.workspace.name.clone(),
                });
            }
            (Vec::new(), names)
        }
        Edit::Import(file) => {
            let gone = values.import(&file);
            (values.imported(), gone)
        }
    };
    let request = request_with(record, store, settings, &values)?;
    know(&request);
    let environment = launch_environment(&record.plan, &request);
    let now = refused(&record.plan, &request);
    let new: Vec<Diagnostic> = now.into_iter().filter(|problem| !before.contains(problem)).collect();
    if !new.is_empty() {
        return Err(Refusal::of(new).into());
    }
    store.write_values(record, &values)?;
    let observed = configured(record);
    let mut recreate = orca_container_core::waiting_for_recreate(&record.plan, &request, observed.as_deref());
    recreate.retain(|name| set.contains(name) || unset.contains(name));
    Ok(Edited { set, unset, recreate, environment })
}

/// What refuses a launch, or a recreate for the sake of start variables.
fn refused(plan: &ContainerPlan, request: &PlanRequest) -> Vec<Diagnostic> {
    let mut problems = launch_environment(plan, request).problems;
    problems.extend(start_variable_faults(plan, request));
    problems.retain(|problem| problem.severity == Severity::Refused);
    problems
}

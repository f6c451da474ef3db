//! One process in a workspace: the layers of now over the frozen texts.

use std::env::VarError;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use orca_container_core::input::{
    ContainerOptions, GlobalSettings, HostFacts, Install, LaunchCommand, LaunchRequest, LaunchValues,
    PlanRequest, SCHEMA_VERSION, Terminal, UniqueMap,
};
use orca_container_core::{
    Delivery, EngineKind, LaunchAnswer, Refusal, Sensitive, WorkspaceEnvironment, launch, launch_environment,
    launch_host_names, launch_secret_names,
};

use super::WorkspaceError;
use crate::engine::{
    Bounds, Client, DiskLow, Input, Wanted, check_room, host_path, host_program, image_configuration,
    in_debug_mode, run_bounded,
};
use crate::gather::host;
use crate::gather::request::know;
use crate::gather::settings_file::SettingsPlace;
use crate::own_program::own_program;
use crate::redact;
use crate::secrets::{Handed, fetch};
use crate::settings::Settings;
use crate::store::{LastLaunch, Store, WorkspaceRecord, WorkspaceValues, random_id};

/// What is to be started.
#[derive(Debug)]
pub struct LaunchOptions {
    /// The command.
    pub command: LaunchCommand,
    /// Whether it gets a terminal.
    pub tty: bool,
    /// Its folder.
    pub workdir: Option<String>,
    /// Where the caller hands over values of secrets.
    pub secrets: Handed,
}

/// A process to start, and what its launch will have had.
#[derive(Debug)]
pub struct Prepared {
    /// The process.
    pub answer: LaunchAnswer,
    /// What is written down of it: names.
    pub launched: LastLaunch,
}

/// The request of now for a workspace: settings of now, frozen texts, the record's engine and image.
pub fn launch_request(
    record: &WorkspaceRecord,
    store: &Store,
    settings: &Settings,
) -> Result<PlanRequest, WorkspaceError> {
    request_with(record, store, settings, &store.values(record)?)
}

/// The same with other variables of the workspace's own.
pub fn request_with(
    record: &WorkspaceRecord,
    store: &Store,
    settings: &Settings,
    values: &WorkspaceValues,
) -> Result<PlanRequest, WorkspaceError> {
    let document = &settings.document;
    let mut approvals = document.approvals.clone();
    approvals.extend(store.approvals()?.of_repository(&record.workspace.repository_id));
    Ok(PlanRequest {
        schema_version: SCHEMA_VERSION,
        requires: Vec::new(),
        install: Install { id: record.install_id.clone() },
        workspace: record.workspace.workspace(),
        agent: document.agent.clone().or_else(|| record.agent.clone()),
        choices: ContainerOptions {
            enabled: Some(true),
            env: Some(values.env()),
            env_file: values.env_file(),
            forward_host_env: Some(record.forward_host_env.clone()),
            // As when it was made: what the file asks for was approved for its image and this network.
            image: record.plan.devcontainer.as_ref().map(|_| "devcontainer".into()),
            network: record.plan.devcontainer.as_ref().map(|_| record.plan.network.mode.to_string()),
            ..ContainerOptions::default()
        },
        repo_settings: match &record.workspace.git_common_dir {
            Some(common_dir) => settings.for_repository(Path::new(common_dir))?.settings,
            None => settings.for_remote(&record.workspace.repository_id),
        },
        global_settings: GlobalSettings {
            experimental_container_workspaces: true,
            ..document.global_settings.clone()
        },
        orca_yaml: record.texts.orca_yaml(),
        devcontainer: record.texts.devcontainer(),
        devcontainer_candidates: Vec::new(),
        worktree_include: record.texts.worktree_include(),
        host: HostFacts { platform: host::platform().into(), env_names: host::environment_names() },
        orca_env: document.orca_env.clone(),
        secrets: document.secret_names(),
        approvals,
        engine: Some(record.engine_facts()),
        image_facts: Some(record.image.facts()),
    })
}

/// The container that something may be started in, by its record.
pub(super) fn require_whole(record: &WorkspaceRecord) -> Result<String, WorkspaceError> {
    // Until then the clone is not whole, and what somebody writes into it goes with it.
    let name = || orca_container_core::quoted(&record.workspace.name);
    if record.progress.phase.is_unfinished() {
        return Err(WorkspaceError::Unfinished(name()));
    }
    // What a recreate made may not have been compared with its plan.
    if record.progress.is_unfinished() {
        return Err(WorkspaceError::Anew(name()));
    }
    if record.texts_due {
        return Err(WorkspaceError::TextsDue(name()));
    }
    record.container_id.clone().ok_or_else(|| WorkspaceError::NoContainer(name()))
}

/// The process to start.
pub fn launch_answer(
    record: &WorkspaceRecord,
    store: &Store,
    settings: &Settings,
    options: LaunchOptions,
) -> Result<Prepared, WorkspaceError> {
    let container_id = require_whole(record)?;
    // Before they are read: an edit that comes between is told once too often, and never lost.
    let revision = store.values(record)?.revision();
    let mut request = launch_request(record, store, settings)?;
    give_image_values(&mut request, record)?;
    let is_for_repository = matches!(options.command, LaunchCommand::Lifecycle(_));
    let host = host_values(record, &request)?;
    // A source that fails may say whatever it was told.
    know(&request);
    let gh = if is_for_repository { None } else { gh_token(&request) };
    // Right before the launch and for no other question: asking a source may open a window or a hardware key.
    let needed = launch_secret_names(&record.plan, &request, &options.command);
    look_for_debug_mode(&mut request, host.is_empty() && needed.is_empty() && gh.is_none())?;
    refused_anyway(record, &request, &needed)?;
    let secrets = fetch(&settings.document.secrets, &needed, options.secrets)?;
    let helper = own_program().ok().and_then(|path| path.to_str().map(String::from));
    let launch_request = LaunchRequest {
        container_id,
        launch_id: random_id()?,
        command: options.command,
        tty: options.tty,
        workdir: options.workdir,
        terminal: terminal(options.tty),
        helper,
        values: LaunchValues { host, orca: UniqueMap::default(), secrets, gh_token: gh },
    };
    know_launch(&launch_request.values);
    let answer = launch(&record.plan, &request, &launch_request)?;
    let mut variables = WorkspaceEnvironment::launched(&launch_environment(&record.plan, &request));
    // One that turned out to be absent on the host was left out.
    variables.retain(|had| had.delivery != Delivery::Launch || answer.names.contains(&had.name));
    Ok(Prepared { answer, launched: LastLaunch { revision, variables } })
}

/// `${containerEnv:NAME}` takes what the image has; the record keeps names only.
pub(super) fn give_image_values(
    request: &mut PlanRequest,
    record: &WorkspaceRecord,
) -> Result<(), WorkspaceError> {
    if record.plan.devcontainer.is_some() {
        let client = Client { program: record.engine.program.clone(), env: record.engine.env.clone() };
        let image = image_configuration(&client, &record.image.id)?;
        if let Some(facts) = &mut request.image_facts {
            facts.env = image.env;
        }
    }
    Ok(())
}

/// No source is asked for a launch that is refused whatever its value is.
fn refused_anyway(
    record: &WorkspaceRecord,
    request: &PlanRequest,
    needed: &[String],
) -> Result<(), WorkspaceError> {
    let environment = launch_environment(&record.plan, request);
    if !environment.ok {
        return Err(Refusal::of(environment.problems).into());
    }
    let debug = request.engine.as_ref().is_some_and(|engine| engine.debug);
    if debug && !needed.is_empty() {
        return Err(WorkspaceError::DebugWithSecrets);
    }
    Ok(())
}

/// Asked at each launch with values that are kept nowhere, since the record's facts are from create.
fn look_for_debug_mode(request: &mut PlanRequest, none: bool) -> Result<(), WorkspaceError> {
    if let Some(facts) = request.engine.as_mut().filter(|facts| facts.kind == EngineKind::Docker && !none) {
        let client = Client { program: facts.client.program.clone(), env: facts.client.env.clone() };
        facts.debug = in_debug_mode(&client)?;
    }
    Ok(())
}

/// What a launch warns of and never refuses: a person needs the terminal to clean up.
pub fn disk_low(record: &WorkspaceRecord) -> Option<DiskLow> {
    check_room(record.engine.kind, &record.engine.data_places, 0).err()
}

/// Whatever is done with a workspace: an engine may repeat what it was given when the workspace was made. Settings that
/// cannot be read now hold nothing that it is given now.
pub fn know_values(record: &WorkspaceRecord, store: &Store) {
    let settings = SettingsPlace::of_process(None).read().ok().flatten();
    let settings = settings.and_then(|file| Settings::of(&file).ok()).unwrap_or_default();
    if let Ok(request) = launch_request(record, store, &settings) {
        know(&request);
        for (_, value) in host_values(record, &request).unwrap_or_default().iter() {
            redact::know(value.reveal());
        }
    }
}

/// Values that only a launch has are as unspeakable as those of the request.
fn know_launch(values: &LaunchValues) {
    let named = [&values.host, &values.orca, &values.secrets].into_iter().flat_map(UniqueMap::iter);
    let all = named.map(|(_, value)| value).chain(&values.gh_token);
    for value in all {
        redact::know(value.reveal());
    }
}

/// The terminal's own variables: engines never pass them on.
fn terminal(tty: bool) -> Terminal {
    if !tty {
        return Terminal::default();
    }
    let of = |name: &str| std::env::var(name).ok();
    Terminal { term: of("TERM"), colorterm: of("COLORTERM"), lang: of("LANG") }
}

/// Values of exactly the host variables that this launch hands over, by themselves or as a part of another.
fn host_values(
    record: &WorkspaceRecord,
    request: &PlanRequest,
) -> Result<UniqueMap<Sensitive>, WorkspaceError> {
    let mut values = UniqueMap::default();
    for name in launch_host_names(&record.plan, request) {
        match std::env::var(&name) {
            Ok(value) => values.insert(name, Sensitive::from(value)),
            Err(VarError::NotPresent) => {}
            // It must not look like one that is not set.
            Err(VarError::NotUnicode(_)) => {
                let name = orca_container_core::quoted(&name);
                let why =
                    format!("The value of a variable is UTF-8; that of the host variable {name} is not.");
                return Err(WorkspaceError::Blocked(vec![why]));
            }
        }
    }
    Ok(values)
}

/// The token of the bound account, from gh's own store; the core says what its absence means.
fn gh_token(request: &PlanRequest) -> Option<Sensitive> {
    let account = request.repo_settings.gh_account.as_ref()?;
    let mut command = Command::new(host_program("gh")?);
    command.env("PATH", host_path());
    command.args(["auth", "token", "--hostname", &account.host, "--user", &account.user]);
    for name in
        ["GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GH_HOST", "GH_REPO"]
    {
        command.env_remove(name);
    }
    let answer =
        run_bounded(command, "gh", Input::None, Wanted::Kept, Bounds::time(Duration::from_secs(10))).ok()?;
    Some(answer.text()).filter(|token| answer.code == 0 && !token.is_empty()).map(Sensitive::from)
}

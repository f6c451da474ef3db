//! What the core would refuse on an engine: `create`'s own question, so that doctor and create cannot disagree.

use orca_container_core::input::{
    ContainerOptions, EngineFacts, GlobalSettings, HostFacts, Install, PlanRequest, RepoSettings,
    SCHEMA_VERSION, Workspace,
};
use orca_container_core::{CloneFrom, Code, Diagnostic, PlanAnswer, Severity, plan};

use crate::gather::host;

/// Rules that an engine breaks; the others are about a repository or an image, and none is looked at here.
const OF_THE_ENGINE: [Code; 3] =
    [Code::LimitsUnsupported, Code::RuntimeUnavailable, Code::EndpointPlainWithValues];

/// Refusals of a plan for this engine under these settings, with a workspace and an image that stand for any.
pub(super) fn of_create(engine: &EngineFacts, settings: &GlobalSettings) -> Vec<Diagnostic> {
    let problems = match plan(&request(engine, settings)) {
        PlanAnswer::Planned(_) => Vec::new(),
        PlanAnswer::Refused(refusal) => refusal.problems,
    };
    let counts =
        |problem: &Diagnostic| problem.severity == Severity::Refused && OF_THE_ENGINE.contains(&problem.code);
    problems.into_iter().filter(counts).collect()
}

fn request(engine: &EngineFacts, settings: &GlobalSettings) -> PlanRequest {
    let word = || String::from("doctor");
    PlanRequest {
        schema_version: SCHEMA_VERSION,
        requires: Vec::new(),
        install: Install { id: word() },
        workspace: Workspace {
            id: word(),
            instance_id: word(),
            repository_id: word(),
            name: word(),
            branch: Some(word()),
            commit: None,
            base: None,
            new_branch: false,
            clone_from: CloneFrom::Host,
            repo_path: "/doctor".into(),
            worktree_path: None,
            git_common_dir: None,
            remote_url: None,
            owner_uid: None,
            owner_gid: None,
        },
        agent: None,
        choices: ContainerOptions {
            enabled: Some(true),
            image: Some(format!("doctor.invalid/any@sha256:{}", "0".repeat(64))),
            ..ContainerOptions::default()
        },
        repo_settings: RepoSettings::default(),
        global_settings: GlobalSettings { experimental_container_workspaces: true, ..settings.clone() },
        orca_yaml: None,
        devcontainer: None,
        devcontainer_candidates: Vec::new(),
        worktree_include: None,
        host: HostFacts { platform: host::platform().into(), env_names: Vec::new() },
        orca_env: Vec::new(),
        secrets: Vec::new(),
        approvals: Vec::new(),
        engine: Some(engine.clone()),
        image_facts: None,
    }
}

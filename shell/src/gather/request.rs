//! The request for one folder: what people, the repository and this computer say, put together.
//!
//! Takes a folder, settings and the words of the command line; gives the core's request. Repository texts are
//! read from the folder itself, git's facts from the repository around it. No engine is asked, so the answer
//! will be a preview. Nothing is judged here.

use std::io;
use std::path::{Path, PathBuf};

use orca_container_core::input::{
    Approval, ContainerOptions, DevcontainerFile, GlobalSettings, HostFacts, Install, PlanRequest,
    RepoSettings, RepositoryFile, SCHEMA_VERSION, Workspace, WorktreeIncludeFile,
};
use orca_container_core::{CloneFrom, Sensitive, copies_ignored_files, limits, values_in};

use super::devcontainer::{self, Found};
use super::host;
use super::repository::{Repository, RepositoryError, find_repository};
use super::shown::Shown;
use super::text_file::{TextFileError, read_repository_text};
use crate::redact;
use crate::settings::{Settings, SettingsError};

/// The id of what nobody created yet.
pub(super) const PREVIEW: &str = "preview";

/// What the command line says.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// The container's options.
    pub choices: ContainerOptions,
    /// The agent; without it that of the settings.
    pub agent: Option<String>,
    /// Approvals, beside those of the settings.
    pub approvals: Vec<Approval>,
    /// The devcontainer.json that is meant, where there are several.
    pub devcontainer: Option<String>,
}

/// A request, and what a person should know about its making.
#[derive(Clone, Debug)]
pub struct Gathered {
    /// The request.
    pub request: PlanRequest,
    /// Settings that name no repository of this computer, by their paths as written.
    pub passed_over: Vec<String>,
}

/// Why there is no request.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatherError {
    /// The folder is in no git worktree that can be planned for.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// A file of the repository is not a text.
    #[error(transparent)]
    Text(#[from] TextFileError),
    /// The settings cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The boundary is JSON, which has no other text.
    #[error("The path {} must be UTF-8.", Shown(path))]
    NotUtf8 {
        /// The path.
        path: PathBuf,
    },
    /// The file that was named is none of the three places, or is not there.
    #[error("No devcontainer.json is at {}; it is named by its path in the repository.", Shown(path))]
    NoDevcontainer {
        /// The path.
        path: PathBuf,
    },
    /// git could not say which files it ignores.
    #[cfg(unix)]
    #[error("git could not be asked which files it ignores: {0}")]
    Ignored(#[from] crate::engine::ClientError),
    /// The system refused to resolve it.
    #[error("The path {} cannot be read: {cause}.", Shown(path))]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// The system's reason.
        cause: io::Error,
    },
}

/// Puts the request for a folder together.
pub fn gather(folder: &Path, settings: &Settings, words: Words) -> Result<Gathered, GatherError> {
    let repository = find_repository(folder)?;
    let root = folder
        .canonicalize()
        .map_err(|cause| GatherError::Unreadable { path: folder.to_path_buf(), cause })?;
    let chosen = settings.for_repository(&repository.common_dir)?;
    let found = find_devcontainer(&root, words.devcontainer.as_deref())?;
    let mut request = assemble(workspace(&root, &repository)?, settings, chosen.settings, words);
    request.orca_yaml = orca_yaml(&root)?;
    request.devcontainer = found.file.map(devcontainer_file);
    request.devcontainer_candidates = found.candidates;
    request.worktree_include = worktree_include(&root)?;
    // One that is not there, or is none, is what the plan still needs.
    let dockerfile = |path: &str| read_repository_text(&root, path, limits::DOCKERFILE_BYTES);
    let _ = devcontainer::missing_dockerfile(&mut request, dockerfile);
    know(&request);
    Ok(Gathered { request, passed_over: chosen.passed_over })
}

/// What people and this computer say of a workspace; nothing of its repository's texts.
pub(super) fn assemble(
    workspace: Workspace,
    settings: &Settings,
    repo_settings: RepoSettings,
    words: Words,
) -> PlanRequest {
    let document = &settings.document;
    let Words { mut choices, agent, mut approvals, .. } = words;
    ask_for_container(&mut choices, &document.global_settings, &repo_settings);
    approvals.extend(document.approvals.iter().cloned());
    PlanRequest {
        schema_version: SCHEMA_VERSION,
        requires: Vec::new(),
        install: Install { id: PREVIEW.into() },
        workspace,
        agent: agent.or_else(|| document.agent.clone()),
        choices,
        repo_settings,
        global_settings: GlobalSettings {
            // Whoever calls this command has chosen the experiment.
            experimental_container_workspaces: true,
            ..document.global_settings.clone()
        },
        orca_yaml: None,
        devcontainer: None,
        devcontainer_candidates: Vec::new(),
        worktree_include: None,
        host: HostFacts { platform: host::platform().into(), env_names: host::environment_names() },
        orca_env: document.orca_env.clone(),
        secrets: document.secret_names(),
        approvals,
        engine: None,
        image_facts: None,
    }
}

/// From here on what this process says holds none of the request's values.
pub(crate) fn know(request: &PlanRequest) {
    for value in values_in(request) {
        redact::know(value.reveal());
    }
}

/// This command is about containers, so it asks for one where no person said yes or no.
fn ask_for_container(choices: &mut ContainerOptions, global: &GlobalSettings, repository: &RepoSettings) {
    let of_repository = repository.container.as_ref().and_then(|container| container.enabled);
    if choices.enabled.is_none() && of_repository.or(global.container.enabled).is_none() {
        choices.enabled = Some(true);
    }
}

/// Without Orca the ids are real paths: no two worktrees of this computer share one.
fn workspace(root: &Path, repository: &Repository) -> Result<Workspace, GatherError> {
    let name = root.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(Workspace {
        id: text_of(root)?,
        instance_id: PREVIEW.into(),
        repository_id: text_of(&repository.common_dir)?,
        name: name.unwrap_or_default(),
        branch: repository.branch.clone(),
        commit: None,
        base: None,
        new_branch: false,
        clone_from: CloneFrom::Host,
        repo_path: text_of(&repository.primary_checkout)?,
        worktree_path: Some(text_of(&repository.worktree_path)?),
        git_common_dir: Some(text_of(&repository.common_dir)?),
        remote_url: repository.remote_url.as_ref().map(|url| Sensitive::new(url.reveal())),
        owner_uid: None,
        owner_gid: None,
    })
}

fn text_of(path: &Path) -> Result<String, GatherError> {
    path.to_str().map(String::from).ok_or_else(|| GatherError::NotUtf8 { path: path.to_path_buf() })
}

fn orca_yaml(root: &Path) -> Result<Option<RepositoryFile>, TextFileError> {
    let path = "orca.yaml";
    let text = read_repository_text(root, path, limits::ORCA_YAML_BYTES)?;
    Ok(text.map(|text| RepositoryFile { path: path.into(), text: text.into() }))
}

/// In a folder: real folders and regular files only, no link anywhere on the way.
fn find_devcontainer(root: &Path, chosen: Option<&str>) -> Result<Found, GatherError> {
    let text = |path: &str| read_repository_text(root, path, limits::DEVCONTAINER_BYTES);
    let folders = || {
        let entries = std::fs::read_dir(root.join(".devcontainer")).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        Ok(folders.filter_map(|entry| entry.file_name().into_string().ok()).collect())
    };
    let found = devcontainer::find(chosen, text, folders)?;
    match chosen {
        Some(path) if found.file.is_none() => Err(GatherError::NoDevcontainer { path: path.into() }),
        _ => Ok(found),
    }
}

/// As the core takes it.
pub(crate) fn devcontainer_file((path, text): (String, String)) -> DevcontainerFile {
    DevcontainerFile { path, text: text.into(), dockerfile: None }
}

/// The .worktreeinclude of a checkout; what git ignores comes later, by [`list_ignored`].
pub(crate) fn worktree_include(root: &Path) -> Result<Option<WorktreeIncludeFile>, GatherError> {
    match read_repository_text(root, ".worktreeinclude", limits::WORKTREE_INCLUDE_BYTES) {
        Ok(text) => Ok(text.map(|text| WorktreeIncludeFile { text: text.into(), ignored: Vec::new() })),
        // Orca ignores one that is no regular file; nothing is copied then, and nothing of it is read.
        Err(TextFileError::NotRegular { .. } | TextFileError::LinkedFolder { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Where ignored files are to be copied, asks git which they are; gives a line to tell when they are too many.
#[cfg(unix)]
pub(crate) fn list_ignored(request: &mut PlanRequest) -> Result<Option<String>, GatherError> {
    if request.worktree_include.is_none() || !copies_ignored_files(request) {
        return Ok(None);
    }
    let Some(include) = &mut request.worktree_include else { return Ok(None) };
    let checkout = Path::new(&request.workspace.repo_path);
    let found = super::ignored::ignored(checkout, include.text.reveal())?;
    include.ignored = found.paths;
    let note = format!(
        "notice: The patterns of .worktreeinclude match more than {} ignored files; only its literal paths are copied.",
        limits::IGNORED_PATHS
    );
    Ok(found.too_many.then_some(note))
}

#[cfg(not(unix))]
pub(crate) fn list_ignored(_: &mut PlanRequest) -> Result<Option<String>, GatherError> {
    Ok(None)
}

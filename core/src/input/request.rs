//! `PlanRequest`: everything the core may know, in one value.

use super::{
    facts::{EngineFacts, HostFacts, ImageFacts},
    options::{ContainerOptions, present},
    settings::{GlobalSettings, RepoSettings},
};
use crate::{
    repository_path::RepositoryPath,
    secret::Sensitive,
    words::{ApprovalKind, CloneFrom},
};
use alloc::{string::String, vec::Vec};
use serde::Deserialize;

/// The version of the boundary's shape.
pub const SCHEMA_VERSION: u32 = 1;

/// What [`crate::plan`] judges: every ambient fact is a field here.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanRequest {
    /// Shape of the request; 1.
    pub schema_version: u32,
    /// Capabilities without which the caller wants no answer.
    #[serde(default)]
    pub requires: Vec<String>,
    /// The installation that owns what it creates.
    pub install: Install,
    /// The workspace.
    pub workspace: Workspace,
    /// Id of the agent to be launched.
    #[serde(default, deserialize_with = "present")]
    pub agent: Option<String>,
    /// What the dialog or the command line says.
    #[serde(default)]
    pub choices: ContainerOptions,
    /// The user's settings for this repository.
    #[serde(default)]
    pub repo_settings: RepoSettings,
    /// Settings for all repositories.
    #[serde(default)]
    pub global_settings: GlobalSettings,
    /// The repository's orca.yaml.
    #[serde(default, deserialize_with = "present")]
    pub orca_yaml: Option<RepositoryFile>,
    /// The repository's devcontainer.json.
    #[serde(default, deserialize_with = "present")]
    pub devcontainer: Option<DevcontainerFile>,
    /// Paths of devcontainer.json among which nobody chose; then `devcontainer` is absent.
    #[serde(default)]
    pub devcontainer_candidates: Vec<String>,
    /// The repository's .worktreeinclude.
    #[serde(default, deserialize_with = "present")]
    pub worktree_include: Option<WorktreeIncludeFile>,
    /// The host.
    pub host: HostFacts,
    /// Names of Orca's own variables for this launch.
    #[serde(default)]
    pub orca_env: Vec<String>,
    /// Declared secrets.
    #[serde(default)]
    pub secrets: Vec<SecretName>,
    /// What a person approved.
    #[serde(default)]
    pub approvals: Vec<Approval>,
    /// Facts of the engine; without them the answer is a preview.
    #[serde(default, deserialize_with = "present")]
    pub engine: Option<EngineFacts>,
    /// Facts of the image; without them the answer is a preview.
    #[serde(default, deserialize_with = "present")]
    pub image_facts: Option<ImageFacts>,
}

/// The installation.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Install {
    /// Random at the first effect, `preview` before.
    pub id: String,
}

/// The workspace.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Workspace {
    /// Orca's id; may hold `::` and paths.
    pub id: String,
    /// Id of this instance; names of containers and volumes come from it.
    pub instance_id: String,
    /// Id of the repository; approvals are bound to it.
    pub repository_id: String,
    /// Display name.
    #[serde(default)]
    pub name: String,
    /// Branch to clone; without it the answer is a preview.
    #[serde(default, deserialize_with = "present")]
    pub branch: Option<String>,
    /// The commit that the branch is at and whose texts are judged, 40 or 64 hex digits; a clone of another one fails.
    #[serde(default, deserialize_with = "present")]
    pub commit: Option<String>,
    /// Branch that the workspace's branch came from; cloned as well. `refs/remotes/…` names one of a remote.
    #[serde(default, deserialize_with = "present")]
    pub base: Option<String>,
    /// Whether the branch begins in the workspace, at what `base` is at: the repository on the host has none of its name.
    #[serde(default)]
    pub new_branch: bool,
    /// Where the clone comes from.
    #[serde(default = "CloneFrom::host")]
    pub clone_from: CloneFrom,
    /// The repository on the host; absent where the clone comes from a remote.
    #[serde(default)]
    pub repo_path: String,
    /// The worktree on the host.
    #[serde(default, deserialize_with = "present")]
    pub worktree_path: Option<String>,
    /// The repository's common git folder.
    #[serde(default, deserialize_with = "present")]
    pub git_common_dir: Option<String>,
    /// URL of origin; may hold a password.
    #[serde(default, deserialize_with = "present")]
    pub remote_url: Option<Sensitive>,
    /// Owner of the worktree (mounted mode).
    #[serde(default, deserialize_with = "present")]
    pub owner_uid: Option<u32>,
    /// Group of the worktree (mounted mode).
    #[serde(default, deserialize_with = "present")]
    pub owner_gid: Option<u32>,
}

/// A text of the repository.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RepositoryFile {
    /// Path inside the repository, for messages.
    pub path: String,
    /// The text.
    pub text: Sensitive,
}

/// devcontainer.json and the Dockerfile it names.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DevcontainerFile {
    /// Path inside the repository.
    pub path: String,
    /// The text.
    pub text: Sensitive,
    /// The Dockerfile, when there is one.
    #[serde(default, deserialize_with = "present")]
    pub dockerfile: Option<DockerfileFact>,
}

/// A Dockerfile by its content.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DockerfileFact {
    /// Path inside the repository.
    pub path: String,
    /// SHA-256 of its bytes, hex. Where the text is there, the digest that is taken of it counts, and not this one.
    pub digest: String,
    /// Its text, which a build needs: it is judged like the rest.
    #[serde(default, deserialize_with = "present")]
    pub text: Option<Sensitive>,
}

/// .worktreeinclude and what git says of its entries.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorktreeIncludeFile {
    /// The text.
    pub text: Sensitive,
    /// Paths that exist in the primary checkout and that git ignores; a folder that is ignored whole ends with `/`.
    #[serde(default)]
    pub ignored: Vec<RepositoryPath>,
}

/// A declared secret.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SecretName {
    /// Its name; the variable has the same one.
    pub name: String,
}

/// A person's answer to something that was asked.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Approval {
    /// What kind of thing was approved.
    pub kind: ApprovalKind,
    /// SHA-256 of exactly that thing, lower-case hex.
    pub digest: String,
}

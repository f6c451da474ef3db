//! What persons say outside a single workspace: global settings, repo settings, the operator's maximum.

use super::options::{ContainerOptions, UniqueMap, present};
use crate::secret::Sensitive;
use alloc::{string::String, vec::Vec};
use serde::Deserialize;

/// Settings for all repositories.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct GlobalSettings {
    /// Orca's experimental flag; containers are refused while it is off.
    pub experimental_container_workspaces: bool,
    /// The default for new workspaces.
    pub container: ContainerOptions,
    /// Default environment by agent id (Orca's `agentDefaultEnv`); only the launched agent's counts.
    pub agent_default_env: UniqueMap<UniqueMap<Sensitive>>,
    /// Switches that only persons have.
    pub policy: Policy,
    /// The operator's word; caps everything, grants nothing.
    #[serde(deserialize_with = "present")]
    pub maximum: Option<Maximum>,
}

/// Settings for one repository, kept outside it.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RepoSettings {
    /// What the user says of containers of this repository.
    #[serde(deserialize_with = "present")]
    pub container: Option<ContainerOptions>,
    /// Orca's `commandSourcePolicy`; unknown words count as `shared-only`, as in Orca.
    #[serde(deserialize_with = "present")]
    pub command_source_policy: Option<String>,
    /// The project's agent environment.
    pub agent_env: UniqueMap<Sensitive>,
    /// The GitHub account bound to this repository.
    #[serde(deserialize_with = "present")]
    pub gh_account: Option<GhAccount>,
    /// Switches; field by field they win over the global ones.
    pub policy: Policy,
}

/// A GitHub account bound to a repository.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GhAccount {
    /// The GitHub host.
    pub host: String,
    /// The account's user name.
    pub user: String,
}

/// Switches that only persons have. Absent means no.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Policy {
    /// Refuse whatever would only be dropped.
    #[serde(deserialize_with = "present")]
    pub strict: Option<bool>,
    /// Admit account-owned variables from persons' layers.
    #[serde(deserialize_with = "present")]
    pub allow_account_keys: Option<bool>,
    /// Run lifecycle commands of the repository inside the container.
    #[serde(deserialize_with = "present")]
    pub run_repository_commands: Option<bool>,
    /// Accept limits that the engine shows but does not enforce.
    #[serde(deserialize_with = "present")]
    pub accept_advisory_limits: Option<bool>,
}

/// The operator's word. An absent field sets no bound; nothing here grants anything.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Maximum {
    /// Modes that may be used.
    #[serde(deserialize_with = "present")]
    pub modes: Option<Vec<String>>,
    /// Largest template.
    #[serde(deserialize_with = "present")]
    pub template: Option<String>,
    /// Widest network.
    #[serde(deserialize_with = "present")]
    pub network: Option<String>,
    /// Host variables that may be forwarded.
    #[serde(deserialize_with = "present")]
    pub host_env: Option<Vec<String>>,
    /// Prefixes of image references, compared whole components at a time.
    #[serde(deserialize_with = "present")]
    pub images: Option<Vec<String>>,
    /// Most ports that may be published.
    #[serde(deserialize_with = "present")]
    pub ports: Option<u32>,
    /// Whether repository commands may be run at all.
    #[serde(deserialize_with = "present")]
    pub repository_commands: Option<bool>,
    /// Whether account-owned variables may be admitted at all.
    #[serde(deserialize_with = "present")]
    pub allow_account_keys: Option<bool>,
}

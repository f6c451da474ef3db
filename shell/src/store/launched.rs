//! What the last launch of a workspace had: names and places, no value.

use orca_container_core::LaunchedVariable;
use serde::{Deserialize, Serialize};

/// The last launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastLaunch {
    /// The edits of the workspace's own variables that it had ([`super::WorkspaceValues::revision`]).
    pub revision: u64,
    /// Its variables.
    pub variables: Vec<LaunchedVariable>,
}

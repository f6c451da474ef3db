//! What became of a workspace: its engine is asked, and the core says what that means.

use orca_container_core::{Drift, Waiting, WorkspaceStanding};
use serde::Serialize;

use crate::engine::{Client, Inspector};
use crate::store::WorkspaceRecord;

/// A workspace's status.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// What became of it, and what of it waits.
    #[serde(flatten)]
    pub of: WorkspaceStanding,
    /// Why what waits is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_unknown: Option<String>,
}

/// Looks at the engine and says what became of the workspace. Drift and what waits are looked for by those who tell them:
/// [`super::drift`], [`super::waiting`].
pub fn status(record: &WorkspaceRecord, drift: Vec<Drift>, waiting: Result<Waiting, String>) -> Status {
    let client = Client { program: record.engine.program.clone(), env: record.engine.env.clone() };
    let observed = Inspector { client: &client, plan: &record.plan }.observe(record.container_id.as_deref());
    let waiting_unknown = waiting.as_ref().err().cloned();
    let waiting = waiting.unwrap_or_default();
    let name = &record.workspace.name;
    let of = WorkspaceStanding::of(name, &record.plan, &record.progress, &observed, drift, waiting);
    Status { of, waiting_unknown }
}

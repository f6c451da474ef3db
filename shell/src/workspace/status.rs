//! What became of a workspace: its engine is asked, and the core says what that means.

use orca_container_core::{Drift, Standing, Waiting, Waits, standing};
use serde::Serialize;

use crate::engine::{Client, Inspector};
use crate::store::WorkspaceRecord;

/// A workspace's status.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// What became of it.
    #[serde(flatten)]
    pub standing: Standing,
    /// Files of the repository that changed since it was made.
    pub drift: Vec<Drift>,
    /// What waits for a recreate.
    #[serde(flatten)]
    pub waiting: Waiting,
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
    let waits = Waits::of(&waiting, &drift);
    let standing = standing(&record.workspace.name, &record.plan, &record.progress, &observed, waits);
    Status { standing, drift, waiting, waiting_unknown }
}

//! What became of a workspace: its engine is asked, and the core says what that means.

use orca_container_core::{Drift, DriftKind, DriftPlace, Standing, Waits, standing};
use serde::Serialize;

use crate::engine::{Client, Inspector};
use crate::store::WorkspaceRecord;

/// A workspace's status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// What became of it.
    #[serde(flatten)]
    pub standing: Standing,
    /// Files of the repository that changed since it was made.
    pub drift: Vec<Drift>,
    /// Start variables whose edit waits for a recreate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recreate: Vec<String>,
}

/// Looks at the engine and says what became of the workspace. Drift and start variables are looked for by those who tell
/// them: [`super::drift`], [`super::waiting_for_recreate`].
pub fn status(record: &WorkspaceRecord, drift: Vec<Drift>, recreate: Vec<String>) -> Status {
    let client = Client { program: record.engine.program.clone(), env: record.engine.env.clone() };
    let observed = Inspector { client: &client, plan: &record.plan }.observe(record.container_id.as_deref());
    // What an agent changed in its own clone, or nobody has committed, is adopted by nothing.
    let is_adoptable = |one: &Drift| one.place == DriftPlace::Commit && one.kind != DriftKind::Unknown;
    let waits = Waits { recreate: !recreate.is_empty(), adopt: drift.iter().any(is_adoptable) };
    let standing = standing(&record.workspace.name, &record.plan, &record.progress, &observed, waits);
    Status { standing, drift, recreate }
}

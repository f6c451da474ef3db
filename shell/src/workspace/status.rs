//! What became of a workspace, in the words of the closed list, with the reason and what to do.

use orca_container_core::{Drift, Observed, Phase, Resource};
use serde::Serialize;

use crate::engine::{Client, Inspector};
use crate::store::WorkspaceRecord;

/// A workspace's status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// provisioning, running, stopped, missing, removing, unverifiable.
    pub status: &'static str,
    /// Files of the repository that changed since it was made.
    pub drift: Vec<Drift>,
    /// Start variables whose edit waits for a recreate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recreate: Vec<String>,
    /// Why, in a sentence.
    pub reason: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// Looks at the engine and says what became of the workspace. No contact is never proof of death. Drift and start
/// variables are looked for by those who tell them: [`super::drift`], [`super::waiting_for_recreate`].
pub fn status(record: &WorkspaceRecord) -> Status {
    let client = Client { program: record.engine.program.clone(), env: record.engine.env.clone() };
    let observed = Inspector { client: &client, plan: &record.plan }.observe(record.container_id.as_deref());
    judged(record, &observed)
}

fn judged(record: &WorkspaceRecord, observed: &Observed) -> Status {
    let name = &record.workspace.name;
    let said = |status, reason: &str, help: Option<String>| Status {
        status,
        drift: Vec::new(),
        recreate: Vec::new(),
        reason: reason.into(),
        help,
    };
    match (record.progress.phase, &observed.container) {
        (_, Resource::Unknown { why }) => {
            let reason = format!("The engine did not say what became of it ({why}).");
            said("unverifiable", &reason, Some("Start the engine and look again.".into()))
        }
        (Phase::CleanupPending | Phase::CleanupFailed | Phase::Cleaned, _) => {
            said("removing", "Its removal was begun and not finished.", Some(format!("Run rm {name} again.")))
        }
        (Phase::Provisioning | Phase::Failed, _) => said(
            "provisioning",
            "It is being made, or its making was interrupted.",
            Some("Run create again.".into()),
        ),
        (_, _) if record.progress.is_unfinished() => said(
            "provisioning",
            "Its container is being made anew, or that was interrupted; its volumes are kept.",
            Some(format!("Run recreate {name} again.")),
        ),
        (_, Resource::Absent) => said(
            "missing",
            "The engine has no such container any more; its volumes may be there.",
            Some(format!("Make it anew with recreate {name}, or remove it with rm {name}.")),
        ),
        (_, Resource::Present(facts)) if !facts.ours => {
            said("unverifiable", "A container of its name is there, but not the recorded one.", None)
        }
        (_, Resource::Present(facts)) if facts.running => said("running", "Its container runs.", None),
        (_, Resource::Present(_)) => {
            said("stopped", "Its container is stopped.", Some(format!("Run start {name}.")))
        }
    }
}

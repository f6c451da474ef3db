//! What became of a workspace: the status, why, what to do, and what a sidebar shows of it.

use crate::{
    engine::{Observed, Record, Resource},
    words::{Phase, Tone, Verdict, WorkspaceAction, WorkspaceStatus},
};
use alloc::{format, string::String, vec::Vec};
use serde::Serialize;

/// What a sidebar shows of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Badge {
    /// How it stands out.
    pub tone: Tone,
    /// Two or three words.
    pub text: String,
    /// What a person can do with it now, the first one first.
    pub actions: Vec<WorkspaceAction>,
}

/// What became of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Standing {
    /// The status.
    pub status: WorkspaceStatus,
    /// Whether something runs. No contact is never proof of death.
    pub verdict: Verdict,
    /// Why, in a sentence.
    pub reason: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// What a sidebar shows.
    pub badge: Badge,
}

/// The standing of a workspace called `name`, from its record and what was observed of it. `waits` says that something of it
/// counts only after a recreate: an edited start variable, or a changed file of the repository.
pub fn standing(name: &str, record: &Record, observed: &Observed, waits: bool) -> Standing {
    let (status, reason, help) = judged(&crate::text::quoted(name), record, observed);
    Standing { status, verdict: verdict(observed), reason, help, badge: badge(status, record, waits) }
}

fn verdict(observed: &Observed) -> Verdict {
    match &observed.container {
        Resource::Present(facts) if facts.ours && facts.running => Verdict::Live,
        Resource::Present(facts) if facts.ours => Verdict::Exited,
        Resource::Absent => Verdict::Exited,
        Resource::Present(_) | Resource::Unknown { .. } => Verdict::Unverifiable,
    }
}

fn judged(name: &str, record: &Record, observed: &Observed) -> (WorkspaceStatus, String, Option<String>) {
    let say = |reason: &str, help: String| (reason.into(), Some(help));
    let (status, (reason, help)) = match (record.phase, &observed.container) {
        (_, Resource::Unknown { why }) => {
            let reason = format!("The engine did not say what became of it ({}).", crate::text::escaped(why));
            (WorkspaceStatus::Unverifiable, say(&reason, "Start the engine and look again.".into()))
        }
        (Phase::CleanupFailed, _) => (
            WorkspaceStatus::Removing,
            say(
                "Its removal was begun, and a step of it failed.",
                format!("Run rm {name} again; it says which."),
            ),
        ),
        (Phase::CleanupPending | Phase::Cleaned, _) => (
            WorkspaceStatus::Removing,
            say("Its removal was begun and not finished.", format!("Run rm {name} again.")),
        ),
        (Phase::Provisioning | Phase::Failed, _) => (
            WorkspaceStatus::Provisioning,
            say("It is being made, or its making was interrupted.", "Run create again.".into()),
        ),
        (_, _) if record.is_unfinished() => (
            WorkspaceStatus::Provisioning,
            say(
                "Its container is being made anew, or that was interrupted; its volumes are kept.",
                format!("Run recreate {name} again."),
            ),
        ),
        (_, Resource::Absent) => (
            WorkspaceStatus::Missing,
            say(
                "The engine has no such container any more; its volumes may be there.",
                format!("Make it anew with recreate {name}, or remove it with rm {name}."),
            ),
        ),
        (_, Resource::Present(facts)) if !facts.ours => (
            WorkspaceStatus::Unverifiable,
            say(
                "A container of its name is there, but not the recorded one; it is left as it is.",
                format!("Once that one is gone: recreate {name}."),
            ),
        ),
        (_, Resource::Present(facts)) if facts.running => {
            (WorkspaceStatus::Running, ("Its container runs.".into(), None))
        }
        (_, Resource::Present(_)) => {
            (WorkspaceStatus::Stopped, say("Its container is stopped.", format!("Run start {name}.")))
        }
    };
    (status, reason, help)
}

fn badge(status: WorkspaceStatus, record: &Record, waits: bool) -> Badge {
    use WorkspaceAction::{Create, Recreate, Remove, Restart, Start, Stop};
    let (tone, text, actions): (Tone, &str, &[WorkspaceAction]) = match status {
        WorkspaceStatus::Running if waits => {
            (Tone::Attention, "running, recreate to update", &[Recreate, Restart, Stop, Remove])
        }
        WorkspaceStatus::Running => (Tone::Good, "running", &[Restart, Recreate, Stop, Remove]),
        WorkspaceStatus::Stopped => (Tone::Idle, "stopped", &[Start, Recreate, Remove]),
        WorkspaceStatus::Missing => (Tone::Problem, "container missing", &[Recreate, Remove]),
        WorkspaceStatus::Provisioning if !record.phase.is_unfinished() => {
            (Tone::Attention, "being made anew", &[Recreate, Remove])
        }
        WorkspaceStatus::Provisioning => (Tone::Attention, "being made", &[Create, Remove]),
        WorkspaceStatus::Removing if record.phase == Phase::CleanupFailed => {
            (Tone::Problem, "removal failed", &[Remove])
        }
        WorkspaceStatus::Removing => (Tone::Attention, "being removed", &[Remove]),
        WorkspaceStatus::Unverifiable => (Tone::Attention, "not reachable", &[]),
    };
    Badge { tone, text: text.into(), actions: actions.to_vec() }
}

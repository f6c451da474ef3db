//! What became of a workspace: the status, why, what to do, and what a sidebar shows of it.

use crate::{
    engine::{Observed, Record, Resource},
    plan::ContainerPlan,
    report::{anew::Waiting, workspace::Drift},
    words::{DriftKind, DriftPlace, Phase, Tone, Verdict, WorkspaceAction, WorkspaceStatus},
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

/// What became of a workspace, and what of it waits.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceStanding {
    /// What became of it.
    #[serde(flatten)]
    pub standing: Standing,
    /// Files of the repository that changed since it was made.
    pub drift: Vec<Drift>,
    /// What waits for a recreate.
    #[serde(flatten)]
    pub waiting: Waiting,
}

impl WorkspaceStanding {
    /// The standing of a workspace with what was found to wait.
    pub fn of(
        name: &str,
        plan: &ContainerPlan,
        record: &Record,
        observed: &Observed,
        drift: Vec<Drift>,
        waiting: Waiting,
    ) -> Self {
        let standing = standing(name, plan, record, observed, Waits::of(&waiting, &drift));
        Self { standing, drift, waiting }
    }
}

/// What of a workspace counts only in a container that is made anew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// An edited start variable, or a field of the plan that settings or rules make otherwise now.
    pub recreate: bool,
    /// A file of the repository that is committed otherwise now.
    pub adopt: bool,
    /// The settings or rules of now give no plan: nothing can be made anew by them.
    pub refused: bool,
}

impl Waits {
    /// What waits, of what was found.
    pub fn of(waiting: &Waiting, drift: &[Drift]) -> Self {
        // What an agent changed in its own clone, or nobody has committed, is adopted by nothing.
        let is_adoptable = |one: &Drift| one.place == DriftPlace::Commit && one.kind != DriftKind::Unknown;
        Self {
            recreate: !waiting.start_variables.is_empty() || !waiting.waiting_fields.is_empty(),
            adopt: drift.iter().any(is_adoptable),
            refused: !waiting.not_plannable.is_empty(),
        }
    }
}

/// The standing of a workspace called `name`, from its plan, its record, what was observed of it, and what waits.
pub fn standing(
    name: &str,
    plan: &ContainerPlan,
    record: &Record,
    observed: &Observed,
    waits: Waits,
) -> Standing {
    let is_network_lost = plan.network.name.is_some() && observed.network == Resource::Absent;
    let (status, mut reason, mut help) = judged(&crate::text::quoted(name), record, observed);
    let mut badge = badge(status, record, observed, waits);
    if is_network_lost && status == WorkspaceStatus::Stopped {
        reason = "Its container is stopped, and the network that it is of is gone.".into();
        help = Some(format!("Make it anew with recreate {}.", crate::text::quoted(name)));
        badge.text = "stopped, network missing".into();
        badge.tone = Tone::Problem;
    }
    // While something is made, removed or not known, that is what there is to say.
    let says_more =
        matches!(status, WorkspaceStatus::Running | WorkspaceStatus::Stopped | WorkspaceStatus::Missing);
    if waits.refused && says_more {
        let more = "The settings of now give no plan: mend them before its container is made anew.";
        help = Some(help.map_or_else(|| more.into(), |help| format!("{help} {more}")));
        badge.actions.retain(|action| *action != WorkspaceAction::Recreate);
    }
    if is_network_lost {
        badge.actions.retain(|action| !matches!(action, WorkspaceAction::Start | WorkspaceAction::Restart));
    }
    Standing { status, verdict: verdict(observed), reason, help, badge }
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
        (_, Resource::Present(facts)) if !facts.ours => (
            WorkspaceStatus::Unverifiable,
            say(
                "A container of its name is there, but not the recorded one; it is left as it is.",
                "Nothing is done to the workspace until that one is gone.".into(),
            ),
        ),
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
            say(
                "It is being made, or its making was interrupted.",
                format!("Run the command that made it again, or rm {name}."),
            ),
        ),
        (_, _) if record.is_unfinished() => (
            WorkspaceStatus::Provisioning,
            say(
                "Its container is being made anew, or that was interrupted; its volumes are kept.",
                format!("Run recreate {name} again."),
            ),
        ),
        (_, Resource::Absent) if observed.workspace_volume == Resource::Absent => (
            WorkspaceStatus::Missing,
            say(
                "The engine has neither its container nor the volume with its work.",
                format!("Remove it with rm {name}."),
            ),
        ),
        (_, Resource::Absent) => (
            WorkspaceStatus::Missing,
            say(
                "The engine has no such container any more; its volumes may be there.",
                format!("Make it anew with recreate {name}, or remove it with rm {name}."),
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

fn badge(status: WorkspaceStatus, record: &Record, observed: &Observed, waits: Waits) -> Badge {
    use WorkspaceAction::{Adopt, Create, Recreate, Remove, Restart, Start, Stop};
    let (tone, text, actions): (Tone, &str, &[WorkspaceAction]) = match status {
        WorkspaceStatus::Running if waits.adopt => {
            (Tone::Attention, "running, files changed", &[Adopt, Recreate, Restart, Stop, Remove])
        }
        WorkspaceStatus::Running if waits.refused => {
            (Tone::Attention, "running, settings refused", &[Restart, Stop, Remove])
        }
        WorkspaceStatus::Running if waits.recreate => {
            (Tone::Attention, "running, recreate to update", &[Recreate, Restart, Stop, Remove])
        }
        WorkspaceStatus::Running => (Tone::Good, "running", &[Restart, Recreate, Stop, Remove]),
        WorkspaceStatus::Stopped => (Tone::Idle, "stopped", &[Start, Recreate, Remove]),
        WorkspaceStatus::Missing if observed.workspace_volume == Resource::Absent => {
            (Tone::Problem, "container and work missing", &[Remove])
        }
        WorkspaceStatus::Missing => (Tone::Problem, "container missing", &[Recreate, Remove]),
        WorkspaceStatus::Provisioning if !record.phase.is_unfinished() => {
            (Tone::Attention, "being made anew", &[Recreate, Remove])
        }
        WorkspaceStatus::Provisioning => (Tone::Attention, "being made", &[Create, Remove]),
        WorkspaceStatus::Removing if record.phase == Phase::CleanupFailed => {
            (Tone::Problem, "removal failed", &[Remove])
        }
        WorkspaceStatus::Removing => (Tone::Attention, "being removed", &[Remove]),
        WorkspaceStatus::Unverifiable => (Tone::Attention, "not known", &[]),
    };
    // A volume that is gone is not made again by a recreate: the work went with it.
    let lost = [&observed.workspace_volume, &observed.agent_volume].contains(&&Resource::Absent);
    let possible = |action: &&WorkspaceAction| !lost || !matches!(action, Recreate | Adopt);
    Badge { tone, text: text.into(), actions: actions.iter().filter(possible).copied().collect() }
}

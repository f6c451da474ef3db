//! The one sequencer: from what is wanted, recorded and observed to the actions that may be done now.
//!
//! Create, start, stop, remove and recovery after a crash are loops over [`next_actions`]. What is unknown is
//! never removed and never built upon; what is not ours is never touched (design 9).

mod observed;
mod recreate;

pub use observed::{ContainerFacts, ImageKnown, NetworkFacts, Observed, Resource, VolumeFacts};

use super::action::Action;
use crate::{
    plan::{ContainerPlan, VolumeRef},
    words::{EngineKind, Goal, Phase},
};
use alloc::{format, string::String, vec::Vec};
use serde::{Deserialize, Serialize};

/// What the sequencer reads of a workspace's record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Record {
    /// The phase.
    pub phase: Phase,
    /// Whether ignored files are to be copied.
    pub copy: bool,
    /// Whether fresh volumes were given to the user.
    pub volumes_initialized: bool,
    /// Whether the repository was cloned.
    pub cloned: bool,
    /// Whether origin was set.
    pub remote_set: bool,
    /// Whether ignored files were copied.
    pub copied: bool,
    /// Whether the container of the recorded plan is to be made anew beside volumes that hold work: a recreate began and
    /// did not end. A record that is written as running loses it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub anew: bool,
    /// Whether that recreate takes the agent volume away first and makes a fresh one.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub reset_agent: bool,
}

impl Record {
    /// The first record of a workspace.
    pub fn new(copy: bool) -> Self {
        Self {
            phase: Phase::Provisioning,
            copy,
            volumes_initialized: false,
            cloned: false,
            remote_set: false,
            copied: false,
            anew: false,
            reset_agent: false,
        }
    }

    /// Whether something began and did not end, so that nothing may be launched.
    pub fn is_unfinished(&self) -> bool {
        self.phase.is_unfinished() || self.anew
    }
}

/// Why nothing more can be done about a thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Blocked {
    /// The thing.
    pub resource: String,
    /// Why, in a sentence.
    pub why: String,
}

/// What may be done now. Empty in both lists: the goal is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Next {
    /// Actions whose preconditions hold, independent of each other.
    pub actions: Vec<Action>,
    /// What stands in the way.
    pub blocked: Vec<Blocked>,
}

impl Next {
    fn one(action: Action) -> Self {
        Self { actions: Vec::from([action]), blocked: Vec::new() }
    }

    fn block(resource: &str, why: impl Into<String>) -> Self {
        Self {
            actions: Vec::new(),
            blocked: Vec::from([Blocked { resource: resource.into(), why: why.into() }]),
        }
    }

    fn and(&mut self, other: Self) {
        self.actions.extend(other.actions);
        self.blocked.extend(other.blocked);
    }

    /// Whether the goal is reached.
    pub fn reached(&self) -> bool {
        self.actions.is_empty() && self.blocked.is_empty()
    }
}

const NOT_OURS: &str =
    "It carries this workspace's name but is not recorded as its own; it is left as it is.";

fn unknown(resource: &str, why: &str) -> Next {
    Next::block(
        resource,
        format!("The engine did not say whether it is there ({}).", crate::text::escaped(why)),
    )
}

/// The actions that may be done now.
pub fn next_actions(
    goal: Goal,
    plan: Option<&ContainerPlan>,
    record: Option<&Record>,
    observed: &Observed,
) -> Next {
    match (goal, plan, record) {
        (Goal::Remove, plan, record) => remove(plan, record, observed),
        (_, None, _) => Next::block("plan", "Nothing is made or started without a plan."),
        (Goal::Create, Some(plan), record) => create(plan, record, observed),
        (Goal::Start, Some(plan), Some(record)) => start(plan, record, observed),
        (Goal::Stop, Some(_), Some(record)) => stop(record, observed),
        (Goal::Recreate, Some(plan), Some(record)) => recreate::recreate(plan, record, observed),
        (Goal::Start | Goal::Stop | Goal::Recreate, Some(_), None) => {
            Next::block("record", "There is no record of this workspace.")
        }
    }
}

fn is_cleanup(phase: Phase) -> bool {
    matches!(phase, Phase::CleanupPending | Phase::CleanupFailed | Phase::Cleaned)
}

/// A record before the first effect and after the last; every other step only on what was checked.
fn create(plan: &ContainerPlan, record: Option<&Record>, observed: &Observed) -> Next {
    let Some(record) = record else { return Next::one(Action::WriteRecord(Phase::Provisioning)) };
    if is_cleanup(record.phase) {
        return Next::block("record", "The workspace is being removed; finish that first.");
    }
    if record.anew {
        return Next::block("record", "The workspace's recreate did not end; recreate it again.");
    }
    if plan.image.id.is_none() {
        match &observed.image {
            Resource::Absent if plan.image.build.is_some() => return Next::one(Action::BuildImage),
            Resource::Absent => return Next::one(Action::PullImage),
            Resource::Unknown { why } => return unknown("image", why),
            Resource::Present(image) if !image.inspected => return Next::one(Action::InspectImage),
            Resource::Present(_) => {}
        }
    }
    with_its_volumes(plan, record, observed, |volume| volume_first(volume, observed))
}

/// The network and what `of_volume` says of each volume, and once these are there the container.
fn with_its_volumes(
    plan: &ContainerPlan,
    record: &Record,
    observed: &Observed,
    of_volume: impl Fn(VolumeRef) -> Next,
) -> Next {
    let mut next = network_first(plan, observed);
    for (volume, _) in VolumeRef::all(plan) {
        next.and(of_volume(volume));
    }
    if !next.reached() {
        return next;
    }
    if needs_init(plan) && !record.volumes_initialized {
        return Next::one(Action::InitVolumes);
    }
    container(plan, record, observed)
}

/// docker leaves a fresh volume to root; podman gives it to the container's user itself (measured).
fn needs_init(plan: &ContainerPlan) -> bool {
    plan.engine.kind == EngineKind::Docker
}

fn network_first(plan: &ContainerPlan, observed: &Observed) -> Next {
    if plan.network.name.is_none() {
        return Next::default();
    }
    match &observed.network {
        Resource::Absent => Next::one(Action::CreateNetwork),
        Resource::Unknown { why } => unknown("network", why),
        Resource::Present(network) if !network.ours => Next::block("network", NOT_OURS),
        Resource::Present(_) => Next::default(),
    }
}

fn volume_first(volume: VolumeRef, observed: &Observed) -> Next {
    let name = format!("{volume} volume");
    match observed.volume(volume) {
        Resource::Absent => Next::one(Action::CreateVolume(volume)),
        Resource::Unknown { why } => unknown(&name, why),
        Resource::Present(facts) if !facts.ours => Next::block(&name, NOT_OURS),
        Resource::Present(facts) if !facts.checked => Next::one(Action::CheckVolume(volume)),
        Resource::Present(_) => Next::default(),
    }
}

fn container(plan: &ContainerPlan, record: &Record, observed: &Observed) -> Next {
    let facts = match &observed.container {
        Resource::Absent => return Next::one(Action::CreateContainer),
        Resource::Unknown { why } => return unknown("container", why),
        Resource::Present(facts) if !facts.ours => return Next::block("container", NOT_OURS),
        Resource::Present(facts) => facts,
    };
    if let Some(action) = until_running(facts) {
        return Next::one(action);
    }
    let clone = plan.clone.as_ref();
    if clone.is_some() && !record.cloned {
        return Next::one(Action::Clone);
    }
    if clone.is_some_and(|clone| clone.remote.is_some()) && !record.remote_set {
        return Next::one(Action::SetRemote);
    }
    if clone.is_some() && record.copy && !record.copied {
        return Next::one(Action::CopyIgnoredFiles);
    }
    match record.phase {
        Phase::Running => Next::default(),
        _ => Next::one(Action::WriteRecord(Phase::Running)),
    }
}

/// Compared before it starts, and again once it runs.
fn until_running(facts: &ContainerFacts) -> Option<Action> {
    match facts {
        ContainerFacts { checked: false, .. } => Some(Action::CheckContainer),
        ContainerFacts { running: false, .. } => Some(Action::StartContainer),
        ContainerFacts { process_checked: false, .. } => Some(Action::CheckProcess),
        _ => None,
    }
}

fn start(plan: &ContainerPlan, record: &Record, observed: &Observed) -> Next {
    if is_cleanup(record.phase) {
        return Next::block("record", "The workspace is being removed.");
    }
    if record.anew {
        return Next::block("record", "The workspace's recreate did not end; recreate it again.");
    }
    if record.phase.is_unfinished() {
        // Its clone may be missing: a phase "running" would say that it is whole.
        return Next::block("record", "The workspace's making did not end; make it again, or remove it.");
    }
    match &observed.container {
        Resource::Absent => {
            Next::block("container", "The container is gone; its volumes are kept for a recreate.")
        }
        Resource::Unknown { why } => unknown("container", why),
        Resource::Present(facts) if !facts.ours => Next::block("container", NOT_OURS),
        // A container is of one network for good: another one of the same name is not it.
        Resource::Present(facts)
            if !facts.running && plan.network.name.is_some() && observed.network == Resource::Absent =>
        {
            Next::block(
                "network",
                "It is gone; a recreate makes it and the container anew and keeps the volumes.",
            )
        }
        Resource::Present(facts) => match until_running(facts) {
            Some(action) => Next::one(action),
            None if record.phase == Phase::Running => Next::default(),
            None => Next::one(Action::WriteRecord(Phase::Running)),
        },
    }
}

fn stop(record: &Record, observed: &Observed) -> Next {
    match &observed.container {
        Resource::Unknown { why } => unknown("container", why),
        Resource::Present(facts) if !facts.ours => Next::block("container", NOT_OURS),
        Resource::Present(facts) if facts.running => Next::one(Action::StopContainer),
        // What is not whole does not become so by being stopped.
        _ if record.phase == Phase::Running => Next::one(Action::WriteRecord(Phase::Suspended)),
        _ => Next::default(),
    }
}

/// The container first, then its volumes, the network, and last the record that names them all.
fn remove(plan: Option<&ContainerPlan>, record: Option<&Record>, observed: &Observed) -> Next {
    let Some(record) = record else { return without_record(observed) };
    if !is_cleanup(record.phase) {
        return Next::one(Action::WriteRecord(Phase::CleanupPending));
    }
    match &observed.container {
        Resource::Absent => {}
        Resource::Unknown { why } => return unknown("container", why),
        Resource::Present(facts) if !facts.ours => return Next::block("container", NOT_OURS),
        Resource::Present(facts) if facts.running => return Next::one(Action::StopContainer),
        Resource::Present(_) => return Next::one(Action::RemoveContainer),
    }
    let mut next = Next::default();
    for volume in observed.volumes() {
        match observed.volume(volume) {
            Resource::Absent => {}
            Resource::Unknown { why } => next.and(unknown(&format!("{volume} volume"), why)),
            Resource::Present(facts) if !facts.ours => {
                next.and(Next::block(&format!("{volume} volume"), NOT_OURS))
            }
            Resource::Present(_) => next.and(Next::one(Action::RemoveVolume(volume))),
        }
    }
    if !next.reached() {
        return next;
    }
    let has_network = plan.is_none_or(|plan| plan.network.name.is_some());
    match &observed.network {
        Resource::Unknown { why } if has_network => unknown("network", why),
        // A docker network serves the whole installation: "in use" is fine.
        Resource::Present(network) if has_network && network.ours && !network.in_use => {
            Next::one(Action::RemoveNetwork)
        }
        _ => Next::one(Action::RemoveRecord),
    }
}

/// Only what a record names is removed.
fn without_record(observed: &Observed) -> Next {
    let mut next = Next::default();
    let things = [
        ("container", matches!(observed.container, Resource::Absent)),
        ("workspace volume", matches!(observed.workspace_volume, Resource::Absent)),
        ("agent volume", matches!(observed.agent_volume, Resource::Absent)),
        (
            "volume of the repository",
            observed.repository_volumes.iter().all(|volume| matches!(volume, Resource::Absent)),
        ),
    ];
    for (name, absent) in things {
        if !absent {
            next.and(Next::block(name, "No record names it, so it is left as it is."));
        }
    }
    next
}

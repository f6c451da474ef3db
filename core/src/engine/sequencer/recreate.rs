//! A container anew beside the volumes that hold the work. In two halves, between which the caller writes the new plan
//! down: with the plan of before the container goes, with the new one (`record.anew`) it is made.

use super::{
    NOT_OURS, Next, Observed, Record, Resource, is_cleanup, unknown, volume_first, with_its_volumes,
};
use crate::{
    engine::action::Action,
    plan::{ContainerPlan, VolumeRef},
    words::Phase,
};
use alloc::format;

pub(super) fn recreate(plan: &ContainerPlan, record: &Record, observed: &Observed) -> Next {
    if is_cleanup(record.phase) {
        return Next::block("record", "The workspace is being removed; finish that first.");
    }
    if record.phase.is_unfinished() || !record.cloned {
        return Next::block("record", "The workspace's making did not end; make it again, or remove it.");
    }
    if record.anew { make(plan, record, observed) } else { take_away(record, observed) }
}

/// The container goes; nothing else does.
fn take_away(record: &Record, observed: &Observed) -> Next {
    match &observed.container {
        Resource::Unknown { why } => unknown("container", why),
        Resource::Present(facts) if !facts.ours => Next::block("container", NOT_OURS),
        Resource::Present(facts) if facts.running => Next::one(Action::StopContainer),
        // A record that calls it running would be wrong from here on.
        _ if record.phase == Phase::Running => Next::one(Action::WriteRecord(Phase::Suspended)),
        Resource::Present(_) => Next::one(Action::RemoveContainer),
        Resource::Absent => Next::default(),
    }
}

/// As in a create, but a volume that is gone is not made again: the work went with it, and an empty one would hide that.
/// The agent's goes where a person said so, and until a fresh one is there: one that a crash left is taken away once more.
fn make(plan: &ContainerPlan, record: &Record, observed: &Observed) -> Next {
    // What a container has mounted does not go before it, whoever's it is.
    if record.reset_agent && observed.container != Resource::Absent {
        return take_away(record, observed);
    }
    with_its_volumes(plan, record, observed, |volume| {
        if volume == VolumeRef::Agent && record.reset_agent {
            return match observed.volume(volume) {
                Resource::Absent => Next::one(Action::CreateVolume(volume)),
                Resource::Present(facts) if facts.ours => Next::one(Action::RemoveVolume(volume)),
                _ => volume_first(volume, observed),
            };
        }
        let of_repository = matches!(volume, VolumeRef::Repository(_));
        if of_repository || *observed.volume(volume) != Resource::Absent {
            return volume_first(volume, observed);
        }
        let why = "It is gone, and what was in it with it; remove the workspace and create it anew.";
        Next::block(&format!("{volume} volume"), why)
    })
}

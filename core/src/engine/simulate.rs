//! A simulated engine on which every action succeeds: what `commands` is made with, and what the properties
//! of the sequencer are tried on.

use super::{
    action::Action,
    command::CommandLists,
    render::{RenderContext, render},
    sequencer::{
        ContainerFacts, ImageKnown, NetworkFacts, Observed, Record, Resource, VolumeFacts, next_actions,
    },
};
use crate::{
    plan::{ContainerPlan, VolumeRef},
    words::{Goal, Phase},
};
use alloc::vec::Vec;

/// Loops that a simulation may take; there are 20 kinds of actions.
const MOST_STEPS: usize = 64;

/// A record and an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct World {
    /// The record.
    pub record: Option<Record>,
    /// The engine.
    pub observed: Observed,
}

impl World {
    /// Nothing recorded, nothing there.
    pub fn empty() -> Self {
        Self { record: None, observed: Observed::nothing() }
    }

    /// What a successful action changes. `copy` is what a first record says of ignored files.
    pub fn apply(&mut self, action: Action, copy: bool) {
        match action {
            Action::WriteRecord(phase) => {
                self.record.get_or_insert_with(|| Record::new(copy)).phase = phase;
            }
            Action::RemoveRecord => self.record = None,
            Action::PullImage | Action::BuildImage => {
                self.observed.image = Resource::Present(ImageKnown { inspected: false })
            }
            Action::InspectImage => self.observed.image = Resource::Present(ImageKnown { inspected: true }),
            Action::CreateNetwork => {
                self.observed.network = Resource::Present(NetworkFacts { ours: true, in_use: false })
            }
            Action::RemoveNetwork => self.observed.network = Resource::Absent,
            Action::CreateVolume(volume) => {
                *self.volume(volume) = Resource::Present(VolumeFacts { ours: true, checked: false });
                // A fresh one is nobody's yet, whatever was given before.
                self.done(|r| {
                    r.volumes_initialized = false;
                    r.reset_agent &= volume != VolumeRef::Agent;
                });
            }
            Action::CheckVolume(volume) => {
                *self.volume(volume) = Resource::Present(VolumeFacts { ours: true, checked: true })
            }
            Action::RemoveVolume(volume) => *self.volume(volume) = Resource::Absent,
            Action::CreateContainer => {
                self.observed.container = Resource::Present(ContainerFacts {
                    ours: true,
                    checked: false,
                    running: false,
                    process_checked: false,
                })
            }
            Action::RemoveContainer => self.observed.container = Resource::Absent,
            Action::CheckContainer => self.container(|c| c.checked = true),
            Action::StartContainer => self.container(|c| c.running = true),
            Action::CheckProcess => self.container(|c| c.process_checked = true),
            Action::StopContainer => self.container(|c| (c.running, c.process_checked) = (false, false)),
            Action::InitVolumes => self.done(|r| r.volumes_initialized = true),
            Action::Clone => self.done(|r| r.cloned = true),
            Action::SetRemote => self.done(|r| r.remote_set = true),
            Action::CopyIgnoredFiles => self.done(|r| r.copied = true),
        }
    }

    fn volume(&mut self, volume: VolumeRef) -> &mut Resource<VolumeFacts> {
        let observed = &mut self.observed;
        match volume {
            VolumeRef::Agent => &mut observed.agent_volume,
            VolumeRef::Repository(index) => {
                while observed.repository_volumes.len() <= index {
                    observed.repository_volumes.push(Resource::Absent);
                }
                // The last one is never used: the loop has made this one.
                observed.repository_volumes.get_mut(index).unwrap_or(&mut observed.workspace_volume)
            }
            VolumeRef::Workspace => &mut observed.workspace_volume,
        }
    }

    fn container(&mut self, change: impl FnOnce(&mut ContainerFacts)) {
        if let Resource::Present(facts) = &mut self.observed.container {
            change(facts);
        }
    }

    fn done(&mut self, change: impl FnOnce(&mut Record)) {
        if let Some(record) = &mut self.record {
            change(record);
        }
    }

    /// Every action until the goal is reached or nothing more can be done.
    pub fn reach(&mut self, goal: Goal, plan: &ContainerPlan, copy: bool) -> Vec<Action> {
        let mut done = Vec::new();
        for _ in 0..MOST_STEPS {
            let next = next_actions(goal, Some(plan), self.record.as_ref(), &self.observed);
            if next.actions.is_empty() {
                break;
            }
            for action in next.actions {
                self.apply(action, copy);
                done.push(action);
            }
        }
        done
    }
}

/// What the sequencer does from nothing to a running workspace, and from there to nothing again.
pub fn command_lists(plan: &ContainerPlan, copy: bool, context: &RenderContext<'_>) -> CommandLists {
    let mut world = World::empty();
    let create = world.reach(Goal::Create, plan, copy);
    debug_assert!(world.record.as_ref().is_some_and(|record| record.phase == Phase::Running));
    let remove = world.reach(Goal::Remove, plan, copy);
    let rendered =
        |actions: Vec<Action>| actions.into_iter().map(|action| render(action, plan, context)).collect();
    CommandLists { create: rendered(create), remove: rendered(remove) }
}

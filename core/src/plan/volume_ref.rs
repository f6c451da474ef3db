//! Which volume of a workspace: our own two, then the repository's by their place in the plan.

use super::model::{ContainerPlan, VolumePlan};
use crate::words::MountRole;
use core::fmt;

/// A volume of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VolumeRef {
    /// The clone's.
    Workspace,
    /// That of the agents' settings and logins.
    Agent,
    /// One of the repository's, counted from 0.
    Repository(usize),
}

impl VolumeRef {
    /// All volumes of a plan.
    pub fn all(plan: &ContainerPlan) -> impl Iterator<Item = (Self, &VolumePlan)> {
        let mut repository = 0_usize;
        plan.volumes.iter().map(move |volume| {
            let reference = match volume.role {
                MountRole::Workspace => Self::Workspace,
                MountRole::Agent => Self::Agent,
                _ => {
                    repository = repository.saturating_add(1);
                    Self::Repository(repository.saturating_sub(1))
                }
            };
            (reference, volume)
        })
    }

    /// The volume in a plan.
    pub fn of(self, plan: &ContainerPlan) -> Option<&VolumePlan> {
        Self::all(plan).find(|(reference, _)| *reference == self).map(|(_, volume)| volume)
    }
}

impl fmt::Display for VolumeRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workspace => f.write_str(MountRole::Workspace.as_str()),
            Self::Agent => f.write_str(MountRole::Agent.as_str()),
            Self::Repository(index) => write!(f, "{}{index}", MountRole::Devcontainer),
        }
    }
}

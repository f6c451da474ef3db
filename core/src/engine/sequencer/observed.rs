//! What is observed of a workspace on the engine: each resource absent, present, or unknown with the reason.

use crate::plan::VolumeRef;
use alloc::{string::String, vec::Vec};
use serde::{Deserialize, Serialize};

/// What is known of a thing on the engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "state", from = "Read<T>")]
pub enum Resource<T> {
    /// The engine says it is not there.
    Absent,
    /// It is there.
    Present(T),
    /// The engine did not say; nothing follows from it.
    Unknown {
        /// Why.
        why: String,
    },
}

/// As it is read: what is absent has no further word either, which serde sees for braces only.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename = "Resource", rename_all = "snake_case", tag = "state", deny_unknown_fields)]
enum Read<T> {
    /// The engine says it is not there.
    Absent {},
    /// It is there.
    Present(T),
    /// The engine did not say; nothing follows from it.
    Unknown {
        /// Why.
        why: String,
    },
}

impl<T> From<Read<T>> for Resource<T> {
    fn from(read: Read<T>) -> Self {
        match read {
            Read::Absent {} => Self::Absent,
            Read::Present(facts) => Self::Present(facts),
            Read::Unknown { why } => Self::Unknown { why },
        }
    }
}

/// A volume as found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VolumeFacts {
    /// Whether name, labels and record agree that it is this workspace's.
    pub ours: bool,
    /// Whether it was compared with the plan in this run.
    pub checked: bool,
}

/// A network as found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NetworkFacts {
    /// Whether it is this installation's.
    pub ours: bool,
    /// Whether another container uses it.
    pub in_use: bool,
}

/// A container as found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContainerFacts {
    /// Whether id, name, labels and record agree that it is this workspace's.
    pub ours: bool,
    /// Whether it was compared with the plan in this run.
    pub checked: bool,
    /// Whether it runs.
    pub running: bool,
    /// Whether its process was compared with the plan since it was started.
    pub process_checked: bool,
}

/// Everything observed; total, so that nothing is forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Observed {
    /// The image; `true` when its id is known.
    pub image: Resource<ImageKnown>,
    /// The network.
    pub network: Resource<NetworkFacts>,
    /// The workspace volume.
    pub workspace_volume: Resource<VolumeFacts>,
    /// The agent volume.
    pub agent_volume: Resource<VolumeFacts>,
    /// The repository's volumes, in the order of the plan.
    #[serde(default)]
    pub repository_volumes: Vec<Resource<VolumeFacts>>,
    /// The container.
    pub container: Resource<ContainerFacts>,
}

/// An image as found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImageKnown {
    /// Whether its id was read.
    pub inspected: bool,
}

impl Observed {
    /// An engine on which nothing of a workspace is there.
    pub fn nothing() -> Self {
        Self {
            image: Resource::Absent,
            network: Resource::Absent,
            workspace_volume: Resource::Absent,
            agent_volume: Resource::Absent,
            repository_volumes: Vec::new(),
            container: Resource::Absent,
        }
    }

    /// What was observed of a volume; one of the repository's that nobody looked for is not there.
    pub(super) fn volume(&self, volume: VolumeRef) -> &Resource<VolumeFacts> {
        match volume {
            VolumeRef::Workspace => &self.workspace_volume,
            VolumeRef::Agent => &self.agent_volume,
            VolumeRef::Repository(index) => self.repository_volumes.get(index).unwrap_or(&Resource::Absent),
        }
    }

    pub(super) fn volumes(&self) -> impl Iterator<Item = VolumeRef> + use<> {
        let of_repository = (0..self.repository_volumes.len()).map(VolumeRef::Repository);
        [VolumeRef::Workspace, VolumeRef::Agent].into_iter().chain(of_repository)
    }
}

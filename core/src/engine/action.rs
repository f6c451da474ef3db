//! The steps that a workspace is made and removed by.

use crate::{
    plan::VolumeRef,
    words::{Phase, words},
};

words! {
    /// Kinds of actions, as they stand in commands and logs.
    ActionKind {
        /// Fetch the image.
        PullImage = "pull_image",
        /// Build the image that a devcontainer.json describes.
        BuildImage = "build_image",
        /// Learn the image's id.
        InspectImage = "inspect_image",
        /// Make the network.
        CreateNetwork = "create_network",
        /// Make a volume.
        CreateVolume = "create_volume",
        /// Compare a volume with the plan: an engine may have adopted a hostile one.
        CheckVolume = "check_volume",
        /// Give fresh volumes to the workspace's user.
        InitVolumes = "init_volumes",
        /// Make the container.
        CreateContainer = "create_container",
        /// Compare the container with the plan, before it starts.
        CheckContainer = "check_container",
        /// Start it.
        StartContainer = "start_container",
        /// Compare its process with the plan.
        CheckProcess = "check_process",
        /// Clone the repository into the volume.
        Clone = "clone",
        /// Set origin in the clone.
        SetRemote = "set_remote",
        /// Copy ignored files into the clone.
        CopyIgnoredFiles = "copy_ignored_files",
        /// Write the workspace's record.
        WriteRecord = "write_record",
        /// Stop the container.
        StopContainer = "stop_container",
        /// Remove the container.
        RemoveContainer = "remove_container",
        /// Remove a volume.
        RemoveVolume = "remove_volume",
        /// Remove the network.
        RemoveNetwork = "remove_network",
        /// Remove the record.
        RemoveRecord = "remove_record",
    }
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Fetch the image.
    PullImage,
    /// Build it.
    BuildImage,
    /// Learn the image's id.
    InspectImage,
    /// Make the network.
    CreateNetwork,
    /// Make a volume.
    CreateVolume(VolumeRef),
    /// Compare a volume with the plan.
    CheckVolume(VolumeRef),
    /// Give fresh volumes to the user.
    InitVolumes,
    /// Make the container.
    CreateContainer,
    /// Compare the container.
    CheckContainer,
    /// Start it.
    StartContainer,
    /// Compare its process.
    CheckProcess,
    /// Clone the repository.
    Clone,
    /// Set origin.
    SetRemote,
    /// Copy ignored files.
    CopyIgnoredFiles,
    /// Write the record with a phase.
    WriteRecord(Phase),
    /// Stop the container.
    StopContainer,
    /// Remove the container.
    RemoveContainer,
    /// Remove a volume.
    RemoveVolume(VolumeRef),
    /// Remove the network.
    RemoveNetwork,
    /// Remove the record.
    RemoveRecord,
}

impl Action {
    /// Its kind.
    pub fn kind(self) -> ActionKind {
        match self {
            Self::PullImage => ActionKind::PullImage,
            Self::BuildImage => ActionKind::BuildImage,
            Self::InspectImage => ActionKind::InspectImage,
            Self::CreateNetwork => ActionKind::CreateNetwork,
            Self::CreateVolume(_) => ActionKind::CreateVolume,
            Self::CheckVolume(_) => ActionKind::CheckVolume,
            Self::InitVolumes => ActionKind::InitVolumes,
            Self::CreateContainer => ActionKind::CreateContainer,
            Self::CheckContainer => ActionKind::CheckContainer,
            Self::StartContainer => ActionKind::StartContainer,
            Self::CheckProcess => ActionKind::CheckProcess,
            Self::Clone => ActionKind::Clone,
            Self::SetRemote => ActionKind::SetRemote,
            Self::CopyIgnoredFiles => ActionKind::CopyIgnoredFiles,
            Self::WriteRecord(_) => ActionKind::WriteRecord,
            Self::StopContainer => ActionKind::StopContainer,
            Self::RemoveContainer => ActionKind::RemoveContainer,
            Self::RemoveVolume(_) => ActionKind::RemoveVolume,
            Self::RemoveNetwork => ActionKind::RemoveNetwork,
            Self::RemoveRecord => ActionKind::RemoveRecord,
        }
    }
}

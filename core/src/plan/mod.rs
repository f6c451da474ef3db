//! Typed resources: the plan of one container, its names, its hardening, what must be true of it.

mod build;
mod expectations;
mod hardening;
mod model;
mod naming;
mod notices;
mod remote;
mod volume_ref;

pub use build::template_size;
pub(crate) use build::{build, is_sealed, needs, plan_digest, source_digests};
pub use hardening::Hardening;
pub use model::{
    BuildPlan, ClonePlan, CommandPlan, ContainerPlan, DevcontainerPlan, EnginePlan, Expectation, ImagePlan,
    LimitsPlan, MountPlan, Names, NetworkPlan, Operator, PortPlan, SourceDigests, UserPlan, VolumePlan,
};
pub(crate) use model::{KEEP_ALIVE, OUTSIDE_DOCKERFILE, SHELL, WORKSPACE_ROOT};
pub(crate) use naming::{build_reference, clone_target};
pub use volume_ref::VolumeRef;

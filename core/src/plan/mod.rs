//! Typed resources: the plan of one container, its names, its hardening, what must be true of it.

mod build;
mod expectations;
mod hardening;
mod model;
mod naming;
mod notices;
mod remote;

pub use build::template_size;
pub(crate) use build::{build, is_sealed, needs, plan_digest, source_digests};
pub use hardening::Hardening;
pub(crate) use model::{AGENT_TARGET, KEEP_ALIVE, SHELL, WORKSPACE_ROOT};
pub use model::{
    ClonePlan, ContainerPlan, EnginePlan, Expectation, ImagePlan, LimitsPlan, MountPlan, Names, NetworkPlan,
    Operator, PortPlan, SourceDigests, UserPlan, VolumePlan,
};
pub(crate) use naming::clone_target;

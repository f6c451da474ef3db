//! Typed resources: the plan of one container, its names, its hardening, what must be true of it.

mod build;
pub(crate) mod canonical;
mod expectations;
mod hardening;
mod model;
mod naming;
mod remote;

pub(crate) use build::{build, needs, plan_digest, source_digests};
pub use expectations::{Expectation, Operator};
pub use hardening::Hardening;
pub(crate) use model::{AGENT_TARGET, KEEP_ALIVE, SHELL, WORKSPACE_ROOT};
pub use model::{
    ClonePlan, ContainerPlan, EnginePlan, ImagePlan, LimitsPlan, MountPlan, Names, NetworkPlan, PortPlan,
    SourceDigests, UserPlan, VolumePlan,
};

//! What is said: the request of the boundary and its parts, exactly as callers write them.
//!
//! Nothing is judged here. Unknown fields, nulls and doubled keys are errors, since programs write this.

mod facts;
mod json;
mod launch;
pub(crate) mod options;
mod request;
mod settings;

pub(crate) use facts::CLIENT_ENV_NAMES;
pub use facts::{AskedUser, EngineClient, EngineFacts, HostFacts, ImageFacts};
pub use json::{JsonError, read_json};
pub use launch::{LaunchCommand, LaunchRequest, LaunchValues, Terminal};
pub use options::{ContainerOptions, EnvFile, EnvSetting, UniqueMap};
pub use request::{
    Approval, DevcontainerFile, DockerfileFact, Install, PlanRequest, RepositoryFile, SCHEMA_VERSION,
    SecretName, Workspace, WorktreeIncludeFile,
};
pub use settings::{GhAccount, GlobalSettings, Maximum, Policy, RepoSettings};

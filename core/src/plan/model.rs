//! `ContainerPlan`: everything that makes one container, without any value of a variable.

use super::hardening::Hardening;
use crate::{
    source::Source,
    words::{
        CloneFrom, EngineKind, Evidence, LifecycleStage, LimitKind, Mode, MountKind, MountRole, Network,
        Said, Template, words,
    },
};
use alloc::{collections::BTreeMap, string::String, vec::Vec};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where the workspace volume is mounted; the clone lies below it.
pub(crate) const WORKSPACE_ROOT: &str = "/workspace";

/// Where the agent volume is mounted.
pub(crate) const AGENT_TARGET: &str = crate::policy::orca_env::AGENT_ROOT;

/// The container's first process, in place of whatever the image would run.
pub(crate) const SHELL: &str = "/bin/sh";

/// Keeps the container alive and makes the folders that agents expect. `sleep infinity` is not in every image.
pub(crate) const KEEP_ALIVE: &str =
    "umask 077; mkdir -p /orca/agent/claude /orca/agent/codex /orca/agent/home; exec sleep 2147483647";

/// The plan of one container; storable, without any value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContainerPlan {
    /// Shape of the plan.
    pub schema_version: u32,
    /// `v1:` and SHA-256 over the plan's canonical JSON without this field, the revision of the rules, the label `orca.plan`
    /// and the expectation about that label.
    /// A preview has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Revision of the rules that it was made by; absent in plans of before. No part of the digest: what they make otherwise
    /// is in it anyway, and where they make nothing otherwise the container stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_revision: Option<u32>,
    /// The engine it is for.
    pub engine: EnginePlan,
    /// Where the code lives.
    pub mode: Mode,
    /// The image.
    pub image: ImagePlan,
    /// The user of every process.
    pub user: UserPlan,
    /// Memory, CPUs, processes, files.
    pub limits: LimitsPlan,
    /// OCI runtime, when it is not the engine's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// The network.
    pub network: NetworkPlan,
    /// Mounts, by target.
    pub mounts: Vec<MountPlan>,
    /// Volumes of the workspace.
    pub volumes: Vec<VolumePlan>,
    /// Published ports.
    pub ports: Vec<PortPlan>,
    /// Labels of the container.
    pub labels: BTreeMap<String, String>,
    /// Names of everything that is made.
    pub names: Names,
    /// What cannot be left out; output only.
    pub hardening: Hardening,
    /// Names of variables that are there from the start.
    pub start_env: Vec<String>,
    /// Names of image variables that the container does not get.
    pub removed_env: Vec<String>,
    /// The clone; a preview without a branch has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clone: Option<ClonePlan>,
    /// What the repository's devcontainer.json added, where it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devcontainer: Option<DevcontainerPlan>,
    /// Digests of the repository's texts.
    pub sources: SourceDigests,
    /// What must be true of the container before anything runs in it.
    pub expectations: Vec<Expectation>,
}

/// The engine of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EnginePlan {
    /// docker or podman.
    pub kind: EngineKind,
}

/// The image of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImagePlan {
    /// The reference as written; of a build, the name that it gets.
    pub reference: String,
    /// Who named it.
    pub said: Said,
    /// The id the container is created from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What it is pulled for, where the repository says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// How it is built, where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<BuildPlan>,
}

/// A build of the repository: it runs on the engine before any hardening, and is approved by a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BuildPlan {
    /// The Dockerfile, by its path in the repository.
    pub dockerfile: String,
    /// SHA-256 of the Dockerfile that was approved, hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dockerfile_digest: Option<String>,
    /// The images that it begins from and copies from.
    pub bases: Vec<String>,
    /// The folder of the repository whose committed files it may use; `.` for all of it.
    pub context: String,
    /// The stage that is built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Arguments: literals of the approved file, which end in the image's history.
    pub arguments: BTreeMap<String, String>,
    /// Further options.
    pub options: Vec<String>,
}

/// Name of a Dockerfile that lies outside its context.
pub(crate) const OUTSIDE_DOCKERFILE: &str = ".orca-dockerfile";

impl BuildPlan {
    /// The Dockerfile by its name in the context; one that lies outside is added under a name of ours.
    pub fn dockerfile_in_context(&self) -> String {
        let inside = match self.context.as_str() {
            "." => Some(self.dockerfile.as_str()),
            folder => self.dockerfile.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')),
        };
        inside.unwrap_or(OUTSIDE_DOCKERFILE).into()
    }

    /// SHA-256 over everything that decides what is built, hex. It is the same in every installation, as the approvals
    /// that are bound to it are.
    pub(crate) fn digest(&self) -> String {
        crate::canonical::digest_hex(&serde_json::json!(self))
    }
}

/// What a devcontainer.json added that stands nowhere else in the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DevcontainerPlan {
    /// Its path in the repository.
    pub path: String,
    /// Where launches start, unless they say otherwise.
    pub workspace_folder: String,
    /// Commands that a person allowed, in their order.
    pub commands: Vec<CommandPlan>,
}

/// Commands of one property.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommandPlan {
    /// When they run.
    pub stage: LifecycleStage,
    /// SHA-256 of the text that the container's shell runs, hex.
    pub digest: String,
    /// Where they stand.
    pub source: Source,
}

/// The user of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UserPlan {
    /// Never 0.
    pub uid: u32,
    /// Never 0.
    pub gid: u32,
    /// Where it comes from.
    pub source: Source,
    /// Whether the image was not looked at.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub assumed: bool,
}

/// The limits of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LimitsPlan {
    /// The template.
    pub template: Template,
    /// Memory and swap together, in bytes.
    pub memory_bytes: u64,
    /// CPUs times 10^9.
    pub nano_cpus: u64,
    /// Processes.
    pub pids: u32,
    /// Open files of a process.
    pub nofile: u32,
    /// Open files that a process begins with, where that is less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nofile_soft: Option<u32>,
    /// Bytes of /dev/shm, where it is not the engine's own size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shm_bytes: Option<u64>,
    /// Processes of the user, where a start fails without saying it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nproc: Option<u64>,
    /// Limits that the engine shows but does not enforce, accepted by a person.
    pub advisory: Vec<LimitKind>,
}

/// The network of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NetworkPlan {
    /// none or bridge.
    pub mode: Network,
    /// Name of the network that is made for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether other containers of this installation cannot be reached.
    pub peers_isolated: bool,
}

/// A mount.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MountPlan {
    /// What is mounted.
    pub kind: MountKind,
    /// Volume name or host path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Absolute path in the container.
    pub target: String,
    /// Whether it cannot be written.
    pub read_only: bool,
    /// What it is for.
    pub role: MountRole,
    /// Size of a tmpfs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
}

/// A volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VolumePlan {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub role: MountRole,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
}

/// A published port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PortPlan {
    /// Port in the container.
    pub container: u16,
    /// Address on the host; the engine chooses the port.
    pub address: String,
}

/// Names of what is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Names {
    /// The container.
    pub container: String,
    /// The workspace volume.
    pub workspace_volume: String,
    /// The agent volume.
    pub agent_volume: String,
    /// The network, when one is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// The container's host name.
    pub hostname: String,
}

/// The clone in the workspace volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClonePlan {
    /// The branch that is checked out; absent where the remote's own choice is taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The branch it came from, cloned as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Whether the branch begins here, at what `base` is at.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub new_branch: bool,
    /// Where it comes from.
    #[serde(default = "CloneFrom::host", skip_serializing_if = "CloneFrom::is_host")]
    pub from: CloneFrom,
    /// Absolute path of the clone in the container.
    pub target: String,
    /// URL of origin, without any password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
}

/// SHA-256 of the repository's texts, lower-case hex.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SourceDigests {
    /// orca.yaml.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orca_yaml: Option<String>,
    /// devcontainer.json.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devcontainer: Option<String>,
    /// .worktreeinclude.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_include: Option<String>,
}

words! {
    /// How a value is compared.
    Operator {
        /// The same value.
        Equals = "equals",
        /// The same elements, in any order.
        SetEquals = "set_equals",
        /// One of the values.
        OneOf = "one_of",
        /// Not there.
        Absent = "absent",
    }
}

/// One fact that must hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Expectation {
    /// What is looked at.
    pub field: String,
    /// How it is compared.
    pub op: Operator,
    /// With what.
    pub value: Value,
    /// Where the fact must come from.
    pub evidence: Evidence,
}

//! Measured facts: host, engine, image. The shell gathers them; the core believes and judges them.

use super::options::{present, unique};
use crate::words::{Endpoint, EngineKind, LimitKind};
use alloc::{collections::BTreeMap, string::String, vec::Vec};
use serde::Deserialize;

/// The host that Orca runs on.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HostFacts {
    /// `linux`, `darwin` or `win32` (Node's `process.platform`).
    pub platform: String,
    /// Names of the variables that exist on the host; values only at launch.
    #[serde(default)]
    pub env_names: Vec<String>,
}

/// What an engine said of itself.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EngineFacts {
    /// What it really is, whatever the program is called.
    pub kind: EngineKind,
    /// Its version.
    pub version: String,
    /// How it is reached.
    pub endpoint: Endpoint,
    /// Whether it runs without root.
    #[serde(default)]
    pub rootless: bool,
    /// Whether containers get a user namespace of their own.
    #[serde(default)]
    pub userns: bool,
    /// CPUs it has; docker refuses more.
    pub cpus: u32,
    /// Memory it has, in bytes.
    pub memory_bytes: u64,
    /// Limits it really enforces.
    pub limits: Vec<LimitKind>,
    /// 1 or 2.
    #[serde(default, deserialize_with = "present")]
    pub cgroup_version: Option<u8>,
    /// Runtimes it knows by name.
    #[serde(default)]
    pub runtimes: Vec<String>,
    /// Hard maximum of processes per user, where a start fails without saying it (podman).
    #[serde(default, deserialize_with = "present")]
    pub nproc_needed: Option<u64>,
    /// Whether SELinux enforces.
    #[serde(default)]
    pub selinux: bool,
    /// Whether AppArmor confines.
    #[serde(default)]
    pub apparmor: bool,
    /// Whether the docker daemon is in debug mode, in which its log holds every value that it is handed.
    #[serde(default)]
    pub debug: bool,
    /// Known holes of this version.
    #[serde(default)]
    pub vulnerabilities: Vec<String>,
    /// The client program and its environment.
    pub client: EngineClient,
}

/// How the engine's client is run.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EngineClient {
    /// Absolute path of the program.
    pub program: String,
    /// The client's whole environment; the names are a closed list.
    #[serde(default, deserialize_with = "unique")]
    pub env: BTreeMap<String, String>,
    /// The user's own docker configuration, used for pulls only.
    #[serde(default, deserialize_with = "present")]
    pub pull_docker_config: Option<String>,
}

/// Names that a client's environment may hold (closed list; each configures the client and nothing else).
pub(crate) const CLIENT_ENV_NAMES: &[&str] = &[
    "PATH",
    "HOME",
    "DOCKER_HOST",
    "DOCKER_CONFIG",
    "DOCKER_CERT_PATH",
    "DOCKER_TLS_VERIFY",
    "CONTAINER_HOST",
    "XDG_RUNTIME_DIR",
    "SSH_AUTH_SOCK",
    "SystemRoot",
];

/// What was found in an image.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImageFacts {
    /// `sha256:` and 64 hex digits.
    pub id: String,
    /// References with digests.
    #[serde(default)]
    pub repo_digests: Vec<String>,
    /// The image's ENV, `NAME=value` each.
    #[serde(default)]
    pub env: Vec<crate::secret::Sensitive>,
    /// The image's USER as written.
    #[serde(default)]
    pub user: String,
    /// Its uid, when it could be resolved.
    #[serde(default, deserialize_with = "present")]
    pub uid: Option<u32>,
    /// Its gid, when it could be resolved.
    #[serde(default, deserialize_with = "present")]
    pub gid: Option<u32>,
    /// Its home folder, when it could be resolved.
    #[serde(default, deserialize_with = "present")]
    pub home: Option<String>,
    /// The user that a devcontainer.json asks for, else the one of the image's labels, looked up in its own files.
    #[serde(default, deserialize_with = "present")]
    pub asked_user: Option<AskedUser>,
    /// Labels; containers inherit them.
    #[serde(default, deserialize_with = "unique")]
    pub labels: BTreeMap<String, String>,
    /// The image's own entrypoint, which is not run.
    #[serde(default)]
    pub entrypoint: Vec<String>,
    /// Paths at which the image wants anonymous volumes.
    #[serde(default)]
    pub volumes: Vec<String>,
    /// Whether the image has a health check, which is not run.
    #[serde(default)]
    pub healthcheck: bool,
}

/// A user that was asked for by name or number, and what it is in an image.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AskedUser {
    /// As the devcontainer.json has it: the `user` of the answer's need.
    pub said: String,
    /// Its uid, when it could be resolved.
    #[serde(default, deserialize_with = "present")]
    pub uid: Option<u32>,
    /// Its gid, when it could be resolved.
    #[serde(default, deserialize_with = "present")]
    pub gid: Option<u32>,
    /// Its home folder, when it could be resolved.
    #[serde(default, deserialize_with = "present")]
    pub home: Option<String>,
}

//! What doctor says, as data.

use orca_container_core::{Code, Endpoint, EngineKind, LimitKind};
use schemars::JsonSchema;
use serde::Serialize;

/// Shape of the report.
const SCHEMA_VERSION: u32 = 1;

/// Every engine that was looked for and found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorReport {
    /// Shape of the report.
    pub schema_version: u32,
    /// docker first.
    pub engines: Vec<EngineReport>,
}

impl DoctorReport {
    /// A report of these engines.
    pub fn of(engines: Vec<EngineReport>) -> Self {
        Self { schema_version: SCHEMA_VERSION, engines }
    }

    /// Whether an engine said what it is.
    pub fn any_answers(&self) -> bool {
        self.engines.iter().any(|engine| engine.facts.is_some())
    }

    /// Whether a workspace can be made on at least one engine.
    pub fn any_usable(&self) -> bool {
        self.engines.iter().any(EngineReport::is_usable)
    }
}

/// One engine.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EngineReport {
    /// What it is; what its client is called where it does not answer.
    pub kind: EngineKind,
    /// The client's program.
    pub program: String,
    /// What it says of itself; absent where it does not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facts: Option<ShownFacts>,
    /// What follows for a person: problems first, then costs, then what is good.
    pub findings: Vec<Finding>,
}

impl EngineReport {
    /// Whether nothing was found that makes `create` fail.
    pub fn is_usable(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity != FindingSeverity::Problem)
    }
}

/// Facts of an engine and of the ground it stands on. Texts are escaped and bounded.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShownFacts {
    /// Its version.
    pub version: String,
    /// How it is reached.
    pub endpoint: Endpoint,
    /// Whether its machine is this one, so that folders, listeners and users could be looked at.
    pub on_this_machine: bool,
    /// Whether it runs without root.
    pub rootless: bool,
    /// Whether users inside are others than outside.
    pub user_namespace: bool,
    /// 1 or 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cgroup_version: Option<u8>,
    /// CPUs it has.
    pub cpus: u32,
    /// Memory it has; 0 where it does not say.
    pub memory_bytes: u64,
    /// Limits that it discards.
    pub limits_discarded: Vec<LimitKind>,
    /// Runtimes that it is known to have, at most 32.
    pub runtimes: Vec<String>,
    /// The one it uses where nobody names one.
    pub default_runtime: String,
    /// Whether it confines system calls.
    pub seccomp: bool,
    /// Whether AppArmor confines containers.
    pub apparmor: bool,
    /// Whether SELinux does.
    pub selinux: bool,
    /// Known holes of its runtime, by version.
    pub vulnerabilities: Vec<String>,
    /// Where it keeps its data.
    pub data_places: Vec<DataPlace>,
    /// This machine's address on the engine's own bridge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bridge_gateway: Option<String>,
    /// What listens on this machine on another address than loopback; absent where that cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reachable_listeners: Option<Vec<ReachableListener>>,
}

/// A folder of the engine.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DataPlace {
    /// The folder.
    pub path: String,
    /// What is free there; absent where that cannot be measured from here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_bytes: Option<u64>,
}

/// A TCP listener of this machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReachableListener {
    /// Its port.
    pub port: u16,
    /// The address it is bound to; `0.0.0.0` and `::` stand for every one.
    pub address: String,
}

/// What follows from the facts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// What was found.
    pub code: FindingCode,
    /// What it is to a person.
    pub severity: FindingSeverity,
    /// One sentence or two.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The core's rule, where it is the core that refuses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Code>,
}

impl Finding {
    /// What makes `create` fail.
    pub fn problem(code: FindingCode, message: impl Into<String>) -> Self {
        Self::of(code, FindingSeverity::Problem, message)
    }

    /// What is worse than it could be.
    pub fn cost(code: FindingCode, message: impl Into<String>) -> Self {
        Self::of(code, FindingSeverity::Cost, message)
    }

    /// What is as it should be.
    pub fn good(code: FindingCode, message: impl Into<String>) -> Self {
        Self::of(code, FindingSeverity::Good, message)
    }

    fn of(code: FindingCode, severity: FindingSeverity, message: impl Into<String>) -> Self {
        Self { code, severity, message: message.into(), help: None, refusal: None }
    }

    /// The same with what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// What a finding is to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingSeverity {
    /// `create` fails.
    Problem,
    /// Workspaces can be made; this is what they lack or lay open.
    Cost,
    /// As it should be.
    Good,
}

/// What was found (a closed list; extended in order, no word is used again).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindingCode {
    /// The engine does not say what it is.
    EngineUnusable,
    /// The core refuses a plan for this engine under these settings.
    CreateRefused,
    /// It is reached by a socket of this machine.
    EndpointLocal,
    /// It is on another machine.
    EndpointRemote,
    /// It is reached in the clear.
    EndpointPlain,
    /// It is in a virtual machine behind a local socket.
    EngineElsewhere,
    /// Others than root and the owner may command it.
    SocketShared,
    /// Users inside are others than outside.
    UserNamespace,
    /// Users inside are those outside.
    NoUserNamespace,
    /// A user of this machine has the workspace's uid.
    UidShared,
    /// Every limit is enforced.
    LimitsEnforced,
    /// Limits are shown and not enforced.
    LimitsDiscarded,
    /// A runtime with a kernel of its own is there.
    OwnKernelRuntime,
    /// Containers share the machine's kernel.
    SharedKernel,
    /// Known holes of the runtime.
    KnownHole,
    /// System calls are confined.
    Seccomp,
    /// They are not.
    NoSeccomp,
    /// AppArmor or SELinux confines containers.
    AccessControl,
    /// Neither does.
    NoAccessControl,
    /// The program that runs first in a container is there.
    InitProgram,
    /// It is not.
    NoInitProgram,
    /// Enough is free on the engine's disk.
    DiskFree,
    /// Too little is.
    DiskLow,
    /// It cannot be measured from here.
    DiskUnmeasured,
    /// Nothing limits what a container writes.
    DiskNotLimited,
    /// Every template fits.
    TemplatesFit,
    /// Some do not.
    TemplatesDoNotFit,
    /// podman gets values through a descriptor.
    ValuesByDescriptor,
    /// They cannot go there at all.
    NoValues,
    /// A user who is not root cannot make a network here.
    NoNetworkWithoutRoot,
    /// Listeners of this machine that a bridge container reaches.
    ListenersReachable,
    /// There are none.
    NoListeners,
    /// Some of them answered a container that tried.
    PortsAnswer,
    /// None did.
    NoPortAnswers,
    /// None could be tried.
    PortsNotTried,
    /// They cannot be read from here.
    ListenersUnknown,
    /// A bridge container reaches what the machine reaches.
    MetadataReachable,
    /// The docker daemon is in debug mode, in which its log holds values.
    DebugMode,
}

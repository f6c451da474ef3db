//! Looks at this machine and around an engine; judges nothing.

use std::fs::File;
use std::io::Read as _;
use std::net::IpAddr;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;
use std::time::Duration;

use orca_container_core::{Endpoint, EngineKind};
use serde_json::Value;

use super::listeners;
use super::report::ReachableListener;
use crate::engine::{Client, Detected, Space, host_program, knows_runtime, spaces};

/// Bytes of a system file that are read; the largest ones have some hundred kilobytes.
const FILE_CAP: u64 = 4 * 1024 * 1024;

/// Seconds for one question to an engine that has just said what it is.
const PATIENCE: Duration = Duration::from_secs(20);

/// Folders beside PATH in which the engines look for their own helpers.
const HELPER_FOLDERS: [&str; 6] = [
    "/usr/local/libexec/docker",
    "/usr/libexec/docker",
    "/usr/local/libexec/podman",
    "/usr/libexec/podman",
    "/usr/local/lib/podman",
    "/usr/lib/podman",
];

/// Runtimes that put a kernel of their own between a container and the machine's.
const OWN_KERNEL: [&str; 2] = ["runsc", "kata"];

/// What of this machine matters to the workspaces on it.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// Text of `/etc/passwd`.
    pub passwd: String,
    /// Text of `/etc/group`.
    pub groups: String,
    /// What listens on another address than loopback; `None` where the kernel's tables cannot be read.
    pub listeners: Option<Vec<ReachableListener>>,
}

impl Machine {
    /// This machine.
    pub fn here() -> Self {
        let tcp = text_of("/proc/net/tcp");
        Self {
            passwd: text_of("/etc/passwd").unwrap_or_default(),
            groups: text_of("/etc/group").unwrap_or_default(),
            // Without IPv6 there is no second table.
            listeners: tcp
                .map(|tcp| listeners::reachable(&tcp, &text_of("/proc/net/tcp6").unwrap_or_default())),
        }
    }
}

/// What is found around one engine.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Its folders with what is free in each.
    pub spaces: Vec<Space>,
    /// Its socket on this machine.
    pub socket: Option<Socket>,
    /// Whether its init program was found; `None` where that cannot be seen from here.
    pub init_found: Option<bool>,
    /// This machine's address on its default bridge.
    pub gateway: Option<IpAddr>,
    /// Whether this user may make a network device, where the engine runs as this user.
    pub may_make_network: Option<bool>,
    /// Runtimes that it has beside those it names.
    pub other_runtimes: Vec<String>,
}

/// Who may open a socket.
#[derive(Clone, Copy, Debug)]
pub struct Socket {
    /// Its permission bits.
    pub mode: u32,
    /// Its group.
    pub gid: u32,
}

impl Surroundings {
    /// Looks around an engine that has said what it is.
    pub fn of(detected: &Detected) -> Self {
        let client =
            Client { program: detected.facts.client.program.clone(), env: detected.facts.client.env.clone() };
        let here = detected.is_on_this_machine();
        let init = detected.details.init.as_deref();
        Self {
            spaces: spaces(detected),
            socket: socket(detected),
            init_found: init.filter(|_| here).map(is_there),
            // Without root it is inside a network of its own.
            gateway: if detected.facts.rootless { None } else { gateway(detected.facts.kind, &client) },
            may_make_network: (here && detected.facts.rootless && detected.facts.kind == EngineKind::Podman)
                .then(may_make_network),
            other_runtimes: other_runtimes(detected, &client),
        }
    }
}

/// A file's text, or none of it where it is too large or cannot be read.
fn text_of(path: &str) -> Option<String> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(FILE_CAP).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// docker's socket. podman needs none to be used.
fn socket(detected: &Detected) -> Option<Socket> {
    if detected.facts.kind != EngineKind::Docker || detected.facts.endpoint != Endpoint::Local {
        return None;
    }
    let path = detected.facts.client.env.get("DOCKER_HOST")?.strip_prefix("unix://")?;
    let metadata = std::fs::metadata(path).ok().filter(|metadata| metadata.file_type().is_socket())?;
    Some(Socket { mode: metadata.mode(), gid: metadata.gid() })
}

fn is_there(program: &str) -> bool {
    if program.contains('/') {
        return Path::new(program).is_file();
    }
    host_program(program).is_some()
        || HELPER_FOLDERS.iter().any(|folder| Path::new(folder).join(program).is_file())
}

/// podman without root joins a container to the machine's network through a device of its own.
fn may_make_network() -> bool {
    rustix::fs::access("/dev/net/tun", rustix::fs::Access::READ_OK | rustix::fs::Access::WRITE_OK).is_ok()
}

/// The first address of the engine's default bridge on its own machine.
fn gateway(kind: EngineKind, client: &Client) -> Option<IpAddr> {
    let (network, places) = match kind {
        EngineKind::Docker => ("bridge", ("/0/IPAM/Config", "Gateway")),
        EngineKind::Podman => ("podman", ("/0/subnets", "gateway")),
    };
    let answer = client.ask(&["network", "inspect", network], PATIENCE).ok()?;
    let document: Value = serde_json::from_slice(&answer.stdout).ok()?;
    let subnets = document.pointer(places.0)?.as_array()?;
    subnets.iter().find_map(|subnet| subnet.get(places.1)?.as_str()?.parse().ok())
}

/// podman names only its default runtime, so it is asked for those that are worth knowing of.
fn other_runtimes(detected: &Detected, client: &Client) -> Vec<String> {
    if detected.facts.kind == EngineKind::Docker {
        return Vec::new();
    }
    let named = &detected.facts.runtimes;
    let asked = OWN_KERNEL.into_iter().filter(|name| !named.iter().any(|known| known == name));
    asked.filter(|name| knows_runtime(client, name)).map(String::from).collect()
}

/// Whether a runtime of this name has a kernel of its own (docker also names them as `io.containerd.runsc.v1`).
pub fn has_own_kernel(runtime: &str) -> bool {
    OWN_KERNEL.iter().any(|name| runtime.split(['.', '-']).any(|part| part == *name))
}

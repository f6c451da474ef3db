//! What engine is there, by its own answers: kind, endpoint, limits, runtimes, known holes.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use orca_container_core::input::EngineFacts;
use orca_container_core::{Endpoint, EngineKind, escaped};
use serde_json::Value;

use super::client::{Client, ClientError, Output};

mod docker;
mod docker_endpoint;
mod holes;
mod podman;

pub(crate) use docker::in_debug_mode;
pub(crate) use podman::knows_runtime;

/// Seconds that an engine may take to say what it is.
const PATIENCE: Duration = Duration::from_secs(20);

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// Neither program is on PATH.
    #[error("Neither docker nor podman is on PATH; install one of them.")]
    NoneFound,
    /// The chosen program is not on PATH.
    #[error("The engine {name} was chosen, but its client is not on PATH.")]
    NotFound {
        /// docker or podman.
        name: &'static str,
    },
    /// It is there and does not answer.
    #[error("The engine {name} does not answer: {why}.")]
    NotAnswering {
        /// docker or podman.
        name: &'static str,
        /// The engine's own words.
        why: String,
    },
    /// A docker client that speaks to podman: its dialect is neither's.
    #[error("This docker client speaks to a podman engine; choose podman, or point docker at Docker Engine.")]
    DockerOverPodman,
    /// docker would encrypt for whoever answers.
    #[error(
        "docker's connection is encrypted, but whoever answers is believed: its certificate is not verified. Set DOCKER_TLS_VERIFY=1 with the authority's ca.pem in DOCKER_CERT_PATH, or make the context anew with ca= and without skip-tls-verify."
    )]
    TlsUnverified,
    /// The client could not be run.
    #[error(transparent)]
    Client(#[from] ClientError),
}

/// What an engine said of itself.
#[derive(Clone, Debug)]
pub struct Detected {
    /// What a plan needs.
    pub facts: EngineFacts,
    /// What a person wants to know beyond that.
    pub details: EngineDetails,
}

/// What no plan depends on.
#[derive(Clone, Debug, Default)]
pub struct EngineDetails {
    /// Folders of the engine's machine where it keeps its data.
    pub data_places: Vec<PathBuf>,
    /// Release of the kernel it runs on.
    pub kernel: String,
    /// Name of the host it runs on.
    pub hostname: String,
    /// The program that it puts first into a container, where it has one.
    pub init: Option<String>,
    /// Whether it confines system calls where nobody says otherwise.
    pub seccomp: bool,
    /// The runtime that it uses where nobody names one.
    pub default_runtime: String,
}

impl Detected {
    /// Whether the engine's machine is the one that this program runs on: a local socket can lead out of a container or
    /// into a virtual machine (as on macOS and with Docker Desktop), whose folders and processes are not this one's.
    pub fn is_on_this_machine(&self) -> bool {
        let of_kernel = |name: &str| {
            let text = std::fs::read_to_string(format!("/proc/sys/kernel/{name}")).unwrap_or_default();
            escaped(text.trim())
        };
        self.facts.endpoint == Endpoint::Local
            && !self.details.kernel.is_empty()
            && self.details.kernel == of_kernel("osrelease")
            && self.details.hostname == of_kernel("hostname")
    }
}

/// The facts of the chosen engine. `auto` takes docker where its client is there, else podman; an engine that is
/// there and does not answer is an error, never a reason to take the other one. `docker_config` is an empty folder.
pub fn detect(
    chosen: Option<EngineKind>,
    runtime: Option<&str>,
    docker_config: &Path,
) -> Result<Detected, EngineError> {
    let docker = || host_program("docker");
    let podman = || host_program("podman");
    match chosen {
        Some(EngineKind::Podman) => podman::detected(
            &podman().ok_or(EngineError::NotFound { name: "podman" })?,
            runtime,
            docker_config,
        ),
        Some(EngineKind::Docker) => docker_or_podman(
            &docker().ok_or(EngineError::NotFound { name: "docker" })?,
            runtime,
            docker_config,
        ),
        None => match (docker(), podman()) {
            (Some(docker), _) => docker_or_podman(&docker, runtime, docker_config),
            (None, Some(podman)) => podman::detected(&podman, runtime, docker_config),
            (None, None) => Err(EngineError::NoneFound),
        },
    }
}

/// PATH without its relative entries: `./node_modules/.bin` is the repository's, and nothing of it runs here.
pub(crate) fn host_path() -> OsString {
    let path = env::var_os("PATH").unwrap_or_default();
    env::join_paths(env::split_paths(&path).filter(|folder| folder.is_absolute())).unwrap_or_default()
}

/// A program on PATH, by its absolute path.
pub(crate) fn host_program(name: &str) -> Option<PathBuf> {
    env::split_paths(&host_path())
        .map(|folder| folder.join(name))
        .find(|program| rustix::fs::access(program, rustix::fs::Access::EXEC_OK).is_ok() && program.is_file())
}

/// The base of every client's environment: nothing of a workspace, nothing that was not asked for.
fn base_env(names: &[&str]) -> BTreeMap<String, String> {
    names.iter().filter_map(|name| Some(((*name).to_owned(), env::var(name).ok()?))).collect()
}

/// Why an answer cannot be used: the engine's own words, or that there is nothing to read in what it said.
fn not_answering(name: &'static str, answer: &Output) -> EngineError {
    let said_nothing = answer.code == 0 && answer.stderr.iter().all(u8::is_ascii_whitespace);
    let why = if said_nothing { "what it says of itself cannot be read".into() } else { answer.complaint() };
    EngineError::NotAnswering { name, why }
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
}

/// A program called docker says itself what it is: podman-docker prints podman's version.
fn docker_or_podman(
    program: &Path,
    runtime: Option<&str>,
    docker_config: &Path,
) -> Result<Detected, EngineError> {
    let program_text = program.to_string_lossy().into_owned();
    let bare = Client { program: program_text, env: base_env(&["PATH", "HOME", "XDG_RUNTIME_DIR"]) };
    let version = bare.ask(&["--version"], PATIENCE)?;
    if version.text().to_ascii_lowercase().contains("podman") {
        return podman::detected(program, runtime, docker_config);
    }
    docker::detected(&bare.program, docker_config)
}

fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).map(escaped).unwrap_or_default()
}

fn number(value: &Value, name: &str) -> u32 {
    value.get(name).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok()).unwrap_or(1)
}

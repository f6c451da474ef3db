//! What engine is there, by its own answers: kind, endpoint, limits, runtimes, known holes.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use orca_container_core::input::{EngineClient, EngineFacts};
use orca_container_core::{Endpoint, EngineKind, LimitKind, escaped};
use serde_json::Value;

use super::client::{Client, ClientError, Output, Wanted};
use super::feed::Input;

/// Seconds that an engine may take to say what it is.
const PATIENCE: Duration = Duration::from_secs(20);

/// The largest number of processes that podman asks for itself when nothing is said (its compiled-in default).
const PODMAN_DEFAULT_NPROC: u64 = 1_048_576;

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
    /// The client could not be run.
    #[error(transparent)]
    Client(#[from] ClientError),
}

/// The facts of the chosen engine. `auto` takes docker where its client is there, else podman; an engine that is
/// there and does not answer is an error, never a reason to take the other one.
pub fn detect(
    chosen: Option<EngineKind>,
    runtime: Option<&str>,
    docker_config: &Path,
) -> Result<EngineFacts, EngineError> {
    let docker = || host_program("docker");
    let podman = || host_program("podman");
    match chosen {
        Some(EngineKind::Podman) => {
            podman_facts(&podman().ok_or(EngineError::NotFound { name: "podman" })?, runtime)
        }
        Some(EngineKind::Docker) => docker_or_podman(
            &docker().ok_or(EngineError::NotFound { name: "docker" })?,
            runtime,
            docker_config,
        ),
        None => match (docker(), podman()) {
            (Some(docker), _) => docker_or_podman(&docker, runtime, docker_config),
            (None, Some(podman)) => podman_facts(&podman, runtime),
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

fn call(client: &Client, args: &[&str]) -> Result<Output, ClientError> {
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    client.call(&args, Input::None, Wanted::Kept, PATIENCE)
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
}

/// A program called docker says itself what it is: podman-docker prints podman's version.
fn docker_or_podman(
    program: &Path,
    runtime: Option<&str>,
    docker_config: &Path,
) -> Result<EngineFacts, EngineError> {
    let program_text = program.to_string_lossy().into_owned();
    let bare = Client { program: program_text, env: base_env(&["PATH", "HOME", "XDG_RUNTIME_DIR"]) };
    let version = call(&bare, &["--version"])?;
    if version.text().to_ascii_lowercase().contains("podman") {
        return podman_facts(program, runtime);
    }
    docker_facts(&bare.program, docker_config)
}

fn docker_facts(program: &str, docker_config: &Path) -> Result<EngineFacts, EngineError> {
    let endpoint = docker_endpoint(program)?;
    let kind = endpoint_kind(&endpoint, env::var("DOCKER_TLS_VERIFY").is_ok_and(|value| !value.is_empty()));
    let mut env = base_env(&["PATH", "HOME"]);
    // The user's own configuration would put its proxies, passwords included, into the container.
    env.insert("DOCKER_CONFIG".into(), docker_config.to_string_lossy().into_owned());
    env.insert("DOCKER_HOST".into(), endpoint);
    match kind {
        Endpoint::Ssh => env.extend(base_env(&["SSH_AUTH_SOCK"])),
        Endpoint::Tls => env.extend(base_env(&["DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"])),
        Endpoint::Local | Endpoint::Plain => {}
    }
    let client = Client { program: program.into(), env: env.clone() };
    let answer = call(&client, &["version", "--format", "{{json .}}"])?;
    let version = json(&answer);
    let Some(server) = version.get("Server").filter(|server| !server.is_null()) else {
        return Err(EngineError::NotAnswering { name: "docker", why: answer.complaint() });
    };
    let components = server.get("Components").and_then(Value::as_array).cloned().unwrap_or_default();
    let component =
        |name: &str| components.iter().find(|c| text(c, "Name") == name).map(|c| text(c, "Version"));
    if component("Podman Engine").is_some() {
        return Err(EngineError::DockerOverPodman);
    }
    let answer = call(&client, &["info", "--format", "{{json .}}"])?;
    let info = json(&answer);
    if info.get("NCPU").is_none() {
        return Err(EngineError::NotAnswering { name: "docker", why: answer.complaint() });
    }
    let options: Vec<String> = info
        .get("SecurityOptions")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(String::from)
        .collect();
    let has = |name: &str| {
        options.iter().any(|option| option.split(',').any(|part| part == format!("name={name}")))
    };
    let flag = |name: &str| info.get(name).and_then(Value::as_bool).unwrap_or(false);
    let limits = [
        (LimitKind::Memory, flag("MemoryLimit")),
        (LimitKind::Swap, flag("SwapLimit")),
        (LimitKind::Cpu, flag("CpuCfsQuota")),
        (LimitKind::Pids, flag("PidsLimit")),
    ];
    Ok(EngineFacts {
        kind: EngineKind::Docker,
        version: text(&info, "ServerVersion"),
        endpoint: kind,
        rootless: has("rootless"),
        userns: has("userns") || has("rootless"),
        cpus: number(&info, "NCPU"),
        memory_bytes: info.get("MemTotal").and_then(Value::as_u64).unwrap_or(0),
        limits: limits.into_iter().filter(|(_, there)| *there).map(|(limit, _)| limit).collect(),
        cgroup_version: text(&info, "CgroupVersion").parse().ok(),
        runtimes: info
            .get("Runtimes")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(name, _)| name.clone())
            .collect(),
        nproc_needed: None,
        selinux: has("selinux"),
        apparmor: has("apparmor"),
        vulnerabilities: runc_holes(&component("runc").unwrap_or_default()),
        client: EngineClient { program: program.into(), env, pull_docker_config: user_docker_config() },
    })
}

/// The endpoint that the user's own docker would use: DOCKER_HOST, else the current context's.
fn docker_endpoint(program: &str) -> Result<String, EngineError> {
    if let Ok(host) = env::var("DOCKER_HOST")
        && !host.is_empty()
    {
        return Ok(host);
    }
    let client = Client {
        program: program.into(),
        env: base_env(&["PATH", "HOME", "DOCKER_CONFIG", "DOCKER_CONTEXT"]),
    };
    let answer = call(&client, &["context", "inspect", "--format", "{{.Endpoints.docker.Host}}"])?;
    let host = answer.text();
    if answer.code != 0 || host.is_empty() {
        return Err(EngineError::NotAnswering { name: "docker", why: answer.complaint() });
    }
    Ok(host)
}

fn endpoint_kind(endpoint: &str, tls: bool) -> Endpoint {
    match endpoint.split_once("://").map(|(scheme, _)| scheme) {
        Some("unix" | "npipe") => Endpoint::Local,
        Some("ssh") => Endpoint::Ssh,
        Some("https") => Endpoint::Tls,
        Some("tcp") if tls => Endpoint::Tls,
        _ => Endpoint::Plain,
    }
}

fn user_docker_config() -> Option<String> {
    env::var("DOCKER_CONFIG")
        .ok()
        .filter(|folder| !folder.is_empty())
        .or_else(|| Some(format!("{}/.docker", env::var("HOME").ok()?)))
}

fn podman_facts(program: &Path, runtime: Option<&str>) -> Result<EngineFacts, EngineError> {
    let program = program.to_string_lossy().into_owned();
    let env = base_env(&["PATH", "HOME", "XDG_RUNTIME_DIR", "CONTAINER_HOST"]);
    let client = Client { program: program.clone(), env: env.clone() };
    let answer = call(&client, &["info", "--format", "json"])?;
    let info = json(&answer);
    let Some(host) = info.get("host") else {
        return Err(EngineError::NotAnswering { name: "podman", why: answer.complaint() });
    };
    let security = host.get("security").cloned().unwrap_or_default();
    let flag = |value: &Value, name: &str| value.get(name).and_then(Value::as_bool).unwrap_or(false);
    let rootless = flag(&security, "rootless");
    let remote = flag(host, "serviceIsRemote");
    let version_one = text(host, "cgroupVersion") == "v1";
    let default_runtime = host.get("ociRuntime").map(|runtime| text(runtime, "name")).unwrap_or_default();
    let mut runtimes = vec![default_runtime];
    // podman names only its default: another counts when podman answers with it.
    if let Some(runtime) = runtime.filter(|name| !runtimes.iter().any(|known| known == name))
        && !runtime.contains('/')
        && call(&client, &["--runtime", runtime, "info", "--format", "json"])
            .is_ok_and(|answer| answer.code == 0)
    {
        runtimes.push(runtime.into());
    }
    let runc = host.get("ociRuntime").map(|runtime| text(runtime, "version")).unwrap_or_default();
    Ok(EngineFacts {
        kind: EngineKind::Podman,
        version: info.get("version").map(|version| text(version, "Version")).unwrap_or_default(),
        endpoint: if remote { remote_endpoint(host) } else { Endpoint::Local },
        rootless,
        userns: rootless,
        cpus: number(host, "cpus"),
        memory_bytes: host.get("memTotal").and_then(Value::as_u64).unwrap_or(0),
        limits: podman_limits(host, rootless && version_one),
        cgroup_version: Some(if version_one { 1 } else { 2 }),
        runtimes,
        nproc_needed: nproc_needed(),
        selinux: flag(&security, "selinuxEnabled"),
        apparmor: flag(&security, "apparmorEnabled"),
        vulnerabilities: runc.strip_prefix("runc version ").map(runc_holes).unwrap_or_default(),
        client: EngineClient { program, env, pull_docker_config: None },
    })
}

fn remote_endpoint(host: &Value) -> Endpoint {
    let path = host.get("remoteSocket").map(|socket| text(socket, "path")).unwrap_or_default();
    if path.starts_with("ssh://") {
        Endpoint::Ssh
    } else if path.starts_with("unix://") {
        Endpoint::Local
    } else {
        Endpoint::Plain
    }
}

/// Rootless podman on cgroup v1 discards every limit and only says so (measured).
fn podman_limits(host: &Value, discards_all: bool) -> Vec<LimitKind> {
    if discards_all {
        return Vec::new();
    }
    let controllers: Vec<&str> = host
        .get("cgroupControllers")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let has = |name: &str| controllers.contains(&name);
    let limits = [
        (LimitKind::Memory, has("memory")),
        (LimitKind::Swap, has("memory")),
        (LimitKind::Cpu, has("cpu")),
        (LimitKind::Pids, has("pids")),
    ];
    limits.into_iter().filter(|(_, there)| *there).map(|(limit, _)| limit).collect()
}

/// Naming one ulimit makes podman fall back to a million processes, which fails to start where the hard limit
/// is lower; so the hard limit is named as well, there only. podman lowers its own to the kernel's largest
/// process id, and a container cannot have more than that (both measured on 4.3).
fn nproc_needed() -> Option<u64> {
    let hard = rustix::process::getrlimit(rustix::process::Resource::Nproc).maximum.unwrap_or(u64::MAX);
    let pids =
        std::fs::read_to_string("/proc/sys/kernel/pid_max").ok().and_then(|text| text.trim().parse().ok());
    let most = hard.min(pids.unwrap_or(u64::MAX));
    (most < PODMAN_DEFAULT_NPROC).then_some(most)
}

/// Holes of runc that let a container's process out, by upstream version. A distribution may have mended its own.
fn runc_holes(version: &str) -> Vec<String> {
    let numbers: Vec<u32> = version
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .next()
        .unwrap_or("")
        .split('.')
        .filter_map(|part| part.parse().ok())
        .collect();
    let [major, minor, patch] = numbers.as_slice() else { return Vec::new() };
    let at = (*major, *minor, *patch);
    let holes = [
        ("CVE-2024-21626 (runc before 1.1.12)", at < (1, 1, 12)),
        ("CVE-2025-31133 (runc before 1.2.8)", at < (1, 2, 8)),
    ];
    holes.into_iter().filter(|(_, open)| *open).map(|(hole, _)| hole.to_owned()).collect()
}

fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).map(escaped).unwrap_or_default()
}

fn number(value: &Value, name: &str) -> u32 {
    value.get(name).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_known_by_their_scheme() {
        let kind = |endpoint: &str| endpoint_kind(endpoint, false);
        assert_eq!(kind("unix:///var/run/docker.sock"), Endpoint::Local);
        assert_eq!(kind("ssh://u@host"), Endpoint::Ssh);
        assert_eq!(kind("tcp://host:2375"), Endpoint::Plain);
        assert_eq!(endpoint_kind("tcp://host:2376", true), Endpoint::Tls);
        assert_eq!(kind("nonsense"), Endpoint::Plain);
    }

    #[test]
    fn holes_are_known_by_version() {
        assert_eq!(runc_holes("1.1.5+ds1").len(), 2);
        assert_eq!(runc_holes("1.2.8"), Vec::<String>::new());
        assert_eq!(runc_holes("something"), Vec::<String>::new());
    }
}

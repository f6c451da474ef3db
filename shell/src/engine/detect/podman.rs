//! podman: its facts by `podman info`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use orca_container_core::input::{EngineClient, EngineFacts};
use orca_container_core::{Endpoint, EngineKind, LimitKind};
use serde_json::Value;

use super::super::client::Client;
use super::holes::runc_holes;
use super::{Detected, EngineDetails, EngineError, PATIENCE, base_env, json, not_answering, number, text};

/// The largest number of processes that podman asks for itself when nothing is said (its compiled-in default).
const PODMAN_DEFAULT_NPROC: u64 = 1_048_576;

/// Facts of podman. `runtime` is one that a person wants: podman itself names only its default. `empty_folder` stands
/// for the user's own where nothing of these may be sent.
pub(super) fn detected(
    program: &Path,
    runtime: Option<&str>,
    empty_folder: &Path,
) -> Result<Detected, EngineError> {
    let program = program.to_string_lossy().into_owned();
    let mut env = base_env(&["PATH", "HOME", "XDG_RUNTIME_DIR", "CONTAINER_HOST"]);
    if env.get("CONTAINER_HOST").is_some_and(|host| scheme(host) == Endpoint::Ssh) {
        env.extend(base_env(&["SSH_AUTH_SOCK"]));
    }
    let client = Client { program: program.clone(), env: env.clone() };
    let answer = client.ask(&["info", "--format", "json"], PATIENCE)?;
    let info = json(&answer);
    let Some(host) = info.get("host") else {
        return Err(not_answering("podman", &answer));
    };
    let details = details(&info, host);
    let mut runtimes = vec![details.default_runtime.clone()];
    // podman names only its default: another counts when podman answers with it.
    if let Some(runtime) = runtime.filter(|name| !runtimes.iter().any(|known| known == name))
        && knows_runtime(&client, runtime)
    {
        runtimes.push(runtime.into());
    }
    let remote = host.get("serviceIsRemote").and_then(Value::as_bool).unwrap_or(false);
    let mut endpoint = Endpoint::Local;
    if remote {
        let host = remote_host(&client);
        endpoint = scheme(host.as_deref().unwrap_or_default());
        if endpoint == Endpoint::Plain {
            keep_passwords_at_home(&mut env, host, empty_folder);
        }
    }
    let client = EngineClient { program, env, pull_docker_config: None };
    let facts = facts(endpoint, &info, host, runtimes, client);
    Ok(Detected { facts, details })
}

/// Whether podman can run a runtime of this name, which it says of no runtime but its default. A path is none: podman
/// would run it on this machine.
pub(crate) fn knows_runtime(client: &Client, runtime: &str) -> bool {
    !runtime.contains('/')
        && client
            .ask(&["--runtime", runtime, "info", "--format", "json"], PATIENCE)
            .is_ok_and(|answer| answer.code == 0)
}

/// What a plan needs, out of `podman info`.
fn facts(
    endpoint: Endpoint,
    info: &Value,
    host: &Value,
    runtimes: Vec<String>,
    client: EngineClient,
) -> EngineFacts {
    let security = host.get("security").cloned().unwrap_or_default();
    let flag = |value: &Value, name: &str| value.get(name).and_then(Value::as_bool).unwrap_or(false);
    let rootless = flag(&security, "rootless");
    let version_one = text(host, "cgroupVersion") == "v1";
    let runc = host.get("ociRuntime").map(|runtime| text(runtime, "version")).unwrap_or_default();
    EngineFacts {
        kind: EngineKind::Podman,
        version: info.get("version").map(|version| text(version, "Version")).unwrap_or_default(),
        endpoint,
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
        debug: false,
        vulnerabilities: runc.strip_prefix("runc version ").map(runc_holes).unwrap_or_default(),
        client,
    }
}

/// What a person wants to know beyond that.
fn details(info: &Value, host: &Value) -> EngineDetails {
    let store = info.get("store").cloned().unwrap_or_default();
    let place = |name: &str| store.get(name).and_then(Value::as_str).filter(|place| !place.is_empty());
    EngineDetails {
        data_places: ["graphRoot", "volumePath"].into_iter().filter_map(place).map(PathBuf::from).collect(),
        kernel: text(host, "kernel"),
        hostname: text(host, "hostname"),
        // podman does not say which program it is.
        init: Some("catatonit".into()),
        seccomp: host.pointer("/security/seccompEnabled").and_then(Value::as_bool).unwrap_or(false),
        default_runtime: host.get("ociRuntime").map(|runtime| text(runtime, "name")).unwrap_or_default(),
    }
}

/// Where the client reaches a podman elsewhere, by the client's own word: the service knows only the socket that it
/// listens on itself, which is a local one also at the end of a wire.
fn remote_host(client: &Client) -> Option<String> {
    let said = client.env.get("CONTAINER_HOST").cloned().filter(|host| !host.is_empty());
    said.or_else(|| default_connection(client))
}

/// A pull by podman hands the passwords of every registry to the service (measured on 4.3), so a client that speaks in
/// the clear finds none: neither of its two places for them is the user's. The connection, which it reads from the
/// user's configuration too, is named.
fn keep_passwords_at_home(env: &mut BTreeMap<String, String>, host: Option<String>, empty_folder: &Path) {
    for name in ["HOME", "XDG_RUNTIME_DIR"] {
        env.insert(name.into(), empty_folder.to_string_lossy().into_owned());
    }
    env.extend(host.map(|host| ("CONTAINER_HOST".to_owned(), host)));
}

/// The connection that the client takes where nobody names one.
fn default_connection(client: &Client) -> Option<String> {
    let answer = client.ask(&["system", "connection", "list", "--format", "json"], PATIENCE).ok()?;
    let connections = json(&answer);
    let is_default = |connection: &&Value| connection.get("Default").and_then(Value::as_bool) == Some(true);
    connections.as_array()?.iter().find(is_default)?.get("URI")?.as_str().map(String::from)
}

fn scheme(endpoint: &str) -> Endpoint {
    match endpoint.split_once(':').map(|(scheme, _)| scheme) {
        Some("unix") => Endpoint::Local,
        Some("ssh") => Endpoint::Ssh,
        _ => Endpoint::Plain,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_podman_elsewhere_is_known_by_what_its_client_says() {
        let client = |host: &str| Client {
            program: "/bin/false".into(),
            env: [("CONTAINER_HOST".to_owned(), host.to_owned())].into(),
        };
        let endpoint = |host: &str| scheme(&remote_host(&client(host)).unwrap_or_default());
        assert_eq!(endpoint("ssh://core@127.0.0.1:2222/run/podman.sock"), Endpoint::Ssh);
        assert_eq!(endpoint("tcp:127.0.0.1:80"), Endpoint::Plain);
        assert_eq!(endpoint("unix:///run/podman.sock"), Endpoint::Local);
        assert_eq!(endpoint(""), Endpoint::Plain, "nobody says how");
    }
}

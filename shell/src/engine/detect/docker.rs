//! docker: its endpoint by the user's own client, its facts by `docker version` and `docker info`.

use std::env;
use std::path::{Path, PathBuf};

use orca_container_core::input::{EngineClient, EngineFacts};
use orca_container_core::{Endpoint, EngineKind, LimitKind};
use serde_json::Value;

use super::super::client::Client;
use super::docker_endpoint::{DockerEndpoint, docker_endpoint, user_docker_config};
use super::holes::runc_holes;
use super::{Detected, EngineDetails, EngineError, PATIENCE, base_env, json, not_answering, number, text};

/// Facts of the docker engine that the user's own client would speak to.
pub(super) fn detected(program: &str, docker_config: &Path) -> Result<Detected, EngineError> {
    let DockerEndpoint { host, kind, certificates } = docker_endpoint(program)?;
    let mut env = base_env(&["PATH", "HOME"]);
    // The user's own configuration would put its proxies, passwords included, into the container.
    env.insert("DOCKER_CONFIG".into(), docker_config.to_string_lossy().into_owned());
    env.insert("DOCKER_HOST".into(), host);
    if kind == Endpoint::Ssh {
        env.extend(base_env(&["SSH_AUTH_SOCK"]));
    }
    if let Some(folder) = certificates {
        env.insert("DOCKER_CERT_PATH".into(), folder);
        env.insert("DOCKER_TLS_VERIFY".into(), "1".into());
    }
    let client = Client { program: program.into(), env: env.clone() };
    let answer = client.ask(&["version", "--format", "{{json .}}"], PATIENCE)?;
    let version = json(&answer);
    let Some(server) = version.get("Server").filter(|server| !server.is_null()) else {
        return Err(not_answering("docker", &answer));
    };
    let components = server.get("Components").and_then(Value::as_array).cloned().unwrap_or_default();
    let component =
        |name: &str| components.iter().find(|c| text(c, "Name") == name).map(|c| text(c, "Version"));
    if component("Podman Engine").is_some() {
        return Err(EngineError::DockerOverPodman);
    }
    let answer = client.ask(&["info", "--format", "{{json .}}"], PATIENCE)?;
    let info = json(&answer);
    if info.get("NCPU").is_none() {
        return Err(not_answering("docker", &answer));
    }
    let of = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    let facts = facts(
        kind,
        &info,
        &component("runc").unwrap_or_default(),
        EngineClient {
            program: program.into(),
            env,
            // A pull hands the registry's password to the engine: not where everybody could read it.
            pull_docker_config: user_docker_config(&of).filter(|_| kind != Endpoint::Plain),
        },
    );
    Ok(Detected { facts, details: details(&info) })
}

/// Whether the daemon is in debug mode now: it can be switched while it runs.
pub(crate) fn in_debug_mode(client: &Client) -> Result<bool, EngineError> {
    let answer = client.ask(&["info", "--format", "{{.Debug}}"], PATIENCE)?;
    match answer.text().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(not_answering("docker", &answer)),
    }
}

/// What a plan needs, out of `docker info`.
fn facts(endpoint: Endpoint, info: &Value, runc: &str, client: EngineClient) -> EngineFacts {
    let options = security_options(info);
    let has = |name: &str| options.iter().any(|option| option == name);
    let flag = |name: &str| info.get(name).and_then(Value::as_bool).unwrap_or(false);
    let limits = [
        (LimitKind::Memory, flag("MemoryLimit")),
        (LimitKind::Swap, flag("SwapLimit")),
        (LimitKind::Cpu, flag("CpuCfsQuota")),
        (LimitKind::Pids, flag("PidsLimit")),
    ];
    EngineFacts {
        kind: EngineKind::Docker,
        version: text(info, "ServerVersion"),
        endpoint,
        rootless: has("rootless"),
        userns: has("userns") || has("rootless"),
        cpus: number(info, "NCPU"),
        memory_bytes: info.get("MemTotal").and_then(Value::as_u64).unwrap_or(0),
        limits: limits.into_iter().filter(|(_, there)| *there).map(|(limit, _)| limit).collect(),
        cgroup_version: text(info, "CgroupVersion").parse().ok(),
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
        debug: flag("Debug"),
        vulnerabilities: runc_holes(runc),
        client,
    }
}

/// Names of the security options: docker prints `name=seccomp,profile=default`.
fn security_options(info: &Value) -> Vec<String> {
    info.get("SecurityOptions")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .flat_map(|option| option.split(','))
        .filter_map(|part| part.strip_prefix("name="))
        .map(String::from)
        .collect()
}

/// What a person wants to know beyond that.
fn details(info: &Value) -> EngineDetails {
    let raw = |name: &str| info.get(name).and_then(Value::as_str).unwrap_or_default();
    EngineDetails {
        data_places: Some(raw("DockerRootDir"))
            .filter(|place| !place.is_empty())
            .map(PathBuf::from)
            .into_iter()
            .collect(),
        kernel: text(info, "KernelVersion"),
        hostname: text(info, "Name"),
        init: Some(text(info, "InitBinary")).filter(|init| !init.is_empty()),
        seccomp: security_options(info).iter().any(|option| option == "seccomp") && !is_unconfined(info),
        default_runtime: text(info, "DefaultRuntime"),
    }
}

/// A daemon whose default seccomp profile is none says so in the profile's name.
fn is_unconfined(info: &Value) -> bool {
    info.get("SecurityOptions")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .any(|option| option.contains("name=seccomp") && option.contains("profile=unconfined"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_that_confines_nothing_is_no_seccomp() {
        let seccomp = |options: &str| details(&serde_json::json!({"SecurityOptions": [options]})).seccomp;
        assert!(seccomp("name=seccomp,profile=default"));
        assert!(!seccomp("name=seccomp,profile=unconfined") && !seccomp("name=apparmor"));
    }

    #[test]
    fn answers_of_odd_types_give_the_least_that_can_be_believed() {
        for odd in [
            "null",
            "[]",
            "{}",
            "7",
            r#"{"SecurityOptions":{"a":1},"DockerRootDir":[],"NCPU":"x","Runtimes":[1],"MemTotal":-1}"#,
        ] {
            let info: Value = serde_json::from_str(odd).unwrap();
            let facts = facts(Endpoint::Local, &info, "", EngineClient::default());
            assert!(facts.limits.is_empty() && facts.runtimes.is_empty() && facts.memory_bytes == 0, "{odd}");
            assert!(details(&info).data_places.is_empty() && !details(&info).seccomp, "{odd}");
        }
    }
}

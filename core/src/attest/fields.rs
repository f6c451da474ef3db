//! Small readers over an engine's JSON. What is missing stays missing: nothing is taken for granted.

use super::Observation;
use alloc::{format, string::String, vec::Vec};
use serde_json::{Value, json};

/// null as an empty list.
pub(super) fn list(value: &Value) -> Value {
    if value.is_null() { json!([]) } else { value.clone() }
}

/// null as an empty object.
pub(super) fn object(value: &Value) -> Value {
    if value.is_null() { json!({}) } else { value.clone() }
}

/// Fields that both engines spell alike.
pub(super) fn common(document: &Value) -> Observation {
    let mut observed = Observation::default();
    let (host, config) = (&document["HostConfig"], &document["Config"]);
    let mut copy = |field: &str, value: &Value| {
        if !value.is_null() {
            observed.set(format!("container.{field}"), value.clone());
        }
    };
    copy("hostname", &config["Hostname"]);
    copy("user", &config["User"]);
    copy("workdir", &config["WorkingDir"]);
    copy("command", &config["Cmd"]);
    copy("privileged", &host["Privileged"]);
    copy("ipcMode", &host["IpcMode"]);
    copy("pidMode", &host["PidMode"]);
    copy("utsMode", &host["UTSMode"]);
    copy("usernsMode", &host["UsernsMode"]);
    copy("memoryBytes", &host["Memory"]);
    copy("memorySwapBytes", &host["MemorySwap"]);
    copy("nanoCpus", &host["NanoCpus"]);
    copy("pidsLimit", &host["PidsLimit"]);
    copy("shmBytes", &host["ShmSize"]);
    copy("init", &host["Init"]);
    copy("restartPolicy", &host["RestartPolicy"]["Name"]);
    copy("logDriver", &host["LogConfig"]["Type"]);
    copy("autoRemove", &host["AutoRemove"]);
    copy("publishAllPorts", &host["PublishAllPorts"]);
    copy("securityOptions", &list(&host["SecurityOpt"]));
    copy("devices", &list(&host["Devices"]));
    copy("deviceCgroupRules", &list(&host["DeviceCgroupRules"]));
    copy("groups", &list(&host["GroupAdd"]));
    copy("oomKillDisabled", &json!(host["OomKillDisable"].as_bool().unwrap_or(false)));
    for (name, value) in config["Labels"].as_object().into_iter().flatten() {
        copy(&format!("labels.{name}"), value);
    }
    observed.set("container.ports", ports(&host["PortBindings"]));
    observed.set("container.healthcheck", healthcheck(&config["Healthcheck"]));
    observed
}

/// Fields of `HostConfig` that nothing of ours fills, by their names: each gives something of the host or of another
/// container, or says where a name leads. A limit below the engine's own is no business of this list.
pub(super) fn extras(host: &Value, engine: &[&str]) -> Value {
    let shared = ["DeviceRequests", "ExtraHosts", "Links", "Sysctls", "VolumesFrom", "VolumeDriver"];
    let filled = |value: &Value| match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(items) => !items.is_empty(),
        _ => true,
    };
    let mut found: Vec<Value> =
        shared.iter().chain(engine).filter(|name| filled(&host[**name])).map(|name| json!(name)).collect();
    if host["OomScoreAdj"].as_i64().is_some_and(|score| score < 0) {
        found.push(json!("OomScoreAdj"));
    }
    Value::Array(found)
}

/// Null for none, and for one that was switched off.
fn healthcheck(value: &Value) -> Value {
    let off = value.is_null() || value["Test"] == json!(["NONE"]);
    if off { Value::Null } else { json!("present") }
}

/// `{"8080/tcp": [{"HostIp": "127.0.0.1", "HostPort": ""}]}` as ports and addresses.
fn ports(bindings: &Value) -> Value {
    let mut ports = Vec::new();
    for (port, hosts) in bindings.as_object().into_iter().flatten() {
        for host in hosts.as_array().into_iter().flatten() {
            let container = port.strip_suffix("/tcp").and_then(|port| port.parse::<u16>().ok());
            let container = container.map_or_else(|| json!(port), |port| json!(port));
            ports.push(json!({"container": container, "address": host["HostIp"]}));
        }
    }
    Value::Array(ports)
}

/// `name=soft:hard`, lower case, without podman's `RLIMIT_`.
pub(super) fn ulimits(value: &Value) -> Value {
    let shown = |limit: &Value| {
        let name = limit["Name"].as_str().unwrap_or("").to_ascii_lowercase();
        let name = name.strip_prefix("rlimit_").map(String::from).unwrap_or(name);
        json!(format!("{name}={}:{}", limit["Soft"], limit["Hard"]))
    };
    Value::Array(value.as_array().into_iter().flatten().map(shown).collect())
}

/// The effective mounts of `Mounts`, which both engines spell alike, and those of `--tmpfs`, which stand elsewhere.
pub(super) fn mounts(document: &Value) -> Value {
    let value = &document["Mounts"];
    let shown = |mount: &Value| {
        let kind = mount["Type"].as_str().unwrap_or("");
        let source = if kind == "volume" { &mount["Name"] } else { &mount["Source"] };
        let source = if kind == "tmpfs" { &Value::Null } else { source };
        json!({"kind": kind, "source": source, "target": mount["Destination"], "readOnly": mount["RW"] == json!(false)})
    };
    let tmpfs = document["HostConfig"]["Tmpfs"].as_object().into_iter().flatten();
    let tmpfs = tmpfs.map(|(target, options)| tmpfs_of_options(target, options.as_str().unwrap_or_default()));
    Value::Array(value.as_array().into_iter().flatten().map(shown).chain(tmpfs).collect())
}

/// `size=67108864,mode=1777,nosuid`: a size that is not written is none.
fn tmpfs_of_options(target: &str, options: &str) -> Value {
    let read_only = options.split(',').any(|option| option == "ro");
    let mut mount = json!({"kind": "tmpfs", "source": null, "target": target, "readOnly": read_only});
    let size = options.split(',').find_map(|option| option.strip_prefix("size="));
    if let Some(bytes) = size.and_then(|size| size.parse::<u64>().ok()) {
        mount["sizeBytes"] = json!(bytes);
    }
    mount
}

/// Names of the networks that a container is in; its mode where it is in none by name.
pub(super) fn networks(document: &Value) -> Value {
    let mode = &document["HostConfig"]["NetworkMode"];
    if mode == "none" || mode == "host" || mode.as_str().is_some_and(|mode| mode.contains(':')) {
        return json!([mode]);
    }
    let names = document["NetworkSettings"]["Networks"]
        .as_object()
        .map(|networks| networks.keys().cloned().collect::<Vec<_>>());
    json!(names.unwrap_or_default())
}

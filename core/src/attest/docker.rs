//! docker's inspect in neutral words.

use super::{Observation, fields};
use alloc::vec::Vec;
use serde_json::{Value, json};

/// A container (measured on Engine 20.10).
pub(super) fn container(document: &Value) -> Observation {
    let mut observed = fields::common(document);
    let host = &document["HostConfig"];
    let name = document["Name"].as_str().unwrap_or("");
    observed.set("container.name", name.strip_prefix('/').unwrap_or(name));
    observed.set("container.imageId", document["Image"].clone());
    observed.set("container.entrypoint", fields::list(&document["Config"]["Entrypoint"]));
    observed.set("container.boundingCapabilities", bounding(host));
    observed.set("container.ulimits", fields::ulimits(&host["Ulimits"]));
    observed.set("container.networks", fields::networks(document));
    observed.set("container.mounts", mounts(document));
    observed.set("container.runtime", host["Runtime"].clone());
    let mut extras = fields::extras(host, &["CgroupParent", "Dns", "DnsOptions", "DnsSearch"]);
    // `systempaths=unconfined` leaves no security option behind, only these two lists empty (measured).
    for list in ["MaskedPaths", "ReadonlyPaths"] {
        if let (Some(extras), true) = (extras.as_array_mut(), host[list].as_array().is_none_or(Vec::is_empty))
        {
            extras.push(json!(list));
        }
    }
    observed.set("container.extras", extras);
    observed
}

/// Empty only when everything was dropped and nothing was added: `--cap-add` wins over `--cap-drop=ALL` (measured).
fn bounding(host: &Value) -> Value {
    let added = host["CapAdd"].as_array().cloned().unwrap_or_default();
    let all = host["CapDrop"].as_array().is_some_and(|drop| drop.iter().any(|cap| cap == "ALL"));
    if !all {
        return json!(["default"]);
    }
    Value::Array(added)
}

/// The effective mounts; one whose options make it something else (`type=volume` with a device) counts as a bind.
fn mounts(document: &Value) -> Value {
    let asked: Vec<&Value> = document["HostConfig"]["Mounts"].as_array().into_iter().flatten().collect();
    let disguised = |target: &Value| {
        let with_options = |asked: &Value| {
            asked["VolumeOptions"]["DriverConfig"]["Options"]
                .as_object()
                .is_some_and(|options| !options.is_empty())
        };
        asked.iter().any(|asked| asked["Target"] == *target && with_options(asked))
    };
    let mounts = fields::mounts(document);
    let size = |target: &Value| {
        let asked = asked.iter().find(|asked| asked["Target"] == *target)?;
        asked["TmpfsOptions"]["SizeBytes"].as_u64()
    };
    let judged = |mount: &Value| {
        let mut mount = mount.clone();
        if disguised(&mount["target"]) {
            mount["kind"] = json!("disguised");
        }
        if let Some(bytes) = size(&mount["target"]) {
            mount["sizeBytes"] = json!(bytes);
        }
        mount
    };
    Value::Array(mounts.as_array().into_iter().flatten().map(judged).collect())
}

/// The network of the installation.
pub(super) fn network(document: &Value) -> Observation {
    let mut observed = Observation::default();
    observed.set("network.name", document["Name"].clone());
    observed.set("network.driver", document["Driver"].clone());
    let icc = &document["Options"]["com.docker.network.bridge.enable_icc"];
    observed.set("network.peersIsolated", *icc == "false");
    observed
}

//! podman's inspect in neutral words.

use super::{Observation, fields};
use crate::{engine::create_words, plan::ContainerPlan};
use alloc::{format, vec::Vec};
use serde_json::{Value, json};

/// A container (measured on 4.3; later versions print the entrypoint as a list, so both are read).
pub(super) fn container(plan: &ContainerPlan, document: &Value) -> Observation {
    let mut observed = fields::common(document);
    let host = &document["HostConfig"];
    observed.set("container.name", document["Name"].clone());
    let image = document["Image"].as_str().unwrap_or("");
    let prefix = if image.starts_with("sha256:") { "" } else { "sha256:" };
    observed.set("container.imageId", format!("{prefix}{image}"));
    let entrypoint = &document["Config"]["Entrypoint"];
    observed.set(
        "container.entrypoint",
        if entrypoint.is_string() { json!([entrypoint]) } else { fields::list(entrypoint) },
    );
    observed.set("container.boundingCapabilities", bounding(document));
    observed.set("container.ulimits", fields::ulimits(&host["Ulimits"]));
    observed.set("container.networks", fields::networks(document));
    observed.set("container.mounts", fields::mounts(document));
    observed.set("container.runtime", document["OCIRuntime"].clone());
    // Where podman uses systemd's cgroups, it names a parent of its own.
    let mut extras = fields::extras(host, &[]);
    if let (Some(extras), true) = (extras.as_array_mut(), was_asked_for_more(plan, document)) {
        extras.push(json!("CreateCommand"));
    }
    observed.set("container.extras", extras);
    observed
}

/// Whether podman was called with words that are not ours: it keeps the whole command, and tells some of what it does
/// (`--sysctl`, `--secret`, `--dns`) nowhere else (measured on 4.3). What stands before `create` is the caller's own
/// choice of storage or runtime; a word of ours that is missing is another row's business.
fn was_asked_for_more(plan: &ContainerPlan, document: &Value) -> bool {
    let words = document["Config"]["CreateCommand"].as_array().into_iter().flatten();
    let words: Vec<&str> = words.filter_map(Value::as_str).collect();
    let Some(begin) = words.iter().position(|word| *word == "create") else { return false };
    let ours = create_words(plan);
    words.iter().skip(begin).any(|word| !ours.iter().any(|known| known == word))
}

/// podman lists what it dropped; the sets that are left say it all, and nothing may have been added.
fn bounding(document: &Value) -> Value {
    let added = document["HostConfig"]["CapAdd"].as_array().cloned().unwrap_or_default();
    let dropped = document["HostConfig"]["CapDrop"].as_array().map_or(0, alloc::vec::Vec::len);
    let left = |set: &str| document[set].as_array().cloned().unwrap_or_default();
    let mut capabilities = left("BoundingCaps");
    capabilities.extend(left("EffectiveCaps"));
    capabilities.extend(added);
    // Without --cap-drop both sets are printed as well; an empty document must not pass for a hardened one.
    if dropped == 0 && capabilities.is_empty() {
        return json!(["default"]);
    }
    Value::Array(capabilities)
}

/// The network of the workspace.
pub(super) fn network(document: &Value) -> Observation {
    let mut observed = Observation::default();
    let either = |lower: &str, upper: &str| {
        let value = &document[lower];
        if value.is_null() { document[upper].clone() } else { value.clone() }
    };
    observed.set("network.name", either("name", "Name"));
    observed.set("network.driver", either("driver", "Driver"));
    let isolate = &either("options", "Options")["isolate"];
    observed.set("network.peersIsolated", *isolate == "true");
    observed
}

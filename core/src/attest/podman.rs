//! podman's inspect in neutral words.

use super::{Observation, fields};
use alloc::format;
use serde_json::{Value, json};

/// A container (measured on 4.3; later versions print the entrypoint as a list, so both are read).
pub(super) fn container(document: &Value) -> Observation {
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
    observed.set("container.extras", fields::extras(host, &[]));
    observed
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

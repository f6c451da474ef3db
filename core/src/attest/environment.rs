//! The container's configured environment, by name, and by value against the image's own.

use super::Observation;
use crate::{input::ImageFacts, plan::ContainerPlan};
use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
};
use serde_json::{Value, json};

/// Variables that engines set themselves (measured: docker none in Config.Env, podman these).
const ENGINES_OWN: &[&str] = &["HOME", "HOSTNAME", "PATH", "TERM", "container"];

/// Notes which names were added to the image's environment, and which of the removed ones are gone.
pub(super) fn observe(
    plan: &ContainerPlan,
    image: &ImageFacts,
    document: &Value,
    observed: &mut Observation,
) {
    let images: BTreeMap<&str, &str> =
        image.env.iter().filter_map(|entry| entry.reveal().split_once('=')).collect();
    let mut present = BTreeSet::new();
    let mut added = BTreeSet::new();
    for entry in document["Config"]["Env"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        // docker keeps a bare name for "take it away".
        let Some((name, value)) = entry.split_once('=') else { continue };
        present.insert(name);
        let own = ENGINES_OWN.contains(&name) && !images.contains_key(name);
        if images.get(name) != Some(&value) && !own {
            added.insert(String::from(name));
        }
    }
    observed.set("container.startEnvNames", json!(added));
    for name in &plan.removed_env {
        let there = present.contains(name.as_str());
        observed.set(format!("container.env.{name}"), if there { json!("present") } else { Value::Null });
    }
}

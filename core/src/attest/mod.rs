//! What really is, compared with what must be: an engine's inspect in neutral words against the plan's
//! expectations.
//!
//! [`observe_container`], [`observe_volume`] and [`observe_network`] translate an engine's JSON into the field
//! names of [`crate::Expectation`]; [`attest`] compares. A field that was not observed never counts as a match.
//! No value of the container's environment is taken over, only names.

#![expect(clippy::indexing_slicing, reason = "a missing field of a serde_json value reads as null")]

mod confinement;
mod docker;
mod environment;
mod fields;
mod mount_points;
mod podman;
mod process;

pub use confinement::{CONFINEMENT_FIELDS, COVERED_PATHS, observe_confinement};
pub use process::{IdMaps, observe_process};

use crate::{
    input::ImageFacts,
    plan::{ContainerPlan, Expectation, Operator, VolumeRef, WORKSPACE_ROOT},
    words::{EngineKind, Evidence, words},
};
use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec::Vec,
};
use serde::Serialize;
use serde_json::Value;

words! {
    /// What comparing one field gave.
    CheckResult {
        /// It is as the plan says.
        Match = "match",
        /// It is not.
        Difference = "difference",
        /// It could not be read.
        Unverifiable = "unverifiable",
    }
}

/// Facts in neutral words, by field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation(BTreeMap<String, Value>);

impl Observation {
    pub(crate) fn set(&mut self, field: impl Into<String>, value: impl Into<Value>) {
        self.0.insert(field.into(), value.into());
    }

    /// A field's value.
    pub fn get(&self, field: &str) -> Option<&Value> {
        self.0.get(field)
    }

    /// Both observations in one.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The same facts without one; for tests that break one row at a time.
    #[must_use]
    pub fn with(mut self, field: &str, value: Value) -> Self {
        self.0.insert(field.into(), value);
        self
    }
}

/// One compared field.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// The field.
    pub field: String,
    /// What comparing gave.
    pub result: CheckResult,
    /// Where the fact comes from.
    pub evidence: Evidence,
    /// What the plan says.
    pub expected: Value,
    /// What was observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<Value>,
}

/// Which part of a plan is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The container's inspect.
    Container,
    /// The container's process, by the host's kernel.
    Process,
    /// A volume.
    Volume(VolumeRef),
    /// The network.
    Network,
}

impl Scope {
    fn prefix(self) -> String {
        match self {
            Self::Container => "container.".into(),
            Self::Process => "process.".into(),
            Self::Volume(volume) => format!("volumes.{volume}."),
            Self::Network => "network.".into(),
        }
    }
}

/// Compares an observation with every expectation of a scope. All rows are given, matching or not.
pub fn attest(plan: &ContainerPlan, scope: Scope, observed: &Observation) -> Vec<Check> {
    let prefix = scope.prefix();
    plan.expectations
        .iter()
        .filter(|row| row.field.starts_with(&prefix))
        .map(|row| check(row, observed))
        .collect()
}

/// The rows that do not match, as sentences without any value of a variable.
pub fn differences(checks: &[Check]) -> Vec<String> {
    checks
        .iter()
        .filter(|check| check.result != CheckResult::Match)
        .map(|check| match &check.observed {
            Some(observed) => format!("{} is {observed}, the plan says {}.", check.field, check.expected),
            None => format!("{} could not be read, the plan says {}.", check.field, check.expected),
        })
        .collect()
}

fn check(row: &Expectation, observed: &Observation) -> Check {
    let fact = observed.get(&row.field);
    let matches = match (row.op, fact) {
        // Absence must be observed as well: a null that was looked for, not a field that nobody read.
        (Operator::Absent, Some(fact)) => Some(fact.is_null()),
        (Operator::Equals, Some(fact)) => Some(*fact == row.value),
        (Operator::OneOf, Some(fact)) => {
            Some(row.value.as_array().is_some_and(|values| values.contains(fact)))
        }
        (Operator::SetEquals, Some(fact)) => Some(same_set(fact, &row.value)),
        (_, None) => None,
    };
    Check {
        field: row.field.clone(),
        result: match matches {
            Some(true) => CheckResult::Match,
            Some(false) => CheckResult::Difference,
            None => CheckResult::Unverifiable,
        },
        evidence: row.evidence,
        expected: row.value.clone(),
        observed: fact.cloned(),
    }
}

/// The same elements as often, in any order.
fn same_set(one: &Value, two: &Value) -> bool {
    let sorted = |value: &Value| {
        let mut texts: Vec<String> = value.as_array()?.iter().map(ToString::to_string).collect();
        texts.sort();
        Some(texts)
    };
    matches!((sorted(one), sorted(two)), (Some(one), Some(two)) if one == two)
}

/// A container's facts from the engine's `inspect` of exactly one container; `None` when it is not one.
///
/// `plan` names the variables to look for; `image` is what the image itself brings.
pub fn observe_container(plan: &ContainerPlan, image: &ImageFacts, inspect: &str) -> Option<Observation> {
    let document = single(inspect)?;
    let mut observed = match plan.engine.kind {
        EngineKind::Docker => docker::container(&document),
        EngineKind::Podman => podman::container(plan, &document),
    };
    environment::observe(plan, image, &document, &mut observed);
    if let Some(Value::Array(mounts)) = observed.0.get_mut("container.mounts") {
        mounts.retain(|mount| !is_images_own_volume(mount, image));
    }
    Some(observed)
}

/// An anonymous volume that the engine made because the image declares one there: docker has no way to leave it out.
/// It is empty or holds the image's own files, and goes with the container. Below our own volumes it is no such thing.
fn is_images_own_volume(mount: &Value, image: &ImageFacts) -> bool {
    let target = mount["target"].as_str().unwrap_or("");
    let anonymous = |name: &str| name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit());
    let below =
        |root: &str| target.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    mount["kind"] == "volume"
        && mount["source"].as_str().is_some_and(anonymous)
        && mount["readOnly"] == Value::Bool(false)
        && image.volumes.iter().any(|declared| declared.trim_end_matches('/') == target)
        && !below(WORKSPACE_ROOT)
        && !below("/orca")
}

/// A volume's facts from the engine's `volume inspect`.
pub fn observe_volume(volume: VolumeRef, inspect: &str) -> Option<Observation> {
    let document = single(inspect)?;
    let mut observed = Observation::default();
    let mut set = |name: &str, value: Value| observed.set(format!("volumes.{volume}.{name}"), value);
    set("name", document["Name"].clone());
    set("driver", document["Driver"].clone());
    set("labels", fields::object(&document["Labels"]));
    let options: Vec<Value> = document["Options"]
        .as_object()
        .map(|o| o.keys().cloned().map(Value::from).collect())
        .unwrap_or_default();
    set("options", options.into());
    Some(observed)
}

/// The network's facts from the engine's `network inspect`.
pub fn observe_network(engine: EngineKind, inspect: &str) -> Option<Observation> {
    let document = single(inspect)?;
    Some(match engine {
        EngineKind::Docker => docker::network(&document),
        EngineKind::Podman => podman::network(&document),
    })
}

/// The one element of an inspect's array.
fn single(inspect: &str) -> Option<Value> {
    match serde_json::from_str(inspect).ok()? {
        Value::Array(mut items) if items.len() == 1 => items.pop(),
        _ => None,
    }
}

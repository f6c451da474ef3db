//! What differs between two plans of a workspace, and between the variables of their launches. No value of a variable.

use crate::{
    input::PlanRequest,
    plan::ContainerPlan,
    report::workspace::{VariableChange, is_same_place},
    resolve::{self, Claim},
    source::Source,
    words::EnvChange,
};
use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};
use serde::Serialize;
use serde_json::Value;

/// Fields whose names are told and nothing else.
const BUILD_ARGUMENTS: &str = "image.build.arguments.";

/// A field of the plan that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PlanChange {
    /// Its path in the plan, joined by dots.
    pub field: String,
    /// What it was; absent where it was not there. Of a list, what only the old one has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// What it is; absent where it is not there any more. Of a list, what only the new one has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

/// What differs between two plans, by field. Digests of the plan itself, what follows from other fields, and places in files
/// are left out.
pub fn plan_changes(before: &ContainerPlan, after: &ContainerPlan) -> Vec<PlanChange> {
    let value = |plan: &ContainerPlan| comparable(&serde_json::to_value(plan).unwrap_or_default());
    let mut changes = Vec::new();
    differences("", Some(&value(before)), Some(&value(after)), &mut changes);
    changes
}

/// Without what is no fact of its own: digests of all, the revision of the rules, expectations, and lines of files.
fn comparable(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let is_command = members.contains_key("stage");
            // Where something stands in a file is an object; what is mounted is a text.
            let is_place = |name: &str, member: &Value| name == "source" && member.is_object();
            let own =
                |name: &str| !matches!(name, "digest" | "policyRevision" | "orca.plan" | "expectations");
            let kept = members.iter().filter(|(name, member)| {
                (own(name) || (is_command && *name == "digest")) && !is_place(name, member)
            });
            kept.map(|(name, member)| (name.clone(), comparable(member))).collect()
        }
        Value::Array(elements) => elements.iter().map(comparable).collect(),
        other => other.clone(),
    }
}

fn differences(field: &str, before: Option<&Value>, after: Option<&Value>, changes: &mut Vec<PlanChange>) {
    match (before, after) {
        (before, after) if before == after => {}
        // Arguments of a build are the repository's own words, and may hold what a person takes for a value.
        _ if field.starts_with(BUILD_ARGUMENTS) => {
            changes.push(PlanChange { field: field.into(), before: None, after: None });
        }
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for name in names {
                let path = if field.is_empty() { name.clone() } else { format!("{field}.{name}") };
                differences(&path, old.get(name), new.get(name), changes);
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) => {
            let only = |of: &[Value], other: &[Value]| -> Value {
                of.iter().filter(|element| !other.contains(element)).cloned().collect()
            };
            let (gone, added) = (only(old, new), only(new, old));
            let reordered = gone == added;
            let (gone, added) =
                if reordered { (old.clone().into(), new.clone().into()) } else { (gone, added) };
            changes.push(PlanChange { field: field.into(), before: Some(gone), after: Some(added) });
        }
        _ => changes.push(PlanChange { field: field.into(), before: before.cloned(), after: after.cloned() }),
    }
}

/// A plan and the request of its launches.
pub(crate) type Side<'a> = (&'a ContainerPlan, &'a PlanRequest);

/// What becomes of variables when launches go by another plan and other texts; by name.
pub(crate) fn environment_changes(before: Side<'_>, after: Side<'_>) -> Vec<VariableChange> {
    let judged = |(plan, request)| resolve::judge_launch(request, plan);
    let (old, new) = (judged(before), judged(after));
    let old_claims: BTreeMap<&str, &Claim<'_>> = old.environment.active().collect();
    let new_claims: BTreeMap<&str, &Claim<'_>> = new.environment.active().collect();
    let mut changes = BTreeMap::new();
    for (name, claim) in &new_claims {
        let change = match old_claims.get(name) {
            None => EnvChange::New,
            Some(was) if is_another(was, claim) => EnvChange::Edited,
            Some(was) => {
                let places: [Source; 2] = [old.sources.get(was.source), new.sources.get(claim.source)];
                if is_same_place(&places[0], &places[1]) && was.delivery == claim.delivery {
                    continue;
                }
                EnvChange::Moved
            }
        };
        changes.insert(*name, change);
    }
    for name in old_claims.keys().filter(|name| !new_claims.contains_key(*name)) {
        changes.insert(*name, EnvChange::Gone);
    }
    changes.into_iter().map(|(name, change)| VariableChange { name: name.into(), change }).collect()
}

/// Whether a process would get another value, as far as that is known before a launch.
fn is_another(before: &Claim<'_>, after: &Claim<'_>) -> bool {
    let parts = |claim: &Claim<'_>| (claim.given.host_names(), claim.given.is_secret());
    before.given.text() != after.given.text()
        || before.given.text_parts() != after.given.text_parts()
        || parts(before) != parts(after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use serde_json::json;

    #[test]
    fn a_difference_is_told_by_its_field() {
        let before =
            json!({"a": {"b": 1, "c": 2}, "list": [1], "digest": "x", "user": {"source": {"line": 1}}});
        let after =
            json!({"a": {"b": 1, "d": 3}, "list": [1, 2], "digest": "y", "user": {"source": {"line": 2}}});
        let mut changes = Vec::new();
        differences("", Some(&comparable(&before)), Some(&comparable(&after)), &mut changes);
        let told: Vec<(&str, bool, bool)> = changes
            .iter()
            .map(|change| (change.field.as_str(), change.before.is_some(), change.after.is_some()))
            .collect();
        assert_eq!(told, vec![("a.c", true, false), ("a.d", false, true), ("list", true, true)]);
    }

    #[test]
    fn what_is_mounted_differs_and_a_build_argument_is_told_by_its_name() {
        let plan = |volume: &str, argument: &str| {
            json!({"mounts": [{"source": volume, "target": "/a"}],
                   "image": {"build": {"dockerfile": "D", "arguments": {"TOKEN": argument}}}})
        };
        let (before, after) = (comparable(&plan("one", "first")), comparable(&plan("two", "second")));
        let mut changes = Vec::new();
        differences("", Some(&before), Some(&after), &mut changes);
        let fields: Vec<&str> = changes.iter().map(|change| change.field.as_str()).collect();
        assert_eq!(fields, vec!["image.build.arguments.TOKEN", "mounts"]);
        assert!(changes.iter().all(|change| !format!("{change:?}").contains("second")));
    }

    #[test]
    fn another_command_differs_by_its_digest() {
        let command = |digest: &str| json!({"commands": [{"stage": "postCreateCommand", "digest": digest}]});
        assert_ne!(comparable(&command("a")), comparable(&command("b")));
    }
}

//! The environment of a workspace that is there: what its next launch gets, what its last one had, and what of the
//! repository's files changed meanwhile. Names only.

use super::environment::{EffectiveEnvironment, EnvEntry};
use crate::{
    resolve::LaunchJudgement,
    secret::Sensitive,
    source::Source,
    words::{Delivery, DriftKind, DriftPlace, EnvChange, EnvState, Layer},
};
use alloc::{collections::BTreeMap, string::String, vec::Vec};
use serde::{Deserialize, Serialize};

/// A variable that a launch had, as a record keeps it: no value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LaunchedVariable {
    /// Its name.
    pub name: String,
    /// The layer that gave it.
    pub layer: Layer,
    /// Where it was said.
    pub source: Source,
    /// How it was delivered.
    pub delivery: Delivery,
}

/// What became of a variable since the last launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct VariableChange {
    /// Its name.
    pub name: String,
    /// What became of it.
    pub change: EnvChange,
}

/// A file of the repository that is not what the workspace was made with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Drift {
    /// Its path in the repository.
    pub file: String,
    /// Where it differs.
    pub place: DriftPlace,
    /// How.
    pub kind: DriftKind,
}

/// The environment of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceEnvironment {
    /// What the next launch gets, and why.
    #[serde(flatten)]
    pub effective: EffectiveEnvironment,
    /// What the last launch had, by name; absent before the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_launch: Option<Vec<LaunchedVariable>>,
    /// What changed since then, and which start variables wait for a recreate; by name.
    pub changes: Vec<VariableChange>,
    /// Files of the repository that changed since the workspace was made. Their new texts are not used.
    pub drift: Vec<Drift>,
}

impl WorkspaceEnvironment {
    /// What the next launch would write down of itself.
    pub fn launched(effective: &EffectiveEnvironment) -> Vec<LaunchedVariable> {
        let active = effective.environment.iter().filter(|entry| entry.state == EnvState::Active);
        let launched = |entry: &EnvEntry| LaunchedVariable {
            name: entry.name.clone(),
            layer: entry.layer,
            source: entry.source.clone(),
            delivery: entry.delivery,
        };
        active.map(launched).collect()
    }

    /// What became of one variable.
    pub fn change(&self, name: &str) -> Option<EnvChange> {
        self.changes.iter().find(|changed| changed.name == name).map(|changed| changed.change)
    }
}

/// Puts a workspace's report together. `edited` are the names that a person edited for this workspace since its last
/// launch, `recreate` the start variables that the container has with another value.
pub(crate) fn in_workspace(
    effective: EffectiveEnvironment,
    last_launch: Option<Vec<LaunchedVariable>>,
    edited: &[String],
    recreate: &[String],
    drift: Vec<Drift>,
) -> WorkspaceEnvironment {
    let now = WorkspaceEnvironment::launched(&effective);
    let mut changes = BTreeMap::new();
    if let Some(last) = &last_launch {
        since(last, &now, edited, &mut changes);
    }
    for name in recreate {
        changes.insert(name.as_str(), EnvChange::Recreate);
    }
    let changes = changes.into_iter().map(|(name, change)| VariableChange { name: name.into(), change });
    WorkspaceEnvironment { changes: changes.collect(), effective, last_launch, drift }
}

/// What a start variable is said to be changes nothing before a recreate, so it is compared by value elsewhere.
fn since<'a>(
    last: &'a [LaunchedVariable],
    now: &'a [LaunchedVariable],
    edited: &'a [String],
    changes: &mut BTreeMap<&'a str, EnvChange>,
) {
    let had: BTreeMap<&str, &LaunchedVariable> = last.iter().map(|v| (v.name.as_str(), v)).collect();
    let has: BTreeMap<&str, &LaunchedVariable> = now.iter().map(|v| (v.name.as_str(), v)).collect();
    for (name, variable) in &has {
        let change = match had.get(name) {
            None => EnvChange::New,
            _ if variable.delivery == Delivery::Start => continue,
            Some(_) if edited.iter().any(|edited| edited == name) => EnvChange::Edited,
            Some(before)
                if before.layer != variable.layer || !is_same_place(&before.source, &variable.source) =>
            {
                EnvChange::Moved
            }
            Some(_) => continue,
        };
        changes.insert(name, change);
    }
    for (name, variable) in &had {
        if !has.contains_key(name) && variable.delivery != Delivery::Start {
            changes.insert(name, EnvChange::Gone);
        }
    }
}

/// A line that only moved within its file is the same place.
pub(super) fn is_same_place(before: &Source, now: &Source) -> bool {
    before.origin == now.origin && before.file == now.file && before.path == now.path
}

/// Names of the start variables that the container has with another value than they have now, or has no more right
/// to. `observed` is its configured environment, `NAME=value` each; the last one of a name counts.
pub(crate) fn edited_start_variables(
    judgement: &LaunchJudgement<'_>,
    start: &[String],
    observed: &[Sensitive],
) -> Vec<String> {
    let has = |name: &str| {
        let entries = observed.iter().rev().filter_map(|entry| entry.reveal().split_once('='));
        entries.into_iter().find(|(of, _)| *of == name).map(|(_, value)| value)
    };
    let now: BTreeMap<&str, Option<&str>> =
        judgement.environment.active().map(|(name, claim)| (name, claim.given.text())).collect();
    let differs = |name: &&String| has(name) != now.get(name.as_str()).copied().flatten();
    start.iter().filter(differs).cloned().collect()
}

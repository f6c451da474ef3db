//! What differs from the container of before: told before a question is asked and before anything is touched.

use orca_container_core::input::{Approval, PlanRequest};
use orca_container_core::{
    ApprovalKind, ContainerPlan, PendingApproval, PlanAnswer, PlanChange, VariableChange, plan,
    recreate_changes,
};

use super::super::WorkspaceError;
use super::super::environment::configured;
use super::super::launch::{give_image_values, launch_request};
use crate::engine::{Client, image_configuration};
use crate::settings::Settings;
use crate::store::{FrozenText, FrozenTexts, Store, WorkspaceRecord};

/// What differs from the container of before; no value of a variable.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// Files of the repository whose new text counts.
    pub files: Vec<String>,
    /// Patterns of .worktreeinclude that are new.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub patterns_added: Vec<String>,
    /// Patterns of .worktreeinclude that are gone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub patterns_removed: Vec<String>,
    /// Fields of the plan.
    pub plan: Vec<PlanChange>,
    /// Variables.
    pub variables: Vec<VariableChange>,
}

impl Difference {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.plan.is_empty() && self.variables.is_empty()
    }
}

/// What is compared with a workspace as it is.
pub(super) struct Side<'a> {
    pub(super) plan: &'a ContainerPlan,
    pub(super) request: &'a PlanRequest,
    pub(super) texts: &'a FrozenTexts,
}

/// The difference between a workspace and what would be made of it.
pub(super) fn difference(
    before: &WorkspaceRecord,
    after: &Side<'_>,
    store: &Store,
    settings: &Settings,
) -> Result<Difference, WorkspaceError> {
    let mut was = launch_request(before, store, settings)?;
    // Where the image is gone, names are all that is left of it.
    let _ = give_image_values(&mut was, before);
    let observed = configured(before);
    let changes = recreate_changes((&before.plan, &was), (after.plan, after.request), observed.as_deref());
    let (patterns_added, patterns_removed) = patterns(&before.texts, after.texts);
    Ok(Difference {
        files: changed_files(&before.texts, after.texts),
        patterns_added,
        patterns_removed,
        plan: changes.plan,
        variables: changes.variables,
    })
}

/// The same before anything is asked, pulled, built or looked up, with what waits for a person. Where another image is
/// named, what only its look can tell is left out.
pub(super) fn preview(
    before: &WorkspaceRecord,
    request: &PlanRequest,
    texts: &FrozenTexts,
    approve: &[String],
    store: &Store,
    settings: &Settings,
) -> Result<(Difference, Vec<PendingApproval>), WorkspaceError> {
    let mut request = request.clone();
    request.image_facts = Some(before.image.facts());
    // As in what it is compared with: a value that refers to the image's own is the same on both sides.
    let _ = give_image_values(&mut request, before);
    let of_each_kind = |digest: &String| {
        let digest = digest.clone();
        ApprovalKind::ALL.iter().map(move |kind| Approval { kind: *kind, digest: digest.clone() })
    };
    request.approvals.extend(approve.iter().flat_map(of_each_kind));
    let planned = match plan(&request) {
        PlanAnswer::Planned(planned) => planned,
        PlanAnswer::Refused(refusal) => return Err(refusal.into()),
    };
    let after = Side { plan: &planned.plan, request: &request, texts };
    let mut found = difference(before, &after, store, settings)?;
    let same_image = planned.plan.image.reference == before.plan.image.reference;
    if !same_image {
        found.plan.retain(|change| change.field != "image.id" && !change.field.starts_with("user."));
    } else if let Some(now) = moved(before) {
        found.plan.push(PlanChange {
            field: "image.id".into(),
            before: Some(before.image.id.clone().into()),
            after: Some(now.into()),
        });
    }
    Ok((found, planned.pending_approvals))
}

/// The id that the image's name means now, where it is another one.
fn moved(before: &WorkspaceRecord) -> Option<String> {
    let client = Client { program: before.engine.program.clone(), env: before.engine.env.clone() };
    let now = image_configuration(&client, &before.plan.image.reference).ok()?.id;
    (now != before.image.id).then_some(now)
}

/// Names of the files whose frozen text is another.
fn changed_files(before: &FrozenTexts, after: &FrozenTexts) -> Vec<String> {
    let file = |text: &Option<FrozenText>| text.as_ref().map(|file| (file.path.clone(), file.text.clone()));
    let mut changed = Vec::new();
    for (old, new) in [
        (file(&before.orca_yaml), file(&after.orca_yaml)),
        (file(&before.devcontainer), file(&after.devcontainer)),
    ] {
        if old != new {
            changed.extend(new.or(old).map(|(path, _)| path));
        }
    }
    if before.worktree_include != after.worktree_include {
        changed.push(".worktreeinclude".into());
    }
    changed
}

/// Lines of .worktreeinclude that are new, and that are gone.
fn patterns(before: &FrozenTexts, after: &FrozenTexts) -> (Vec<String>, Vec<String>) {
    let lines = |texts: &FrozenTexts| -> Vec<String> {
        let text = texts.worktree_include.clone().unwrap_or_default();
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(String::from).collect()
    };
    let (old, new) = (lines(before), lines(after));
    let only = |of: &[String], other: &[String]| -> Vec<String> {
        of.iter().filter(|line| !other.contains(line)).cloned().collect()
    };
    (only(&new, &old), only(&old, &new))
}

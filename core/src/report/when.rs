//! When a change counts: what the next launch picks up of it, what waits for a container made anew, and why.

use crate::{
    answer::{POLICY_REVISION, Refusal},
    diagnostic::{Code, Diagnostic, Findings, Severity},
    engine::check_plan,
    input::PlanRequest,
    plan::ContainerPlan,
    report::{
        anew::{container_changes, planned},
        changes::{PlanChange, environment_changes},
        workspace::VariableChange,
    },
    source::Source,
    words::{Origin, RecreateReason},
};
use alloc::{collections::BTreeSet, format, string::String, vec::Vec};
use serde::Serialize;

/// Something that a new container would have and the one that runs has not.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct WaitingChange {
    /// The field of the plan that differs; absent where it is a variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanChange>,
    /// The variable that differs; absent where it is a field of the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable: Option<VariableChange>,
    /// Why it waits.
    pub why: RecreateReason,
}

/// What becomes of a changed request, by when it counts. No value of a variable.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Changes {
    /// Always true; a refusal has false.
    pub ok: bool,
    /// Variables that every new process gets otherwise, in the container that runs.
    pub next_launch: Vec<VariableChange>,
    /// What waits for a recreate.
    pub recreate: Vec<WaitingChange>,
    /// Why the repository's files of now could not be adopted, where they could not; launches go on by the frozen ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_adoptable: Vec<Diagnostic>,
    /// What to know beside: that the rules are others than when the plan was made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Diagnostic>,
}

/// The difference that a later request makes to a workspace: its frozen plan and the request that it was made of (or, after
/// that, last launched by), and the request of now with the repository's texts of now. Settings that
/// give no plan are answered with their refusal, and so is a plan of something else.
pub(crate) fn changes(
    frozen: &ContainerPlan,
    before: &PlanRequest,
    after: &PlanRequest,
) -> Result<Changes, Refusal> {
    let after = &with_facts_of(after, before);
    let kept = with_texts_of(after, before);
    // The container that runs is of the image of before, whatever is named now.
    let here = PlanRequest { image_facts: before.image_facts.clone(), ..kept.clone() };
    let mut findings = Findings::default();
    for request in [before, &here] {
        check_plan(frozen, request, &mut findings);
    }
    if findings.refused() {
        return Err(Refusal::of(findings.into_sorted()));
    }
    let in_new_settings = planned(&kept)?;
    let (adopted, not_adoptable) = match planned(after) {
        Ok(adopted) => (Some(adopted), Vec::new()),
        Err(refusal) => (None, refusal.problems),
    };
    let of_launch = environment_changes((frozen, before), (frozen, &here));
    let is_start = |change: &VariableChange| frozen.start_env.contains(&change.name);
    let (at_start, next_launch): (Vec<_>, Vec<_>) = of_launch.into_iter().partition(is_start);

    let mut waiting = Waiting::default();
    waiting.variables(at_start, RecreateReason::StartVariable);
    waiting.fields(container_changes(frozen, &in_new_settings), RecreateReason::Container);
    waiting.variables(
        environment_changes((frozen, &here), (&in_new_settings, &kept)),
        RecreateReason::Container,
    );
    if let Some(adopted) = &adopted {
        waiting.fields(container_changes(&in_new_settings, adopted), RecreateReason::RepositoryFile);
        waiting.variables(
            environment_changes((&in_new_settings, &kept), (adopted, after)),
            RecreateReason::RepositoryFile,
        );
    }
    let notices = policy_updated(frozen).into_iter().collect();
    Ok(Changes { ok: true, next_launch, recreate: waiting.changes, not_adoptable, notices })
}

/// Says that a plan was made by other rules than those of this program. What they make otherwise is told field by field;
/// nothing is said of a plan of before, which does not tell its own.
fn policy_updated(frozen: &ContainerPlan) -> Option<Diagnostic> {
    let was = frozen.policy_revision.filter(|was| *was != POLICY_REVISION)?;
    let message = format!(
        "The plan was made by revision {was} of the rules, and this program judges by revision {POLICY_REVISION}."
    );
    let source = Source::setting(Origin::Request, "plan.policyRevision");
    let notice = Diagnostic::new(Severity::Notice, Code::PolicyUpdated, message, source);
    Some(notice.help("What they make otherwise counts in a container that is made anew."))
}

/// What nobody looked at again is as it was.
fn with_facts_of(request: &PlanRequest, before: &PlanRequest) -> PlanRequest {
    PlanRequest {
        engine: request.engine.clone().or_else(|| before.engine.clone()),
        image_facts: request.image_facts.clone().or_else(|| before.image_facts.clone()),
        ..request.clone()
    }
}

/// The texts of the repository count as they were until a person adopts others.
fn with_texts_of(request: &PlanRequest, frozen: &PlanRequest) -> PlanRequest {
    PlanRequest {
        orca_yaml: frozen.orca_yaml.clone(),
        devcontainer: frozen.devcontainer.clone(),
        devcontainer_candidates: frozen.devcontainer_candidates.clone(),
        worktree_include: frozen.worktree_include.clone(),
        ..request.clone()
    }
}

/// What waits, each variable once: the first reason is the one that a person meets first.
#[derive(Default)]
struct Waiting {
    changes: Vec<WaitingChange>,
    named: BTreeSet<String>,
}

impl Waiting {
    fn fields(&mut self, fields: Vec<PlanChange>, why: RecreateReason) {
        self.changes.extend(fields.into_iter().map(|change| WaitingChange {
            plan: Some(change),
            variable: None,
            why,
        }));
    }

    fn variables(&mut self, variables: Vec<VariableChange>, why: RecreateReason) {
        for change in variables {
            if self.named.insert(change.name.clone()) {
                self.changes.push(WaitingChange { plan: None, variable: Some(change), why });
            }
        }
    }
}

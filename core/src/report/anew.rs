//! What a container that is made anew would have otherwise: the one comparison behind `changes`, a recreate's difference, a
//! status and its badge.

use crate::{
    answer::{PlanAnswer, Refusal},
    diagnostic::{Code, Diagnostic, Findings, Severity},
    engine::check_plan,
    input::{ContainerOptions, PlanRequest},
    plan::ContainerPlan,
    report::{
        changes::{PlanChange, Side, environment_changes, plan_changes},
        workspace::{VariableChange, edited_start_variables},
    },
    resolve,
    secret::Sensitive,
    source::Source,
    words::{EnvChange, Origin},
};
use alloc::{string::String, vec::Vec};
use serde::Serialize;

/// What of a workspace waits for a recreate: its container is made by a frozen plan, and settings and rules go on.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Waiting {
    /// Start variables whose edit waits; names.
    #[serde(rename = "recreate", skip_serializing_if = "Vec::is_empty")]
    pub start_variables: Vec<String>,
    /// Fields of the plan that the settings and rules of now make otherwise, over the repository's texts as they were.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting_fields: Vec<PlanChange>,
    /// Why the settings and rules of now give no plan, where they give none: a recreate would be refused, launches go on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_plannable: Vec<Diagnostic>,
}

/// What a container that is made anew by another plan has otherwise. No value of a variable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContainerChanges {
    /// Fields of the plan.
    pub plan: Vec<PlanChange>,
    /// Variables.
    pub variables: Vec<VariableChange>,
}

/// What waits in the container that runs: `request` is that of a recreate now, with the frozen texts, and what nobody looked
/// at again as it was; `observed` is the container's configured environment.
pub(crate) fn waiting(
    frozen: &ContainerPlan,
    request: &PlanRequest,
    observed: Option<&[Sensitive]>,
) -> Waiting {
    let start_variables = waiting_for_recreate(frozen, request, observed);
    let (waiting_fields, not_plannable) = match planned(&without_copies(request)) {
        Ok(plan) => (container_changes(frozen, &plan), Vec::new()),
        Err(refusal) => (Vec::new(), refusal.problems),
    };
    let is_told = |change: &PlanChange| change.field != START_ENV;
    let refuses = |problem: &Diagnostic| problem.severity == Severity::Refused;
    Waiting {
        start_variables,
        waiting_fields: waiting_fields.into_iter().filter(is_told).collect(),
        not_plannable: not_plannable.into_iter().filter(refuses).collect(),
    }
}

/// Whether a request is one by which something may wait: of this plan, its texts and its image, with an engine's facts.
pub(crate) fn is_comparable(frozen: &ContainerPlan, request: &PlanRequest) -> Result<(), Refusal> {
    let mut findings = Findings::default();
    check_plan(frozen, request, &mut findings);
    if request.engine.is_none() {
        let source = Source::setting(Origin::Request, "engine");
        let message =
            "What waits is judged with the facts of the engine as they were when the plan was made.";
        findings.refuse(Code::RequestInvalid, source, message);
    }
    if findings.refused() { Err(Refusal::of(findings.into_sorted())) } else { Ok(()) }
}

/// Its names are told one by one.
const START_ENV: &str = "startEnv";

/// What a container has otherwise that is made by the plan of `after` in place of that of `before`.
pub(crate) fn recreate_changes(
    before: Side<'_>,
    after: Side<'_>,
    observed: Option<&[Sensitive]>,
) -> ContainerChanges {
    let mut variables = environment_changes(before, after);
    for name in waiting_for_recreate(before.0, after.1, observed) {
        if !variables.iter().any(|changed| changed.name == name) {
            variables.push(VariableChange { name, change: EnvChange::Recreate });
        }
    }
    ContainerChanges { plan: container_changes(before.0, after.0), variables }
}

/// Fields that a new container has otherwise. Digests of the repository's texts say no more than the names of the files, and
/// nothing is cloned a second time.
pub(crate) fn container_changes(before: &ContainerPlan, after: &ContainerPlan) -> Vec<PlanChange> {
    let is_told =
        |change: &PlanChange| !change.field.starts_with("sources.") && !change.field.starts_with("clone.");
    plan_changes(before, after).into_iter().filter(is_told).collect()
}

/// The plan of a request.
pub(crate) fn planned(request: &PlanRequest) -> Result<ContainerPlan, Refusal> {
    match crate::plan(request) {
        PlanAnswer::Planned(planned) => Ok(planned.plan),
        PlanAnswer::Refused(refusal) => Err(refusal),
    }
}

/// A recreate copies no ignored files, and which there are is asked by whoever copies: a list that nobody asked for is no
/// reason to refuse, also where a strict policy refuses what is left out.
fn without_copies(request: &PlanRequest) -> PlanRequest {
    let choices = ContainerOptions { copy_ignored_files: Some(false), ..request.choices.clone() };
    PlanRequest { choices, ..request.clone() }
}

/// Names of the start variables that take a recreate.
pub(crate) fn waiting_for_recreate(
    frozen: &ContainerPlan,
    request: &PlanRequest,
    observed: Option<&[Sensitive]>,
) -> Vec<String> {
    let judgement = resolve::judge(request);
    let now: Vec<&String> = judgement.options.start_env.iter().map(|(name, _)| name).collect();
    let gone = frozen.start_env.iter().filter(|name| !now.contains(name));
    let added = now.iter().copied().filter(|name| !frozen.start_env.contains(name));
    let mut names: Vec<String> = gone.chain(added).cloned().collect();
    if let Some(observed) = observed {
        let at_launch = resolve::judge_launch(request, frozen);
        names.extend(edited_start_variables(&at_launch, &frozen.start_env, observed));
    }
    names.sort();
    names.dedup();
    names
}

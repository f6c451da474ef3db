//! The effective environment as data: one entry a name, no value anywhere.

use crate::{
    answer::Refusal,
    diagnostic::{Diagnostic, Findings, Severity},
    policy::approval::PendingApproval,
    resolve::{Claim, Environment, Given, Judgement, LaunchJudgement},
    source::{Source, Sources},
    words::{Delivery, EditCost, EnvState, Layer, Origin},
};
use alloc::{format, string::String, vec::Vec};
use serde::Serialize;

/// A variable: who won, how it is delivered, who lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct EnvEntry {
    /// Its name.
    pub name: String,
    /// Its state; without a winner that of its strongest claim.
    pub state: EnvState,
    /// The winner's layer.
    pub layer: Layer,
    /// Where the winner was said.
    pub source: Source,
    /// How it is delivered.
    pub delivery: Delivery,
    /// What it takes until an edit of it reaches a process.
    pub edit_cost: EditCost,
    /// Whether its value is a secret.
    pub secret: bool,
    /// Host variables whose values are parts of its value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub host_names: Vec<String>,
    /// The other claims, strongest first.
    pub shadows: Vec<Shadow>,
}

/// A claim that did not win.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Shadow {
    /// Its layer.
    pub layer: Layer,
    /// Where it was said.
    pub source: Source,
    /// What became of it.
    pub state: EnvState,
}

/// The effective environment of a request, also where the plan is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct EffectiveEnvironment {
    /// Whether there is a plan.
    pub ok: bool,
    /// One entry a name, by name.
    pub environment: Vec<EnvEntry>,
    /// What waits for a person.
    pub pending_approvals: Vec<PendingApproval>,
    /// Everything that was found.
    pub problems: Vec<Diagnostic>,
    /// Who can read what, in sentences.
    pub readers: Vec<String>,
}

/// The entries of an environment, by name.
pub(crate) fn entries(environment: &Environment<'_>, sources: &Sources) -> Vec<EnvEntry> {
    environment.names().filter_map(|(name, claims)| entry(name, claims, sources)).collect()
}

fn entry(name: &str, claims: &[Claim<'_>], sources: &Sources) -> Option<EnvEntry> {
    let winner = claims.iter().rposition(|c| c.state == EnvState::Active).or(claims.len().checked_sub(1))?;
    let main = claims.get(winner)?;
    let shadows = claims
        .iter()
        .enumerate()
        .rev()
        .filter(|(index, _)| *index != winner)
        .map(|(_, c)| Shadow { layer: c.layer, source: sources.get(c.source), state: c.state })
        .collect();
    let source = sources.get(main.source);
    Some(EnvEntry {
        name: name.into(),
        state: main.state,
        layer: main.layer,
        edit_cost: edit_cost(main, &source),
        source,
        delivery: main.delivery,
        secret: main.given.is_secret(),
        host_names: main.given.host_names(),
        shadows,
    })
}

/// The repository's texts are frozen when a workspace is made, so its own words cost more than a person's.
fn edit_cost(claim: &Claim<'_>, source: &Source) -> EditCost {
    match (claim.delivery, source.origin) {
        _ if matches!(claim.given, Given::Constant(_) | Given::Orca) => EditCost::Fixed,
        // Its value is the host's of now, whoever asked for it.
        _ if matches!(claim.given, Given::Host) => EditCost::NextLaunch,
        (_, Origin::OrcaYaml | Origin::Devcontainer) => EditCost::AdoptRepositoryConfig,
        (Delivery::Image, _) => EditCost::Image,
        (Delivery::Start, _) => EditCost::Recreate,
        (Delivery::Launch, _) => EditCost::NextLaunch,
    }
}

/// The effective environment of a judgement.
pub(crate) fn effective(judgement: Judgement<'_>) -> EffectiveEnvironment {
    let environment = entries(&judgement.environment, &judgement.sources);
    of_parts(environment, judgement.pending, judgement.findings)
}

/// The effective environment of a launch over a frozen plan.
pub(crate) fn effective_at_launch(judgement: LaunchJudgement<'_>) -> EffectiveEnvironment {
    let environment = entries(&judgement.environment, &judgement.sources);
    let mut report = of_parts(environment, judgement.pending, judgement.findings);
    let entries = report.environment.iter_mut();
    entries.for_each(|entry| {
        of_workspace(&mut entry.source);
        entry.shadows.iter_mut().for_each(|shadow| of_workspace(&mut shadow.source));
    });
    report.problems.iter_mut().for_each(|problem| of_workspace(&mut problem.source));
    report
}

/// In a workspace that is there nobody speaks on a command line: what was typed is kept, and edited by `env set`.
fn of_workspace(source: &mut Source) {
    let typed =
        source.path.as_ref().filter(|path| source.origin == Origin::Choices && path.starts_with("env."));
    if let Some(path) = typed.map(|path| format!("workspace.{path}")) {
        source.path = Some(path);
    }
}

fn of_parts(
    environment: Vec<EnvEntry>,
    pending_approvals: Vec<PendingApproval>,
    findings: Findings,
) -> EffectiveEnvironment {
    let problems = findings.into_sorted();
    let ok = !problems.iter().any(|p| p.severity == Severity::Refused);
    let readers = if environment.is_empty() { Vec::new() } else { readers(&environment) };
    EffectiveEnvironment { ok, environment, pending_approvals, problems, readers }
}

/// Who can read what; nobody must believe otherwise.
fn readers(entries: &[EnvEntry]) -> Vec<String> {
    let active = |delivery: Delivery| {
        entries.iter().any(|entry| entry.state == EnvState::Active && entry.delivery == delivery)
    };
    let mut said = Vec::from([
        "Every process of the workspace, the agent included, can read each variable it gets; so can everything else that runs there, now or from before.",
    ]);
    if active(Delivery::Start) {
        said.push("Whoever may use the engine can read start variables: its inspect shows them.");
    }
    if entries.iter().any(|entry| entry.state == EnvState::Active && entry.layer == Layer::ContainerWorkspace)
    {
        said.push("What you set for the workspace alone is kept in a file that only you can read, until the workspace is removed.");
    }
    if entries.iter().any(|entry| entry.edit_cost == EditCost::AdoptRepositoryConfig) {
        said.push("What the repository's files say is as public as the repository; the workspace's record has it as well.");
    }
    if entries.iter().any(|entry| entry.secret || entry.layer == Layer::Host) {
        said.push(
            "Values of secrets and of host variables are stored nowhere. As long as a process runs that got one, this computer's root and your own processes can read it there, or in the engine's client that started it.",
        );
    }
    said.into_iter().map(String::from).collect()
}

impl From<Refusal> for EffectiveEnvironment {
    fn from(refusal: Refusal) -> Self {
        Self {
            ok: false,
            environment: Vec::new(),
            pending_approvals: Vec::new(),
            problems: refusal.problems,
            readers: Vec::new(),
        }
    }
}

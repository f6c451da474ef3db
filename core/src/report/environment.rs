//! The effective environment as data: one entry a name, no value anywhere.

use crate::{
    answer::Refusal,
    diagnostic::{Diagnostic, Severity},
    policy::approval::PendingApproval,
    resolve::{Claim, Environment, Judgement},
    source::{Source, Sources},
    words::{Delivery, EnvState, Layer},
};
use alloc::{string::String, vec::Vec};
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
    Some(EnvEntry {
        name: name.into(),
        state: main.state,
        layer: main.layer,
        source: sources.get(main.source),
        delivery: main.delivery,
        secret: main.given.is_secret(),
        host_names: main.given.host_names(),
        shadows,
    })
}

/// The effective environment of a judgement.
pub(crate) fn effective(judgement: Judgement<'_>) -> EffectiveEnvironment {
    let environment = entries(&judgement.environment, &judgement.sources);
    let problems = judgement.findings.into_sorted();
    let ok = !problems.iter().any(|p| p.severity == Severity::Refused);
    EffectiveEnvironment { ok, environment, pending_approvals: judgement.pending, problems }
}

impl From<Refusal> for EffectiveEnvironment {
    fn from(refusal: Refusal) -> Self {
        Self { ok: false, environment: Vec::new(), pending_approvals: Vec::new(), problems: refusal.problems }
    }
}

//! The ceiling: how far any repository can reach, computed from persons' words alone (design 2).

use super::persons::{EffectivePolicy, Persons};
use crate::{
    diagnostic::Findings,
    input::{Approval, PlanRequest},
    policy::maximum,
    words::{ApprovalKind, Mode, Network, Template},
};
use alloc::{string::String, vec::Vec};
use serde::Serialize;

/// Everything a plan of this request can contain at most, whatever the repository says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Ceiling {
    /// Modes.
    pub modes: Vec<Mode>,
    /// Largest template.
    pub template: Template,
    /// Widest network.
    pub network: Network,
    /// Host variables.
    pub host_env: Vec<String>,
    /// Images that persons name; an image of the repository needs an approval.
    pub images: Vec<String>,
    /// Ports.
    pub ports: Vec<u16>,
    /// Whether ignored files are copied without being asked for.
    pub copy_ignored_files: bool,
    /// Whether repository commands run without being asked for.
    pub repository_commands: bool,
    /// Approvals; each raises the ceiling by exactly the thing it names, within the maximum.
    pub approvals: Vec<ApprovedThing>,
}

/// An approval inside a ceiling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ApprovedThing {
    /// Its kind.
    pub kind: ApprovalKind,
    /// Its digest.
    pub digest: String,
}

impl From<&Approval> for ApprovedThing {
    fn from(approval: &Approval) -> Self {
        Self { kind: approval.kind, digest: approval.digest.clone() }
    }
}

/// The ceiling of a request. Reads neither orca.yaml, devcontainer.json, .worktreeinclude nor the image.
pub fn ceiling(request: &PlanRequest) -> Ceiling {
    let persons = Persons::of(request);
    let mode_of_persons =
        persons.strongest(|o| o.mode.as_deref().and_then(Mode::parse)).map_or(Mode::Volume, |(_, mode)| mode);
    Ceiling {
        modes: Mode::ALL
            .iter()
            .copied()
            .filter(|m| *m <= mode_of_persons && maximum::mode_is_within(request, *m))
            .collect(),
        template: largest_template(request),
        network: Network::ALL
            .iter()
            .rev()
            .copied()
            .find(|n| *n <= persons.network() && maximum::network_is_within(request, *n))
            .unwrap_or(Network::None),
        host_env: host_env(&persons, request),
        images: persons.ascending().filter_map(|p| p.options.image.clone()).collect(),
        ports: persons.strongest(|o| o.ports.clone()).map(|(_, ports)| ports).unwrap_or_default(),
        copy_ignored_files: persons.strongest(|o| o.copy_ignored_files).is_some_and(|(_, on)| on),
        repository_commands: EffectivePolicy::of(request, &mut Findings::default()).run_repository_commands,
        approvals: request.approvals.iter().map(ApprovedThing::from).collect(),
    }
}

fn largest_template(request: &PlanRequest) -> Template {
    Template::ALL
        .iter()
        .rev()
        .copied()
        .find(|t| maximum::template_is_within(request, *t))
        .unwrap_or(Template::Small)
}

fn host_env(persons: &Persons<'_>, request: &PlanRequest) -> Vec<String> {
    let mut names: Vec<String> = persons
        .ascending()
        .flat_map(|person| person.options.forward_host_env.iter().flatten())
        .filter(|name| maximum::host_env_is_within(request, name))
        .cloned()
        .collect();
    names.sort();
    names.dedup();
    names
}

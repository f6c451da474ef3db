//! The ceiling: how far any repository can reach, computed from persons' words alone (design 2).

use crate::{
    diagnostic::Findings,
    input::{Approval, Maximum, PlanRequest},
    parse::image_reference::ImageReference,
    resolve::{EffectivePolicy, Persons},
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
    // Which block of settings counts can depend on whether repo settings have one, never on a file's content.
    let admitted = match request.repo_settings.command_source_policy.as_deref() {
        Some("run-both" | "local-only") | None => request.repo_settings.container.as_ref(),
        Some(_) => None,
    };
    let persons = Persons::of(request, admitted);
    let mode_of_persons =
        persons.strongest(|o| o.mode.as_deref().and_then(Mode::parse)).map_or(Mode::Volume, |(_, mode)| mode);
    Ceiling {
        modes: Mode::ALL
            .iter()
            .copied()
            .filter(|m| *m <= mode_of_persons && mode_is_within(request, *m))
            .collect(),
        template: largest_template(request),
        network: Network::ALL
            .iter()
            .rev()
            .copied()
            .find(|n| *n <= network_of_persons(&persons) && network_is_within(request, *n))
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
    Template::ALL.iter().rev().copied().find(|t| template_is_within(request, *t)).unwrap_or(Template::Small)
}

fn host_env(persons: &Persons<'_>, request: &PlanRequest) -> Vec<String> {
    let mut names: Vec<String> = persons
        .ascending()
        .flat_map(|person| person.options.forward_host_env.iter().flatten())
        .filter(|name| host_env_is_within(request, name))
        .cloned()
        .collect();
    names.sort();
    names.dedup();
    names
}

/// The widest network of persons' words; `bridge` where nobody says anything.
pub(crate) fn network_of_persons(persons: &Persons<'_>) -> Network {
    persons
        .strongest(|o| o.network.as_deref().and_then(Network::parse))
        .map_or(Network::Bridge, |(_, network)| network)
}

fn maximum(request: &PlanRequest) -> Option<&Maximum> {
    request.global_settings.maximum.as_ref()
}

/// Whether the operator allows a mode.
pub(crate) fn mode_is_within(request: &PlanRequest, mode: Mode) -> bool {
    maximum(request)
        .and_then(|m| m.modes.as_ref())
        .is_none_or(|modes| modes.iter().any(|m| m == mode.as_str()))
}

/// Whether the operator allows a template.
pub(crate) fn template_is_within(request: &PlanRequest, template: Template) -> bool {
    let most = maximum(request).and_then(|m| m.template.as_deref()).and_then(Template::parse);
    most.is_none_or(|most| template <= most)
}

/// Whether the operator allows a network.
pub(crate) fn network_is_within(request: &PlanRequest, network: Network) -> bool {
    let most = maximum(request).and_then(|m| m.network.as_deref()).and_then(Network::parse);
    most.is_none_or(|most| network <= most)
}

/// Whether the operator allows a host variable.
pub(crate) fn host_env_is_within(request: &PlanRequest, name: &str) -> bool {
    maximum(request).and_then(|m| m.host_env.as_ref()).is_none_or(|names| names.iter().any(|n| n == name))
}

/// Whether the operator allows an image.
pub(crate) fn image_is_within(request: &PlanRequest, image: &ImageReference) -> bool {
    maximum(request)
        .and_then(|m| m.images.as_ref())
        .is_none_or(|prefixes| prefixes.iter().any(|p| image.is_below(p)))
}

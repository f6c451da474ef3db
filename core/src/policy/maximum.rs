//! The operator's maximum: it caps what persons and repositories ask for, and grants nothing.

use crate::{
    input::{Maximum, PlanRequest},
    parse::image_reference::ImageReference,
    words::{Mode, Network, Template},
};

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

/// Whether the operator allows so many published ports.
pub(crate) fn ports_are_within(request: &PlanRequest, count: usize) -> bool {
    let most = maximum(request).and_then(|m| m.ports);
    most.is_none_or(|most| u32::try_from(count).is_ok_and(|count| count <= most))
}

/// Whether the operator allows commands of a repository, by a person's word or an approval.
pub(crate) fn repository_commands_are_within(request: &PlanRequest) -> bool {
    maximum(request).and_then(|m| m.repository_commands) != Some(false)
}

/// Whether the operator allows images that are built: a list of images allows nothing else.
pub(crate) fn builds_are_within(request: &PlanRequest) -> bool {
    maximum(request).is_none_or(|m| m.images.is_none())
}

//! Whether orca.yaml's block is admitted at all: Orca's `commandSourcePolicy` (design 5).
//!
//! Settings of a person always count: dropping them could drop the only word that asks for a container, or the
//! one that narrows it (docs/decisions/0011).

use crate::{
    diagnostic::{Code, Findings},
    input::PlanRequest,
    parse::orca_yaml::{self, ContainerBlock},
    source::Source,
    words::Origin,
};

/// The block of orca.yaml, where the policy admits it.
///
/// `local-only` excludes it, and so does an absent policy where repo settings have a block of their own. Any other
/// word counts as `shared-only`, as in Orca, and admits it.
pub(super) fn admit(request: &PlanRequest, findings: &mut Findings) -> Option<ContainerBlock> {
    let local = request.repo_settings.container.is_some();
    let excluded = match request.repo_settings.command_source_policy.as_deref() {
        Some(policy) => policy == "local-only",
        None => local,
    };
    if excluded {
        note_excluded_file(request, findings);
        return None;
    }
    request.orca_yaml.as_ref().and_then(|file| orca_yaml::read(file, findings))
}

/// A file that is not admitted is not judged either; people are told when it has a block.
fn note_excluded_file(request: &PlanRequest, findings: &mut Findings) {
    let Some(file) = &request.orca_yaml else { return };
    let mut unread = Findings::default();
    if orca_yaml::read(file, &mut unread).is_none() && !unread.refused() {
        return;
    }
    let mut source = Source::origin(Origin::OrcaYaml);
    source.file = Some(file.path.clone());
    let message = "commandSourcePolicy \"local-only\" admits the repository's settings only; the block \
                   \"worktree.container\" of orca.yaml is left out.";
    findings.drop(Code::CommandSourcePolicy, source.at_path("worktree.container"), message);
    findings.help("Set commandSourcePolicy to \"run-both\" to use both; settings then win over orca.yaml.");
}

//! Which source of a container block is admitted at all: Orca's `commandSourcePolicy` (design 5).

use crate::{
    diagnostic::{Code, Findings},
    input::{ContainerOptions, PlanRequest},
    parse::orca_yaml::{self, ContainerBlock},
    source::Source,
    words::Origin,
};

/// The blocks that count.
#[derive(Debug)]
pub(super) struct Admitted<'r> {
    /// The block of orca.yaml.
    pub(super) orca_yaml: Option<ContainerBlock>,
    /// The block of repo settings.
    pub(super) repo_settings: Option<&'r ContainerOptions>,
}

/// `shared-only` admits orca.yaml, `local-only` repo settings, `run-both` both. Absent: `local-only` where
/// repo settings have a block. Any other word counts as `shared-only`, as in Orca.
pub(super) fn admit<'r>(request: &'r PlanRequest, findings: &mut Findings) -> Admitted<'r> {
    let local = request.repo_settings.container.as_ref();
    let (shared_admitted, local_admitted) = match request.repo_settings.command_source_policy.as_deref() {
        Some("run-both") => (true, true),
        Some("local-only") => (false, true),
        None if local.is_some() => (false, true),
        _ => (true, false),
    };
    let orca_yaml = if shared_admitted {
        request.orca_yaml.as_ref().and_then(|file| orca_yaml::read(file, findings))
    } else {
        note_excluded_file(request, findings);
        None
    };
    if !local_admitted && local.is_some() {
        let message = "commandSourcePolicy \"shared-only\" admits orca.yaml only; the container block of the \
                       repository's settings is left out.";
        findings.drop(Code::CommandSourcePolicy, Source::setting(Origin::RepoSettings, "container"), message);
        findings.help("Set commandSourcePolicy to \"run-both\" or \"local-only\" to use it.");
    }
    Admitted { orca_yaml, repo_settings: local.filter(|_| local_admitted) }
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

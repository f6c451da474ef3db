//! What is asked of a person, before anything is made and for `approve`.

use std::collections::BTreeSet;

use orca_container_core::input::{Approval, PlanRequest};
use orca_container_core::{Need, PendingApproval, PlanAnswer, Planned, Sensitive, asked_value, plan};

use super::helper::remove_leftovers;
use super::texts::take_branch;
use super::{CreateOptions, Ui, WorkspaceError};
use crate::gather::request::gather;
use crate::store::{Store, StoredApproval};

/// What a person is asked: the approval, and the value that it is about.
#[derive(Debug)]
pub struct Asked<'a> {
    /// The approval.
    pub approval: &'a PendingApproval,
    /// The value that is asked for, as it was read and not as its line looks; for a terminal only.
    pub value: Option<Sensitive>,
}

/// Judges, asks what waits, judges again: an answer can change what else is asked (a wider network does).
pub(super) fn judge(
    request: &mut PlanRequest,
    approve: &[String],
    store: &Store,
    ui: &mut dyn Ui,
) -> Result<Box<Planned>, WorkspaceError> {
    let mut unused: BTreeSet<&String> = approve.iter().collect();
    let mut declined: BTreeSet<String> = BTreeSet::new();
    loop {
        let planned = match plan(request) {
            PlanAnswer::Planned(planned) => planned,
            PlanAnswer::Refused(refusal) => return Err(refusal.into()),
        };
        let mut granted = Vec::new();
        for asked in &planned.pending_approvals {
            if declined.contains(&asked.digest) {
                continue;
            }
            let by_digest = unused.take(&asked.digest).is_some();
            let answer = if by_digest {
                Some(true)
            } else {
                ui.ask(&Asked { approval: asked, value: asked_value(request, asked) })
            };
            if answer == Some(true) {
                granted.push(asked.clone());
            } else {
                declined.insert(asked.digest.clone());
            }
        }
        if granted.is_empty() {
            if let Some(digest) = unused.into_iter().next() {
                return Err(WorkspaceError::NothingAsked(orca_container_core::quoted(digest)));
            }
            let blocking: Vec<PendingApproval> =
                planned.pending_approvals.iter().filter(|asked| asked.blocking).cloned().collect();
            return if blocking.is_empty() {
                Ok(planned)
            } else {
                Err(WorkspaceError::NeedsApproval(blocking))
            };
        }
        let repository_id = &request.workspace.repository_id;
        let stored = granted.iter().map(|asked| stored_approval(asked, repository_id)).collect();
        store.approve(stored)?;
        request
            .approvals
            .extend(granted.iter().map(|asked| Approval { kind: asked.kind, digest: asked.digest.clone() }));
    }
}

/// An approval as the store keeps it.
pub(crate) fn stored_approval(asked: &PendingApproval, repository_id: &str) -> StoredApproval {
    StoredApproval {
        kind: asked.kind,
        digest: asked.digest.clone(),
        repository_id: repository_id.to_owned(),
        subject: asked.subject.clone(),
    }
}

/// Whether missing evidence is a failure.
pub(super) fn is_strict(request: &PlanRequest) -> bool {
    request.repo_settings.policy.strict.or(request.global_settings.policy.strict).unwrap_or(false)
}

/// What a preview lacks, in words.
pub(super) fn needs(planned: &Planned) -> String {
    let words: Vec<String> = planned
        .needs
        .iter()
        .map(|need| match need {
            Need::Engine => "an engine".into(),
            Need::Image { .. } => "the image".into(),
            Need::Dockerfile { path } => format!("the Dockerfile {}", orca_container_core::quoted(path)),
            Need::Approval { .. } => "your approval".into(),
            Need::Branch => "a branch that is checked out (git switch -c NAME)".into(),
        })
        .collect();
    words.join(", ")
}

/// What became of what is asked.
#[derive(Debug, Default)]
pub struct Approved {
    /// Approved now.
    pub approved: Vec<PendingApproval>,
    /// Still asked.
    pub open: Vec<PendingApproval>,
}

/// Shows what a create would ask and records answers, by digest or at the terminal.
pub fn approve(
    options: CreateOptions<'_>,
    store: &Store,
    ui: &mut dyn Ui,
) -> Result<Approved, WorkspaceError> {
    let CreateOptions { folder, settings, words, branch, approve: digests } = options;
    let chosen = words.devcontainer.clone();
    let mut request = gather(folder, settings, words)?.request;
    take_branch(&mut request, &branch, chosen.as_deref(), ui)?;
    remove_leftovers(store);
    // What is approved may hold ids that are made of it.
    request.install.id = store.ensure_install_id()?;
    request.approvals.extend(store.approvals()?.of_repository(&request.workspace.repository_id));
    let pending = |request: &PlanRequest| match plan(request) {
        PlanAnswer::Planned(planned) => Ok(planned.pending_approvals),
        PlanAnswer::Refused(refusal) => Err(WorkspaceError::from(refusal)),
    };
    let before = pending(&request)?;
    match judge(&mut request, &digests, store, ui) {
        Ok(_) | Err(WorkspaceError::NeedsApproval(_)) => {}
        Err(error) => return Err(error),
    }
    let open = pending(&request)?;
    let approved =
        before.into_iter().filter(|asked| !open.iter().any(|still| still.digest == asked.digest)).collect();
    Ok(Approved { approved, open })
}

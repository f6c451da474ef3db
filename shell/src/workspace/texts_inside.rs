//! The texts of a repository that is in its volume only, as its clone has committed them. Read while nobody worked in there, by
//! the container's own git; its callers see to that.

use std::time::Duration;

use orca_container_core::input::{PlanRequest, RepositoryFile};
use orca_container_core::{COMMITTED_TEXT, CloneFrom, NO_TEXT_INSIDE, NOT_REGULAR_INSIDE, Sensitive, limits};

use super::WorkspaceError;
use crate::engine::Client;
use crate::gather::committed::bounded_text;
use crate::gather::devcontainer;
use crate::gather::request::{devcontainer_file, know};
use crate::store::WorkspaceRecord;

/// How long git in the container may take to give a text.
const PATIENCE: Duration = Duration::from_secs(60);

/// The texts of the commit that was cloned: there is no other place where they are committed.
pub(super) fn use_texts_inside(
    request: &mut PlanRequest,
    record: &WorkspaceRecord,
    chosen: Option<&str>,
) -> Result<(), WorkspaceError> {
    debug_assert_eq!(record.workspace.clone_from, CloneFrom::Remote);
    let orca_yaml = text_inside(record, "orca.yaml", limits::ORCA_YAML_BYTES)?;
    request.orca_yaml =
        orca_yaml.map(|text| RepositoryFile { path: "orca.yaml".into(), text: Sensitive::from(text) });
    let text = |path: &str| text_inside(record, path, limits::DEVCONTAINER_BYTES);
    // A folder is not listed from outside; whoever has several files names one.
    let found = devcontainer::find(chosen, text, || Ok::<_, WorkspaceError>(Vec::new()))?;
    request.devcontainer = found.file.map(devcontainer_file);
    request.devcontainer_candidates = found.candidates;
    know(request);
    let none = |_: &str| Ok::<_, WorkspaceError>(None);
    match devcontainer::missing_dockerfile(request, none)? {
        Some(_) => Err(WorkspaceError::NothingToBuildFrom),
        None => Ok(()),
    }
}

/// A text of the commit that was cloned. Only our own git worked in there until now, so its word counts.
pub(super) fn text_inside(
    record: &WorkspaceRecord,
    path: &str,
    cap: usize,
) -> Result<Option<String>, WorkspaceError> {
    let client = Client { program: record.engine.program.clone(), env: record.engine.env.clone() };
    let id = record.container_id.as_deref().unwrap_or_default();
    let target = record.plan.clone.as_ref().map_or("", |clone| clone.target.as_str());
    let words =
        ["exec", "--workdir=/", "--", id, "/usr/bin/env", "-i", "/bin/sh", "-c", COMMITTED_TEXT, "sh"];
    let answer = client.ask(&[&words[..], &[target, path]].concat(), PATIENCE)?;
    let shown = orca_container_core::quoted(path);
    match answer.code {
        0 => {}
        NO_TEXT_INSIDE => return Ok(None),
        NOT_REGULAR_INSIDE => {
            return Err(WorkspaceError::Blocked(vec![format!(
                "The committed {shown} must be a regular file."
            )]));
        }
        _ => return Err(answer.unusable("git in the container").into()),
    }
    let not_utf8 = || WorkspaceError::Blocked(vec![format!("The committed {shown} must be UTF-8.")]);
    bounded_text(answer.stdout, cap).map(Some).ok_or_else(not_utf8)
}

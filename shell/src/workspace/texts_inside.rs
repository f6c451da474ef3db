//! The texts of a repository that is in its volume only, as its clone has committed them. Read while nobody worked in there, by
//! the container's own git; its callers see to that.

use std::time::Duration;

use orca_container_core::input::{DevcontainerFile, PlanRequest, RepositoryFile};
use orca_container_core::{CloneFrom, Sensitive, limits};

use super::WorkspaceError;
use crate::engine::Client;
use crate::gather::devcontainer;
use crate::gather::request::{devcontainer_file, know};
use crate::store::WorkspaceRecord;

/// How long git in the container may take to give a text.
const PATIENCE: Duration = Duration::from_secs(60);

/// Gives the blob at a path of the commit that is checked out: `sh -c COMMITTED_TEXT sh TARGET PATH`.
const COMMITTED_TEXT: &str = "\
set -eu; PATH=/usr/bin:/bin; HOME=/nonexistent; GIT_CONFIG_NOSYSTEM=1; GIT_CONFIG_GLOBAL=/dev/null; \
export PATH HOME GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL; cd -- \"$1\"; entry=$(git ls-tree HEAD -- \"$2\"); \
case $entry in '') exit 10;; 100644*|100755*) ;; *) exit 11;; esac; exec git cat-file blob \"HEAD:$2\"";

/// What it ends with where there is nothing.
const ABSENT: i32 = 10;

/// What it ends with where there is something else.
const NOT_REGULAR: i32 = 11;

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
    request.devcontainer = found.file.map(|file| -> DevcontainerFile { devcontainer_file(file) });
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
        ABSENT => return Ok(None),
        NOT_REGULAR => {
            return Err(WorkspaceError::Blocked(vec![format!(
                "The committed {shown} must be a regular file."
            )]));
        }
        _ => return Err(answer.unusable("git in the container").into()),
    }
    let mut bytes = answer.stdout;
    // Longer than the bound stays longer than the bound, so that the core says so.
    bytes.truncate(cap.saturating_add(4));
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.utf8_error().error_len().is_none() => {
            Ok(Some(String::from_utf8_lossy(error.as_bytes()).into_owned()))
        }
        Err(_) => Err(WorkspaceError::Blocked(vec![format!("The committed {shown} must be UTF-8.")])),
    }
}

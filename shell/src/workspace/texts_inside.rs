//! The texts of a repository that is in its volume only, as its clone has committed them. Read while nobody worked in there, by
//! the container's own git; its callers see to that.

use std::time::Duration;

use orca_container_core::input::{PlanRequest, RepositoryFile};
use orca_container_core::{
    COMMITTED_LISTING, COMMITTED_TEXT, CloneFrom, NO_TEXT_INSIDE, NOT_REGULAR_INSIDE, Sensitive, limits,
};

use super::WorkspaceError;
use crate::engine::{Client, ClientError, Output};
use crate::gather::committed::{bounded_text, folders_listed};
use crate::gather::devcontainer::{self, Found};
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
    let found = devcontainer_inside(record, chosen)?;
    request.devcontainer = found.file.map(devcontainer_file);
    request.devcontainer_candidates = found.candidates;
    know(request);
    let none = |_: &str| Ok::<_, WorkspaceError>(None);
    match devcontainer::missing_dockerfile(request, none)? {
        Some(_) => Err(WorkspaceError::NothingToBuildFrom),
        None => Ok(()),
    }
}

/// Whether the clone has a file that says something about the container.
pub(super) fn has_texts(record: &WorkspaceRecord) -> Result<bool, WorkspaceError> {
    if text_inside(record, "orca.yaml", limits::ORCA_YAML_BYTES)?.is_some() {
        return Ok(true);
    }
    let found = devcontainer_inside(record, None)?;
    Ok(found.file.is_some() || !found.candidates.is_empty())
}

/// Which devcontainer.json is meant, as in a repository on this computer.
fn devcontainer_inside(record: &WorkspaceRecord, chosen: Option<&str>) -> Result<Found, WorkspaceError> {
    let text = |path: &str| text_inside(record, path, limits::DEVCONTAINER_BYTES);
    devcontainer::find(chosen, text, || folders_inside(record, ".devcontainer"))
}

/// A text of the commit that was cloned. Only our own git worked in there until now, so its word counts.
fn text_inside(record: &WorkspaceRecord, path: &str, cap: usize) -> Result<Option<String>, WorkspaceError> {
    let answer = ask_inside(record, COMMITTED_TEXT, path)?;
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

/// Names of the folders in a folder of that commit.
fn folders_inside(record: &WorkspaceRecord, path: &str) -> Result<Vec<String>, WorkspaceError> {
    let answer = ask_inside(record, COMMITTED_LISTING, path)?;
    match answer.code {
        0 => Ok(folders_listed(&answer.stdout, &format!("{path}/"))),
        _ => Err(answer.unusable("git in the container").into()),
    }
}

/// One question to the container's own git about a path of the clone.
fn ask_inside(record: &WorkspaceRecord, script: &str, path: &str) -> Result<Output, ClientError> {
    let client = Client { program: record.engine.program.clone(), env: record.engine.env.clone() };
    let id = record.container_id.as_deref().unwrap_or_default();
    let target = record.plan.clone.as_ref().map_or("", |clone| clone.target.as_str());
    let words = ["exec", "--workdir=/", "--", id, "/usr/bin/env", "-i", "/bin/sh", "-c", script, "sh"];
    client.ask(&[&words[..], &[target, path]].concat(), PATIENCE)
}

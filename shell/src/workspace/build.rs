//! A repository's image: built by the engine from committed files, under a name of ours, and then looked at like any
//! other.

use std::path::Path;
use std::time::Duration;

use orca_container_core::input::PlanRequest;
use orca_container_core::{Action, Planned, RenderContext, Stdin, render};

use super::{Ui, WorkspaceError};
use crate::engine::{CarryOut, Client, ImageError, Supplies, image_configuration};
use crate::gather::context::Context;
use crate::store::Store;

/// How long another build of this installation is waited for.
const PATIENCE: Duration = Duration::from_secs(60 * 60);

/// Builds the image of a plan and looks at it. One build at a time: another of the same description would take its name
/// before it was looked at.
pub(super) fn built<T>(
    store: &Store,
    build: impl FnOnce() -> Result<T, WorkspaceError>,
) -> Result<T, WorkspaceError> {
    let lock = store.lock_patiently("build", PATIENCE)?;
    let done = build();
    lock.remove();
    done
}

/// Builds the image of a plan.
pub(super) fn build_image(
    request: &PlanRequest,
    planned: &Planned,
    client: &Client,
    ui: &mut dyn Ui,
) -> Result<(), WorkspaceError> {
    let reference = &planned.plan.image.reference;
    match image_configuration(client, reference) {
        Err(ImageError::Missing { .. }) => {}
        Err(error) => return Err(error.into()),
        Ok(there) if there.labels.get("orca.install") == Some(&request.install.id) => {}
        Ok(_) => {
            let why =
                format!("The image {} is there and is not ours.", orca_container_core::quoted(reference));
            return Err(WorkspaceError::Blocked(vec![why]));
        }
    }
    ui.progress("Building the image of devcontainer.json");
    let command = render(Action::BuildImage, &planned.plan, &RenderContext::of(request));
    let Some(Stdin::Context { folder, added }) = &command.stdin else {
        return Err(WorkspaceError::NotFound("the context of the build".into()));
    };
    let worktree = request.workspace.worktree_path.as_deref().unwrap_or(&request.workspace.repo_path);
    let commit = request.workspace.commit.clone().unwrap_or_default();
    let added = added.as_ref().map(|file| (file.path.as_str(), file.name.as_str()));
    let context = Context::of(Path::new(worktree), &commit, folder, added)?;
    let files = Box::new(|output: &mut dyn std::io::Write| context.write(output));
    let supplies = Supplies { start_env: None, archive: Some(files) };
    CarryOut::default().run(Action::BuildImage, &command, supplies)?;
    Ok(())
}

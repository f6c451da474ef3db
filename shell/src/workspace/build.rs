//! A repository's image: built by the engine from committed files, under a name of ours, and then looked at like any
//! other.

use std::path::Path;
use std::time::Duration;

use orca_container_core::input::PlanRequest;
use orca_container_core::{
    Action, ActionKind, BuildPlan, EngineKind, Planned, RenderContext, Stdin, limits, render,
};

use super::texts::inside_of;
use super::{Ui, WorkspaceError};
use crate::engine::{
    CarryOut, CarryOutError, Client, ImageError, Input, Supplies, Wanted, has_triggers, image_configuration,
};
use crate::gather::context::Context;
use crate::store::{LockError, Store};

/// How long another build of this installation is waited for.
const PATIENCE: Duration = Duration::from_secs(60 * 60);

/// Does something with a build while no other one runs: another of the same description would take the image's name before
/// it was looked at.
pub(super) fn one_at_a_time<T>(
    store: &Store,
    ui: &mut dyn Ui,
    build: impl FnOnce(&mut dyn Ui) -> Result<T, WorkspaceError>,
) -> Result<T, WorkspaceError> {
    let lock = match store.lock("build") {
        Err(LockError::Held { .. }) => {
            ui.progress("Waiting for another build of this installation");
            store.lock_patiently("build", PATIENCE)?
        }
        taken => taken?,
    };
    let done = build(ui);
    lock.remove();
    done
}

/// Builds the image of a plan.
pub(super) fn build_image(
    request: &PlanRequest,
    planned: &Planned,
    client: &Client,
    store: &Store,
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
    let no_logins = store.no_logins()?;
    for base in planned.plan.image.build.iter().flat_map(|build| &build.bases) {
        look_at_base(client, planned.plan.engine.kind, base, &no_logins, ui)?;
    }
    ui.progress("Building the image of devcontainer.json");
    let mut command = render(Action::BuildImage, &planned.plan, &RenderContext::of(request));
    let Some(Stdin::Context { folder, added }) = &command.stdin else {
        return Err(WorkspaceError::NotFound("the context of the build".into()));
    };
    let worktree = request.workspace.worktree_path.as_deref().unwrap_or(&request.workspace.repo_path);
    let commit = request.workspace.commit.clone().unwrap_or_default();
    let inside = inside_of(&request.workspace.id, Some(worktree)).to_string_lossy().into_owned();
    let added = added.as_ref().map(|file| (below(&inside, &file.path), file.name.as_str()));
    let added = added.as_ref().map(|(path, name)| (path.as_str(), *name));
    let context = Context::of(Path::new(worktree), &commit, &below(&inside, folder), added)?;
    is_the_approved_one(&context, planned)?;
    // podman would take a person's logins from where it finds them; docker's client has a configuration of ours.
    command.env.insert("REGISTRY_AUTH_FILE".into(), no_logins);
    let files = Box::new(|output: &mut dyn std::io::Write| context.write(output));
    let supplies = Supplies { archive: Some(files), ..Supplies::default() };
    CarryOut::default().run(Action::BuildImage, &command, supplies)?;
    Ok(())
}

/// An image that a build begins from is there, pulled without anybody's logins, and has no steps of its own: a build would
/// run them unseen, and podman 4.3 mounts folders of the host for one that asks.
fn look_at_base(
    client: &Client,
    engine: EngineKind,
    base: &str,
    no_logins: &str,
    ui: &mut dyn Ui,
) -> Result<(), WorkspaceError> {
    let shown = orca_container_core::quoted(base);
    if matches!(image_configuration(client, base), Err(ImageError::Missing { .. })) {
        ui.progress(&format!("Pulling {shown}"));
        let mut without = client.clone();
        without.env.insert("REGISTRY_AUTH_FILE".into(), no_logins.into());
        let words = ["pull", "--", base].map(String::from);
        let patience = Duration::from_secs(u64::from(limits::TRANSFER_DEADLINE_S));
        let answer = without.call(&words, Input::None, Wanted::Shown, patience)?;
        if answer.code != 0 {
            let complaint = answer.complaint();
            let action = ActionKind::PullImage;
            return Err(CarryOutError::Failed { action, code: answer.code, complaint }.into());
        }
    }
    if has_triggers(client, engine, base)? {
        let why =
            format!("The image {shown} has steps of its own (ONBUILD), which a build would run unseen.");
        return Err(WorkspaceError::Blocked(vec![why]));
    }
    Ok(())
}

/// A path of that folder as one of the worktree.
fn below(inside: &str, path: &str) -> String {
    match (inside, path) {
        ("", path) => path.into(),
        (inside, ".") => inside.into(),
        (inside, path) => format!("{inside}/{path}"),
    }
}

/// The Dockerfile in the context is the one whose digest was approved.
fn is_the_approved_one(context: &Context<'_>, planned: &Planned) -> Result<(), WorkspaceError> {
    let build = planned.plan.image.build.as_ref();
    let name = build.map(BuildPlan::dockerfile_in_context).unwrap_or_default();
    let found = context.digest_of(&name, limits::DOCKERFILE_BYTES).map_err(WorkspaceError::Checkout)?;
    let approved = build.and_then(|build| build.dockerfile_digest.clone());
    if approved.is_some() && found == approved {
        return Ok(());
    }
    let why = "The Dockerfile of the commit is not the one that was approved.".into();
    Err(WorkspaceError::Blocked(vec![why]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_folder_are_read_in_its_worktree() {
        let inside = |folder: &str| inside_of(folder, Some("/w/acme")).to_str().unwrap().to_owned();
        assert_eq!(inside("/w/acme/sub/x"), "sub/x");
        assert!(inside("/w/acme").is_empty() && inside("repo::other").is_empty());
        assert_eq!(below("sub", "."), "sub");
        assert_eq!(below("sub", "a/Dockerfile"), "sub/a/Dockerfile");
        assert_eq!(below("", "a"), "a");
    }
}

//! The container in which an image's user is looked up: it never runs, and it is gone also after a crash.
//!
//! Its name is chosen, and a lock of that name taken, before it is made. A lock that nobody holds any more names
//! a helper whose maker died.

use std::time::Duration;

use orca_container_core::EngineKind;
use orca_container_core::input::ImageFacts;

use super::WorkspaceError;
use crate::engine::{Client, ImageError, detect, image_facts, remove_helper};
use crate::store::{Store, random_id};

/// How long the engine, or the holder of the installation's lock, is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

fn prefix(engine: EngineKind) -> String {
    format!("orca-lookup-{engine}-")
}

/// The facts of an image, its user looked up, and one that is asked for.
pub(super) fn looked_up(
    store: &Store,
    client: &Client,
    engine: EngineKind,
    reference: &str,
    asked: Option<&str>,
    labels: &[String],
) -> Result<Result<ImageFacts, ImageError>, WorkspaceError> {
    remove_left(store, client, engine);
    let name = format!("{}{}", prefix(engine), random_id()?);
    let lock = store.lock(&name)?;
    let facts = image_facts(client, reference, asked, &name, labels);
    if !matches!(facts, Err(ImageError::Client(_))) {
        lock.remove();
    }
    Ok(facts)
}

/// Removes what a killed create left without a record: its files, and its helper on an engine that answers.
pub fn remove_leftovers(store: &Store) {
    store.remove_orphans();
    for engine in [EngineKind::Docker, EngineKind::Podman] {
        if store.lock_names(&prefix(engine)).is_empty() {
            continue;
        }
        let Ok(config) = store.docker_config() else { continue };
        if let Ok(detected) = detect(Some(engine), None, &config) {
            let client = detected.facts.client;
            remove_left(store, &Client { program: client.program, env: client.env }, engine);
        }
    }
}

/// Removes helpers whose makers died. What cannot be removed now is found again by the next command.
pub(super) fn remove_left(store: &Store, client: &Client, engine: EngineKind) {
    for name in store.lock_names(&prefix(engine)) {
        let Ok(lock) = store.lock_if_free(&name) else { continue };
        if remove_helper(client, &name).unwrap_or(false) {
            lock.remove();
        }
    }
}

/// Removes networks of this installation that no record names and nothing uses: the engine's client of a killed create may
/// have made one after everything else was cleaned up. What fails here is tried again by the next removal.
pub(super) fn remove_stray_networks(store: &Store, client: &Client) {
    let (Ok(Some(install)), Ok(lock)) = (store.install_id(), store.lock_patiently("install", PATIENCE))
    else {
        return;
    };
    let filter = format!("label=orca.install={install}");
    let listed = client.ask(&["network", "ls", "--filter", &filter, "--format", "{{.Name}}"], PATIENCE);
    // Read under the lock, under which networks are made: a create that makes one has its record already.
    if let (Ok(listed), Ok((records, broken))) = (listed, store.records())
        && listed.code == 0
        && broken.is_empty()
    {
        let named =
            |name: &str| records.iter().any(|record| record.plan.network.name.as_deref() == Some(name));
        let listed = listed.text();
        let strays = listed.lines().filter(|name| name.starts_with("orca-") && !named(name));
        for name in strays {
            // Without force: one that is in use stays.
            let _ = client.ask(&["network", "rm", "--", name], PATIENCE);
        }
    }
    lock.remove();
}

//! A throwaway container that looks into the workspace's volume for work that is nowhere else: the recorded image and
//! every hardening flag of the workspace, no network, nothing that it can write to.

use super::{
    command::Arg,
    create_argv::{hardening, image, mount},
    dialect::Dialect,
    docker::DOCKER,
    podman::PODMAN,
    scripts::UNPUSHED,
};
use crate::{
    plan::{ContainerPlan, MountPlan},
    words::{EngineKind, MountRole},
};
use alloc::{format, string::String, vec::Vec};

/// The arguments of the engine's client. `name` is the container's own, by which a left one is found again; `known` are ids
/// of commits that are safe elsewhere. Nothing where the plan clones nothing. It prints a line each for `commits`,
/// `changes`, `stashes` and `others` with a number, and anything else means that it could not look.
pub fn look_argv(plan: &ContainerPlan, name: &str, known: &[&str]) -> Option<Vec<String>> {
    let clone = plan.clone.as_ref()?;
    let workspace = plan.mounts.iter().find(|mount| mount.role == MountRole::Workspace)?;
    let dialect: &Dialect = match plan.engine.kind {
        EngineKind::Docker => &DOCKER,
        EngineKind::Podman => &PODMAN,
    };
    let mut words: Vec<Arg> = Vec::new();
    let runtime = plan.runtime.as_ref().map(|runtime| Arg::from(format!("--runtime={runtime}")));
    words.extend(runtime.clone().filter(|_| dialect.runtime_is_global));
    words.extend(["run", "--rm"].map(Arg::from));
    words.extend(runtime.filter(|_| !dialect.runtime_is_global));
    words.push(format!("--name={name}").into());
    let labels = plan.labels.iter().filter(|(label, _)| *label != "orca.plan");
    words.extend(labels.map(|(label, value)| Arg::from(format!("--label={label}={value}"))));
    words.extend(hardening(plan));
    words.extend(dialect.create.iter().map(|flag| Arg::from(*flag)));
    words.extend(["--network=none", "--read-only"].map(Arg::from));
    words.push(mount(&MountPlan { read_only: true, ..workspace.clone() }, plan.engine.kind, dialect));
    words.extend(["--entrypoint=/usr/bin/env", "--"].map(Arg::from));
    words.push(image(plan));
    words.extend(["-i", "/bin/sh", "-c", UNPUSHED, "sh"].map(Arg::from));
    words.extend([workspace.target.as_str(), clone.target.as_str()].map(Arg::from));
    words.extend(known.iter().map(|id| Arg::from(*id)));
    let text = |arg: Arg| match arg {
        Arg::Text(text) => Some(text),
        Arg::Reference { .. } => None,
    };
    words.into_iter().map(text).collect()
}

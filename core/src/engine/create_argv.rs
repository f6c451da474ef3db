//! The arguments of `create`: every hardening flag, always, in one place.

use super::{
    command::{Arg, ReferenceName},
    dialect::Dialect,
};
use crate::{
    plan::{ContainerPlan, KEEP_ALIVE, MountPlan, SHELL},
    words::{EngineKind, MountKind, MountRole},
};
use alloc::{format, string::String, vec::Vec};

/// Flags of every container that is made here, a workspace's or a throwaway one.
pub const EVERY_CONTAINER: [&str; 8] = [
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--ipc=private",
    "--restart=no",
    "--pull=never",
    "--log-driver=none",
    "--no-healthcheck",
    "--workdir=/",
];

/// `create` and all its arguments.
pub(super) fn create_argv(plan: &ContainerPlan, dialect: &Dialect) -> Vec<Arg> {
    let mut argv: Vec<Arg> = Vec::new();
    if let (Some(runtime), true) = (&plan.runtime, dialect.runtime_is_global) {
        argv.push(format!("--runtime={runtime}").into());
    }
    argv.push("create".into());
    argv.push(format!("--name={}", plan.names.container).into());
    argv.push(format!("--hostname={}", plan.names.hostname).into());
    argv.extend(plan.labels.iter().map(|(name, value)| Arg::from(format!("--label={name}={value}"))));
    argv.extend(hardening(plan));
    argv.extend(dialect.create.iter().map(|flag| Arg::from(*flag)));
    if let (Some(runtime), false) = (&plan.runtime, dialect.runtime_is_global) {
        argv.push(format!("--runtime={runtime}").into());
    }
    let network = plan.network.name.as_deref().unwrap_or("none");
    argv.push(format!("--network={network}").into());
    argv.extend(plan.ports.iter().map(|p| Arg::from(format!("--publish={}::{}", p.address, p.container))));
    argv.extend(mounts(plan, dialect));
    argv.extend(plan.removed_env.iter().flat_map(|name| (dialect.remove_env)(name)).map(Arg::from));
    if !plan.start_env.is_empty() {
        argv.push("--env-file=/dev/stdin".into());
    }
    argv.push(format!("--entrypoint={SHELL}").into());
    argv.push("--".into());
    argv.push(image(plan));
    argv.push("-c".into());
    argv.push(KEEP_ALIVE.into());
    argv
}

/// The flags that cannot be left out, and the limits.
pub(super) fn hardening(plan: &ContainerPlan) -> Vec<Arg> {
    let limits = &plan.limits;
    let mut flags: Vec<Arg> =
        EVERY_CONTAINER.into_iter().chain(["--init", "--ulimit=core=0:0"]).map(Arg::from).collect();
    flags.push(format!("--user={}:{}", plan.user.uid, plan.user.gid).into());
    let soft = limits.nofile_soft.unwrap_or(limits.nofile);
    flags.push(format!("--ulimit=nofile={soft}:{}", limits.nofile).into());
    flags.extend(limits.shm_bytes.map(|bytes| Arg::from(format!("--shm-size={bytes}"))));
    if let Some(nproc) = limits.nproc {
        flags.push(format!("--ulimit=nproc={nproc}:{nproc}").into());
    }
    let advisory = |kind| limits.advisory.contains(&kind);
    use crate::words::LimitKind::{Cpu, Memory, Pids, Swap};
    // An engine that cannot enforce a limit discards it or fails; a person accepted to run without it.
    if !advisory(Memory) {
        flags.push(format!("--memory={}", limits.memory_bytes).into());
    }
    if !advisory(Memory) && !advisory(Swap) {
        flags.push(format!("--memory-swap={}", limits.memory_bytes).into());
    }
    if !advisory(Cpu) {
        flags.push(format!("--cpus={}", cpus(limits.nano_cpus)).into());
    }
    if !advisory(Pids) {
        flags.push(format!("--pids-limit={}", limits.pids).into());
    }
    flags
}

/// CPUs as a decimal without trailing zeros.
fn cpus(nano: u64) -> String {
    let whole = nano / 1_000_000_000;
    let rest = nano % 1_000_000_000;
    if rest == 0 {
        format!("{whole}")
    } else {
        String::from(format!("{whole}.{rest:09}").trim_end_matches('0'))
    }
}

/// `--mount` only: `-v` creates what is missing and reads colons.
fn mounts(plan: &ContainerPlan, dialect: &Dialect) -> Vec<Arg> {
    plan.mounts.iter().map(|planned| mount(planned, plan.engine.kind, dialect)).collect()
}

/// One mount; each field is quoted as CSV where it must be.
pub(super) fn mount(mount: &MountPlan, engine: EngineKind, dialect: &Dialect) -> Arg {
    let kind = mount.kind.as_str();
    let source =
        mount.source.as_deref().map(|s| format!(",{}", csv(&format!("src={s}")))).unwrap_or_default();
    let target = csv(&format!("dst={}", mount.target));
    let read_only = match (mount.read_only, engine) {
        (false, _) => "",
        (true, EngineKind::Docker) => ",readonly",
        (true, EngineKind::Podman) => ",ro=true",
    };
    let more = match (mount.kind, mount.role) {
        // A repository's volume begins with what the image has there, as everywhere else.
        (MountKind::Volume, MountRole::Devcontainer) | (MountKind::Bind, _) => String::new(),
        (MountKind::Volume, _) => dialect.volume_mount.into(),
        // The user of the container owns nothing in it otherwise.
        (MountKind::Tmpfs, _) => {
            let size = mount.size_bytes.map(|bytes| format!(",tmpfs-size={bytes}")).unwrap_or_default();
            format!("{size},tmpfs-mode=1777")
        }
    };
    format!("--mount=type={kind}{source},{target}{read_only}{more}").into()
}

/// One field of a CSV record (RFC 4180), quoted where it holds a comma or a quote.
fn csv(field: &str) -> String {
    if field.contains([',', '"']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.into() }
}

/// By id, so that a tag that moves in between changes nothing.
pub(super) fn image(plan: &ContainerPlan) -> Arg {
    match &plan.image.id {
        Some(id) => id.as_str().into(),
        None => ReferenceName::ImageId.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_commas_and_quotes_are_quoted() {
        assert_eq!(csv("src=/a:b c"), "src=/a:b c");
        assert_eq!(csv("src=/a,\"b"), "\"src=/a,\"\"b\"");
        assert_eq!((cpus(2_000_000_000), cpus(1_500_000_000)), ("2".into(), "1.5".into()));
    }
}

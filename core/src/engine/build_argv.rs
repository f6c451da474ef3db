//! The arguments of `build`: a repository's image, made by the engine before any hardening.
//!
//! What the builder knows of limits it gets. Its container runs as root with the engine's default capabilities, so a
//! build is approved by a person and said to be not hardened.

use super::{
    command::{AddedFile, Arg, Stdin},
    dialect::Dialect,
};
use crate::{
    plan::{BuildPlan, ContainerPlan, OUTSIDE_DOCKERFILE as DOCKERFILE},
    words::{LimitKind, Network},
};
use alloc::{format, string::String, vec::Vec};

/// `build` and all its arguments; the context comes on standard input.
pub(super) fn build_argv(plan: &ContainerPlan, dialect: &Dialect) -> Vec<Arg> {
    let Some(build) = &plan.image.build else { return Vec::new() };
    let mut argv: Vec<Arg> = Vec::from(["build".into()]);
    argv.extend(dialect.build.iter().map(|flag| Arg::from(*flag)));
    argv.push(format!("--tag={}", plan.image.reference).into());
    argv.push(format!("--file={}", build.dockerfile_in_context()).into());
    let install = plan.labels.get("orca.install").map(String::as_str).unwrap_or_default();
    argv.push(format!("--label=orca.install={install}").into());
    argv.push(format!("--label=orca.build={}", build.digest()).into());
    // Its steps reach no more than the container will.
    let network = if plan.network.mode == Network::None { "none" } else { dialect.build_network };
    argv.push(format!("--network={network}").into());
    argv.extend(limits(plan));
    let names_platform = build.options.iter().any(|option| option.starts_with("--platform"));
    let platform = plan.image.platform.iter().filter(|_| !names_platform);
    argv.extend(platform.map(|platform| Arg::from(format!("--platform={platform}"))));
    argv.extend(build.target.iter().map(|target| Arg::from(format!("--target={target}"))));
    argv.extend(build.options.iter().map(|option| Arg::from(option.as_str())));
    // Always with its value: a bare name would be read from the client's environment.
    argv.extend(build.arguments.iter().map(|(name, value)| Arg::from(format!("--build-arg={name}={value}"))));
    argv.push("-".into());
    argv
}

/// Those that the engine enforces, as for the container itself.
fn limits(plan: &ContainerPlan) -> Vec<Arg> {
    let limits = &plan.limits;
    let enforced = |kind| !limits.advisory.contains(&kind);
    let mut flags: Vec<Arg> = Vec::new();
    if enforced(LimitKind::Memory) {
        flags.push(format!("--memory={}", limits.memory_bytes).into());
    }
    if enforced(LimitKind::Memory) && enforced(LimitKind::Swap) {
        flags.push(format!("--memory-swap={}", limits.memory_bytes).into());
    }
    if enforced(LimitKind::Cpu) {
        flags.push("--cpu-period=100000".into());
        // In microseconds of the period.
        flags.push(format!("--cpu-quota={}", limits.nano_cpus / 10_000).into());
    }
    flags
}

/// What the build reads.
pub(super) fn context(build: &BuildPlan) -> Stdin {
    Stdin::Context { folder: build.context.clone(), added: added(build) }
}

/// A Dockerfile that lies outside its context.
fn added(build: &BuildPlan) -> Option<AddedFile> {
    let name = build.dockerfile_in_context();
    (name == DOCKERFILE).then(|| AddedFile { path: build.dockerfile.clone(), name })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;

    #[test]
    fn a_dockerfile_outside_its_context_is_added_under_a_name_of_ours() {
        let named = |dockerfile: &str, context: &str| {
            let build = BuildPlan {
                dockerfile: dockerfile.into(),
                dockerfile_digest: None,
                bases: Vec::new(),
                context: context.into(),
                target: None,
                arguments: BTreeMap::new(),
                options: Vec::new(),
            };
            (build.dockerfile_in_context(), added(&build).is_some())
        };
        assert_eq!(named("a/Dockerfile", "."), ("a/Dockerfile".into(), false));
        assert_eq!(named("a/Dockerfile", "a"), ("Dockerfile".into(), false));
        assert_eq!(named("ab/Dockerfile", "a"), (DOCKERFILE.into(), true));
    }
}

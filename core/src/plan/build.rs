//! Resolved values into the plan of one container.

use super::{
    expectations::expectations,
    hardening::Hardening,
    model::{
        AGENT_TARGET, ClonePlan, CommandPlan, ContainerPlan, DevcontainerPlan, EnginePlan, ImagePlan,
        LimitsPlan, MountPlan, Names, NetworkPlan, PortPlan, SourceDigests, UserPlan, VolumePlan,
        WORKSPACE_ROOT,
    },
    naming,
    notices::notices,
    remote::{self, Remote},
};
use crate::{
    answer::{Need, POLICY_REVISION},
    canonical::{digest_hex, sha256_hex},
    diagnostic::{Code, Findings},
    input::{EngineFacts, PlanRequest, SCHEMA_VERSION},
    limits,
    policy::devcontainer::mounts::{MountAsk, MountAskKind},
    resolve::{
        Judgement, OfFile,
        wanted::{WantedCommand, WantedLimits},
    },
    source::Source,
    text::{name_list, quoted},
    words::{CloneFrom, EngineKind, LimitKind, MountKind, MountRole, Network, Origin, Template},
};
use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

/// What is still open; with any of it the answer is a preview.
pub(crate) fn needs(judgement: &Judgement<'_>) -> Vec<Need> {
    let mut needs = Vec::new();
    if judgement.request.engine.is_none() {
        needs.push(Need::Engine);
    }
    let build = judgement.devcontainer.as_ref().and_then(|file| file.wanted.build.as_ref());
    if let Some(build) = build.filter(|build| build.plan.dockerfile_digest.is_none()) {
        needs.push(Need::Dockerfile { path: build.plan.dockerfile.clone() });
    }
    if let (None, Some(image)) = (&judgement.request.image_facts, &judgement.options.image) {
        let wanted = judgement.devcontainer.as_ref().map(|file| &file.wanted);
        let user = wanted.and_then(|wanted| wanted.user.as_ref()).map(|(user, _)| user.clone());
        needs.push(Need::Image { reference: image.value.as_str().into(), user });
    }
    let workspace = &judgement.request.workspace;
    if workspace.branch.is_none() && workspace.clone_from.is_host() {
        needs.push(Need::Branch);
    }
    let blocking = judgement.pending.iter().filter(|pending| pending.blocking);
    needs.extend(blocking.map(|pending| Need::Approval { digest: pending.digest.clone() }));
    needs
}

/// The plan; `None` when there is no image (then the findings refuse).
pub(crate) fn build(judgement: &mut Judgement<'_>) -> Option<ContainerPlan> {
    let request = judgement.request;
    let options = &judgement.options;
    let engine = options.engine.value;
    let network = options.network.value;
    let findings = &mut judgement.findings;

    if request.engine.is_none() {
        let message = format!("The engine was not asked; the plan assumes {engine}.");
        findings.notice(Code::EngineAssumed, Source::origin(Origin::Engine), message);
    }
    let mut names = naming::names(request, engine, network);
    let wanted = judgement.devcontainer.as_ref().map(|file| &file.wanted);
    if let Some(hostname) = wanted.and_then(|wanted| wanted.hostname.clone()) {
        names.hostname = hostname;
    }
    let labels = naming::labels(request);
    let mut limits =
        limits(request, options.template.value, judgement.policy.accept_advisory_limits, findings);
    if let Some(wanted) = wanted {
        lower(&mut limits, wanted.limits);
    }
    let runtime = options.runtime.as_ref().map(|runtime| runtime.value.clone());
    if let Some(runtime) = &options.runtime {
        check_runtime(
            request.engine.as_ref(),
            &runtime.value,
            judgement.sources.get(runtime.source),
            findings,
        );
    }
    let mounts = mounts(&names, wanted.map(|wanted| wanted.mounts.as_slice()).unwrap_or_default());
    let volumes = volumes(&mounts, &labels);
    let mut asked_ports = options.ports.clone();
    asked_ports.extend(wanted.iter().flat_map(|wanted| &wanted.ports));
    asked_ports.sort_unstable();
    let ports = ports(&asked_ports, network, findings);
    let devcontainer = judgement.devcontainer.as_ref().map(devcontainer_plan);
    let platform = wanted.and_then(|wanted| wanted.platform.clone());
    let build = wanted.and_then(|wanted| wanted.build.as_ref()).map(|build| build.plan.clone());
    let clone = clone_plan(request, network, findings);
    if !judgement.findings.refused() {
        notices(judgement, engine, network);
    }

    let mut plan = ContainerPlan {
        schema_version: SCHEMA_VERSION,
        digest: None,
        policy_revision: Some(POLICY_REVISION),
        engine: EnginePlan { kind: engine },
        mode: judgement.options.mode.value,
        image: ImagePlan {
            reference: image_reference(judgement)?,
            said: judgement.options.image.as_ref()?.said,
            id: request.image_facts.as_ref().map(|facts| facts.id.clone()),
            platform,
            build,
        },
        user: UserPlan {
            uid: judgement.user.uid,
            gid: judgement.user.gid,
            source: judgement.user.source.clone(),
            assumed: judgement.user.assumed,
        },
        limits,
        runtime,
        network: NetworkPlan {
            mode: network,
            name: names.network.clone(),
            peers_isolated: network == Network::Bridge,
        },
        mounts,
        volumes,
        ports,
        labels,
        names,
        hardening: Hardening::standard(),
        start_env: judgement.environment.start_names(),
        removed_env: judgement.environment.removed_at_create.clone(),
        clone,
        devcontainer,
        sources: source_digests(request),
        expectations: Vec::new(),
    };
    if needs(judgement).is_empty() {
        seal(&mut plan);
    } else {
        plan.expectations = expectations(&plan);
    }
    Some(plan)
}

fn image_reference(judgement: &Judgement<'_>) -> Option<String> {
    judgement.options.image.as_ref().map(|image| image.value.as_str().into())
}

/// Gives a plan its digest, its label and its expectations.
fn seal(plan: &mut ContainerPlan) {
    plan.expectations = expectations(plan);
    if let Some(digest) = digest_without_label(plan) {
        plan.labels.insert("orca.plan".into(), digest.clone());
        plan.digest = Some(digest);
        plan.expectations = expectations(plan);
    }
}

/// Whether a plan is finished and exactly what [`build`] made: its digest, its label and its expectations are
/// those of its content.
pub(crate) fn is_sealed(plan: &ContainerPlan) -> bool {
    let label = plan.labels.get("orca.plan");
    plan.digest.is_some()
        && plan.digest == plan_digest(plan)
        && label == plan.digest.as_ref()
        && plan.expectations == expectations(plan)
}

/// The digest of a plan's container part: without the digest itself, the label that carries it and the revision of the rules.
pub(crate) fn plan_digest(plan: &ContainerPlan) -> Option<String> {
    let mut plan = plan.clone();
    plan.digest = None;
    plan.labels.remove("orca.plan");
    plan.expectations = expectations(&plan);
    digest_without_label(&plan)
}

/// The same for a plan that has neither yet.
fn digest_without_label(plan: &ContainerPlan) -> Option<String> {
    let mut value = serde_json::to_value(plan).ok()?;
    value.as_object_mut()?.remove("policyRevision");
    Some(format!("v1:{}", digest_hex(&value)))
}

/// Digests of the repository's texts in a request.
pub(crate) fn source_digests(request: &PlanRequest) -> SourceDigests {
    let digest = |text: &crate::secret::Sensitive| sha256_hex(text.reveal().as_bytes());
    SourceDigests {
        orca_yaml: request.orca_yaml.as_ref().map(|file| digest(&file.text)),
        devcontainer: request.devcontainer.as_ref().map(|file| digest(&file.text)),
        worktree_include: request.worktree_include.as_ref().map(|file| digest(&file.text)),
    }
}

/// Our own two, then the repository's in the order of the file.
fn mounts(names: &Names, asked: &[MountAsk]) -> Vec<MountPlan> {
    let own = [
        (&names.workspace_volume, WORKSPACE_ROOT, MountRole::Workspace),
        (&names.agent_volume, AGENT_TARGET, MountRole::Agent),
    ];
    let own = own.map(|(name, target, role)| MountPlan {
        kind: MountKind::Volume,
        source: Some(name.clone()),
        target: target.into(),
        read_only: false,
        role,
        size_bytes: None,
    });
    let of_repository = asked.iter().map(|mount| {
        let size_bytes = match mount.kind {
            MountAskKind::Tmpfs { size_bytes } => Some(size_bytes),
            _ => None,
        };
        MountPlan {
            kind: if size_bytes.is_some() { MountKind::Tmpfs } else { MountKind::Volume },
            source: mount.volume_name(&names.workspace_volume),
            target: mount.target.clone(),
            read_only: mount.read_only,
            role: MountRole::Devcontainer,
            size_bytes,
        }
    });
    own.into_iter().chain(of_repository).collect()
}

/// The volumes of the mounts, each once: a repository may mount one at two places.
fn volumes(mounts: &[MountPlan], labels: &BTreeMap<String, String>) -> Vec<VolumePlan> {
    let mut volumes: Vec<VolumePlan> = Vec::new();
    for mount in mounts {
        let Some(name) = &mount.source else { continue };
        if volumes.iter().all(|volume| volume.name != *name) {
            volumes.push(VolumePlan { name: name.clone(), role: mount.role, labels: labels.clone() });
        }
    }
    volumes
}

fn ports(ports: &[u16], network: Network, findings: &mut Findings) -> Vec<PortPlan> {
    if network == Network::None && !ports.is_empty() {
        let message = "A container without a network publishes no ports; they are left out.";
        findings.drop(Code::PortsNeedNetwork, Source::origin(Origin::Default), message);
        return Vec::new();
    }
    ports.iter().map(|port| PortPlan { container: *port, address: "127.0.0.1".into() }).collect()
}

/// 1 GB as docker's `g`: 2^30 bytes.
const GIB: u64 = 1 << 30;
const NANO: u64 = 1_000_000_000;

/// Memory in bytes and CPUs of a template (the seed's sizes).
pub fn template_size(template: Template) -> (u64, u64) {
    match template {
        Template::Small => (GIB.saturating_mul(2), 1),
        Template::Medium => (GIB.saturating_mul(4), 2),
        Template::Large => (GIB.saturating_mul(8), 4),
    }
}

fn limits(
    request: &PlanRequest,
    template: Template,
    accept_advisory: bool,
    findings: &mut Findings,
) -> LimitsPlan {
    let (memory_bytes, mut cpus) = template_size(template);
    let mut advisory = Vec::new();
    let mut nproc = None;
    if let Some(engine) = &request.engine {
        let source = Source::setting(Origin::Engine, "engine.cpus");
        let available = u64::from(engine.cpus.max(1));
        if cpus > available {
            let message = format!(
                "The template \"{template}\" has {cpus} CPUs; the engine has {available}, and so has the container."
            );
            findings.notice(Code::CpusClamped, source, message);
            cpus = available;
        }
        advisory = LimitKind::ALL.iter().copied().filter(|kind| !engine.limits.contains(kind)).collect();
        judge_advisory(&advisory, accept_advisory, findings);
        nproc = engine.nproc_needed.filter(|_| engine.kind == EngineKind::Podman);
    }
    LimitsPlan {
        template,
        memory_bytes,
        nano_cpus: cpus.saturating_mul(NANO),
        pids: limits::PIDS,
        nofile: limits::NOFILE,
        nofile_soft: None,
        shm_bytes: None,
        nproc,
        advisory,
    }
}

/// What a repository asks for counts where it is lower than what it gets anyway; `/dev/shm` has its cap already.
fn lower(limits: &mut LimitsPlan, wanted: WantedLimits) {
    limits.memory_bytes =
        wanted.memory_bytes.map_or(limits.memory_bytes, |asked| asked.min(limits.memory_bytes));
    limits.nano_cpus = wanted.nano_cpus.map_or(limits.nano_cpus, |asked| asked.min(limits.nano_cpus));
    limits.pids = wanted.pids.map_or(limits.pids, |asked| asked.min(limits.pids));
    limits.shm_bytes = wanted.shm_bytes;
    if let Some((soft, hard)) = wanted.nofile {
        let most = |asked: u64| u32::try_from(asked).unwrap_or(limits::NOFILE).min(limits::NOFILE);
        limits.nofile = most(hard);
        limits.nofile_soft = Some(most(soft)).filter(|soft| *soft != limits.nofile);
    }
}

fn devcontainer_plan(file: &OfFile) -> DevcontainerPlan {
    let command = |wanted: &WantedCommand| CommandPlan {
        stage: wanted.stage,
        digest: sha256_hex(wanted.script().as_bytes()),
        source: wanted.source.clone(),
    };
    DevcontainerPlan {
        path: file.path.clone(),
        workspace_folder: file.workspace_folder.clone(),
        commands: file.wanted.commands.iter().map(command).collect(),
    }
}

fn judge_advisory(advisory: &[LimitKind], accepted: bool, findings: &mut Findings) {
    if advisory.is_empty() {
        return;
    }
    let names = name_list(advisory.iter().map(|kind| kind.as_str()));
    let source = Source::setting(Origin::Engine, "engine.limits");
    if accepted {
        let message = format!("The engine shows these limits without enforcing them: {names}.");
        findings.notice(Code::LimitsAdvisory, source, message);
    } else {
        let message = format!("The engine enforces every limit of the container; it cannot enforce {names}.");
        findings.refuse(Code::LimitsUnsupported, source, message);
        findings.help("Use an engine with cgroup v2 delegation, or set policy.acceptAdvisoryLimits to run without these limits.");
    }
}

/// A name only: podman would run a path on the host (measured).
fn check_runtime(engine: Option<&EngineFacts>, runtime: &str, source: Source, findings: &mut Findings) {
    let name = !runtime.is_empty()
        && runtime.len() <= 64
        && !runtime.starts_with(['-', '.'])
        && runtime.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'));
    let known = engine.is_none_or(|engine| engine.runtimes.iter().any(|r| r == runtime));
    if !name || !known {
        let message = format!("A runtime is one that the engine knows by name; {} is not.", quoted(runtime));
        findings.refuse(Code::RuntimeUnavailable, source, message);
        if let Some(engine) = engine.filter(|engine| !engine.runtimes.is_empty()) {
            findings.help(format!("It knows {}.", name_list(engine.runtimes.iter().map(String::as_str))));
        }
    }
}

fn clone_plan(request: &PlanRequest, network: Network, findings: &mut Findings) -> Option<ClonePlan> {
    let workspace = &request.workspace;
    let source = || Source::setting(Origin::Request, "workspace");
    if workspace.clone_from == CloneFrom::Remote {
        return clone_of_remote(request, network, findings);
    }
    let Some(branch) = workspace.branch.clone() else {
        let message = "No branch is checked out in the worktree, so there is nothing to clone yet.";
        findings.notice(Code::BranchUnknown, source(), message);
        findings.help("Check out a branch before the container is created.");
        return None;
    };
    let remote = match workspace.remote_url.as_ref().map(remote::judge) {
        Some(Remote::Set { url, stripped }) => {
            if stripped {
                let message = "The remote's URL holds a user or password; the clone gets it without.";
                findings.notice(
                    Code::RemotePasswordRemoved,
                    source().at_path("workspace.remoteUrl"),
                    message,
                );
            }
            Some(url)
        }
        Some(Remote::NotSet) => {
            let message = "The remote of the clone is an http, https, ssh or scp-like URL; this one is none and is not set.";
            findings.notice(Code::RemoteNotSet, source().at_path("workspace.remoteUrl"), message);
            None
        }
        None => None,
    };
    let base = workspace.base.clone().filter(|base| *base != branch);
    let target = naming::clone_target(request);
    let (branch, new_branch) = (Some(branch), workspace.new_branch);
    Some(ClonePlan { branch, base, new_branch, from: CloneFrom::Host, target, remote })
}

/// The project lives in the volume only: https and ssh, without a user's password, and a network to reach it by.
fn clone_of_remote(request: &PlanRequest, network: Network, findings: &mut Findings) -> Option<ClonePlan> {
    let at = || Source::setting(Origin::Request, "workspace").at_path("workspace.remoteUrl");
    let Some(url) = request.workspace.remote_url.as_ref().and_then(remote::clonable) else {
        let message = "A workspace is cloned from an https, ssh or scp-like URL without a user's password or token, a query or odd characters; this URL is none.";
        findings.refuse(Code::CloneUrlRefused, at(), message);
        findings.help("A token for https is handed over on standard input or by the name of a variable, for the one clone only.");
        return None;
    };
    // One that is there needs none any more.
    if network == Network::None && request.workspace.commit.is_none() {
        let message = "A clone from a remote needs a network; this container has none.";
        findings.refuse(Code::CloneNeedsNetwork, Source::setting(Origin::Request, "workspace"), message);
        findings.help("Clone on this computer, and create the workspace from that repository.");
    }
    let target = naming::clone_target(request);
    let branch = request.workspace.branch.clone();
    Some(ClonePlan {
        branch,
        base: None,
        new_branch: false,
        from: CloneFrom::Remote,
        target,
        remote: Some(url),
    })
}

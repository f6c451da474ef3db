//! An action into the command that carries it out.

use super::{
    action::Action,
    build_argv,
    command::{Arg, Command, ReferenceName, Stdin},
    create_argv,
    dialect::Dialect,
    docker::DOCKER,
    podman::PODMAN,
    scripts,
};
use crate::{
    input::{EngineClient, PlanRequest},
    limits,
    plan::{ClonePlan, ContainerPlan, MountPlan, VolumeRef},
    words::{CloneFrom, EngineKind, MountKind},
};
use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

/// What rendering needs beside the plan.
#[derive(Clone, Debug)]
pub struct RenderContext<'a> {
    /// The engine's client; without one the engine's own name and an empty environment.
    pub client: Option<&'a EngineClient>,
    /// The repository on the host, which the clone is bundled from.
    pub repo_path: &'a str,
    /// The commit that was judged: a clone of another one fails. Not part of the plan, which a new commit does not
    /// change.
    pub commit: Option<&'a str>,
}

impl<'a> RenderContext<'a> {
    /// The context of a request.
    pub fn of(request: &'a PlanRequest) -> Self {
        Self {
            client: request.engine.as_ref().map(|engine| &engine.client),
            repo_path: &request.workspace.repo_path,
            commit: request.workspace.commit.as_deref(),
        }
    }
}

/// The dialect of an engine.
pub(super) fn dialect(kind: EngineKind) -> &'static Dialect {
    match kind {
        EngineKind::Docker => &DOCKER,
        EngineKind::Podman => &PODMAN,
    }
}

/// The words by which the container of a finished plan is made, from `create` on, as an engine is told them.
pub(crate) fn create_words(plan: &ContainerPlan) -> Vec<String> {
    let argv = create_argv::create_argv(plan, dialect(plan.engine.kind));
    argv.into_iter().filter_map(|arg| if let Arg::Text(text) = arg { Some(text) } else { None }).collect()
}

/// The command of an action. What the caller does itself (`check_*`, records) has an empty argv.
pub fn render(action: Action, plan: &ContainerPlan, context: &RenderContext<'_>) -> Command {
    let mut command = Command {
        action: action.kind(),
        resource: resource(action, plan),
        phase: if let Action::WriteRecord(phase) = action { Some(phase) } else { None },
        argv: Vec::new(),
        env: context.client.map(|client| client.env.clone()).unwrap_or_default(),
        stdin: None,
        captures: None,
        ok: Vec::from([0]),
        deadline_s: limits::ENGINE_DEADLINE_S,
    };
    let engine = dialect(plan.engine.kind);
    let words: Vec<Arg> = match action {
        Action::PullImage => {
            command.deadline_s = limits::TRANSFER_DEADLINE_S;
            if let Some(config) = context.client.and_then(|client| client.pull_docker_config.as_ref()) {
                command.env.insert("DOCKER_CONFIG".into(), config.clone());
            }
            let mut words = texts(&["pull"]);
            words.extend(
                plan.image.platform.iter().map(|platform| Arg::from(format!("--platform={platform}"))),
            );
            words.extend(texts(&["--", &plan.image.reference]));
            words
        }
        Action::BuildImage => {
            command.deadline_s = limits::BUILD_DEADLINE_S;
            command.stdin = plan.image.build.as_ref().map(build_argv::context);
            build_argv::build_argv(plan, engine)
        }
        Action::InspectImage => {
            command.captures = Some(ReferenceName::ImageId);
            texts(&["image", "inspect", "--format={{.Id}}", "--", &plan.image.reference])
        }
        Action::CreateNetwork => create_network(plan, engine),
        Action::CreateVolume(volume) => create_volume(plan, volume),
        Action::InitVolumes => init_volumes(plan, engine),
        Action::CreateContainer => {
            command.captures = Some(ReferenceName::ContainerId);
            if !plan.start_env.is_empty() {
                command.stdin = Some(Stdin::StartEnv { names: plan.start_env.clone() });
            }
            create_argv::create_argv(plan, engine)
        }
        Action::StartContainer => on_container(&["start", "--"]),
        Action::StopContainer => on_container(&["stop", "-t", "10", "--"]),
        Action::RemoveContainer => {
            let mut words = texts(&["rm"]);
            words.extend(engine.rm.iter().map(|flag| Arg::from(*flag)));
            words.extend([Arg::from("--"), ReferenceName::ContainerId.into()]);
            words
        }
        Action::RemoveVolume(volume) => texts(&["volume", "rm", "--", volume_name(plan, volume)]),
        Action::RemoveNetwork => {
            command.ok = engine.network_rm_ok.to_vec();
            texts(&["network", "rm", "--", plan.network.name.as_deref().unwrap_or_default()])
        }
        Action::Clone => {
            command.deadline_s = limits::TRANSFER_DEADLINE_S;
            let (stdin, words) = plan.clone.as_ref().map(|clone| clone_words(clone, context)).unzip();
            command.stdin = stdin;
            words.unwrap_or_default()
        }
        Action::SetRemote => {
            let clone = plan.clone.as_ref();
            let target = clone.map_or("", |clone| clone.target.as_str());
            let remote = clone.and_then(|clone| clone.remote.as_deref()).unwrap_or_default();
            internal(scripts::SET_REMOTE, &[target, remote])
        }
        Action::CopyIgnoredFiles => {
            command.deadline_s = limits::TRANSFER_DEADLINE_S;
            command.stdin = Some(Stdin::IgnoredFiles);
            internal(scripts::UNPACK, &[plan.clone.as_ref().map_or("", |clone| clone.target.as_str())])
        }
        Action::CheckVolume(_)
        | Action::CheckContainer
        | Action::CheckProcess
        | Action::WriteRecord(_)
        | Action::RemoveRecord => Vec::new(),
    };
    if !words.is_empty() {
        command.argv.push(program(plan.engine.kind, context.client).into());
        command.argv.extend(words);
    } else {
        command.env.clear();
    }
    command
}

/// How the clone comes into the volume, and what the command reads.
fn clone_words(clone: &ClonePlan, context: &RenderContext<'_>) -> (Stdin, Vec<Arg>) {
    let branch = clone.branch.as_deref().unwrap_or_default();
    if clone.from == CloneFrom::Remote {
        let url = clone.remote.as_deref().unwrap_or_default();
        let words = internal(scripts::CLONE_REMOTE, &[&clone.target, url, branch]);
        return (Stdin::CloneSecret, words);
    }
    let base = clone.base.as_deref().map(branch_reference);
    let own = (!clone.new_branch).then(|| branch_reference(branch));
    let begins = if clone.new_branch { base.as_deref().unwrap_or_default() } else { "" };
    let commit = context.commit.unwrap_or_default();
    let words = internal(scripts::CLONE, &[&clone.target, branch, commit, begins]);
    (bundle(context.repo_path, own.into_iter().chain(base.clone())), words)
}

/// A branch by its whole name; one of a remote has it already.
pub fn branch_reference(branch: &str) -> String {
    if branch.starts_with("refs/remotes/") { branch.into() } else { format!("refs/heads/{branch}") }
}

/// The thing that an action is about, by its name.
fn resource(action: Action, plan: &ContainerPlan) -> Option<String> {
    match action {
        Action::CreateVolume(volume) | Action::CheckVolume(volume) | Action::RemoveVolume(volume) => {
            Some(volume_name(plan, volume).into())
        }
        Action::CreateNetwork | Action::RemoveNetwork => plan.network.name.clone(),
        Action::CreateContainer
        | Action::CheckContainer
        | Action::StartContainer
        | Action::CheckProcess
        | Action::StopContainer
        | Action::RemoveContainer => Some(plan.names.container.clone()),
        _ => None,
    }
}

/// The client's program.
pub(super) fn program(kind: EngineKind, client: Option<&EngineClient>) -> &str {
    client.map_or(kind.as_str(), |client| client.program.as_str())
}

fn texts(words: &[&str]) -> Vec<Arg> {
    words.iter().map(|word| Arg::from(*word)).collect()
}

fn on_container(words: &[&str]) -> Vec<Arg> {
    let mut words = texts(words);
    words.push(ReferenceName::ContainerId.into());
    words
}

fn label_flags<'l>(labels: impl Iterator<Item = (&'l String, &'l String)>) -> Vec<Arg> {
    labels.map(|(name, value)| Arg::from(format!("--label={name}={value}"))).collect()
}

fn create_network(plan: &ContainerPlan, engine: &Dialect) -> Vec<Arg> {
    let mut words = texts(&["network", "create"]);
    words.extend(engine.network_create.iter().map(|flag| Arg::from(*flag)));
    let shared = |name: &str| matches!(name, "orca.install" | "orca.schema");
    let labels = plan
        .labels
        .iter()
        .filter(|(name, _)| *name != "orca.plan" && (!engine.network_per_install || shared(name)));
    words.extend(label_flags(labels));
    words.extend(texts(&["--", plan.network.name.as_deref().unwrap_or_default()]));
    words
}

fn volume_name(plan: &ContainerPlan, volume: VolumeRef) -> &str {
    volume.of(plan).map(|volume| volume.name.as_str()).unwrap_or_default()
}

fn create_volume(plan: &ContainerPlan, volume: VolumeRef) -> Vec<Arg> {
    let mut words = texts(&["volume", "create", "--driver=local"]);
    words.extend(label_flags(volume.of(plan).into_iter().flat_map(|volume| &volume.labels)));
    words.extend(texts(&["--", volume_name(plan, volume)]));
    words
}

/// A one-shot container that can change owners and nothing else, before anything of an agent is there.
fn init_volumes(plan: &ContainerPlan, engine: &Dialect) -> Vec<Arg> {
    let mut words = texts(&["run", "--rm"]);
    words.extend(texts(&create_argv::EVERY_CONTAINER));
    words.extend(texts(&[
        "--cap-add=CHOWN",
        "--user=0:0",
        "--network=none",
        "--read-only",
        "--memory=268435456",
        "--memory-swap=268435456",
        "--pids-limit=32",
    ]));
    // By its name it is found again when its client is killed: the image's chown need not end.
    words.push(format!("--name={}-init", plan.names.container).into());
    words.extend(label_flags(plan.labels.iter().filter(|(name, _)| *name != "orca.plan")));
    let volumes = plan.mounts.iter().filter(|mount| mount.kind == MountKind::Volume);
    for mount in volumes.clone() {
        // What is read-only later has its owner changed first.
        words.push(create_argv::mount(
            &MountPlan { read_only: false, ..mount.clone() },
            plan.engine.kind,
            engine,
        ));
    }
    words.push("--entrypoint=/bin/chown".into());
    words.push("--".into());
    words.push(create_argv::image(plan));
    words.extend(texts(&["-h", &format!("{}:{}", plan.user.uid, plan.user.gid)]));
    words.extend(volumes.map(|mount| Arg::from(mount.target.as_str())));
    words
}

/// A command of ours in the container: absolute paths, an empty environment, no secret.
fn internal(script: &str, parameters: &[&str]) -> Vec<Arg> {
    let mut words = texts(&["exec", "-i", "--workdir=/", "--"]);
    words.push(ReferenceName::ContainerId.into());
    words.extend(texts(&["/usr/bin/env", "-i", "/bin/sh", "-c", script, "sh"]));
    words.extend(texts(parameters));
    words
}

/// Flags of every git that runs on the host in a repository: nothing of its configuration starts a program.
pub const HOST_GIT_FLAGS: [&str; 7] = [
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "protocol.allow=never",
    "--no-optional-locks",
];

/// Variables of every such git. `GIT_ALLOW_PROTOCOL` beats what a repository's configuration allows, and gits that
/// do not know `GIT_NO_LAZY_FETCH` know it. Without replacements, what is judged is what is cloned.
pub const HOST_GIT_ENV: [(&str, &str); 5] = [
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// Exactly these references, the workspace's branch and its base: no stash, no other branch, no network, no hook. Its progress is how one
/// knows that git is at work before its first byte comes.
fn bundle(repo_path: &str, references: impl Iterator<Item = String>) -> Stdin {
    let create = ["-C", repo_path, "bundle", "create", "--progress", "-"];
    let words = ["git"].into_iter().chain(HOST_GIT_FLAGS).chain(create);
    let mut argv: Vec<String> = words.map(String::from).collect();
    argv.extend(references);
    let env: BTreeMap<String, String> =
        HOST_GIT_ENV.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
    Stdin::Bundle { argv, env }
}

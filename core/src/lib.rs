//! The policy engine of Orca container workspaces: settings, orca.yaml and measured facts in, a validated
//! container plan out. No I/O, no clock, no randomness: the same request gives the same bytes.
//!
//! ```text
//! input ─► parse ─► resolve ─► policy ─► plan ─► engine      report
//! said     form     who won    verdicts  typed    argv        environment, why
//! ```
//!
//! Data flows one way. [`plan`] judges a request; [`launch`] says how one process starts in the container
//! that came of it; [`next_actions`] says what to do on an engine; [`render`] says how.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod answer;
mod attest;
mod canonical;
mod diagnostic;
mod engine;
pub mod input;
pub mod json;
pub mod limits;
mod parse;
mod plan;
mod policy;
#[doc(hidden)]
pub mod probe;
mod report;
mod repository_path;
mod resolve;
mod resolve_user;
mod secret;
mod source;
mod text;
mod words;

pub use answer::{
    Capabilities, LaunchAnswer, Need, POLICY_REVISION, PlanAnswer, Planned, Refusal, Terminate,
};
pub use attest::{
    CONFINEMENT_FIELDS, COVERED_PATHS, Check, CheckResult, IdMaps, Observation, Scope, attest, differences,
    observe_confinement, observe_container, observe_network, observe_process, observe_volume,
};
pub use diagnostic::{Code, Diagnostic, Severity};
pub use engine::{
    ARE_THERE, Action, ActionKind, AddedFile, Arg, BUNDLE_OUT, Blocked, COMMITTED_LISTING, COMMITTED_TEXT,
    Command, CommandLists, ContainerFacts, DESCRIPTOR_SHIM, ENV_PREFIX, ENVIRONMENT_SHIM, EVERY_CONTAINER,
    HOST_GIT_ENV, HOST_GIT_FLAGS, ImageKnown, MISSING_TOOLS, NO_BRANCH_INSIDE, NO_TEXT_INSIDE,
    NOT_REGULAR_INSIDE, NOT_WRITABLE, NOTHING_NEW_INSIDE, NetworkFacts, Next, Observed, Record,
    ReferenceName, RenderContext, Resource, SSH_ASKS, SshLogin, SshLoginError, Stdin, TERMINATE, TRY_PORTS,
    UNPACK, UNPACK_OVER, VolumeFacts, World, begin_reference, branch_reference, launch, launch_host_names,
    launch_secret_names, look_argv, next_actions, render, ssh_environment_command, ssh_login, ssh_login_argv,
    ssh_refused_argv, ssh_serve_argv,
};
pub use parse::bundle_header::{BundleFault, BundleHead, is_object_id};
pub use parse::env_file::{EnvFileEncodingError, decode_env_file, env_file_lines};
pub use parse::include_rules::IncludeRules;
pub use parse::metadata_label::LABEL as DEVCONTAINER_LABEL;
pub use parse::raw_diff::RawDiff;
pub use parse::worktree_include::is_git_folder;
pub use plan::{
    BuildPlan, ClonePlan, CommandPlan, ContainerPlan, DevcontainerPlan, EnginePlan, Expectation, Hardening,
    ImagePlan, LimitsPlan, MountPlan, Names, NetworkPlan, Operator, PortPlan, SourceDigests, UserPlan,
    VolumePlan, VolumeRef, template_size,
};
pub use policy::approval::PendingApproval;
pub use policy::host_files::{HostFile, changed_host_files};
pub use report::{
    Badge, Changes, ContainerChanges, Drift, EffectiveEnvironment, EnvEntry, LaunchedVariable, OptionEntry,
    PlanChange, Shadow, Standing, VariableChange, Waiting, WaitingChange, Waits, WorkspaceEnvironment,
    WorkspaceStanding, devcontainer_keys_page, environment_table, place, plan_changes, standing, values_in,
    why, why_in_workspace,
};
pub use repository_path::RepositoryPath;
pub use resolve::{ApprovedThing, Ceiling, Copy, DEFAULT_USER_ID, LeftOut, ceiling};
pub use resolve_user::{ImageUser, resolve_user};
pub use secret::Sensitive;
pub use source::{Position, Source};
pub use text::{escaped, escaped_whole, is_deceptive, quoted, quoted_whole};
pub use words::{
    ApprovalKind, CloneFrom, Delivery, DriftKind, DriftPlace, EditCost, Endpoint, EngineKind, EnvChange,
    EnvState, Evidence, Goal, HostFileKind, Layer, LifecycleStage, LimitKind, Mode, MountKind, MountRole,
    Network, Origin, Phase, RecreateReason, Said, Template, Tone, Verdict, WorkspaceAction, WorkspaceStatus,
};

use alloc::{string::String, vec::Vec};
use input::{PlanRequest, SCHEMA_VERSION};

/// Judges a request: a plan (or a preview of one), or a refusal with every reason.
pub fn plan(request: &PlanRequest) -> PlanAnswer {
    let mut judgement = resolve::judge(request);
    if let Some(refusal) = not_wanted(request, &judgement) {
        return PlanAnswer::Refused(refusal);
    }
    let built = plan::build(&mut judgement);
    let Some(container) = built.filter(|_| !judgement.findings.refused()) else {
        return PlanAnswer::Refused(Refusal::of(with_asked(judgement.findings, &judgement.pending)));
    };
    let copies = !judgement.copy.files.is_empty();
    let commands = engine::command_lists(&container, copies, &RenderContext::of(request));
    let needs = plan::needs(&judgement);
    PlanAnswer::Planned(alloc::boxed::Box::new(Planned {
        ok: true,
        schema_version: SCHEMA_VERSION,
        policy_revision: POLICY_REVISION,
        plan: container,
        options: report::option_entries(&judgement),
        environment: report::entries(&judgement.environment, &judgement.sources),
        copy: judgement.copy,
        commands,
        notices: with_asked(judgement.findings, &judgement.pending),
        pending_approvals: judgement.pending,
        needs,
    }))
}

/// The value that an approval is about, as it was read: for a person who decides on it, and for nobody else.
/// `None` where the subject tells everything.
pub fn asked_value(request: &PlanRequest, asked: &PendingApproval) -> Option<Sensitive> {
    if asked.kind != ApprovalKind::RedirectingVariable {
        return None;
    }
    if asked.source.origin == Origin::Devcontainer {
        return resolve::value_of(request, &asked.source);
    }
    let name = asked.subject.get("name")?.as_str()?;
    let block = parse::orca_yaml::read(request.orca_yaml.as_ref()?, &mut diagnostic::Findings::default())?;
    block.env.into_iter().find(|(said, _)| said.value == name).map(|(_, value)| value)
}

/// Whether ignored files are copied: a person said so, or approved what the repository asks. Until then nobody
/// needs to ask git which files they are.
pub fn copies_ignored_files(request: &PlanRequest) -> bool {
    resolve::judge(request).options.copy_ignored_files
}

/// What is wrong with the request's devcontainer.json and what it asks for, in the order of the file; nothing without
/// one. No value of a variable is in it.
pub fn devcontainer_findings(request: &PlanRequest) -> Vec<Diagnostic> {
    resolve::devcontainer_findings(request)
}

/// The user that an image's labels name for work in it; `image_facts.asked_user` is looked up for that one where no
/// devcontainer.json asks for another.
pub fn label_user(labels: &alloc::collections::BTreeMap<String, String>) -> Option<String> {
    labels.get(parse::metadata_label::LABEL).and_then(|label| parse::metadata_label::user(label))
}

/// The Dockerfile whose digest a plan of the request needs, by its path in the repository ([`Need::Dockerfile`]); nothing
/// where the file does not count or the digest is there. The approval of the build is bound to it.
pub fn dockerfile_path(request: &PlanRequest) -> Option<String> {
    let judgement = resolve::judge(request);
    let build = judgement.devcontainer.and_then(|file| file.wanted.build)?;
    build.plan.dockerfile_digest.is_none().then_some(build.plan.dockerfile)
}

/// `container_not_requested` and `experimental_off` come before everything but a malformed request.
fn not_wanted(request: &PlanRequest, judgement: &resolve::Judgement<'_>) -> Option<Refusal> {
    let malformed = |d: &&Diagnostic| d.severity == Severity::Refused && d.code < Code::ContainerNotRequested;
    let mut problems: Vec<Diagnostic> = judgement.findings.iter().filter(malformed).cloned().collect();
    let enabled = &judgement.options.enabled;
    let source = judgement.sources.get(enabled.source);
    if !enabled.value {
        let message = "No setting, choice or flag asks for a container.";
        problems.push(Diagnostic::new(Severity::Refused, Code::ContainerNotRequested, message, source));
    } else if !request.global_settings.experimental_container_workspaces {
        let message = "A container was asked for, but container workspaces are switched off in the experimental settings.";
        let help = "Switch on experimentalContainerWorkspaces, or choose to run without a container.";
        problems.push(Diagnostic::new(Severity::Refused, Code::ExperimentalOff, message, source).help(help));
    } else {
        return None;
    }
    Some(Refusal::of(problems))
}

/// All findings in order, what waits for a person among them.
fn with_asked(mut findings: diagnostic::Findings, pending: &[PendingApproval]) -> Vec<Diagnostic> {
    for asked in pending {
        let help = alloc::format!("Approve it with the digest {}.", asked.digest);
        let finding = Diagnostic::new(
            Severity::Asked,
            Code::ApprovalRequired,
            asked.message.clone(),
            asked.source.clone(),
        );
        findings.push(finding.help(help));
    }
    findings.into_sorted()
}

/// The effective environment of a request: what a launch would get and why, also where the plan is refused.
pub fn effective_environment(request: &PlanRequest) -> EffectiveEnvironment {
    let judgement = resolve::judge(request);
    if let Some(refusal) = not_wanted(request, &judgement) {
        return refusal.into();
    }
    report::effective(judgement)
}

/// What the next launch of a workspace gets and why: the layers of now over the frozen plan and texts, as [`launch`]
/// resolves them. No value is in it.
pub fn launch_environment(frozen: &ContainerPlan, request: &PlanRequest) -> EffectiveEnvironment {
    report::effective_at_launch(resolve::judge_launch(request, frozen))
}

/// The environment of a workspace: what its next launch gets, beside what its last one had (`last_launch`, absent before
/// the first), the names that a person edited since then, the container's configured environment (`observed`,
/// `NAME=value` each, absent where the engine did not tell) and the repository's files that changed.
pub fn workspace_environment(
    frozen: &ContainerPlan,
    request: &PlanRequest,
    last_launch: Option<Vec<LaunchedVariable>>,
    edited: &[String],
    observed: Option<&[Sensitive]>,
    drift: Vec<Drift>,
) -> WorkspaceEnvironment {
    let recreate = waiting_for_recreate(frozen, request, observed);
    let effective = launch_environment(frozen, request);
    report::in_workspace(effective, last_launch, edited, &recreate, drift)
}

/// Names of the start variables that take a recreate: by what is said now they are no start variables any more, or have
/// become ones, or the container has another value since its start. `observed` is its configured environment, `NAME=value`
/// each; absent where the engine did not tell.
pub fn waiting_for_recreate(
    frozen: &ContainerPlan,
    request: &PlanRequest,
    observed: Option<&[Sensitive]>,
) -> Vec<String> {
    report::waiting_for_recreate(frozen, request, observed)
}

/// What of a workspace waits for a recreate. `request` is what a recreate would be made of now: settings and choices of now
/// over the frozen texts, and the facts of engine and image as they were. `observed` is the container's configured environment
/// as in [`waiting_for_recreate`].
pub fn waiting(frozen: &ContainerPlan, request: &PlanRequest, observed: Option<&[Sensitive]>) -> Waiting {
    report::waiting(frozen, request, observed)
}

/// What a recreate changes: from the frozen plan and a request of launches by it, to the plan that the container is made of
/// anew and the request that gave it. `observed` as in [`waiting_for_recreate`].
pub fn recreate_changes(
    before: (&ContainerPlan, &PlanRequest),
    after: (&ContainerPlan, &PlanRequest),
    observed: Option<&[Sensitive]>,
) -> ContainerChanges {
    report::recreate_changes(before, after, observed)
}

/// What becomes of a workspace's variables when its launches go by another plan and the request that belongs to it; names
/// only. `Edited` is one whose value differs, as far as values are known before a launch.
pub fn environment_changes(
    before: (&ContainerPlan, &PlanRequest),
    after: (&ContainerPlan, &PlanRequest),
) -> Vec<VariableChange> {
    report::environment_changes(before, after)
}

/// What a later request makes of a workspace: what its next launch picks up, what waits for a recreate, and why. `before` is
/// the request of the frozen plan, or that of the last launch by it; `after` is the request of now, with the repository's texts
/// of now. A request that gives no plan is answered with its refusal.
pub fn changes(
    frozen: &ContainerPlan,
    before: &PlanRequest,
    after: &PlanRequest,
) -> Result<Changes, Refusal> {
    report::changes(frozen, before, after)
}

/// What stands in the way of a recreate about the start variables as they are said now; a launch goes on without.
pub fn start_variable_faults(frozen: &ContainerPlan, request: &PlanRequest) -> Vec<Diagnostic> {
    resolve::start_faults(request, frozen).into_sorted()
}

/// Which ignored files a workspace gets, and what is left out; the rest of the request is not judged. The refusal is that of
/// an engine that is reached in the clear.
pub fn copies(request: &PlanRequest) -> Result<Copy, Refusal> {
    let judgement = resolve::judge(request);
    let clear = |finding: &&Diagnostic| finding.code == Code::EndpointPlainWithValues;
    let refused: Vec<Diagnostic> = judgement.findings.iter().filter(clear).cloned().collect();
    if refused.is_empty() { Ok(judgement.copy) } else { Err(Refusal::of(refused)) }
}

/// Env-file text of the start variables of a request, for the standard input of `create_container`.
///
/// Holds values; each line was judged to survive the dialect. `None` when there are none.
pub fn start_env_text(request: &PlanRequest) -> Option<Sensitive> {
    let judgement = resolve::judge(request);
    let mut text = zeroize::Zeroizing::new(String::new());
    for (name, claim) in judgement.environment.active().filter(|(_, claim)| claim.delivery == Delivery::Start)
    {
        text.push_str(name);
        text.push('=');
        text.push_str(claim.given.text()?);
        text.push('\n');
    }
    if text.is_empty() { None } else { Some(Sensitive::new(&text)) }
}

/// The digest that a plan of this content has; equal to `plan.digest` unless somebody changed the plan.
pub fn plan_digest(plan: &ContainerPlan) -> Option<String> {
    plan::plan_digest(plan)
}

/// Whether a stored plan is finished and as it was made: digest, label and expectations fit its content.
pub fn is_sealed(plan: &ContainerPlan) -> bool {
    plan::is_sealed(plan)
}

/// What this build knows.
pub fn capabilities() -> Capabilities {
    Capabilities {
        schema_version: SCHEMA_VERSION,
        policy_revision: POLICY_REVISION,
        capabilities: resolve::CAPABILITIES.iter().map(|word| (*word).into()).collect(),
    }
}

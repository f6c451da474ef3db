//! Who won and who lost: sources admitted, options by precedence, the eight layers, user, copies.
//!
//! [`judge`] is the path from a request to resolved values for a plan, [`judge_launch`] the one for a launch:
//! both resolve the layers by the same code, so a plan and its launches cannot disagree.

mod admission;
mod ceiling;
mod copy;
mod devcontainer;
pub(crate) mod environment;
mod host_env;
mod options;
mod persons;
mod request_check;
mod user;

pub use ceiling::{ApprovedThing, Ceiling, ceiling};
pub use copy::{Copy, LeftOut};
pub use devcontainer::devcontainer_findings;
pub(crate) use devcontainer::{
    lifecycle_script, value_of, values_in_file,
    wanted::{self, Wanted},
};
pub(crate) use environment::{Claim, Environment, Given};
pub(crate) use options::{Options, Resolved};
pub(crate) use persons::{EffectivePolicy, Persons};
pub(crate) use request_check::CAPABILITIES;
pub use user::DEFAULT_USER_ID;
pub(crate) use user::ResolvedUser;

use crate::{
    diagnostic::{Code, Findings},
    input::PlanRequest,
    parse::{self, orca_yaml::ContainerBlock},
    plan::ContainerPlan,
    policy::approval::{Binding, Desk, Granted, PendingApproval, build_binding},
    source::{Source, Sources},
    words::{Endpoint, EngineKind, Network, Origin},
};
use alloc::{string::String, vec::Vec};
use devcontainer::wanted::WantedVariable;

/// Everything that was resolved from a request.
#[derive(Debug)]
pub(crate) struct Judgement<'r> {
    /// What was judged.
    pub(crate) request: &'r PlanRequest,
    /// What was found.
    pub(crate) findings: Findings,
    /// Where things were said.
    pub(crate) sources: Sources,
    /// Switches of persons, capped.
    pub(crate) policy: EffectivePolicy,
    /// The options.
    pub(crate) options: Options,
    /// What devcontainer.json gets, where it counts.
    pub(crate) devcontainer: Option<OfFile>,
    /// The layers.
    pub(crate) environment: Environment<'r>,
    /// The user of the container.
    pub(crate) user: ResolvedUser,
    /// Ignored files.
    pub(crate) copy: Copy,
    /// What waits for a person.
    pub(crate) pending: Vec<PendingApproval>,
}

/// What a devcontainer.json that counts comes to.
#[derive(Debug)]
pub(crate) struct OfFile {
    /// Its path.
    pub(crate) path: String,
    /// Where commands start.
    pub(crate) workspace_folder: String,
    /// What it gets.
    pub(crate) wanted: Wanted,
}

/// The layers of a launch over a frozen plan.
#[derive(Debug)]
pub(crate) struct LaunchJudgement<'r> {
    /// What was found.
    pub(crate) findings: Findings,
    /// Where things were said.
    pub(crate) sources: Sources,
    /// The layers.
    pub(crate) environment: Environment<'r>,
    /// What waits for a person.
    pub(crate) pending: Vec<PendingApproval>,
}

/// What both paths begin with.
struct Beginning<'r> {
    findings: Findings,
    policy: EffectivePolicy,
    block: Option<ContainerBlock>,
    persons: Persons<'r>,
}

fn begin(request: &PlanRequest) -> Beginning<'_> {
    let mut findings = Findings::default();
    request_check::check(request, &mut findings);
    let block = admission::admit(request, &mut findings);
    let policy = EffectivePolicy::of(request, &mut findings);
    Beginning { findings, policy, block, persons: Persons::of(request) }
}

fn desk(request: &PlanRequest) -> Desk<'_> {
    let binding =
        Binding { repository_id: &request.workspace.repository_id, image: None, network: Network::Bridge };
    Desk { granted: Granted(&request.approvals), binding, pending: Vec::new() }
}

/// Judges a request. Every finding is collected; nothing stops at the first.
pub(crate) fn judge(request: &PlanRequest) -> Judgement<'_> {
    let Beginning { mut findings, policy, block, persons } = begin(request);
    request_check::check_options(request, &mut findings);
    let mut sources = Sources::default();
    let mut desk = desk(request);
    let include =
        request.worktree_include.as_ref().map(|file| parse::worktree_include::read(file.text.reveal()));
    let mut of_file = Findings::default();
    let document =
        if names_file(&persons, block.as_ref()) { devcontainer::open(request, &mut of_file) } else { None };
    let engine = engine_kind(request, &persons);
    let mut file = document.as_ref().map(|document| devcontainer::Scene::read(request, document, engine));
    let options = {
        let mut scene = options::Scene {
            request,
            persons: &persons,
            block: block.as_ref(),
            findings: &mut findings,
            sources: &mut sources,
            devcontainer: file.as_ref().map(|file| &file.wanted),
        };
        options::resolve(&mut scene, &mut desk, include.as_deref().unwrap_or_default())
    };
    if options.devcontainer {
        findings.append(of_file);
    } else {
        file = None;
    }
    if let Some(file) = &mut file {
        file.settle(&mut desk, devcontainer::Grants::of(request, &options, &policy));
        findings.append(core::mem::take(&mut file.findings));
    }
    let devcontainer = file.map(devcontainer::Scene::done);
    let asked_user = devcontainer.as_ref().and_then(|file| file.wanted.user.as_ref());
    let user = user::resolve(request, options.user.as_ref(), asked_user, &mut findings, &sources);
    let mut scene = environment::Scene {
        request,
        persons: &persons,
        policy: &policy,
        findings: &mut findings,
        sources: &mut sources,
        home: user.home,
        mode: options.mode.value,
    };
    let variables = devcontainer.as_ref().map(|file| file.wanted.variables.as_slice()).unwrap_or_default();
    let mut environment = environment::resolve(&mut scene, block, variables, &mut desk);
    environment.mark_start(&options.start_env, &mut findings, &sources);
    environment.check_totals(request, &mut findings);
    let copy = copy::resolve(request, include.as_deref(), options.copy_ignored_files, &mut findings);
    keep_files_from_the_wire(request, &copy, &mut findings);
    let mut pending = desk.pending;
    pending.sort_by_key(|asked| !asked.blocking);
    if policy.strict {
        findings.refuse_dropped();
    }
    Judgement { request, findings, sources, policy, options, devcontainer, environment, user, copy, pending }
}

/// Whether any word on the image names devcontainer.json; only then is the file read for a plan.
fn names_file(persons: &Persons<'_>, block: Option<&ContainerBlock>) -> bool {
    let by_person = persons.ascending().any(|p| p.options.image.as_deref() == Some(options::DEVCONTAINER));
    let image = block.and_then(|block| block.image.as_ref());
    by_person || image.is_some_and(|image| image.value == options::DEVCONTAINER)
}

/// The engine whose flags are read, before the options are resolved; the resolved one is the same.
fn engine_kind(request: &PlanRequest, persons: &Persons<'_>) -> EngineKind {
    let of_facts = request.engine.as_ref().map(|engine| engine.kind);
    let word = persons.strongest(|o| o.engine.as_deref()).and_then(|(_, word)| EngineKind::parse(word));
    of_facts.or(word).unwrap_or(EngineKind::Docker)
}

/// What git ignores is mostly what nobody else may read: where a value may not go, a file full of them may not either.
fn keep_files_from_the_wire(request: &PlanRequest, copy: &Copy, findings: &mut Findings) {
    let plain = request.engine.as_ref().is_some_and(|engine| engine.endpoint == Endpoint::Plain);
    if plain && !copy.files.is_empty() {
        let message = "The engine is reached over TCP in the clear, where every ignored file could be read; it gets none.";
        let source = Source::setting(Origin::Engine, "engine.endpoint");
        findings.refuse(Code::EndpointPlainWithValues, source, message);
        findings.help("Reach the engine by a local socket, by ssh or with TLS, or create without copying ignored files.");
    }
}

/// Judges the layers of a launch. Container options of now do not count: image, network, user and start
/// variables are those of the frozen plan.
pub(crate) fn judge_launch<'r>(request: &'r PlanRequest, frozen: &ContainerPlan) -> LaunchJudgement<'r> {
    let Beginning { mut findings, policy, block, persons } = begin(request);
    let mut sources = Sources::default();
    let mut desk = desk(request);
    let image = frozen.image.build.as_ref().map_or_else(|| frozen.image.reference.clone(), build_binding);
    desk.binding.image = Some((image, frozen.image.said));
    desk.binding.network = frozen.network.mode;
    // What else the file says was settled when the container was made.
    let variables = frozen_variables(request, frozen, &mut findings, &mut desk);
    let mut scene = environment::Scene {
        request,
        persons: &persons,
        policy: &policy,
        findings: &mut findings,
        sources: &mut sources,
        home: user::home_of(request, frozen.user.uid),
        mode: frozen.mode,
    };
    let mut environment = environment::resolve(&mut scene, block, &variables, &mut desk);
    environment.leave_to_start(&frozen.start_env);
    if policy.strict {
        findings.refuse_dropped();
    }
    LaunchJudgement { findings, sources, environment, pending: desk.pending }
}

/// What is wrong with the start variables of a frozen plan as they are said now: no launch needs them, but a recreate does.
pub(crate) fn start_faults(request: &PlanRequest, frozen: &ContainerPlan) -> Findings {
    let LaunchJudgement { mut environment, mut sources, .. } = judge_launch(request, frozen);
    let claims: Vec<(String, Option<crate::source::SourceId>)> = frozen
        .start_env
        .iter()
        .map(|name| {
            let claim = environment.active().find(|(active, _)| active == name);
            (name.clone(), claim.map(|(_, claim)| claim.source))
        })
        .collect();
    let unset = sources.add(Source::setting(Origin::Request, "startEnv"));
    let start: Vec<_> = claims.into_iter().map(|(name, source)| (name, source.unwrap_or(unset))).collect();
    let mut findings = Findings::default();
    environment.mark_start(&start, &mut findings, &sources);
    findings
}

/// The variables of the devcontainer.json that a plan was made with.
fn frozen_variables(
    request: &PlanRequest,
    frozen: &ContainerPlan,
    findings: &mut Findings,
    desk: &mut Desk<'_>,
) -> Vec<WantedVariable> {
    if frozen.devcontainer.is_none() {
        return Vec::new();
    }
    let Some(document) = devcontainer::open(request, findings) else { return Vec::new() };
    let mut file = devcontainer::Scene::read(request, &document, frozen.engine.kind);
    let host_env = devcontainer::persons_host_env(request);
    file.settle_variables(desk, host_env);
    findings.append(core::mem::take(&mut file.findings));
    file.done().wanted.variables
}

//! The environment: every claim of every layer on a name, who won, and what became of the others (design 6).
//!
//! Claims are gathered lowest layer first, judged one by one, and kept whole: a name's history is never lost.
//! Values are looked at only for what no process can carry.

mod judge;
mod layers;

pub(crate) use judge::value_fault;

use super::{
    devcontainer::wanted::WantedVariable,
    persons::{EffectivePolicy, Persons},
};
use crate::{
    diagnostic::{Code, Findings},
    input::PlanRequest,
    limits,
    parse::orca_yaml::ContainerBlock,
    policy::{Authority, approval::Desk, devcontainer::substitution::Part, env_names},
    secret::Sensitive,
    source::{Source, SourceId, Sources},
    text::quoted_name,
    words::{Delivery, EnvState, Layer, Mode, Origin},
};
use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

/// Where the value of a claim comes from.
#[derive(Clone, Debug)]
pub(crate) enum Given<'r> {
    /// It stands in the request.
    Text(&'r Sensitive),
    /// It stands in a text that we read.
    Read(Sensitive),
    /// It is ours.
    Constant(&'static str),
    /// Not a secret of anyone: the host of a bound account.
    GhHost(String),
    /// A host variable of this name, at launch.
    Host,
    /// One of Orca's own variables of this name, at launch.
    Orca,
    /// A declared secret, at launch.
    Secret(String),
    /// The token of the bound account, at launch.
    GhToken,
    /// Text of a devcontainer.json with host variables in it, which are put in at launch.
    Parts(Vec<Part>),
    /// The image has it.
    Image,
}

impl Given<'_> {
    /// The value, where it is known before a launch.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Given::Constant(value) => Some(value),
            Given::GhHost(host) => Some(host),
            _ => self.written(),
        }
    }

    /// The value that a person or the repository wrote.
    pub(crate) fn written(&self) -> Option<&str> {
        match self {
            Given::Text(value) => Some(value.reveal()),
            Given::Read(value) => Some(value.reveal()),
            _ => None,
        }
    }

    /// The texts around the host variables that are parts of it.
    pub(crate) fn text_parts(&self) -> Vec<&str> {
        let Given::Parts(parts) = self else { return Vec::new() };
        let texts = parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Host variables whose values are parts of it.
    pub(crate) fn host_names(&self) -> Vec<String> {
        let Given::Parts(parts) = self else { return Vec::new() };
        let host = |part: &Part| match part {
            Part::Host { name, .. } => Some(name.clone()),
            _ => None,
        };
        parts.iter().filter_map(host).collect()
    }

    /// Whether reports call it a secret.
    pub(crate) fn is_secret(&self) -> bool {
        matches!(self, Given::Secret(_) | Given::GhToken)
    }

    /// Whether its value comes with each launch and is kept nowhere.
    pub(crate) fn is_kept_nowhere(&self) -> bool {
        matches!(self, Given::Host | Given::Orca | Given::Secret(_) | Given::GhToken)
            || !self.host_names().is_empty()
    }
}

/// One layer's word on a name.
#[derive(Clone, Debug)]
pub(crate) struct Claim<'r> {
    /// The layer.
    pub(crate) layer: Layer,
    /// Where it was said.
    pub(crate) source: SourceId,
    /// Whose word it is.
    pub(crate) authority: Authority,
    /// Its value.
    pub(crate) given: Given<'r>,
    /// `Active` for a claim that may win; the winner stays so, the others become `Shadowed`.
    pub(crate) state: EnvState,
    /// How it is delivered.
    pub(crate) delivery: Delivery,
}

/// All names with all their claims, weakest first.
#[derive(Debug, Default)]
pub(crate) struct Environment<'r> {
    names: BTreeMap<String, Vec<Claim<'r>>>,
    /// Image variables that the container must not have from its creation.
    pub(crate) removed_at_create: Vec<String>,
    /// Image variables that each launch takes away.
    pub(crate) removed_at_launch: Vec<String>,
}

impl<'r> Environment<'r> {
    /// Names in order, each with its claims, weakest first.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, &[Claim<'r>])> {
        self.names.iter().map(|(name, claims)| (name.as_str(), claims.as_slice()))
    }

    /// The claim that a process gets, for names that have one.
    pub(crate) fn active(&self) -> impl Iterator<Item = (&str, &Claim<'r>)> {
        self.names().filter_map(|(name, claims)| {
            claims.iter().rev().find(|claim| claim.state == EnvState::Active).map(|claim| (name, claim))
        })
    }

    /// Names that are there from the container's start.
    pub(crate) fn start_names(&self) -> Vec<String> {
        self.active().filter(|(_, c)| c.delivery == Delivery::Start).map(|(name, _)| name.into()).collect()
    }

    /// Marks the variables that must be there from the start; they end in the engine's own records, so
    /// what must not be seen there may not be one.
    pub(super) fn mark_start(
        &mut self,
        start: &[(String, SourceId)],
        findings: &mut Findings,
        sources: &Sources,
    ) {
        for (name, source) in start {
            let source = sources.get(*source);
            let winner = self
                .names
                .get_mut(name)
                .and_then(|claims| claims.iter_mut().rev().find(|claim| claim.state == EnvState::Active));
            let Some(claim) = winner.filter(|claim| !matches!(claim.given, Given::Image)) else {
                let message = format!("A start variable is set in some layer; {} is not.", quoted_name(name));
                findings.refuse(Code::StartEnvNotAllowed, source, message);
                continue;
            };
            let plain = matches!(claim.given, Given::Text(_) | Given::Read(_)) && claim.layer != Layer::Orca;
            if !plain
                || env_names::reserved(name).is_some()
                || env_names::is_redirecting(name)
                || env_names::is_never_from_host(name)
            {
                let message = format!(
                    "A start variable can be seen in the engine's records, so it is no secret, host, account, reserved or redirecting one; {} is.",
                    quoted_name(name)
                );
                findings.refuse(Code::StartEnvNotAllowed, source, message);
                findings.help("Take it off startEnv; every launch gets it all the same.");
                continue;
            }
            let value = claim.given.text().unwrap_or("");
            if value.contains('\n') || value.ends_with('\r') {
                let message = format!(
                    "The value of a start variable is one line; that of {} is not.",
                    quoted_name(name)
                );
                findings.refuse(Code::StartValueNewline, source, message);
            } else if name.len().saturating_add(value.len()).saturating_add(2) > limits::START_ENV_LINE_BYTES
            {
                let message = format!(
                    "Name and value of a start variable have at most {} bytes; those of {} have more.",
                    limits::START_ENV_LINE_BYTES,
                    quoted_name(name)
                );
                findings.refuse(Code::ValueTooLarge, source, message);
            } else {
                claim.delivery = Delivery::Start;
            }
        }
    }

    /// Leaves the start variables of a frozen plan to the container, which has had them since it was made.
    pub(super) fn leave_to_start(&mut self, start: &[String]) {
        for name in start {
            for claim in self.names.get_mut(name).into_iter().flatten() {
                claim.delivery = Delivery::Start;
            }
        }
    }

    /// All values together fit into one process.
    pub(super) fn check_totals(&self, request: &PlanRequest, findings: &mut Findings) {
        let total: usize = self.active().filter_map(|(_, claim)| claim.given.text()).map(str::len).sum();
        if total > limits::ENV_TOTAL_BYTES {
            let message =
                format!("All values of a launch have at most {} bytes together.", limits::ENV_TOTAL_BYTES);
            findings.refuse(Code::ValueTooLarge, Source::origin(Origin::Request), message);
        }
        let plain =
            request.engine.as_ref().is_some_and(|engine| engine.endpoint == crate::words::Endpoint::Plain);
        let carried = self.active().any(|(_, c)| !matches!(c.given, Given::Constant(_) | Given::Image));
        if plain && carried {
            let message = "The engine is reached over TCP in the clear, where every value could be read; it carries none.";
            findings.refuse(
                Code::EndpointPlainWithValues,
                Source::setting(Origin::Engine, "engine.endpoint"),
                message,
            );
            findings.help("Reach the engine by a local socket, by ssh or with TLS.");
        }
    }

    /// Winners and losers, once all claims are there.
    fn settle(&mut self) {
        for claims in self.names.values_mut() {
            claims.sort_by_key(|claim| claim.layer);
            let mut won = false;
            for claim in claims.iter_mut().rev().filter(|claim| claim.state == EnvState::Active) {
                if won {
                    claim.state = EnvState::Shadowed;
                }
                won = true;
            }
        }
    }
}

/// What resolving looks at and writes to.
pub(super) struct Scene<'a, 'r> {
    pub(super) request: &'r PlanRequest,
    pub(super) persons: &'a Persons<'r>,
    pub(super) policy: &'a EffectivePolicy,
    pub(super) findings: &'a mut Findings,
    pub(super) sources: &'a mut Sources,
    /// HOME of ours, where the user has none.
    pub(super) home: Option<&'static str>,
    pub(super) mode: Mode,
}

/// Resolves all layers.
pub(super) fn resolve<'r>(
    scene: &mut Scene<'_, 'r>,
    block: Option<ContainerBlock>,
    variables: &[WantedVariable],
    desk: &mut Desk<'_>,
) -> Environment<'r> {
    let mut environment = layers::gather(scene, block, variables, desk);
    environment.settle();
    note_shadowed_users(&environment, scene);
    environment
}

/// A repository's value that hides a person's is always said.
fn note_shadowed_users(environment: &Environment<'_>, scene: &mut Scene<'_, '_>) {
    for (name, claims) in environment.names() {
        let winner = claims.iter().rev().find(|claim| claim.state == EnvState::Active);
        let hidden =
            claims.iter().rev().find(|c| c.state == EnvState::Shadowed && c.authority == Authority::User);
        if let (Some(winner), Some(hidden)) = (winner, hidden)
            && winner.authority == Authority::Repository
        {
            let message = format!(
                "The repository sets {} and so hides what you set in layer \"{}\".",
                quoted_name(name),
                hidden.layer
            );
            scene.findings.notice(Code::RepositoryShadowsUser, scene.sources.get(winner.source), message);
            scene
                .findings
                .help("Set it as a container variable of this workspace to win over the repository.");
        }
    }
}

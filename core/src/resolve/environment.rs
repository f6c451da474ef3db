//! The environment: every claim of every layer on a name, who won, and what became of the others (design 6).
//!
//! Claims are gathered lowest layer first, judged one by one, and kept whole: a name's history is never lost.
//! Values are looked at only for what no process can carry.

use super::{
    host_env,
    persons::{EffectivePolicy, Persons},
};
use crate::{
    diagnostic::{Code, Findings},
    input::{EnvSetting, PlanRequest},
    limits,
    parse::{
        env_file,
        env_name::{ENV_NAME_RULE, is_env_name},
        orca_yaml::ContainerBlock,
    },
    policy::{
        Authority,
        approval::{Desk, Subject},
        ceiling,
        env_names::{self, Reserved},
        gh_account::{BoundAccount, REMOVED_BELOW},
        orca_env::{self, Translation},
    },
    secret::Sensitive,
    source::{Source, SourceId, Sources},
    text::quoted,
    words::{Delivery, EnvState, Layer, Mode, Origin},
};
use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};

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
    /// The image has it.
    Image,
}

impl Given<'_> {
    /// The value, where it is known before a launch.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Given::Text(value) => Some(value.reveal()),
            Given::Read(value) => Some(value.reveal()),
            Given::Constant(value) => Some(value),
            Given::GhHost(host) => Some(host),
            Given::Host | Given::Orca | Given::Secret(_) | Given::GhToken | Given::Image => None,
        }
    }

    /// Whether reports call it a secret.
    pub(crate) fn is_secret(&self) -> bool {
        matches!(self, Given::Secret(_) | Given::GhToken)
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
            let Some(claim) = winner.filter(|claim| claim.layer != Layer::Image) else {
                let message = format!("A start variable is set in some layer; {} is not.", quoted(name));
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
                    quoted(name)
                );
                findings.refuse(Code::StartEnvNotAllowed, source, message);
                findings.help("Take it off startEnv; every launch gets it all the same.");
                continue;
            }
            let value = claim.given.text().unwrap_or("");
            if value.contains('\n') || value.ends_with('\r') {
                let message =
                    format!("The value of a start variable is one line; that of {} is not.", quoted(name));
                findings.refuse(Code::StartValueNewline, source, message);
            } else if name.len().saturating_add(value.len()).saturating_add(2) > limits::START_ENV_LINE_BYTES
            {
                let message = format!(
                    "Name and value of a start variable have at most {} bytes; those of {} have more.",
                    limits::START_ENV_LINE_BYTES,
                    quoted(name)
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
    desk: &mut Desk<'_>,
) -> Environment<'r> {
    let mut builder = Builder { environment: Environment::default(), scene, desk };
    builder.image();
    builder.orca();
    builder.agent();
    builder.project();
    builder.host(block.as_ref());
    builder.secrets();
    builder.container_project(block);
    builder.container_workspace();
    builder.remove_below_account();
    let mut environment = builder.environment;
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
                quoted(name),
                hidden.layer
            );
            scene.findings.notice(Code::RepositoryShadowsUser, scene.sources.get(winner.source), message);
            scene
                .findings
                .help("Set it as a container variable of this workspace to win over the repository.");
        }
    }
}

struct Builder<'b, 's, 'r, 'd> {
    environment: Environment<'r>,
    scene: &'b mut Scene<'s, 'r>,
    desk: &'b mut Desk<'d>,
}

/// A claim before it is judged.
struct Proposal<'r> {
    name: String,
    layer: Layer,
    source: Source,
    authority: Authority,
    given: Given<'r>,
}

impl<'r> Builder<'_, '_, 'r, '_> {
    fn note(&mut self, proposal: Proposal<'r>, state: EnvState, delivery: Delivery) {
        let Proposal { name, layer, source, authority, given } = proposal;
        let source = self.scene.sources.add(source);
        let claim = Claim { layer, source, authority, given, state, delivery };
        self.environment.names.entry(name).or_default().push(claim);
    }

    /// Judges a claim of any layer but the image's and Orca's own.
    fn claim(&mut self, proposal: Proposal<'r>) {
        let state = self.judge(&proposal);
        self.note(proposal, state, Delivery::Launch);
    }

    fn refuse(&mut self, code: Code, proposal: &Proposal<'r>, message: String) -> EnvState {
        self.scene.findings.refuse(code, proposal.source.clone(), message);
        EnvState::Refused
    }

    fn judge(&mut self, proposal: &Proposal<'r>) -> EnvState {
        let name = proposal.name.as_str();
        if !is_env_name(name) {
            return self.refuse(
                Code::NameInvalid,
                proposal,
                format!("{ENV_NAME_RULE}; {} is not one.", quoted(name)),
            );
        }
        if let Some(reserved) = env_names::reserved(name)
            && let Some(state) = self.judge_reserved(reserved, proposal)
        {
            return state;
        }
        if env_names::is_shell_owned(name) {
            let message =
                format!("A shell sets {} itself, so no value of it arrives; it is left out.", quoted(name));
            self.scene.findings.drop(Code::ShellOwnedName, proposal.source.clone(), message);
            return EnvState::Dropped;
        }
        if let Some(state) = self.judge_value(proposal) {
            return state;
        }
        if proposal.authority == Authority::Repository
            && env_names::is_redirecting(name)
            && let Given::Read(value) = &proposal.given
        {
            return self.ask_redirecting(proposal, value);
        }
        EnvState::Active
    }

    fn ask_redirecting(&mut self, proposal: &Proposal<'r>, value: &Sensitive) -> EnvState {
        let name = proposal.name.as_str();
        let message = format!(
            "The repository sets {}, which decides where credentials go or what runs first; it is absent until you approve.",
            quoted(name)
        );
        let subject = Subject::RedirectingVariable { name, value };
        if self.desk.ask(&subject, proposal.source.clone(), message) {
            EnvState::Active
        } else {
            EnvState::Pending
        }
    }

    /// `None` when the key is admitted after all.
    fn judge_reserved(&mut self, reserved: Reserved, proposal: &Proposal<'r>) -> Option<EnvState> {
        let name = quoted(&proposal.name);
        let account = reserved == Reserved::Account;
        let blank = proposal.given.text() == Some("");
        if account && blank && proposal.layer == Layer::Agent {
            let message = format!(
                "An empty {name} blanks the variable on the host; in a container there is nothing to blank."
            );
            self.scene.findings.drop(Code::ReservedKeyBlank, proposal.source.clone(), message);
            return Some(EnvState::Dropped);
        }
        if account && proposal.authority == Authority::User && self.scene.policy.allow_account_keys {
            return None;
        }
        let owner = if account { "belongs to the accounts that Orca manages" } else { "is Orca's own" };
        let message = format!("The variable {name} {owner} and is not set in layer \"{}\".", proposal.layer);
        let state = self.refuse(Code::ReservedKey, proposal, message);
        if account && proposal.authority == Authority::User {
            self.scene
                .findings
                .help("Set policy.allowAccountKeys in your settings to admit it from your own layers.");
        } else {
            self.scene.findings.help("Remove it here.");
        }
        Some(state)
    }

    /// What no process can carry.
    fn judge_value(&mut self, proposal: &Proposal<'r>) -> Option<EnvState> {
        let fault = value_fault(&proposal.name, proposal.given.text()?)?;
        Some(self.refuse(fault.0, proposal, fault.1))
    }

    /// Layer 1. The image was judged when it was approved; reserved names are taken out of the container.
    fn image(&mut self) {
        let Some(image) = &self.scene.request.image_facts else { return };
        for entry in &image.env {
            let name = entry.reveal().split_once('=').map_or(entry.reveal(), |(name, _)| name);
            let source = Source::setting(Origin::Image, "env");
            let proposal = Proposal {
                name: name.into(),
                layer: Layer::Image,
                source: source.clone(),
                authority: Authority::Repository,
                given: Given::Image,
            };
            if env_names::reserved(name).is_some() {
                let message = format!(
                    "The image sets the reserved variable {}; the container will not have it.",
                    quoted(name)
                );
                self.scene.findings.notice(Code::ImageKeyRemoved, source, message);
                if is_env_name(name) {
                    self.environment.removed_at_create.push(name.into());
                }
                self.note(proposal, EnvState::Removed, Delivery::Image);
                continue;
            }
            if env_names::is_redirecting(name) && !name.eq_ignore_ascii_case("PATH") {
                let message = format!(
                    "The image sets {}, which decides where credentials go or what runs first.",
                    quoted(name)
                );
                self.scene.findings.notice(Code::ImageRedirects, source, message);
            }
            self.note(proposal, EnvState::Active, Delivery::Image);
        }
        self.environment.removed_at_create.sort();
        self.environment.removed_at_create.dedup();
    }

    /// Layer 2: what Orca hands over by its table, and our own constants.
    fn orca(&mut self) {
        let request = self.scene.request;
        let names: BTreeSet<&str> = request.orca_env.iter().map(String::as_str).collect();
        for name in names {
            let source = Source::setting(Origin::Orca, "orcaEnv");
            let proposal = Proposal {
                name: name.into(),
                layer: Layer::Orca,
                source: source.clone(),
                authority: Authority::Orca,
                given: Given::Orca,
            };
            let state = match orca_env::translation(name) {
                None => {
                    let message = format!(
                        "The translation table does not know Orca's variable {}; it is left out.",
                        quoted(name)
                    );
                    self.scene.findings.drop(Code::OrcaEnvUnknown, source, message);
                    EnvState::Dropped
                }
                Some(Translation::Never) => EnvState::Dropped,
                Some(_) if self.scene.mode == Mode::Volume && !orca_env::ORCAD_LAUNCH_ENV.contains(&name) => {
                    EnvState::Dropped
                }
                Some(_) => EnvState::Active,
            };
            self.note(proposal, state, Delivery::Launch);
        }
        let home = self.scene.home.map(|home| ("HOME", home));
        for (name, value) in orca_env::OWN.iter().copied().chain(home) {
            let proposal = Proposal {
                name: name.into(),
                layer: Layer::Orca,
                source: Source::setting(Origin::Orca, "agentVolume"),
                authority: Authority::Orca,
                given: Given::Constant(value),
            };
            self.note(proposal, EnvState::Active, Delivery::Launch);
        }
    }

    /// Layer 3: the launched agent's record only.
    fn agent(&mut self) {
        let request = self.scene.request;
        let Some(agent) = &request.agent else { return };
        let env = request.global_settings.agent_default_env.get(agent);
        for (name, value) in env.into_iter().flat_map(crate::input::UniqueMap::iter) {
            let path =
                format!("agentDefaultEnv.{}.{}", crate::text::escaped(agent), crate::text::escaped(name));
            self.claim(Proposal {
                name: name.into(),
                layer: Layer::Agent,
                source: Source::setting(Origin::GlobalSettings, path),
                authority: Authority::User,
                given: Given::Text(value),
            });
        }
    }

    /// Layer 4: the project's agent environment, then its GitHub account.
    fn project(&mut self) {
        let request = self.scene.request;
        for (name, value) in request.repo_settings.agent_env.iter() {
            self.claim(Proposal {
                name: name.into(),
                layer: Layer::Project,
                source: Source::setting(
                    Origin::RepoSettings,
                    format!("agentEnv.{}", crate::text::escaped(name)),
                ),
                authority: Authority::User,
                given: Given::Text(value),
            });
        }
        let Some(account) = &request.repo_settings.gh_account else { return };
        let bound = match BoundAccount::judge(account) {
            Ok(bound) => bound,
            Err(field) => {
                let message =
                    format!("A bound GitHub account has a host name and a user name; its {field} is none.");
                let source = Source::setting(Origin::RepoSettings, format!("ghAccount.{field}"));
                self.scene.findings.refuse(Code::RequestInvalid, source, message);
                return;
            }
        };
        let mut set = |name: &str, given: Given<'r>| {
            let proposal = Proposal {
                name: name.into(),
                layer: Layer::Project,
                source: Source::setting(Origin::GhAccount, "ghAccount"),
                authority: Authority::User,
                given,
            };
            self.note(proposal, EnvState::Active, Delivery::Launch);
        };
        set(bound.token_name, Given::GhToken);
        set("GH_PROMPT_DISABLED", Given::Constant("1"));
        if let Some(host) = bound.gh_host {
            set("GH_HOST", Given::GhHost(host));
        }
    }

    /// Layer 6: names only; values at launch.
    fn host(&mut self, block: Option<&ContainerBlock>) {
        let request = self.scene.request;
        let file = request.orca_yaml.as_ref().map(|file| file.path.as_str());
        let existing: BTreeSet<&str> = request.host.env_names.iter().map(String::as_str).collect();
        for named in host_env::named(self.scene.persons, block, file) {
            let authority = if named.by_person { Authority::User } else { Authority::Repository };
            let proposal = Proposal {
                name: named.name,
                layer: Layer::Host,
                source: named.source,
                authority,
                given: Given::Host,
            };
            let state = self.judge_host(&proposal);
            if state == EnvState::Active && !existing.contains(proposal.name.as_str()) {
                let message = format!(
                    "The host variable {} is allowed but not set on this host.",
                    quoted(&proposal.name)
                );
                self.scene.findings.notice(Code::HostEnvMissing, proposal.source.clone(), message);
                self.note(proposal, EnvState::Dropped, Delivery::Launch);
                continue;
            }
            self.note(proposal, state, Delivery::Launch);
        }
    }

    fn judge_host(&mut self, proposal: &Proposal<'r>) -> EnvState {
        let name = proposal.name.as_str();
        let by_person = proposal.authority == Authority::User;
        if is_env_name(name) && env_names::is_never_from_host(name) {
            let message = format!(
                "The host's {} means nothing, or too much, inside a container; it is never forwarded.",
                quoted(name)
            );
            let source = proposal.source.clone();
            return if by_person {
                self.scene.findings.refuse(Code::HostEnvNeverForwarded, source, message);
                EnvState::Refused
            } else {
                self.scene.findings.drop(Code::RepositoryHostEnvNever, source, message);
                EnvState::Dropped
            };
        }
        let judged = self.judge(proposal);
        if judged != EnvState::Active {
            return judged;
        }
        if !ceiling::host_env_is_within(self.scene.request, name) {
            let message =
                format!("The operator's maximum does not allow the host variable {}.", quoted(name));
            let source = proposal.source.clone();
            return if by_person {
                self.scene.findings.refuse(Code::ExceedsMaximum, source, message);
                EnvState::Refused
            } else {
                self.scene.findings.drop(Code::ExceedsMaximumDropped, source, message);
                EnvState::Dropped
            };
        }
        if by_person {
            return EnvState::Active;
        }
        let message = format!(
            "The repository wants your host variable {}; it is absent until you approve.",
            quoted(name)
        );
        let subject = Subject::ForwardHostEnv { name };
        if self.desk.ask(&subject, proposal.source.clone(), message) {
            EnvState::Active
        } else {
            EnvState::Pending
        }
    }

    /// Layer 7: names only; values at launch.
    fn secrets(&mut self) {
        let request = self.scene.request;
        for (index, secret) in request.secrets.iter().enumerate() {
            self.claim(Proposal {
                name: secret.name.clone(),
                layer: Layer::Secret,
                source: Source::setting(Origin::Secret, format!("secrets[{index}]")),
                authority: Authority::User,
                given: Given::Secret(secret.name.clone()),
            });
        }
    }

    /// Layer 8a: orca.yaml, then the repository's settings; global container defaults count as the weakest of them.
    fn container_project(&mut self, block: Option<ContainerBlock>) {
        let persons = self.scene.persons;
        let person = |origin: Origin| persons.ascending().find(move |p| p.origin == origin).copied();
        self.settings_env(person(Origin::GlobalSettings), Layer::ContainerProject);
        let file = self.scene.request.orca_yaml.as_ref().map_or("orca.yaml", |file| file.path.as_str());
        for (name, value) in block.into_iter().flat_map(|block| block.env) {
            let path = format!("worktree.container.env.{}", crate::text::escaped(&name.value));
            self.claim(Proposal {
                name: name.value,
                layer: Layer::ContainerProject,
                source: Source::file(Origin::OrcaYaml, file, name.at).at_path(path),
                authority: Authority::Repository,
                given: Given::Read(value),
            });
        }
        self.settings_env(person(Origin::RepoSettings), Layer::ContainerProject);
    }

    /// Layer 8b: the env file, then the dialog or the command line.
    fn container_workspace(&mut self) {
        let persons = self.scene.persons;
        for person in persons.ascending() {
            if let Some(file) = &person.options.env_file {
                self.env_file(&file.name, &file.text);
            }
        }
        let choices = persons.ascending().find(|p| p.origin == Origin::Choices).copied();
        self.settings_env(choices, Layer::ContainerWorkspace);
    }

    fn settings_env(&mut self, person: Option<super::persons::Person<'r>>, layer: Layer) {
        let Some(person) = person else { return };
        for (name, setting) in person.options.env.iter().flat_map(crate::input::UniqueMap::iter) {
            let source = person.source(&format!("env.{}", crate::text::escaped(name)));
            let given = match setting {
                EnvSetting::Value(value) => Given::Text(value),
                EnvSetting::Secret(secret) => {
                    if !self.scene.request.secrets.iter().any(|declared| declared.name == *secret) {
                        let message = format!(
                            "The variable {} refers to a declared secret; {} is not declared.",
                            quoted(name),
                            quoted(secret)
                        );
                        self.scene.findings.refuse(Code::SecretUndeclared, source.clone(), message);
                    }
                    Given::Secret(secret.clone())
                }
            };
            self.claim(Proposal { name: name.into(), layer, source, authority: Authority::User, given });
        }
    }

    fn env_file(&mut self, file: &str, text: &Sensitive) {
        let (entries, faults) = env_file::read(text.reveal());
        for fault in faults {
            self.scene.findings.refuse(
                Code::EnvFileInvalid,
                Source::file(Origin::EnvFile, file, fault.at),
                fault.message,
            );
            if let Some(help) = fault.help {
                self.scene.findings.help(help);
            }
        }
        let mut seen = BTreeSet::new();
        for (name, value) in entries {
            let source = Source::file(Origin::EnvFile, file, name.at);
            if !seen.insert(name.value.clone()) {
                let message =
                    format!("The file sets {} more than once; the last line counts.", quoted(&name.value));
                self.scene.findings.notice(Code::EnvFileRepeatedName, source.clone(), message);
            }
            self.claim(Proposal {
                name: name.value,
                layer: Layer::ContainerWorkspace,
                source,
                authority: Authority::User,
                given: Given::Read(value),
            });
        }
    }

    /// A bound account takes the other GitHub names out of the layers below it.
    fn remove_below_account(&mut self) {
        let bound = self
            .scene
            .request
            .repo_settings
            .gh_account
            .as_ref()
            .is_some_and(|a| BoundAccount::judge(a).is_ok());
        if !bound {
            return;
        }
        for name in REMOVED_BELOW {
            for claim in self.environment.names.get_mut(*name).into_iter().flatten() {
                let below = matches!(claim.layer, Layer::Image | Layer::Agent);
                if below && claim.state == EnvState::Active {
                    claim.state = EnvState::Removed;
                    if claim.layer == Layer::Image {
                        self.environment.removed_at_launch.push((*name).into());
                    }
                }
            }
        }
    }
}

/// What makes a value one that no process can get; the sentence names the variable only.
pub(crate) fn value_fault(name: &str, value: &str) -> Option<(Code, String)> {
    if value.contains('\0') {
        return Some((
            Code::ValueInvalid,
            format!("A value holds no NUL character; that of {} does.", quoted(name)),
        ));
    }
    let size = name.len().saturating_add(value.len()).saturating_add(limits::ENV_STRING_OVERHEAD);
    (size > limits::ENV_STRING_BYTES).then(|| {
        let message = format!(
            "Name and value of a variable fit into {} bytes; those of {} do not.",
            limits::ENV_STRING_BYTES.saturating_sub(limits::ENV_STRING_OVERHEAD),
            quoted(name)
        );
        (Code::ValueTooLarge, message)
    })
}

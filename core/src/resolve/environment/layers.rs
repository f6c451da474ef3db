//! The layers, lowest first: where each takes its claims from. A new layer, or a new source of one, goes here.

use super::{Claim, Environment, Given, Scene};
use crate::{
    diagnostic::Code,
    input::EnvSetting,
    limits,
    parse::{env_file, orca_yaml::ContainerBlock},
    policy::{
        Authority,
        approval::Desk,
        devcontainer::substitution::Part,
        env_names,
        gh_account::{BoundAccount, REMOVED_BELOW},
        orca_env::{self, Translation},
    },
    resolve::{devcontainer::wanted::WantedVariable, host_env, persons::Person},
    secret::Sensitive,
    source::Source,
    text::{escaped_name, name_only, quoted_name},
    words::{Delivery, EnvState, Layer, Mode, Origin},
};
use alloc::{collections::BTreeSet, format, string::String, vec::Vec};

/// Every claim of every layer, judged; winners are not settled yet.
pub(super) fn gather<'r>(
    scene: &mut Scene<'_, 'r>,
    block: Option<ContainerBlock>,
    variables: &[WantedVariable],
    desk: &mut Desk<'_>,
) -> Environment<'r> {
    let mut gathering = Gathering { environment: Environment::default(), scene, desk };
    gathering.image();
    gathering.devcontainer(variables);
    gathering.orca();
    gathering.agent();
    gathering.project();
    gathering.host(block.as_ref());
    gathering.secrets();
    gathering.container_project(block);
    gathering.container_workspace();
    gathering.remove_below_account();
    gathering.environment
}

/// Text where nothing is left to put in.
fn given<'r>(parts: Vec<Part>) -> Given<'r> {
    let mut text = String::new();
    for part in &parts {
        let Part::Text(part) = part else { return Given::Parts(parts) };
        text.push_str(part);
    }
    Given::Read(Sensitive::from(text))
}

/// Whether both engines take a variable of this name out of an image's environment (`-e NAME`, `--unsetenv NAME`).
fn is_removable(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
    name.len() <= limits::ENV_NAME_BYTES && !name.starts_with('-') && name.bytes().all(plain)
}

/// All layers being gathered.
pub(super) struct Gathering<'b, 's, 'r, 'd> {
    environment: Environment<'r>,
    pub(super) scene: &'b mut Scene<'s, 'r>,
    pub(super) desk: &'b mut Desk<'d>,
}

/// A claim before it is judged.
pub(super) struct Proposal<'r> {
    pub(super) name: String,
    pub(super) layer: Layer,
    pub(super) source: Source,
    pub(super) authority: Authority,
    pub(super) given: Given<'r>,
}

impl<'r> Gathering<'_, '_, 'r, '_> {
    fn note(&mut self, proposal: Proposal<'r>, state: EnvState, delivery: Delivery) {
        let Proposal { name, layer, source, authority, given } = proposal;
        let name = name_only(&name).into_owned();
        let source = self.scene.sources.add(source);
        let claim = Claim { layer, source, authority, given, state, delivery };
        self.environment.names.entry(name).or_default().push(claim);
    }

    /// Judges a claim of any layer but the image's and Orca's own.
    fn claim(&mut self, proposal: Proposal<'r>) {
        let state = self.judge(&proposal);
        self.note(proposal, state, Delivery::Launch);
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
                if !is_removable(name) {
                    let message = format!(
                        "A reserved variable of an image can be removed by its name; {} has a name that no engine takes.",
                        quoted_name(name)
                    );
                    self.scene.findings.refuse(Code::ReservedKey, source, message);
                    self.note(proposal, EnvState::Refused, Delivery::Image);
                    continue;
                }
                let message = format!(
                    "The image sets the reserved variable {}; the container will not have it.",
                    quoted_name(name)
                );
                self.scene.findings.notice(Code::ImageKeyRemoved, source, message);
                self.environment.removed_at_create.push(name.into());
                self.note(proposal, EnvState::Removed, Delivery::Image);
                continue;
            }
            if env_names::is_redirecting(name) && !name.eq_ignore_ascii_case("PATH") {
                let message = format!(
                    "The image sets {}, which decides where credentials go or what runs first.",
                    quoted_name(name)
                );
                self.scene.findings.notice(Code::ImageRedirects, source, message);
            }
            self.note(proposal, EnvState::Active, Delivery::Image);
        }
        self.environment.removed_at_create.sort();
        self.environment.removed_at_create.dedup();
    }

    /// Layer 1 still, over the image's own: judged already where it was read. Null takes a name away.
    fn devcontainer(&mut self, variables: &[WantedVariable]) {
        for variable in variables {
            let parts: Vec<Part> = variable.parts.iter().flat_map(|part| self.container_part(part)).collect();
            if variable.state == EnvState::Removed {
                self.remove_from_container(&variable.name);
            }
            let proposal = Proposal {
                name: variable.name.clone(),
                layer: Layer::Image,
                source: variable.source.clone(),
                authority: Authority::Repository,
                given: given(parts),
            };
            self.note(proposal, variable.state, Delivery::Launch);
        }
    }

    /// `${containerEnv:NAME}`: what the container has of that name so far, else the default, else nothing.
    fn container_part(&self, part: &Part) -> Vec<Part> {
        let Part::Container { name, default } = part else { return Vec::from([part.clone()]) };
        let claims = self.environment.names.get(name).map(Vec::as_slice).unwrap_or_default();
        let claim = claims.iter().rev().find(|claim| claim.state == EnvState::Active);
        let text = |text: &str| Vec::from([Part::Text(text.into())]);
        match claim.map(|claim| &claim.given) {
            Some(Given::Parts(parts)) => parts.clone(),
            Some(Given::Read(value)) => text(value.reveal()),
            Some(Given::Image) => text(self.image_value(name).unwrap_or_default()),
            _ => text(default.as_deref().unwrap_or_default()),
        }
    }

    /// The image's own value of a name; the last one counts.
    fn image_value(&self, name: &str) -> Option<&str> {
        let image = self.scene.request.image_facts.as_ref()?;
        let mut entries = image.env.iter().rev().map(Sensitive::reveal);
        entries.find_map(|entry| entry.split_once('=').filter(|(of, _)| *of == name)).map(|(_, value)| value)
    }

    fn remove_from_container(&mut self, name: &str) {
        for claim in self.environment.names.get_mut(name).into_iter().flatten() {
            if claim.state == EnvState::Active {
                claim.state = EnvState::Removed;
                if matches!(claim.given, Given::Image) {
                    self.environment.removed_at_launch.push(name.into());
                }
            }
        }
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
                        quoted_name(name)
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
            let path = format!("agentDefaultEnv.{}.{}", crate::text::escaped(agent), escaped_name(name));
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
                source: Source::setting(Origin::RepoSettings, format!("agentEnv.{}", escaped_name(name))),
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
                    quoted_name(&proposal.name)
                );
                self.scene.findings.notice(Code::HostEnvMissing, proposal.source.clone(), message);
                self.note(proposal, EnvState::Dropped, Delivery::Launch);
                continue;
            }
            self.note(proposal, state, Delivery::Launch);
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
            let path = format!("worktree.container.env.{}", escaped_name(&name.value));
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

    fn settings_env(&mut self, person: Option<Person<'r>>, layer: Layer) {
        let Some(person) = person else { return };
        for (name, setting) in person.options.env.iter().flat_map(crate::input::UniqueMap::iter) {
            let source = person.source(&format!("env.{}", escaped_name(name)));
            let given = match setting {
                EnvSetting::Value(value) => Given::Text(value),
                EnvSetting::Secret(secret) => {
                    if !self.scene.request.secrets.iter().any(|declared| declared.name == *secret) {
                        let message = format!(
                            "The variable {} refers to a declared secret; {} is not declared.",
                            quoted_name(name),
                            quoted_name(secret)
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
                let message = format!(
                    "The file sets {} more than once; the last line counts.",
                    quoted_name(&name.value)
                );
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
                    if matches!(claim.given, Given::Image) {
                        self.environment.removed_at_launch.push((*name).into());
                    }
                }
            }
        }
    }
}

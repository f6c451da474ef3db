//! What persons say, in order of precedence, and the switches that only persons have.

use crate::{
    diagnostic::{Code, Findings},
    input::{ContainerOptions, PlanRequest},
    source::Source,
    words::{Network, Origin},
};
use alloc::{format, vec::Vec};

/// Sources of options; the order of declaration **is** the precedence, lowest first (design 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// The repository's devcontainer.json, where the image is its own.
    Devcontainer,
    /// Global settings.
    GlobalSettings,
    /// The repository's orca.yaml.
    OrcaYaml,
    /// The user's settings for the repository.
    RepoSettings,
    /// Dialog or command line.
    Choices,
}

/// One person's word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Person<'r> {
    /// Its place in the precedence.
    pub(crate) rank: Rank,
    /// Where it was said.
    pub(crate) origin: Origin,
    /// What was said.
    pub(crate) options: &'r ContainerOptions,
}

impl Person<'_> {
    /// The source of one of its options.
    pub(crate) fn source(&self, option: &str) -> Source {
        match self.origin {
            Origin::Choices => Source::setting(self.origin, option),
            _ => Source::setting(self.origin, format!("container.{option}")),
        }
    }
}

/// All persons whose word is admitted, lowest precedence first.
#[derive(Debug)]
pub(crate) struct Persons<'r>(Vec<Person<'r>>);

impl<'r> Persons<'r> {
    /// The persons of a request.
    pub(crate) fn of(request: &'r PlanRequest) -> Self {
        let global = Person {
            rank: Rank::GlobalSettings,
            origin: Origin::GlobalSettings,
            options: &request.global_settings.container,
        };
        let choices = Person { rank: Rank::Choices, origin: Origin::Choices, options: &request.choices };
        let repo = request.repo_settings.container.as_ref().map(|options| Person {
            rank: Rank::RepoSettings,
            origin: Origin::RepoSettings,
            options,
        });
        Self([Some(global), repo, Some(choices)].into_iter().flatten().collect())
    }

    /// Lowest precedence first.
    pub(crate) fn ascending(&self) -> impl DoubleEndedIterator<Item = &Person<'r>> {
        self.0.iter()
    }

    /// The strongest word on an option.
    pub(crate) fn strongest<T>(
        &self,
        get: impl Fn(&'r ContainerOptions) -> Option<T>,
    ) -> Option<(&Person<'r>, T)> {
        self.0.iter().rev().find_map(|person| get(person.options).map(|value| (person, value)))
    }

    /// The widest network of persons' words; `bridge` where nobody says anything.
    pub(crate) fn network(&self) -> Network {
        self.strongest(|o| o.network.as_deref().and_then(Network::parse))
            .map_or(Network::Bridge, |(_, network)| network)
    }
}

/// The switches of persons: field by field the repository's settings win, `maximum` caps the result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EffectivePolicy {
    /// Everything that would be dropped is refused.
    pub(crate) strict: bool,
    /// Account-owned variables are admitted from persons' layers.
    pub(crate) allow_account_keys: bool,
    /// Repository commands may run.
    pub(crate) run_repository_commands: bool,
    /// Limits that are not enforced are accepted.
    pub(crate) accept_advisory_limits: bool,
}

impl EffectivePolicy {
    /// The switches of a request. Asking for more than the maximum is a refusal.
    pub(crate) fn of(request: &PlanRequest, findings: &mut Findings) -> Self {
        let (repo, global) = (&request.repo_settings.policy, &request.global_settings.policy);
        let maximum = request.global_settings.maximum.as_ref();
        let mut capped = |field: &str, repo: Option<bool>, global: Option<bool>, cap: Option<bool>| {
            let asked = repo.or(global).unwrap_or(false);
            if asked && cap == Some(false) {
                let origin = if repo.is_some() { Origin::RepoSettings } else { Origin::GlobalSettings };
                let message = format!("The operator's maximum does not allow \"{field}\".");
                findings.refuse(
                    Code::ExceedsMaximum,
                    Source::setting(origin, format!("policy.{field}")),
                    message,
                );
            }
            asked && cap != Some(false)
        };
        Self {
            allow_account_keys: capped(
                "allowAccountKeys",
                repo.allow_account_keys,
                global.allow_account_keys,
                maximum.and_then(|m| m.allow_account_keys),
            ),
            run_repository_commands: capped(
                "runRepositoryCommands",
                repo.run_repository_commands,
                global.run_repository_commands,
                maximum.and_then(|m| m.repository_commands),
            ),
            strict: repo.strict.or(global.strict).unwrap_or(false),
            accept_advisory_limits: repo
                .accept_advisory_limits
                .or(global.accept_advisory_limits)
                .unwrap_or(false),
        }
    }
}

//! Options by precedence, each with its origin and what it shadowed, each held under the ceiling.
//!
//! A person's winning word that goes too far is a refusal. A repository's is left out or waits for an
//! approval, and the next source decides.

mod image;

use super::{
    devcontainer::wanted::Wanted,
    persons::{Person, Persons, Rank},
};
use crate::{
    diagnostic::{Code, Findings},
    input::{ContainerOptions, PlanRequest},
    parse::{
        Located,
        image_reference::ImageReference,
        orca_yaml::ContainerBlock,
        worktree_include::{Entry, Form},
    },
    policy::{
        approval::{Desk, Subject},
        maximum,
    },
    source::{Source, SourceId, Sources},
    text::{quoted, whole_list},
    words::{EngineKind, Mode, Network, Origin, Said, Template},
};
use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

pub(super) use image::DEVCONTAINER;

/// A resolved option: its value, who said it, and what lost against it.
#[derive(Clone, Debug)]
pub(crate) struct Resolved<T> {
    /// The value.
    pub(crate) value: T,
    /// Where it was said.
    pub(crate) source: SourceId,
    /// Whose word it is.
    pub(crate) said: Said,
    /// Weaker words, strongest first, as they were written.
    pub(crate) shadowed: Vec<(String, SourceId)>,
}

/// All options of a workspace.
#[derive(Debug)]
pub(crate) struct Options {
    /// Whether a container was asked for.
    pub(crate) enabled: Resolved<bool>,
    /// The mode.
    pub(crate) mode: Resolved<Mode>,
    /// The engine; from its own facts where they are there.
    pub(crate) engine: Resolved<EngineKind>,
    /// The image.
    pub(crate) image: Option<Resolved<ImageReference>>,
    /// The template.
    pub(crate) template: Resolved<Template>,
    /// The network.
    pub(crate) network: Resolved<Network>,
    /// The runtime.
    pub(crate) runtime: Option<Resolved<String>>,
    /// The user as written.
    pub(crate) user: Option<Resolved<String>>,
    /// Whether ignored files are copied.
    pub(crate) copy_ignored_files: bool,
    /// Variables that must be there from the start.
    pub(crate) start_env: Vec<(String, SourceId)>,
    /// Ports to publish.
    pub(crate) ports: Vec<u16>,
    /// Whether devcontainer.json counts: the strongest word on the image says so.
    pub(crate) devcontainer: bool,
}

/// What resolving looks at and writes to.
pub(super) struct Scene<'a, 'r> {
    pub(super) request: &'r PlanRequest,
    pub(super) persons: &'a Persons<'r>,
    pub(super) block: Option<&'a ContainerBlock>,
    pub(super) findings: &'a mut Findings,
    pub(super) sources: &'a mut Sources,
    /// What the file says, where a word on the image names it.
    pub(super) devcontainer: Option<&'a Wanted>,
}

/// One word on an option.
struct Word {
    rank: Rank,
    text: String,
    source: Source,
}

impl Word {
    fn said(&self) -> Said {
        if matches!(self.rank, Rank::Devcontainer | Rank::OrcaYaml) { Said::Repository } else { Said::Person }
    }
}

/// What judging a word gives.
enum Verdict<T> {
    Use(T),
    /// Left out or refused (and noted); the next source decides.
    Next,
}

impl<'r> Scene<'_, 'r> {
    /// Every word on an option, strongest first.
    fn words(
        &self,
        option: &str,
        person: impl Fn(&'r ContainerOptions) -> Option<String>,
        repository: Option<&Located<String>>,
    ) -> Vec<Word> {
        let mut words: Vec<Word> = self
            .persons
            .ascending()
            .filter_map(|p| {
                let text = person(p.options)?;
                Some(Word { rank: p.rank, text, source: p.source(option) })
            })
            .collect();
        if let Some(word) = repository {
            let source = self.yaml_source(word, option);
            words.push(Word { rank: Rank::OrcaYaml, text: word.value.clone(), source });
        }
        words.sort_by_key(|word| core::cmp::Reverse(word.rank));
        words
    }

    fn yaml_source<T>(&self, word: &Located<T>, option: &str) -> Source {
        let file = self.request.orca_yaml.as_ref().map_or("orca.yaml", |file| file.path.as_str());
        Source::file(Origin::OrcaYaml, file, word.at).at_path(format!("worktree.container.{option}"))
    }

    /// Reads every word, then takes the strongest that passes its judgement; the words after it are shadowed.
    /// A word that is none is refused wherever it stands: a typing fault under a stronger word is still one.
    fn pick<W, T>(
        &mut self,
        words: Vec<Word>,
        read: impl Fn(&str) -> Result<W, (Code, String)>,
        mut judge: impl FnMut(&mut Self, &Word, W) -> Verdict<T>,
    ) -> Option<Resolved<T>> {
        let mut readable = Vec::new();
        for word in words {
            match read(&word.text) {
                Ok(meaning) => readable.push((word, meaning)),
                Err((code, message)) => self.findings.refuse(code, word.source, message),
            }
        }
        let mut words = readable.into_iter();
        let (value, word) = loop {
            let (word, meaning) = words.next()?;
            if let Verdict::Use(value) = judge(self, &word, meaning) {
                break (value, word);
            }
        };
        let said = word.said();
        let source = self.sources.add(word.source);
        let shadowed = words.map(|(loser, _)| (loser.text, self.sources.add(loser.source))).collect();
        Some(Resolved { value, source, said, shadowed })
    }

    fn or_default<T>(&mut self, picked: Option<Resolved<T>>, value: T) -> Resolved<T> {
        picked.unwrap_or_else(|| Resolved {
            value,
            source: self.sources.add(Source::origin(Origin::Default)),
            said: Said::Person,
            shadowed: Vec::new(),
        })
    }

    /// A person above the operator's maximum is refused, a repository above it is dropped.
    fn beyond_maximum(&mut self, word: &Word, what: &str) {
        let message = format!("The operator's maximum does not allow the {what} {}.", quoted(&word.text));
        match word.said() {
            Said::Person => self.findings.refuse(Code::ExceedsMaximum, word.source.clone(), message),
            Said::Repository => self.findings.drop(Code::ExceedsMaximumDropped, word.source.clone(), message),
        }
    }

    /// What is not there yet: a refusal for a person, left out for a repository.
    fn not_yet(&mut self, word: &Word, code: Code, message: &str) {
        match word.said() {
            Said::Person => self.findings.refuse(code, word.source.clone(), message),
            Said::Repository => self.findings.drop(code, word.source.clone(), message),
        }
    }
}

/// Every option. The image comes first and the network second, since approvals are bound to both.
pub(super) fn resolve(scene: &mut Scene<'_, '_>, desk: &mut Desk<'_>, include: &[Entry]) -> Options {
    let winner = image::image(scene);
    desk.binding.image = image::binding(&winner, scene);
    let enabled = enabled(scene);
    let mode = mode(scene);
    let network = network(scene, desk, winner.file_counts);
    desk.binding.network = network.value;
    image::ask(&winner, scene, desk);
    Options {
        enabled,
        mode,
        engine: engine(scene),
        image: winner.image,
        template: template(scene),
        network,
        runtime: text_option(scene, "runtime", |o| o.runtime.clone()),
        user: text_option(scene, "user", |o| o.user.clone()),
        copy_ignored_files: copy_ignored_files(scene, desk, include),
        start_env: start_env(scene),
        ports: ports(scene),
        devcontainer: winner.file_counts,
    }
}

fn enabled(scene: &mut Scene<'_, '_>) -> Resolved<bool> {
    let words = scene.words("enabled", |o| o.enabled.map(|on| format!("{on}")), None);
    let picked = scene.pick(words, |text| Ok(text == "true"), |_, _, on| Verdict::Use(on));
    scene.or_default(picked, false)
}

fn mode(scene: &mut Scene<'_, '_>) -> Resolved<Mode> {
    let block = scene.block.and_then(|block| block.mode.as_ref());
    let words = scene.words("mode", |o| o.mode.clone(), block);
    let read = |text: &str| {
        let message = || format!("A mode is \"volume\" or \"mounted\"; {} is neither.", quoted(text));
        Mode::parse(text).ok_or_else(|| (Code::ModeInvalid, message()))
    };
    let picked = scene.pick(words, read, |scene, word, mode| match mode {
        Mode::Volume | Mode::Mounted if !maximum::mode_is_within(scene.request, mode) => {
            scene.beyond_maximum(word, "mode");
            Verdict::Next
        }
        Mode::Mounted => {
            let message = "Shared-folder mode (\"mounted\") is not there yet; the mode is \"volume\".";
            scene.not_yet(word, Code::MountedNotSupportedYet, message);
            Verdict::Next
        }
        Mode::Volume => Verdict::Use(mode),
    });
    if picked.is_none() && !maximum::mode_is_within(scene.request, Mode::Volume) {
        let message =
            "The operator's maximum does not allow the mode \"volume\", which is the only one there is yet.";
        scene.findings.refuse(
            Code::ExceedsMaximum,
            Source::setting(Origin::Maximum, "maximum.modes"),
            message,
        );
    }
    scene.or_default(picked, Mode::Volume)
}

fn template(scene: &mut Scene<'_, '_>) -> Resolved<Template> {
    let block = scene.block.and_then(|block| block.template.as_ref());
    let words = scene.words("template", |o| o.template.clone(), block);
    let read = |text: &str| {
        let message =
            || format!("A template is \"small\", \"medium\" or \"large\"; {} is none of them.", quoted(text));
        Template::parse(text).ok_or_else(|| (Code::TemplateInvalid, message()))
    };
    let picked = scene.pick(words, read, |scene, word, template| {
        if maximum::template_is_within(scene.request, template) {
            return Verdict::Use(template);
        }
        scene.beyond_maximum(word, "template");
        Verdict::Next
    });
    let within = Template::ALL.iter().rev().copied().find(|t| maximum::template_is_within(scene.request, *t));
    let default = within.unwrap_or(Template::Small).min(Template::Medium);
    scene.or_default(picked, default)
}

fn network(scene: &mut Scene<'_, '_>, desk: &mut Desk<'_>, by_file: bool) -> Resolved<Network> {
    let block = scene.block.and_then(|block| block.network.as_ref());
    let mut words = scene.words("network", |o| o.network.clone(), block);
    // The weakest word: a flag in runArgs.
    let flag = scene.devcontainer.and_then(|wanted| wanted.network.clone()).filter(|_| by_file);
    words.extend(flag.map(|(network, source)| Word {
        rank: Rank::Devcontainer,
        text: network.to_string(),
        source,
    }));
    let widest = scene.persons.network();
    let read = |text: &str| {
        let message = || {
            format!("A network is \"none\", \"bridge\" or \"allowlist\"; {} is none of them.", quoted(text))
        };
        Network::parse(text).ok_or_else(|| (Code::NetworkInvalid, message()))
    };
    let picked = scene.pick(words, read, |scene, word, network| {
        if !maximum::network_is_within(scene.request, network) {
            scene.beyond_maximum(word, "network");
            return Verdict::Next;
        }
        if network == Network::Allowlist {
            let message = "The allowlist network is not there yet; choose \"none\" or \"bridge\".";
            scene.not_yet(word, Code::NetworkAllowlistNotSupportedYet, message);
            return Verdict::Next;
        }
        if word.said() == Said::Repository && network > widest {
            desk.binding.network = network;
            let message = format!(
                "The repository wants the network \"{network}\"; your settings allow \"{widest}\" until you approve."
            );
            if !desk.ask(&Subject::Network { network }, word.source.clone(), message) {
                return Verdict::Next;
            }
        }
        Verdict::Use(network)
    });
    let default = if maximum::network_is_within(scene.request, Network::Bridge) {
        Network::Bridge
    } else {
        Network::None
    };
    scene.or_default(picked, default)
}

fn engine(scene: &mut Scene<'_, '_>) -> Resolved<EngineKind> {
    let words = scene.words("engine", |o| o.engine.clone(), None);
    let read = |text: &str| {
        let message =
            || format!("An engine is \"auto\", \"docker\" or \"podman\"; {} is none of them.", quoted(text));
        let kind = if text == "auto" { Some(EngineKind::Docker) } else { EngineKind::parse(text) };
        kind.ok_or_else(|| (Code::RequestInvalid, message()))
    };
    let picked = scene.pick(words, read, |_, _, kind| Verdict::Use(kind));
    let mut resolved = scene.or_default(picked, EngineKind::Docker);
    if let Some(engine) = &scene.request.engine {
        // What the engine says of itself wins: a program called docker can be podman.
        resolved.value = engine.kind;
    }
    resolved
}

fn text_option<'r>(
    scene: &mut Scene<'_, 'r>,
    option: &str,
    get: impl Fn(&'r ContainerOptions) -> Option<String>,
) -> Option<Resolved<String>> {
    let words = scene.words(option, get, None);
    scene.pick(words, |text| Ok(String::from(text)), |_, _, text| Verdict::Use(text))
}

/// Asked by the repository, granted by a person.
fn copy_ignored_files(scene: &mut Scene<'_, '_>, desk: &mut Desk<'_>, include: &[Entry]) -> bool {
    let person = scene.persons.strongest(|o| o.copy_ignored_files).map(|(person, on)| (person.rank, on));
    let asked = scene.block.and_then(|block| block.copy_ignored_files.as_ref());
    match (person, asked) {
        (Some((rank, on)), asked) if rank > Rank::OrcaYaml || asked.is_none() => on,
        (_, Some(asked)) if !asked.value => false,
        (Some((_, true)), Some(_)) => true,
        (_, Some(asked)) => {
            let patterns: Vec<String> =
                include.iter().filter(|e| e.form != Form::Unsafe).map(|e| e.path.clone()).collect();
            if patterns.is_empty() {
                return false;
            }
            let source = scene.yaml_source(asked, "copyIgnoredFiles");
            let message = format!(
                "The repository wants the ignored files of {} copied into the container.",
                whole_list(patterns.iter().map(String::as_str))
            );
            desk.ask(&Subject::CopyIgnoredFiles { patterns: &patterns }, source, message)
        }
        (_, None) => false,
    }
}

fn start_env(scene: &mut Scene<'_, '_>) -> Vec<(String, SourceId)> {
    let strongest = scene
        .persons
        .strongest(|o| o.start_env.as_ref())
        .map(|(person, names)| (person.source("startEnv"), names));
    let Some((source, names)) = strongest else { return Vec::new() };
    let id = scene.sources.add(source);
    names.iter().map(|name| (name.clone(), id)).collect()
}

/// Ports are a person's word only; a container without a network publishes none.
fn ports(scene: &mut Scene<'_, '_>) -> Vec<u16> {
    let strongest: Option<(&Person<'_>, &Vec<u16>)> = scene.persons.strongest(|o| o.ports.as_ref());
    let Some((person, ports)) = strongest else { return Vec::new() };
    let source = person.source("ports");
    let mut ports = ports.clone();
    ports.sort_unstable();
    ports.dedup();
    if ports.first() == Some(&0) {
        scene.findings.refuse(Code::RequestInvalid, source.clone(), "A port is a number from 1 to 65535.");
    }
    if !maximum::ports_are_within(scene.request, ports.len()) {
        let message = "The operator's maximum allows fewer published ports.";
        scene.findings.refuse(Code::ExceedsMaximum, source, message);
    }
    ports
}

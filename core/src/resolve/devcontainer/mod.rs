//! What a devcontainer.json asks for, property by property: what counts, what is left out and why.
//!
//! The file is the repository's word. Nothing of it is handed on as it stands: each value is read into a type and
//! judged there. What would reach beyond the workspace is left out and told, so that the workspace still starts; what
//! readers would understand differently is refused.

mod arguments;
mod build;
mod commands;
mod image;
mod ports;
mod requirements;
mod variables;
pub(crate) mod wanted;
mod workspace;

use super::{
    host_env, judge as judge_request,
    options::Options,
    persons::{EffectivePolicy, Persons},
};
use crate::{
    diagnostic::{Code, Diagnostic, Findings, Severity},
    input::PlanRequest,
    parse::jsonc::{Node, Value},
    plan::clone_target,
    policy::{
        approval::{Desk, Subject, build_binding},
        devcontainer::{
            document::{Document, read},
            keys::{Key, Treatment},
            substitution::{Places, Unresolved},
        },
    },
    source::{Position, Source},
    text::{name_list, quoted},
    words::{EngineKind, Origin, Said, Template},
};
use alloc::{format, string::String, vec::Vec};
pub(crate) use commands::lifecycle_script;
pub(crate) use variables::{value_of, values_in_file};
use wanted::Wanted;

/// Every finding about the request's devcontainer.json, in the order it was found, whether the file counts or not.
pub fn devcontainer_findings(request: &PlanRequest) -> Vec<Diagnostic> {
    let mut findings = Findings::default();
    let Some(document) = open(request, &mut findings) else {
        return findings.iter().cloned().collect();
    };
    let judgement = judge_request(request);
    let mut desk = super::desk(request);
    let mut scene = Scene::read(request, &document, judgement.options.engine.value);
    let image = scene.wanted.image.as_ref().map(|(image, _)| image.as_str().into());
    let image = scene.wanted.build.as_ref().map(|build| build_binding(&build.plan)).or(image);
    desk.binding.image = image.map(|image| (image, Said::Repository));
    desk.binding.network = judgement.options.network.value;
    scene.tells_asks = true;
    scene.settle(&mut desk, Grants::of(request, &judgement.options, &judgement.policy));
    findings.append(scene.findings);
    if judgement.policy.strict {
        findings.refuse_dropped();
    }
    findings.iter().cloned().collect()
}

/// The request's file as properties; `None` where there is none or it is none (then `findings` refuses).
pub(super) fn open<'r>(request: &'r PlanRequest, findings: &mut Findings) -> Option<Document<'r>> {
    let Some(file) = &request.devcontainer else {
        ambiguous(request, findings);
        return None;
    };
    read(file, findings)
}

/// Several files of which nobody chose one: which of them counts is not for us to guess.
fn ambiguous(request: &PlanRequest, findings: &mut Findings) {
    if !request.devcontainer_candidates.is_empty() {
        let message = format!(
            "One devcontainer.json is used; here are {}.",
            name_list(request.devcontainer_candidates.iter().map(String::as_str))
        );
        findings.refuse(Code::DevcontainerAmbiguous, Source::origin(Origin::Devcontainer), message);
        findings.help("Name one with --devcontainer.");
    }
}

/// What persons allow beforehand, and what is known only once the options are settled.
#[derive(Clone, Debug)]
pub(super) struct Grants {
    /// The template, for comparison.
    pub(super) template: Template,
    /// Whether commands of the repository run without being asked for.
    pub(super) runs_commands: bool,
    /// Host variables that persons forward.
    pub(super) host_env: Vec<String>,
    /// Ports that persons publish.
    pub(super) ports: Vec<u16>,
}

impl Grants {
    pub(super) fn of(request: &PlanRequest, options: &Options, policy: &EffectivePolicy) -> Self {
        Self {
            template: options.template.value,
            runs_commands: policy.run_repository_commands,
            host_env: persons_host_env(request),
            ports: options.ports.clone(),
        }
    }

    /// What is granted before anything is known.
    fn none() -> Self {
        Self { template: Template::Small, runs_commands: false, host_env: Vec::new(), ports: Vec::new() }
    }
}

/// Names that persons forward, so that the repository need not ask.
pub(super) fn persons_host_env(request: &PlanRequest) -> Vec<String> {
    host_env::named(&Persons::of(request), None, None).into_iter().map(|named| named.name).collect()
}

/// What the judges of the properties share.
///
/// A file is judged twice over: what decides about image and network first, since every approval is bound to both
/// ([`Scene::read`]); then all that may wait for an approval ([`Scene::settle`]).
pub(super) struct Scene<'a, 'd> {
    request: &'a PlanRequest,
    document: &'a Document<'a>,
    /// What was found.
    pub(super) findings: Findings,
    /// What passed.
    pub(super) wanted: Wanted,
    clone: String,
    /// Where commands start.
    pub(super) workspace_folder: String,
    id: String,
    engine: EngineKind,
    flags: arguments::OfFlags,
    grants: Grants,
    desk: Option<&'a mut Desk<'d>>,
    tells_asks: bool,
}

impl<'a, 'd> Scene<'a, 'd> {
    /// Reads what needs no approval.
    pub(super) fn read(request: &'a PlanRequest, document: &'a Document<'a>, engine: EngineKind) -> Self {
        let workspace = &request.workspace;
        let clone = clone_target(request);
        let mut scene = Self {
            request,
            document,
            findings: Findings::default(),
            wanted: Wanted::default(),
            workspace_folder: clone.clone(),
            clone,
            id: workspace::id(&request.install.id, &workspace.repository_id, &workspace.id),
            engine,
            flags: arguments::OfFlags::default(),
            grants: Grants::none(),
            desk: None,
            tells_asks: false,
        };
        scene.workspace_folder();
        scene.image_or_build();
        scene.arguments();
        scene
    }

    /// Judges everything else, property by property.
    pub(super) fn settle(&mut self, desk: &'a mut Desk<'d>, grants: Grants) {
        self.desk = Some(desk);
        self.grants = grants;
        if self.tells_asks {
            self.ask_image_or_build();
        }
        self.settle_flags();
        let document = self.document;
        for (key, at, node) in document.properties() {
            match key.treatment {
                Treatment::Silent => {}
                Treatment::Ignored => self.ignored(key, at, node),
                Treatment::Dropped => self.dropped(key, at, node),
                Treatment::Refused => self.refused(key, at),
                Treatment::Judged => self.judged(key, at, node),
            }
        }
        self.in_order();
    }

    /// The variables alone, for a launch: the plan has everything else.
    pub(super) fn settle_variables(&mut self, desk: &'a mut Desk<'d>, host_env: Vec<String>) {
        self.desk = Some(desk);
        self.grants.host_env = host_env;
        // What does not concern variables was told when the plan was made.
        self.findings = Findings::default();
        self.flags.ports.clear();
        self.settle_flags();
        let document = self.document;
        for (name, remote) in [("containerEnv", false), ("remoteEnv", true)] {
            if let Some(node) = document.get(name) {
                self.variables(node, remote);
            }
        }
    }

    /// The commands alone, as if a person allowed them all.
    fn settle_commands(&mut self) {
        self.grants.runs_commands = true;
        let document = self.document;
        for (key, at, node) in document.properties() {
            if let Some(stage) = crate::words::LifecycleStage::parse(key.name) {
                self.command(stage, at, node);
            }
        }
    }

    /// What the file comes to.
    pub(super) fn done(self) -> super::OfFile {
        super::OfFile {
            path: self.document.file.into(),
            workspace_folder: self.workspace_folder,
            wanted: self.wanted,
        }
    }

    /// The properties with rules of their own; image, build, arguments and the workspace's folder came first.
    fn judged(&mut self, key: &'static Key, at: Position, node: &Node) {
        match key.name {
            "containerEnv" | "remoteEnv" => self.variables(node, key.name == "remoteEnv"),
            "containerUser" | "remoteUser" => self.user(key, node),
            "forwardPorts" | "appPort" => self.ports(key, at, node),
            "hostRequirements" => self.requirements(node),
            "securityOpt" => self.security_options(key, node),
            _ => {
                if let Some(stage) = crate::words::LifecycleStage::parse(key.name) {
                    self.command(stage, at, node);
                }
            }
        }
    }

    fn ignored(&mut self, key: &'static Key, at: Position, node: &Node) {
        if is_nothing(node) {
            return;
        }
        let message = format!("The property {} has no effect here: {}.", quoted(key.name), key.why);
        self.tell(Severity::Notice, Code::DevcontainerKeyIgnored, at, key.name, message, key.standard);
    }

    fn dropped(&mut self, key: &'static Key, at: Position, node: &Node) {
        if is_nothing(node) {
            return;
        }
        let named = texts(node);
        let what = if key.name == "capAdd" && !named.is_empty() {
            format!(" ({})", name_list(named.iter().map(|(_, text)| *text)))
        } else {
            String::new()
        };
        let message = format!("The property {}{what} is left out: {}.", quoted(key.name), key.why);
        self.tell(Severity::Dropped, Code::DevcontainerKeyDropped, at, key.name, message, key.standard);
    }

    fn refused(&mut self, key: &'static Key, at: Position) {
        let message =
            format!("A workspace has an image or a build; {} is not read: {}.", quoted(key.name), key.why);
        self.tell(Severity::Refused, Code::ComposeNotSupported, at, key.name, message, key.standard);
    }

    /// Only what says what is so anyway.
    fn security_options(&mut self, key: &'static Key, node: &Node) {
        for (index, (at, option)) in texts(node).into_iter().enumerate() {
            if matches!(option, "no-new-privileges" | "no-new-privileges:true" | "no-new-privileges=true") {
                continue;
            }
            let standard = match option.split(['=', ':']).next().unwrap_or_default() {
                "apparmor" => Some("CIS Docker 5.2"),
                "label" => Some("CIS Docker 5.3"),
                "no-new-privileges" => Some("CIS Docker 5.26"),
                _ => key.standard,
            };
            let message = format!("The security option {} is left out: {}.", quoted(option), key.why);
            let path = format!("{}[{index}]", key.name);
            self.tell(Severity::Dropped, Code::DevcontainerValueDropped, at, &path, message, standard);
        }
    }

    fn tell(
        &mut self,
        severity: Severity,
        code: Code,
        at: Position,
        path: &str,
        message: String,
        standard: Option<&str>,
    ) {
        let finding = Diagnostic::new(severity, code, message, self.document.source(at, path));
        self.findings.push(match standard {
            Some(standard) => finding.standard(standard),
            None => finding,
        });
    }

    fn drop_value(&mut self, at: Position, path: &str, message: String) {
        self.tell(Severity::Dropped, Code::DevcontainerValueDropped, at, path, message, None);
    }

    fn unresolved(&mut self, at: Position, path: &str, why: Unresolved) {
        let message = format!("{}; {} is left out.", why.rule(), quoted(path));
        self.tell(Severity::Dropped, Code::SubstitutionRefused, at, path, message, None);
    }

    /// Whether a person approved it; if not, it waits from now on.
    fn ask(&mut self, subject: &Subject<'_>, at: Position, path: &str, message: String) -> bool {
        let source = self.document.source(at, path);
        let granted = self.desk.as_mut().is_some_and(|desk| desk.ask(subject, source, message.clone()));
        if !granted && self.tells_asks {
            self.tell(Severity::Asked, Code::ApprovalRequired, at, path, message, None);
        }
        granted
    }

    /// Left out because the operator's maximum is below it.
    fn beyond_maximum(&mut self, at: Position, path: &str, what: &str) {
        let message = format!("The operator's maximum does not allow {what}.");
        self.tell(Severity::Dropped, Code::ExceedsMaximumDropped, at, path, message, None);
    }

    fn places(&self) -> Places<'_> {
        Places { clone: &self.clone, workspace_folder: &self.workspace_folder, id: &self.id }
    }
}

/// A value that asks for nothing: `false`, `""`, `[]`, `{}`.
fn is_nothing(node: &Node) -> bool {
    match &node.value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Text(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Number(_) => false,
    }
}

/// The strings of a list, or the one string.
fn texts(node: &Node) -> Vec<(Position, &str)> {
    match &node.value {
        Value::Text(text) => [(node.at, text.as_str())].into(),
        Value::List(items) => items
            .iter()
            .filter_map(|item| match &item.value {
                Value::Text(text) => Some((item.at, text.as_str())),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

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
mod workspace;

use super::{Judgement, host_env, judge as judge_request, persons::Persons};
use crate::{
    diagnostic::{Code, Diagnostic, Findings, Severity},
    input::PlanRequest,
    parse::jsonc::{Node, Value},
    policy::devcontainer::{
        document::{Document, read},
        keys::{Key, Treatment},
        substitution::{Places, Unresolved},
    },
    source::{Position, Source},
    text::{name_list, quoted},
    words::{EngineKind, Origin, Template},
};
use alloc::{format, string::String, vec::Vec};

/// Every finding about the request's devcontainer.json. `clone` is the clone's place in the container, `template_size`
/// gives a template's memory in bytes and its CPUs.
pub fn devcontainer_findings(
    request: &PlanRequest,
    clone: &str,
    template_size: fn(Template) -> (u64, u64),
) -> Vec<Diagnostic> {
    let mut findings = Findings::default();
    let Some(file) = &request.devcontainer else {
        ambiguous(request, &mut findings);
        return findings.iter().cloned().collect();
    };
    if let Some(document) = read(file, &mut findings) {
        let judgement = judge_request(request);
        let mut scene = Scene::of(&judgement, &document, clone, &mut findings);
        scene.template_size = template_size(scene.template);
        scene.judge();
        if judgement.policy.strict {
            findings.refuse_dropped();
        }
    }
    findings.iter().cloned().collect()
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

/// Names that persons forward, so that the repository need not ask.
fn persons_host_env(request: &PlanRequest) -> Vec<String> {
    host_env::named(&Persons::of(request), None, None).into_iter().map(|named| named.name).collect()
}

/// What the judges of the properties share.
struct Scene<'a> {
    document: &'a Document<'a>,
    findings: &'a mut Findings,
    clone: &'a str,
    workspace_folder: String,
    id: String,
    engine: EngineKind,
    template: Template,
    template_size: (u64, u64),
    runs_commands: bool,
    granted_host_env: Vec<String>,
}

impl<'a> Scene<'a> {
    fn of(
        judgement: &Judgement<'_>,
        document: &'a Document<'a>,
        clone: &'a str,
        findings: &'a mut Findings,
    ) -> Self {
        let workspace = &judgement.request.workspace;
        Self {
            document,
            findings,
            clone,
            workspace_folder: clone.into(),
            id: workspace::id(&judgement.request.install.id, &workspace.instance_id),
            engine: judgement.options.engine.value,
            template: judgement.options.template.value,
            template_size: (0, 0),
            runs_commands: judgement.policy.run_repository_commands,
            granted_host_env: persons_host_env(judgement.request),
        }
    }

    fn judge(mut self) {
        self.workspace_folder();
        self.image_or_build();
        self.arguments();
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
    }

    /// The properties with rules of their own; image, build, arguments and the workspace's folder came first.
    fn judged(&mut self, key: &'static Key, at: Position, node: &Node) {
        match key.name {
            "containerEnv" => self.variables(node, false),
            "remoteEnv" => self.variables(node, true),
            "containerUser" | "remoteUser" => self.user(key, node),
            "forwardPorts" | "appPort" => self.ports(key, at, node),
            "hostRequirements" => self.requirements(node),
            "securityOpt" => self.security_options(key, node),
            "onCreateCommand"
            | "updateContentCommand"
            | "postCreateCommand"
            | "postStartCommand"
            | "postAttachCommand" => self.command(key, at, node),
            _ => {}
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

    fn asks(&mut self, at: Position, path: &str, message: String) {
        self.tell(Severity::Asked, Code::ApprovalRequired, at, path, message, None);
    }

    fn places(&self) -> Places<'_> {
        Places { clone: self.clone, workspace_folder: &self.workspace_folder, id: &self.id }
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

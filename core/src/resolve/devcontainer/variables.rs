//! containerEnv and remoteEnv: names by the same tables as every other layer, values never shown.

use super::{Scene, wanted::WantedVariable};
use crate::{
    diagnostic::{Code, Findings, Severity},
    input::PlanRequest,
    parse::{
        env_name::{ENV_NAME_RULE, is_env_name},
        jsonc::{Node, Value},
    },
    policy::{
        approval::Subject,
        devcontainer::{
            document::{Document, read},
            substitution::{self, Part},
        },
        env_names, maximum,
    },
    resolve::environment::value_fault,
    secret::Sensitive,
    source::{Position, Source},
    text::{escaped_name, quoted, quoted_name},
    words::{EngineKind, EnvState},
};
use alloc::{format, string::String, vec::Vec};

/// A variable as it stands in the file.
#[derive(Clone, Copy)]
pub(super) struct Variable<'v> {
    /// Its name.
    pub(super) name: &'v str,
    /// Where the name stands.
    pub(super) at: Position,
    /// Its value; null takes a variable away from what runs in the container.
    pub(super) value: Option<&'v str>,
    /// Where the value stands.
    pub(super) value_at: Position,
}

impl Scene<'_, '_> {
    pub(super) fn variables(&mut self, node: &Node, remote: bool) {
        let Value::Object(members) = &node.value else { return };
        let property = if remote { "remoteEnv" } else { "containerEnv" };
        for member in members {
            let path = format!("{property}.{}", escaped_name(&member.key));
            let value = match &member.node.value {
                Value::Text(text) => Some(text.as_str()),
                _ => None,
            };
            let variable = Variable { name: &member.key, at: member.at, value, value_at: member.node.at };
            self.variable(variable, &path, remote);
        }
    }

    /// A variable of containerEnv or of a flag, or of remoteEnv.
    pub(super) fn variable(&mut self, variable: Variable<'_>, path: &str, remote: bool) {
        let (state, parts) = self.judge_variable(variable, path, remote);
        let source = self.document.source(variable.at, path);
        self.wanted.variables.push(WantedVariable { name: variable.name.into(), source, state, parts });
    }

    fn judge_variable(&mut self, variable: Variable<'_>, path: &str, remote: bool) -> (EnvState, Vec<Part>) {
        let Variable { name, at, value, value_at } = variable;
        const DROPPED: (EnvState, Vec<Part>) = (EnvState::Dropped, Vec::new());
        if let Some((code, message)) = name_fault(name) {
            self.tell(Severity::Dropped, code, at, path, message, None);
            return DROPPED;
        }
        let Some(value) = value else { return (self.removed(name, at, path), Vec::new()) };
        if let Some((code, message)) = value_fault(name, value) {
            self.tell(Severity::Dropped, code, value_at, path, message, None);
            return DROPPED;
        }
        let (mut state, parts) = match substitution::value(value, remote, self.places()) {
            Err(why) => {
                self.unresolved(value_at, path, why);
                return DROPPED;
            }
            Ok(parts) => self.host_parts(value_at, path, parts),
        };
        if env_names::is_redirecting(name) && !self.ask_redirecting(name, value, at, path) {
            state = if state == EnvState::Active { EnvState::Pending } else { state };
        }
        (state, parts)
    }

    /// Taking away a proxy or a loader redirects as much as setting one; without PATH nothing is found.
    fn removed(&mut self, name: &str, at: Position, path: &str) -> EnvState {
        let shown = quoted_name(name);
        if name.eq_ignore_ascii_case("PATH") {
            let message = format!("A process has a {shown}; it is not taken away.");
            self.drop_value(at, path, message);
            return EnvState::Dropped;
        }
        if !env_names::is_redirecting(name) {
            return EnvState::Removed;
        }
        let message = format!(
            "The repository wants to take {shown} away, which decides where credentials go or what runs first; it stays until you approve."
        );
        let value = Sensitive::new("\0removed");
        if self.ask(&Subject::RedirectingVariable { name, value: &value }, at, path, message) {
            EnvState::Removed
        } else {
            EnvState::Pending
        }
    }

    fn ask_redirecting(&mut self, name: &str, value: &str, at: Position, path: &str) -> bool {
        let message = format!(
            "The repository wants to set {}, which decides where credentials go or what runs first; it is absent until you approve.",
            quoted_name(name)
        );
        let value = Sensitive::new(value);
        self.ask(&Subject::RedirectingVariable { name, value: &value }, at, path, message)
    }

    /// A variable of this computer is absent until a person grants its name; some are never given. Where it is not
    /// given, its default stands for it, and without a default the whole variable is absent.
    fn host_parts(&mut self, value_at: Position, path: &str, parts: Vec<Part>) -> (EnvState, Vec<Part>) {
        let mut state = EnvState::Active;
        let mut given = Vec::new();
        for part in parts {
            let Part::Host { name, default } = part else {
                given.push(part);
                continue;
            };
            let absent = match self.host_part(&name, default.is_some(), value_at, path) {
                EnvState::Active => {
                    given.push(Part::Host { name, default });
                    continue;
                }
                absent => absent,
            };
            match default {
                Some(default) => given.push(Part::Text(default)),
                None => state = absent,
            }
        }
        (state, given)
    }

    /// Whether a variable of this computer is given.
    fn host_part(&mut self, name: &str, has_default: bool, at: Position, path: &str) -> EnvState {
        let shown = quoted_name(name);
        if !is_env_name(name) || env_names::is_never_from_host(name) || env_names::reserved(name).is_some() {
            let outcome = if has_default { "its default is used" } else { "the variable is left out" };
            let message = format!("A repository never gets {shown} of this computer; {outcome}.");
            self.tell(Severity::Dropped, Code::RepositoryHostEnvNever, at, path, message, None);
            return EnvState::Dropped;
        }
        if self.grants.host_env.iter().any(|granted| granted == name) {
            return EnvState::Active;
        }
        if !maximum::host_env_is_within(self.request, name) {
            self.beyond_maximum(at, path, &format!("the host variable {shown}"));
            return EnvState::Dropped;
        }
        let message = format!(
            "The repository wants {shown} of this computer in {}; it is absent until you approve.",
            quoted(path)
        );
        if self.ask(&Subject::ForwardHostEnv { name }, at, path, message) {
            EnvState::Active
        } else {
            EnvState::Pending
        }
    }
}

/// Why no repository sets a variable of this name.
fn name_fault(name: &str) -> Option<(Code, String)> {
    let shown = quoted_name(name);
    if !is_env_name(name) {
        return Some((Code::NameInvalid, format!("{ENV_NAME_RULE}; {shown} is not one and is left out.")));
    }
    if env_names::reserved(name).is_some() {
        let message = format!("The variable {shown} is Orca's or the account's to set; it is left out.");
        return Some((Code::ReservedKeyIgnored, message));
    }
    env_names::is_shell_owned(name).then(|| {
        let message = format!("A shell sets {shown} itself, so no value of it arrives; it is left out.");
        (Code::ShellOwnedName, message)
    })
}

/// The value that an approval of a redirecting variable is about, by the place where the variable stands.
pub(crate) fn value_of(request: &PlanRequest, asked: &Source) -> Option<Sensitive> {
    let file = request.devcontainer.as_ref()?;
    let document = read(file, &mut Findings::default())?;
    let stands = |at: Position| asked.line == Some(at.line) && asked.column == Some(at.column);
    let members = ["containerEnv", "remoteEnv"].into_iter().filter_map(|name| document.get(name));
    let mut members = members.filter_map(|node| match &node.value {
        Value::Object(members) => Some(members),
        _ => None,
    });
    let member = members.find_map(|members| members.iter().find(|member| stands(member.at)));
    if let Some(Value::Text(text)) = member.map(|member| &member.node.value) {
        return Some(Sensitive::new(text));
    }
    flag_variables(&document, request).find(|(at, _)| stands(*at)).map(|(_, value)| value)
}

/// Every value of a variable that the file holds, whether it counts or not: for who keeps them out of what is shown.
/// References stand in them as they are written. Arguments of a build are none: they end in the image's history.
pub(crate) fn values_in_file(request: &PlanRequest) -> Vec<Sensitive> {
    let Some(file) = &request.devcontainer else { return Vec::new() };
    let Some(document) = read(file, &mut Findings::default()) else { return Vec::new() };
    let nodes = ["containerEnv", "remoteEnv"].into_iter().filter_map(|name| document.get(name));
    let mut values: Vec<Sensitive> = nodes.flat_map(texts_below).map(Sensitive::new).collect();
    values.extend(flag_variables(&document, request).map(|(_, value)| value));
    values
}

fn texts_below(node: &Node) -> Vec<&str> {
    match &node.value {
        Value::Object(members) => members
            .iter()
            .filter_map(|member| match &member.node.value {
                Value::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// Variables of `runArgs`, each with the place of its flag.
fn flag_variables(
    document: &Document<'_>,
    request: &PlanRequest,
) -> impl Iterator<Item = (Position, Sensitive)> {
    let engine = request.engine.as_ref().map_or(EngineKind::Docker, |engine| engine.kind);
    let scene = Scene::read(request, document, engine);
    scene.flags.variables.into_iter().map(|(_, value, source)| (source.position(), value))
}

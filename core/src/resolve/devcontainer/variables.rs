//! containerEnv and remoteEnv: names by the same tables as every other layer, values never shown.

use super::Scene;
use crate::{
    diagnostic::{Code, Severity},
    parse::{
        env_name::{ENV_NAME_RULE, is_env_name},
        jsonc::{Node, Value},
    },
    policy::{
        devcontainer::substitution::{self, Part},
        env_names,
    },
    resolve::environment::value_fault,
    source::Position,
    text::{escaped_name, quoted_name},
};
use alloc::{collections::BTreeSet, format};

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

impl Scene<'_> {
    pub(super) fn variables(&mut self, node: &Node, remote: bool) {
        let Value::Object(members) = &node.value else { return };
        let property = if remote { "remoteEnv" } else { "containerEnv" };
        let mut seen = BTreeSet::new();
        for member in members {
            let path = format!("{property}.{}", escaped_name(&member.key));
            if !seen.insert(member.key.as_str()) {
                let message =
                    format!("Each variable stands once; {} stands twice.", quoted_name(&member.key));
                self.tell(Severity::Refused, Code::DevcontainerDuplicateKey, member.at, &path, message, None);
                continue;
            }
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
        let Variable { name, at, value, value_at } = variable;
        let shown = quoted_name(name);
        if !is_env_name(name) {
            let message = format!("{ENV_NAME_RULE}; {shown} is not one and is left out.");
            return self.tell(Severity::Dropped, Code::NameInvalid, at, path, message, None);
        }
        if env_names::reserved(name).is_some() {
            let message = format!("The variable {shown} is Orca's or the account's to set; it is left out.");
            return self.tell(Severity::Dropped, Code::ReservedKeyIgnored, at, path, message, None);
        }
        if env_names::is_shell_owned(name) {
            let message = format!("A shell sets {shown} itself, so no value of it arrives; it is left out.");
            return self.tell(Severity::Dropped, Code::ShellOwnedName, at, path, message, None);
        }
        let Some(value) = value else { return };
        if let Some((code, message)) = value_fault(name, value) {
            return self.tell(Severity::Dropped, code, value_at, path, message, None);
        }
        match substitution::value(value, remote, self.places()) {
            Err(why) => return self.unresolved(value_at, path, why),
            Ok(parts) => self.host_parts(value_at, path, &parts),
        }
        if env_names::is_redirecting(name) {
            let message = format!(
                "The repository wants to set {shown}, which decides where credentials go or what runs first; it is absent until you approve."
            );
            self.asks(at, path, message);
        }
    }

    /// A variable of this computer is absent until a person grants its name; some are never given.
    fn host_parts(&mut self, value_at: Position, path: &str, parts: &[Part]) {
        for part in parts {
            let Part::Host { name, default } = part else { continue };
            let shown = quoted_name(name);
            if !is_env_name(name)
                || env_names::is_never_from_host(name)
                || env_names::reserved(name).is_some()
            {
                let outcome =
                    if default.is_some() { "its default is used" } else { "the variable is left out" };
                let message = format!("A repository never gets {shown} of this computer; {outcome}.");
                self.tell(Severity::Dropped, Code::RepositoryHostEnvNever, value_at, path, message, None);
            } else if !self.granted_host_env.iter().any(|granted| granted == name) {
                let message =
                    format!("The repository wants {shown} of this computer; it is absent until you approve.");
                self.asks(value_at, path, message);
            }
        }
    }
}

//! containerEnv and remoteEnv: names by the same tables as every other layer, values never shown.

use super::Scene;
use crate::{
    diagnostic::{Code, Severity},
    parse::{
        env_name::{ENV_NAME_RULE, is_env_name},
        jsonc::{Member, Node, Value},
    },
    policy::{
        devcontainer::substitution::{self, Part},
        env_names,
    },
    resolve::environment::value_fault,
    text::{escaped_name, quoted_name},
};
use alloc::{collections::BTreeSet, format};

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
            self.variable(member, &path, remote);
        }
    }

    fn variable(&mut self, member: &Member, path: &str, remote: bool) {
        let name = member.key.as_str();
        let shown = quoted_name(name);
        if !is_env_name(name) {
            let message = format!("{ENV_NAME_RULE}; {shown} is not one and is left out.");
            return self.tell(Severity::Dropped, Code::NameInvalid, member.at, path, message, None);
        }
        if env_names::reserved(name).is_some() {
            let message = format!("The variable {shown} is Orca's or the account's to set; it is left out.");
            return self.tell(Severity::Dropped, Code::ReservedKeyIgnored, member.at, path, message, None);
        }
        if env_names::is_shell_owned(name) {
            let message = format!("A shell sets {shown} itself, so no value of it arrives; it is left out.");
            return self.tell(Severity::Dropped, Code::ShellOwnedName, member.at, path, message, None);
        }
        // null takes a variable away from what runs in the container.
        let Value::Text(value) = &member.node.value else { return };
        if let Some((code, message)) = value_fault(name, value) {
            return self.tell(Severity::Dropped, code, member.node.at, path, message, None);
        }
        match substitution::value(value, remote, self.places()) {
            Err(why) => return self.unresolved(member.node.at, path, why),
            Ok(parts) => self.host_parts(member, path, &parts),
        }
        if env_names::is_redirecting(name) {
            let message = format!(
                "The repository wants to set {shown}, which decides where credentials go or what runs first; it is absent until you approve."
            );
            self.asks(member.at, path, message);
        }
    }

    /// A variable of this computer is absent until a person grants its name; some are never given.
    fn host_parts(&mut self, member: &Member, path: &str, parts: &[Part]) {
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
                self.tell(
                    Severity::Dropped,
                    Code::RepositoryHostEnvNever,
                    member.node.at,
                    path,
                    message,
                    None,
                );
            } else if !self.granted_host_env.iter().any(|granted| granted == name) {
                let message =
                    format!("The repository wants {shown} of this computer; it is absent until you approve.");
                self.asks(member.node.at, path, message);
            }
        }
    }
}

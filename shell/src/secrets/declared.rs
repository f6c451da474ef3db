//! Declared secrets as the settings have them: a name, and at most one source that is asked at a launch.

use std::collections::BTreeSet;
use std::fmt;

use orca_container_core::input::SecretName;
use orca_container_core::quoted;
use serde::Deserialize;

use crate::settings::present;

/// A declared secret. Without a source, its value is handed over at each launch.
#[derive(Clone, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeclaredSecret {
    /// Its name; the variable has the same one.
    pub name: String,
    /// A program and its arguments, run without a shell, that prints the value. The program is an absolute path, or a
    /// name that is looked up in PATH.
    #[serde(default, deserialize_with = "present")]
    pub command: Option<Vec<String>>,
    /// The entry of the system's keyring that holds the value.
    #[serde(default, deserialize_with = "present")]
    pub keyring: Option<KeyringEntry>,
}

/// An entry of the system's keyring.
#[derive(Clone, Debug, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeyringEntry {
    /// Whose entry it is, mostly a program or a site.
    pub service: String,
    /// Of which account.
    pub account: String,
}

impl fmt::Debug for DeclaredSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An argument is no place for a value, and may hold one all the same.
        f.debug_struct("DeclaredSecret")
            .field("name", &self.name)
            .field("program", &self.command.as_ref().and_then(|words| words.first()))
            .field("keyring", &self.keyring)
            .finish()
    }
}

impl DeclaredSecret {
    /// What the core needs to know of it.
    pub fn secret_name(&self) -> SecretName {
        SecretName { name: self.name.clone() }
    }

    /// What makes it unusable, as a sentence.
    fn fault(&self) -> Option<String> {
        let name = quoted(&self.name);
        if self.command.is_some() && self.keyring.is_some() {
            return Some(format!("The secret {name} has one source: a command or a keyring entry."));
        }
        if let Some(words) = &self.command {
            let Some(program) = words.first().filter(|program| !program.is_empty()) else {
                return Some(format!("The command of the secret {name} begins with a program."));
            };
            if program.contains('/') && !program.starts_with('/') {
                return Some(format!(
                    "The program of the secret {name} is an absolute path, or a name that is looked up in PATH."
                ));
            }
            if words.iter().any(|word| word.contains('\0')) {
                return Some(format!("The words of the command of the secret {name} hold no NUL character."));
            }
        }
        let entry = self.keyring.iter().flat_map(|entry| [&entry.service, &entry.account]);
        entry.into_iter().any(|text| text.is_empty() || text.contains('\0')).then(|| {
            format!("The keyring entry of the secret {name} has a service and an account, each a text.")
        })
    }
}

/// What makes a list of declared secrets unusable: the first thing, as a sentence that holds names only.
pub(crate) fn fault(declared: &[DeclaredSecret]) -> Option<String> {
    let mut seen = BTreeSet::new();
    for secret in declared {
        if !seen.insert(&secret.name) {
            return Some(format!("Each secret is declared once; {} stands twice.", quoted(&secret.name)));
        }
        if let Some(fault) = secret.fault() {
            return Some(fault);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault_of(json: &str) -> Option<String> {
        fault(&serde_json::from_str::<Vec<DeclaredSecret>>(json).unwrap())
    }

    #[test]
    fn each_has_one_source_or_none() {
        for fine in [
            "[]",
            r#"[{"name": "A"}, {"name": "B", "command": ["pass", "show", "b"]}]"#,
            r#"[{"name": "A", "command": ["/usr/bin/pass"]}]"#,
            r#"[{"name": "A", "keyring": {"service": "s", "account": "a"}}]"#,
        ] {
            assert_eq!(fault_of(fine), None, "{fine}");
        }
        for (wrong, said) in [
            (r#"[{"name": "A"}, {"name": "A"}]"#, "stands twice"),
            (
                r#"[{"name": "A", "command": ["x"], "keyring": {"service": "s", "account": "a"}}]"#,
                "one source",
            ),
            (r#"[{"name": "A", "command": []}]"#, "begins with a program"),
            (r#"[{"name": "A", "command": [""]}]"#, "begins with a program"),
            (r#"[{"name": "A", "command": ["./bin/secret"]}]"#, "absolute path"),
            (r#"[{"name": "A", "command": ["~/bin/secret"]}]"#, "absolute path"),
            (r#"[{"name": "A", "command": ["x", "a\u0000b"]}]"#, "no NUL"),
            (r#"[{"name": "A", "keyring": {"service": "", "account": "a"}}]"#, "a service and an account"),
            (
                r#"[{"name": "A", "keyring": {"service": "s", "account": "\u0000"}}]"#,
                "a service and an account",
            ),
        ] {
            let fault = fault_of(wrong).unwrap();
            assert!(fault.contains(said) && fault.contains("\"A\""), "{wrong}: {fault}");
        }
    }

    #[test]
    fn debug_shows_the_program_and_no_argument() {
        let secret: DeclaredSecret =
            serde_json::from_str(r#"{"name": "A", "command": ["pass", "hunter2"]}"#).unwrap();
        let shown = format!("{secret:?}");
        assert!(shown.contains("pass") && !shown.contains("hunter2"), "{shown}");
    }
}

//! Values of declared secrets, from their real sources: fetched at a launch, for the names that it hands over, and kept
//! nowhere.
//!
//! Takes declared secrets, the names that a launch needs, and what the caller hands over; gives their values or says of
//! each one that is missing why and what to do. What the caller hands over wins over the source in the settings, which
//! is then not asked.

#[cfg(unix)]
mod command;
mod declared;
#[cfg(unix)]
mod descriptor;
#[cfg(unix)]
mod keyring;
#[cfg(unix)]
mod value;

pub(crate) use declared::fault;
pub use declared::{DeclaredSecret, KeyringEntry};
#[cfg(unix)]
pub use fetching::{Handed, SecretsError, fetch};

#[cfg(unix)]
mod fetching {
    use orca_container_core::input::UniqueMap;
    use orca_container_core::{Sensitive, quoted};

    use super::{DeclaredSecret, command, descriptor, keyring};
    use crate::redact;

    /// Where the caller hands values over.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Handed {
        /// Nowhere.
        #[default]
        Nothing,
        /// One JSON object from an inherited descriptor, read to its end.
        Descriptor(u32),
        /// One JSON object on the first line of standard input; the rest belongs to the process.
        StandardInput,
    }

    /// Why there are no values. No text in it holds one.
    #[derive(Debug, thiserror::Error)]
    #[non_exhaustive]
    pub enum SecretsError {
        /// What the caller hands over cannot be used.
        #[error("Nothing was started. {0}")]
        Handed(String),
        /// Secrets that have no value, a sentence or two each.
        #[error("Nothing was started, since a secret has no value.{}", lines(.0))]
        Missing(Vec<String>),
    }

    fn lines(problems: &[String]) -> String {
        problems.iter().map(|problem| format!("\n  {problem}")).collect()
    }

    /// The values of the names that a launch needs, each fetched once and in this order.
    pub fn fetch(
        declared: &[DeclaredSecret],
        needed: &[String],
        handed: Handed,
    ) -> Result<UniqueMap<Sensitive>, SecretsError> {
        let given = descriptor::read(handed, declared).map_err(SecretsError::Handed)?;
        let mut values = UniqueMap::default();
        let mut problems = Vec::new();
        for name in needed {
            match given.get(name).cloned().map_or_else(|| asked(declared, name), Ok) {
                Ok(value) => {
                    redact::know(value.reveal());
                    values.insert(name.as_str(), value);
                }
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() { Ok(values) } else { Err(SecretsError::Missing(problems)) }
    }

    /// The value from the source in the settings.
    fn asked(declared: &[DeclaredSecret], name: &str) -> Result<Sensitive, String> {
        let secret = declared.iter().find(|secret| secret.name == name);
        match secret.map(|secret| (&secret.command, &secret.keyring)) {
            Some((Some(words), _)) => command::value(name, words, command::DEADLINE),
            Some((None, Some(entry))) => keyring::value(name, entry),
            _ => Err(format!(
                "The secret {} was not handed over; do so with --secrets-fd or --secrets-stdin, or give it a \
                 \"command\" or a \"keyring\" entry in the settings.",
                quoted(name)
            )),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn all_that_is_missing_is_told_at_once_and_what_is_not_needed_is_not_asked() {
            let folder = tempfile::tempdir().unwrap();
            let asked = folder.path().join("asked");
            let declared: Vec<DeclaredSecret> = serde_json::from_value(serde_json::json!([
                {"name": "NONE"},
                {"name": "FAILS", "command": ["/bin/sh", "-c", "exit 7"]},
                {"name": "UNASKED", "command": ["/bin/sh", "-c", format!("echo x > '{}'", asked.display())]},
                {"name": "THERE", "command": ["/bin/sh", "-c", "echo value"]}
            ]))
            .unwrap();
            let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
            let missing = fetch(&declared, &names(&["NONE", "FAILS", "THERE"]), Handed::Nothing).unwrap_err();
            let text = missing.to_string();
            assert!(text.contains("\"NONE\"") && text.contains("--secrets-fd"), "{text}");
            assert!(text.contains("\"FAILS\"") && text.contains("code 7"), "{text}");
            assert!(!text.contains("THERE") && !text.contains("UNASKED"), "{text}");
            assert!(!asked.exists());
            let values = fetch(&declared, &names(&["THERE"]), Handed::Nothing).unwrap();
            assert_eq!(values.get("THERE").unwrap().reveal(), "value");
        }
    }
}

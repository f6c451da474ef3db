//! The settings document of the command: what a person says once instead of at each call.
//!
//! Takes the text of a settings file; gives the request's parts that are not of one workspace. It is JSON as
//! strict as the request: an unknown field is an error, since a switch that is misspelled would be no switch.

use std::path::{Path, PathBuf};

use orca_container_core::input::{Approval, GlobalSettings, RepoSettings, SecretName, UniqueMap, read_json};
use serde::{Deserialize, Deserializer};

use crate::gather::repository::find_repository;
use crate::gather::settings_file::SettingsFile;
use crate::secrets::{self, DeclaredSecret};

/// What a settings file says. All fields may be absent.
#[derive(Clone, Debug, Default, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SettingsDocument {
    /// Settings for all repositories.
    pub global_settings: GlobalSettings,
    /// Settings for single repositories, by a path inside each: absolute, or relative to this file's folder.
    pub repositories: UniqueMap<RepoSettings>,
    /// Id of the agent to be launched.
    #[serde(deserialize_with = "present")]
    pub agent: Option<String>,
    /// Declared secrets, and where their values come from.
    pub secrets: Vec<DeclaredSecret>,
    /// Names of Orca's own variables.
    pub orca_env: Vec<String>,
    /// What the person approved.
    pub approvals: Vec<Approval>,
}

/// A field that may be absent but is never null.
pub(crate) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// A settings document and the folder that its relative paths start from.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The document.
    pub document: SettingsDocument,
    folder: PathBuf,
}

/// Settings of one repository, and the entries that name no repository of this computer.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    /// The repository's settings.
    pub settings: RepoSettings,
    /// Entries that were passed over, by their paths as written.
    pub passed_over: Vec<String>,
}

/// Why settings cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The text is not what the schema says. Neither the place nor the message holds a value.
    #[error("{}:{line}:{column}: {message}", shown(path))]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: u32,
        /// Counted from 1.
        column: u32,
        /// What is wrong.
        message: String,
    },
    /// A declared secret is none that can be fetched. The message holds names only.
    #[error("{}: {message}", shown(path))]
    Secret {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// Two entries speak of the same repository, so neither is meant more than the other.
    #[error("The settings name each repository once, but {first} and {second} are in the same one.")]
    SameRepository {
        /// One path, quoted.
        first: String,
        /// The other, quoted.
        second: String,
    },
}

fn shown(path: &Path) -> String {
    crate::gather::shown_bare(path)
}

impl SettingsDocument {
    /// The declared secrets as the core takes them: it asks no source.
    pub fn secret_names(&self) -> Vec<SecretName> {
        self.secrets.iter().map(DeclaredSecret::secret_name).collect()
    }
}

/// Whether a key of `repositories` is a URL and no path: it has a colon before any slash, and no drive in front.
fn is_url(key: &str) -> bool {
    key.split_once(':').is_some_and(|(front, _)| front.len() > 1 && !front.contains(['/', '\\']))
}

impl Settings {
    /// Reads a document.
    pub fn of(file: &SettingsFile) -> Result<Self, SettingsError> {
        let document: SettingsDocument = read_json(&file.text).map_err(|error| {
            let source = error.diagnostic().source;
            SettingsError::Malformed {
                path: file.path.clone(),
                line: source.line.unwrap_or(1),
                column: source.column.unwrap_or(1),
                message: error.to_string(),
            }
        })?;
        if let Some(message) = secrets::fault(&document.secrets) {
            return Err(SettingsError::Secret { path: file.path.clone(), message });
        }
        let folder = file.path.parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(Self { document, folder })
    }

    /// The settings of the repository with this common directory.
    ///
    /// An entry whose path is in no repository is passed over, and said: a settings file is carried from one
    /// computer to the next, and a repository that was removed must not stop all others.
    pub fn for_repository(&self, common_dir: &Path) -> Result<Chosen, SettingsError> {
        let mut chosen = Chosen::default();
        let mut first: Option<&str> = None;
        for (key, settings) in self.document.repositories.iter() {
            if is_url(key) {
                continue;
            }
            match find_repository(&self.folder_of(key)) {
                Ok(found) if found.common_dir == common_dir => {
                    if let Some(first) = first {
                        let quoted = orca_container_core::quoted;
                        return Err(SettingsError::SameRepository {
                            first: quoted(first),
                            second: quoted(key),
                        });
                    }
                    first = Some(key);
                    chosen.settings = settings.clone();
                }
                Ok(_) => {}
                Err(_) => chosen.passed_over.push(key.into()),
            }
        }
        Ok(chosen)
    }

    /// The settings of what is cloned from a URL: a person writes it as the key, as it is cloned.
    pub fn for_remote(&self, url: &str) -> RepoSettings {
        let found = self.document.repositories.iter().find(|(key, _)| *key == url);
        found.map(|(_, settings)| settings.clone()).unwrap_or_default()
    }

    fn folder_of(&self, key: &str) -> PathBuf {
        let path = self.folder.join(key);
        if path.as_os_str().is_empty() { PathBuf::from(".") } else { path }
    }
}

//! Variables that a person typed for one workspace: one of the two places that hold values.

use std::collections::BTreeMap;

use orca_container_core::Sensitive;
use orca_container_core::input::{EnvFile, EnvSetting, UniqueMap};
use serde::{Deserialize, Serialize};

/// The workspace's own variables.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceValues {
    #[serde(default)]
    env: BTreeMap<String, StoredSetting>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    env_file: Option<StoredFile>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum StoredSetting {
    Value(String),
    Secret { secret: String },
}

#[derive(Clone, Serialize, Deserialize)]
struct StoredFile {
    name: String,
    text: String,
}

impl std::fmt::Debug for WorkspaceValues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "WorkspaceValues({} names)", self.env.len())
    }
}

impl WorkspaceValues {
    /// What the command line said of variables.
    pub fn of(env: Option<&UniqueMap<EnvSetting>>, file: Option<&EnvFile>) -> Self {
        let stored = |setting: &EnvSetting| match setting {
            EnvSetting::Value(value) => StoredSetting::Value(value.reveal().to_owned()),
            EnvSetting::Secret(secret) => StoredSetting::Secret { secret: secret.clone() },
        };
        Self {
            env: env
                .into_iter()
                .flat_map(UniqueMap::iter)
                .map(|(name, setting)| (name.to_owned(), stored(setting)))
                .collect(),
            env_file: file
                .map(|file| StoredFile { name: file.name.clone(), text: file.text.reveal().to_owned() }),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.env.is_empty() && self.env_file.is_none()
    }

    /// The variables, as the core takes them.
    pub fn env(&self) -> UniqueMap<EnvSetting> {
        self.env
            .iter()
            .map(|(name, setting)| {
                let setting = match setting {
                    StoredSetting::Value(value) => EnvSetting::Value(Sensitive::new(value)),
                    StoredSetting::Secret { secret } => EnvSetting::Secret(secret.clone()),
                };
                (name.clone(), setting)
            })
            .collect()
    }

    /// The file, as the core takes it.
    pub fn env_file(&self) -> Option<EnvFile> {
        self.env_file
            .as_ref()
            .map(|file| EnvFile { name: file.name.clone(), text: Sensitive::new(&file.text) })
    }
}

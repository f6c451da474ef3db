//! `LaunchRequest`: one process to start in a running workspace, with the values of now.

use super::options::{UniqueMap, present};
use crate::{secret::Sensitive, words::LifecycleStage};
use alloc::{string::String, vec::Vec};
use serde::{Deserialize, Deserializer, de::Error};

/// What is to be started, and the values that only a launch may hold.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LaunchRequest {
    /// Full id of the container, from the record: 64 hex digits.
    pub container_id: String,
    /// 32 hex digits of the caller's, by which the launch can be ended.
    pub launch_id: String,
    /// The command and its arguments, `"shell"`, or `{"lifecycle": "postCreateCommand"}`.
    pub command: LaunchCommand,
    /// Whether the process gets a terminal.
    #[serde(default)]
    pub tty: bool,
    /// Absolute path in the container; the clone when absent.
    #[serde(default, deserialize_with = "present")]
    pub workdir: Option<String>,
    /// The terminal's own variables.
    #[serde(default)]
    pub terminal: Terminal,
    /// Absolute path of `orca-container`, which podman's delivery needs.
    #[serde(default, deserialize_with = "present")]
    pub helper: Option<String>,
    /// The values of now.
    #[serde(default)]
    pub values: LaunchValues,
}

/// A command, or the image's shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaunchCommand {
    /// Program and arguments.
    Argv(Vec<String>),
    /// The first shell the image has: bash, else sh.
    Shell,
    /// The commands of the repository's devcontainer.json that a person allowed for this stage. They get no secret, no
    /// host variable and no account key.
    Lifecycle(LifecycleStage),
}

impl<'de> Deserialize<'de> for LaunchCommand {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Word(String),
            Argv(Vec<String>),
            Lifecycle { lifecycle: LifecycleStage },
        }
        match Written::deserialize(deserializer) {
            Ok(Written::Argv(argv)) => Ok(Self::Argv(argv)),
            Ok(Written::Word(word)) if word == "shell" => Ok(Self::Shell),
            Ok(Written::Lifecycle { lifecycle }) => Ok(Self::Lifecycle(lifecycle)),
            _ => Err(D::Error::custom(
                "invalid type: expected a list of texts, \"shell\" or an object with \"lifecycle\"",
            )),
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for LaunchCommand {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "LaunchCommand".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let stages: Vec<&str> = LifecycleStage::ALL.iter().map(|stage| stage.as_str()).collect();
        schemars::json_schema!({"oneOf": [
            {"type": "array", "items": {"type": "string"}, "minItems": 1}, {"const": "shell"},
            {"type": "object", "properties": {"lifecycle": {"enum": stages}}, "required": ["lifecycle"],
             "additionalProperties": false}
        ]})
    }
}

/// The terminal's own variables; engines never pass the client's TERM on.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Terminal {
    /// TERM.
    #[serde(rename = "TERM", deserialize_with = "present")]
    pub term: Option<String>,
    /// COLORTERM.
    #[serde(rename = "COLORTERM", deserialize_with = "present")]
    pub colorterm: Option<String>,
    /// LANG.
    #[serde(rename = "LANG", deserialize_with = "present")]
    pub lang: Option<String>,
}

/// Values that exist only for the length of a launch.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct LaunchValues {
    /// Host variables by name; one that is not here is not set on the host.
    pub host: UniqueMap<Sensitive>,
    /// Orca's own variables by name.
    pub orca: UniqueMap<Sensitive>,
    /// Secrets by name.
    pub secrets: UniqueMap<Sensitive>,
    /// Token of the bound GitHub account.
    #[serde(deserialize_with = "present")]
    pub gh_token: Option<Sensitive>,
}

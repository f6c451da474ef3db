//! A command as data: no element can hold a variable's value.

use super::action::ActionKind;
use crate::words::Phase;
use alloc::{collections::BTreeMap, string::String, vec::Vec};
use serde::Serialize;

/// An element of an argument list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Arg {
    /// These words.
    Text(String),
    /// What an earlier step printed.
    Reference {
        /// Which step's output.
        #[serde(rename = "ref")]
        reference: ReferenceName,
    },
}

impl From<&str> for Arg {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Arg {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

crate::words::words! {
    /// Outputs that later steps refer to.
    ReferenceName {
        /// The container's full id.
        ContainerId = "containerId",
        /// The image's id.
        ImageId = "imageId",
    }
}

impl From<ReferenceName> for Arg {
    fn from(reference: ReferenceName) -> Self {
        Self::Reference { reference }
    }
}

/// What a command reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Stdin {
    /// What this git command writes.
    Bundle {
        /// The command.
        argv: Vec<String>,
        /// Its complete environment, beside the caller's PATH.
        env: BTreeMap<String, String>,
    },
    /// What a person hands over for this one clone, and nothing where there is none: lines of host keys as in
    /// known_hosts(5), an empty line, and a private key (ssh), or the user's name and a token, a line each (https).
    CloneSecret,
    /// A tar of the answer's `copy.files`.
    IgnoredFiles,
    /// A tar of committed files of the repository as they stand in the commit: no filter is run, and nothing called
    /// `.env` or `.git` is in it.
    Context {
        /// The folder whose files they are; `.` for all.
        folder: String,
        /// A file of the repository that is added under this name, where the Dockerfile lies outside the folder.
        #[serde(skip_serializing_if = "Option::is_none")]
        added: Option<AddedFile>,
    },
    /// Env-file text of these variables, from `start_env_text`.
    StartEnv {
        /// The names.
        names: Vec<String>,
    },
    /// This text.
    Text {
        /// The text.
        text: String,
    },
}

/// A file that a context has under another name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AddedFile {
    /// Its path in the repository.
    pub path: String,
    /// Its name in the context.
    pub name: String,
}

/// One command of the sequencer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Command {
    /// What it is.
    pub action: ActionKind,
    /// Name of the volume, network or container it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// The phase that a record is written with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Program and arguments; empty for what the caller does itself (`check_*`, records).
    pub argv: Vec<Arg>,
    /// The complete environment of the client; no variable's value is in it.
    pub env: BTreeMap<String, String>,
    /// What it reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin: Option<Stdin>,
    /// What its output is to later steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub captures: Option<ReferenceName>,
    /// Exit codes that count as done.
    pub ok: Vec<i32>,
    /// Seconds after which it has failed.
    pub deadline_s: u32,
}

/// What makes a workspace from nothing, and what removes all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommandLists {
    /// From nothing.
    pub create: Vec<Command>,
    /// From everything.
    pub remove: Vec<Command>,
}

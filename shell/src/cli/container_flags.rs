//! What the command line says of a container: the flags that `plan`, `env` and `check` share.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use orca_container_core::input::{Approval, ContainerOptions, EnvFile, EnvSetting, UniqueMap};
use orca_container_core::{ApprovalKind, Sensitive, decode_env_file, escaped};

use super::Failure;
use crate::gather::env_file::read_env_file;
use crate::gather::request::Words;

/// The flags. Words of closed lists are the core's to judge, so that a mistake reads the same everywhere.
#[derive(Debug, Args)]
#[command(next_help_heading = "Container")]
pub(super) struct ContainerFlags {
    /// Ask for a container, and say where the code lives: volume or mounted
    #[arg(
        long,
        value_name = "MODE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        conflicts_with = "no_container"
    )]
    container: Option<String>,
    /// Run without a container
    #[arg(long)]
    no_container: bool,
    /// Image of the container
    #[arg(long, value_name = "REFERENCE")]
    container_image: Option<String>,
    /// Size of the container: small, medium or large
    #[arg(long, value_name = "TEMPLATE")]
    container_template: Option<String>,
    /// Set a variable in the container only. Other users of this computer can read our arguments, so give
    /// secrets with --container-env-file instead
    #[arg(long, value_name = "NAME=VALUE", value_parser = OsStringValueParser::new().map(|typed| Assignment::read(&typed)))]
    container_env: Vec<Assignment>,
    /// Set the variables of a file, one NAME=value on a line, in the container only
    #[arg(long, value_name = "FILE")]
    container_env_file: Option<PathBuf>,
    /// Engine: auto, docker or podman
    #[arg(long, value_name = "ENGINE")]
    engine: Option<String>,
    /// Network: none, bridge or allowlist
    #[arg(long, value_name = "NETWORK")]
    network: Option<String>,
    /// OCI runtime that the engine knows by name
    #[arg(long, value_name = "NAME")]
    runtime: Option<String>,
    /// Forward a variable of this computer
    #[arg(long, value_name = "NAME")]
    forward_host_env: Vec<String>,
    /// The devcontainer.json that is meant, by its path in the repository, where there are several
    #[arg(long, value_name = "PATH")]
    devcontainer: Option<String>,
    /// Copy the ignored files that .worktreeinclude lists into the container
    #[arg(long)]
    copy_ignored_files: bool,
    /// Agent that will be launched
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// Approve what a plan asks, by its digest
    #[arg(long, value_name = "DIGEST")]
    approve: Vec<String>,
}

/// `NAME=VALUE`, taken in without an error, since clap's errors repeat what was typed.
#[derive(Clone, Debug)]
enum Assignment {
    Set { name: String, value: Sensitive },
    Broken,
}

impl Assignment {
    fn read(typed: &OsStr) -> Self {
        // A name that breaks the rule may be half a value, so it must not reach a message.
        let pair = typed.to_str().and_then(|typed| typed.split_once('=')).filter(|(name, _)| is_name(name));
        match pair {
            Some((name, value)) => Self::Set { name: name.into(), value: Sensitive::new(value) },
            None => Self::Broken,
        }
    }
}

/// Whether a text is a variable's name.
pub(super) fn is_name(text: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !text.is_empty() && text.bytes().all(word) && !text.starts_with(|first: char| first.is_ascii_digit())
}

impl ContainerFlags {
    /// The digests that are approved.
    pub(super) fn digests(&self) -> Result<Vec<String>, Failure> {
        approvals(&self.approve).map(|_| self.approve.clone())
    }

    /// Whether one of them was typed.
    pub(super) fn is_any(&self) -> bool {
        let texts = [
            &self.container,
            &self.container_image,
            &self.container_template,
            &self.engine,
            &self.network,
            &self.runtime,
            &self.devcontainer,
            &self.agent,
        ];
        texts.iter().any(|text| text.is_some())
            || self.no_container
            || self.copy_ignored_files
            || self.container_env_file.is_some()
            || !self.container_env.is_empty()
            || !self.forward_host_env.is_empty()
            || !self.approve.is_empty()
    }

    /// The words that the flags say.
    pub(super) fn words(self) -> Result<Words, Failure> {
        let asked = self.container.is_some();
        let mode = self.container.filter(|mode| !mode.is_empty());
        let named = !self.forward_host_env.is_empty();
        let choices = ContainerOptions {
            enabled: if self.no_container { Some(false) } else { asked.then_some(true) },
            mode,
            engine: self.engine,
            image: self.container_image,
            template: self.container_template,
            network: self.network,
            runtime: self.runtime,
            env: variables(self.container_env)?,
            env_file: self.container_env_file.map(|path| env_file(&path)).transpose()?,
            forward_host_env: named.then_some(self.forward_host_env),
            copy_ignored_files: self.copy_ignored_files.then_some(true),
            ..ContainerOptions::default()
        };
        Ok(Words {
            choices,
            agent: self.agent,
            approvals: approvals(&self.approve)?,
            devcontainer: self.devcontainer,
        })
    }
}

/// The last of several values of a name wins, as with every other flag that people repeat.
fn variables(assignments: Vec<Assignment>) -> Result<Option<UniqueMap<EnvSetting>>, Failure> {
    if assignments.is_empty() {
        return Ok(None);
    }
    let mut variables = UniqueMap::default();
    for assignment in assignments {
        let Assignment::Set { name, value } = assignment else {
            let message = "--container-env takes NAME=value; a name has letters, digits and underscores and does not begin with a digit.";
            return Err(Failure::Usage(message.into()));
        };
        variables.insert(name, EnvSetting::Value(value));
    }
    Ok(Some(variables))
}

/// The file of variables that a person typed.
pub(super) fn env_file(path: &std::path::Path) -> Result<EnvFile, Failure> {
    let file = read_env_file(path).map_err(|error| Failure::of(&error))?;
    let text = decode_env_file(&file.bytes)
        .map_err(|error| Failure::Failed(format!("{}: {error}", escaped(&file.name))))?;
    Ok(EnvFile { name: file.name, text })
}

/// A digest covers its kind, so that it can stand under each and grants one thing only.
fn approvals(digests: &[String]) -> Result<Vec<Approval>, Failure> {
    let hex = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
    if digests.iter().any(|digest| digest.len() != 64 || !digest.bytes().all(hex)) {
        let message = "--approve takes a digest as a plan prints it: 64 digits and letters from a to f.";
        return Err(Failure::Usage(message.into()));
    }
    let of_each_kind = |digest: &String| {
        let digest = digest.clone();
        ApprovalKind::ALL.iter().map(move |kind| Approval { kind: *kind, digest: digest.clone() })
    };
    Ok(digests.iter().flat_map(of_each_kind).collect())
}

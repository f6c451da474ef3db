//! `__deliver`: moves values from our environment into a file that exists in memory only, and becomes podman
//! with that file as descriptor 3.
//!
//! podman stores every value that `exec -e` hands it in its database; a descriptor it only passes on. The format
//! is that of the core's descriptor shim: line N is the value of name N, backslash and newline escaped.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use command_fds::{CommandFdExt, FdMapping};
use orca_container_core::{DESCRIPTOR_SHIM, ENV_PREFIX};
use rustix::fs::{MemfdFlags, memfd_create};

use crate::redact;

/// The descriptor that `--preserve-fds 1` passes on.
const DESCRIPTOR: i32 = 3;

/// Why podman was not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeliverError {
    /// The command is not one that the core made.
    #[error("This command is for launches that orca-container made itself.")]
    NotALaunch,
    /// A name has no value in our environment.
    #[error("A variable of the launch has no value in the environment.")]
    ValueMissing,
    /// The system refused.
    #[error("The values cannot be handed over: {0}.")]
    System(#[from] io::Error),
}

/// Becomes the command. Returns only when it cannot.
pub fn deliver(command: &[OsString]) -> DeliverError {
    match prepared(command) {
        Ok(mut command) => DeliverError::System(command.exec()),
        Err(error) => error,
    }
}

fn prepared(words: &[OsString]) -> Result<Command, DeliverError> {
    let (program, args) = words.split_first().ok_or(DeliverError::NotALaunch)?;
    let values = values_file(&names(args).ok_or(DeliverError::NotALaunch)?)?;
    let mut command = Command::new(program);
    command.args(args).env_clear();
    let ours = |name: &OsString| name.as_bytes().starts_with(ENV_PREFIX.as_bytes());
    command.envs(env::vars_os().filter(|(name, _)| !ours(name)));
    let mapping = FdMapping { parent_fd: values, child_fd: DESCRIPTOR };
    command.fd_mappings(vec![mapping]).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(command)
}

/// The names of the launch: after the shim come `sh`, the launch id, and names up to `--`.
fn names(args: &[OsString]) -> Option<Vec<&OsString>> {
    let shim = args.iter().position(|word| word == DESCRIPTOR_SHIM)?;
    let rest = args.get(shim.checked_add(3)?..)?;
    let end = rest.iter().position(|word| word == "--")?;
    Some(rest.get(..end)?.iter().collect())
}

/// The values, in the order of the names, in memory only.
fn values_file(names: &[&OsString]) -> Result<OwnedFd, DeliverError> {
    let mut file = File::from(memfd_create("orca-values", MemfdFlags::CLOEXEC).map_err(io::Error::from)?);
    for name in names {
        let mut alias = OsString::from(ENV_PREFIX);
        alias.push(name);
        let value = env::var_os(&alias).ok_or(DeliverError::ValueMissing)?;
        redact::know(&value.to_string_lossy());
        let mut line = escaped_line(value.as_bytes());
        line.push(b'\n');
        file.write_all(&line)?;
    }
    file.rewind()?;
    Ok(file.into())
}

/// The value with backslash and newline escaped.
fn escaped_line(value: &[u8]) -> Vec<u8> {
    let mut line = Vec::with_capacity(value.len().saturating_add(16));
    for byte in value {
        match byte {
            b'\\' => line.extend_from_slice(b"\\\\"),
            b'\n' => line.extend_from_slice(b"\\n"),
            byte => line.push(*byte),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn the_names_stand_between_the_launch_id_and_the_dashes() {
        let args = words(&[
            "exec",
            "--",
            "ID",
            "/bin/sh",
            "-c",
            DESCRIPTOR_SHIM,
            "sh",
            "0",
            "A",
            "B",
            "--",
            "GONE",
            "--",
            "claude",
            "--",
        ]);
        assert_eq!(names(&args), Some(vec![&OsString::from("A"), &OsString::from("B")]));
        assert_eq!(names(&words(&["exec", "ID", "claude"])), None);
    }

    #[test]
    fn lines_are_escaped_for_the_shim() {
        assert_eq!(escaped_line(b"a\\n\nb"), b"a\\\\n\\nb");
    }
}

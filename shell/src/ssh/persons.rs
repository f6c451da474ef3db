//! What the person's own ssh knows of a workspace's host.
//!
//! Orca dials a target that has a ProxyCommand with the person's ssh and configuration, without a terminal, and names no
//! known_hosts: a host that is not in the person's is an error there. (Source: Orca's `system-ssh-args`.) So the host's key,
//! which nobody but us made, is written where that ssh looks, and taken out again with the workspace.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::{Keys, SshError};
use crate::engine::{Bounds, ClientError, Input, Wanted, host_path, host_program, run_bounded};
use crate::store::Store;

/// How long ssh may take to tell its configuration; it may run the person's `Match exec`.
const PATIENCE: Duration = Duration::from_secs(10);

/// Writes a workspace's host into the known_hosts of the person's ssh, unless that reads our own already. The caller holds the
/// workspace's lock.
pub fn make_known(store: &Store, name: &str, keys: &Keys) -> Result<(), SshError> {
    let files = known_hosts_of(name)?;
    let Some(first) = files.first().filter(|_| !files.contains(&keys.known_hosts)) else { return Ok(()) };
    Ok(store.make_host_known(name, first, &format!("{name} {}", keys.host_public))?)
}

/// The files in which the person's ssh looks for a host's key, the one that it writes to first.
fn known_hosts_of(name: &str) -> Result<Vec<PathBuf>, SshError> {
    let missing = || SshError::NoSsh(ClientError::Missing { program: "ssh".into() });
    let mut command = Command::new(host_program("ssh").ok_or_else(missing)?);
    // With the person's environment: their configuration may refer to it.
    command.args(["-G", "--", name]).env("PATH", host_path()).env("LC_ALL", "C").current_dir("/");
    let told = run_bounded(command, "ssh", Input::None, Wanted::Kept, Bounds::time(PATIENCE));
    let told = told.map_err(SshError::NoSsh)?;
    if told.code != 0 {
        return Err(SshError::NoSshConfiguration(told.complaint()));
    }
    Ok(files_in(&told.text()))
}

/// The files in what `ssh -G` says. One that is not named by a whole path is nobody's (`none`).
fn files_in(said: &str) -> Vec<PathBuf> {
    let line = said.lines().find_map(|line| line.strip_prefix("userknownhostsfile "));
    let words = shlex::split(line.unwrap_or_default()).unwrap_or_default();
    words
        .into_iter()
        .map(PathBuf::from)
        .filter(|file| file.is_absolute() && file != Path::new("/dev/null"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_read_as_ssh_tells_them() {
        let said = "user me\nuserknownhostsfile /home/me/.ssh/known_hosts \"/a b/c\"\nport 22\n";
        assert_eq!(files_in(said), [Path::new("/home/me/.ssh/known_hosts"), Path::new("/a b/c")]);
        for nowhere in ["userknownhostsfile none\n", "userknownhostsfile /dev/null\n", "", "port 22\n"] {
            assert_eq!(files_in(nowhere), Vec::<PathBuf>::new(), "{nowhere}");
        }
    }
}

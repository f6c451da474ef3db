//! What the person's own ssh knows of a workspace's host.
//!
//! Orca dials a target that has a ProxyCommand with the person's ssh and configuration, without a terminal, and names no
//! known_hosts: a host that is not in the person's is an error there. (Source: Orca's `system-ssh-args`.) So the host's key,
//! which nobody but us made, is written where that ssh looks, and taken out again with the workspace.
//!
//! What that ssh offers to the host is the person's as well. The sshd in the container runs as the agent's user, who can put
//! another in its place: its limits hold for an agent that leaves it alone. So an ssh that would forward its agent, its display or
//! a port of this computer to a workspace by itself is refused here, on the side that the container has no hand in.

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
    let files = files_in(&configuration(name)?, std::env::home_dir().as_deref());
    let Some(first) = files.first().filter(|_| !files.contains(&keys.known_hosts)) else { return Ok(()) };
    Ok(store.make_host_known(name, first, &format!("{name} {}", keys.host_public))?)
}

/// An error where the person's ssh would hand something of this computer to a workspace by itself, or does not tell. Where there
/// is none on PATH, whoever dials has another one.
pub fn keeps_to_itself(name: &str) -> Result<(), SshError> {
    let offers = match configuration(name) {
        Ok(said) => offered(&said),
        Err(SshError::NoSsh(ClientError::Missing { .. })) => Vec::new(),
        Err(error) => return Err(error),
    };
    if offers.is_empty() { Ok(()) } else { Err(SshError::Offers(offers.join(", "))) }
}

/// What the person's ssh would do for a host, as it tells it itself.
fn configuration(name: &str) -> Result<String, SshError> {
    let missing = || SshError::NoSsh(ClientError::Missing { program: "ssh".into() });
    let mut command = Command::new(host_program("ssh").ok_or_else(missing)?);
    // With the person's environment: their configuration may refer to it.
    command.args(["-G", "--", name]).env("PATH", host_path()).env("LC_ALL", "C").current_dir("/");
    let told = run_bounded(command, "ssh", Input::None, Wanted::Kept, Bounds::time(PATIENCE));
    let told = told.map_err(SshError::NoSsh)?;
    if told.code != 0 {
        return Err(SshError::NoSshConfiguration(told.complaint()));
    }
    Ok(told.text())
}

/// The options in what `ssh -G` says by which a server reaches this computer.
fn offered(said: &str) -> Vec<&'static str> {
    let is_on = |option: &str| {
        said.lines().filter_map(|line| line.strip_prefix(option)?.strip_prefix(' ')).any(|value| {
            // A forwarding has no word for "off".
            option == "remoteforward" || !matches!(value, "no" | "false" | "none")
        })
    };
    let options = [
        ("forwardagent", "ForwardAgent"),
        ("forwardx11", "ForwardX11"),
        ("remoteforward", "RemoteForward"),
        ("tunnel", "Tunnel"),
    ];
    options.into_iter().filter(|(option, _)| is_on(option)).map(|(_, name)| name).collect()
}

/// The files in what `ssh -G` says: parted by spaces, of which one in a path is quoted by newer versions only. One that is not
/// named by a whole path is nobody's (`none`).
fn files_in(said: &str, home: Option<&Path>) -> Vec<PathBuf> {
    let line = said.lines().find_map(|line| line.strip_prefix("userknownhostsfile ")).unwrap_or_default();
    let words: Vec<String> = if line.contains('"') {
        shlex::split(line).unwrap_or_default()
    } else {
        // What follows a space without being a path of its own belongs to the path before it.
        let parted = line.replace(" /", "\n/").replace(" ~/", "\n~/");
        parted.lines().map(String::from).collect()
    };
    let whole = |word: String| match (word.strip_prefix("~/"), home) {
        (Some(below), Some(home)) => home.join(below),
        _ => PathBuf::from(word),
    };
    let is_file = |file: &PathBuf| file.is_absolute() && file != Path::new("/dev/null");
    words.into_iter().map(whole).filter(is_file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ssh_that_would_hand_something_over_by_itself_is_told_from_one_that_does_not() {
        let quiet =
            "forwardagent no\nforwardx11 no\nforwardx11trusted yes\ntunnel false\nlocalforward 1 a:1\n";
        assert_eq!(offered(quiet), Vec::<&str>::new());
        assert_eq!(offered("forwardagent yes\n"), ["ForwardAgent"]);
        assert_eq!(offered("forwardagent $SSH_AUTH_SOCK\nforwardx11 yes\n"), ["ForwardAgent", "ForwardX11"]);
        assert_eq!(
            offered("remoteforward 7777 [127.0.0.1]:7779\ntunnel point-to-point\n"),
            ["RemoteForward", "Tunnel"]
        );
        assert_eq!(offered("forwardagent true\n"), ["ForwardAgent"]);
    }

    #[test]
    fn the_files_are_read_as_each_ssh_tells_them() {
        let of = |line: &str| {
            let said = format!("user me\nuserknownhostsfile {line}\nport 22\n");
            let files = files_in(&said, Some(Path::new("/home/me")));
            files.iter().map(|file| file.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let both = ["/home/me/.ssh/known_hosts", "/home/me/.ssh/known_hosts2"];
        assert_eq!(of("/home/me/.ssh/known_hosts /home/me/.ssh/known_hosts2"), both);
        assert_eq!(of("~/.ssh/known_hosts ~/.ssh/known_hosts2"), both);
        assert_eq!(of("/home/a b/.ssh/k /home/a b/.ssh/k2"), ["/home/a b/.ssh/k", "/home/a b/.ssh/k2"]);
        assert_eq!(of("\"/home/a b/.ssh/k\" /k2"), ["/home/a b/.ssh/k", "/k2"]);
        for nowhere in ["none", "/dev/null", "", "relative"] {
            assert_eq!(of(nowhere), Vec::<String>::new(), "{nowhere}");
        }
    }
}

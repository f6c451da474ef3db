//! The keys of one workspace: one to log in with, one by which its sshd is known. Made when they are first needed, gone with
//! the workspace, and never the person's own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use orca_container_core::Sensitive;

use super::SshError;
use crate::engine::{Bounds, ClientError, Input, Wanted, host_path, host_program, run_bounded};
use crate::redact;
use crate::store::{Store, WorkspaceRecord};

/// How long a key may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A workspace's keys.
#[derive(Clone, Debug)]
pub struct Keys {
    /// File of the private key to log in with.
    pub identity: PathBuf,
    /// Its public half, a line of authorized_keys.
    pub authorized: String,
    /// The host key's private half.
    pub host: Sensitive,
    /// The host key's public half, kind and key.
    pub host_public: String,
    /// File in which the host is known by the container's name.
    pub known_hosts: PathBuf,
    /// Whether they were made just now.
    pub are_new: bool,
}

/// The keys of a workspace, made where they are not there. The caller holds the workspace's lock.
pub fn keys(store: &Store, record: &WorkspaceRecord) -> Result<Keys, SshError> {
    let name = record.file_name();
    let folder = store.ssh_folder()?;
    let (identity, host) = (folder.join(name), folder.join(format!("{name}.host")));
    let known_hosts = folder.join(format!("{name}.known_hosts"));
    // The last file is written once all others are there; one that somebody took away is made again with them.
    let halves = [&identity, &host].map(|file| public(file).is_empty() || !file.is_file());
    let are_new = !known_hosts.is_file() || halves.contains(&true);
    if are_new {
        store.forget_keys(name);
        generate(&identity)?;
        generate(&host)?;
        store.write_known_host(name, &format!("{name} {}\n", public(&host)))?;
    }
    let private = Sensitive::from(fs::read_to_string(&host)?);
    redact::know(private.reveal());
    let (authorized, host_public) = (public(&identity), public(&host));
    Ok(Keys { identity, authorized, host: private, host_public, known_hosts, are_new })
}

/// Kind and key of a public half; the comment says where it was made, which is nobody's business.
fn public(private: &Path) -> String {
    let mut file = private.as_os_str().to_owned();
    file.push(".pub");
    let text = fs::read_to_string(file).unwrap_or_default();
    text.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
}

fn generate(file: &Path) -> Result<(), SshError> {
    let missing = || SshError::KeyGen(ClientError::Missing { program: "ssh-keygen".into() });
    let mut command = Command::new(host_program("ssh-keygen").ok_or_else(missing)?);
    command.args(["-q", "-t", "ed25519", "-N", "", "-C", "orca-container", "-f"]).arg(file);
    command.env_clear().env("PATH", host_path()).env("LC_ALL", "C");
    let made = run_bounded(command, "ssh-keygen", Input::None, Wanted::Kept, Bounds::time(PATIENCE));
    let made = made.map_err(SshError::KeyGen)?;
    if made.code == 0 { Ok(()) } else { Err(SshError::KeyGenRefused(made.complaint())) }
}

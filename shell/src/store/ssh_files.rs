//! The files of terminals over ssh: a workspace's keys, and what the person's own ssh knows of it.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::private_file::{ensure_folder, read, remove, write_atomic};
use super::{LockError, Store, StoreError, known_hosts};

/// Ends the name of the file that says in which known_hosts of the person a workspace is.
const PERSONS: &str = ".persons";

/// The lock of the person's known_hosts among ourselves.
pub(super) const KNOWN_HOSTS: &str = "known-hosts";

/// How long another one of ours is waited for: it writes one line.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often a file that changes meanwhile is tried.
const TRIES: usize = 5;

/// Bytes of a path.
const PATH: u64 = 4096;

impl Store {
    /// The folder of the workspaces' keys, made where it is not there.
    pub fn ssh_folder(&self) -> Result<PathBuf, StoreError> {
        ensure_folder(&self.root)?;
        let folder = self.root.join("ssh");
        ensure_folder(&folder)?;
        Ok(folder)
    }

    /// Writes down the host of a workspace, in the format of known_hosts.
    pub fn write_known_host(&self, name: &str, line: &str) -> Result<(), StoreError> {
        Ok(write_atomic(&self.ssh_folder()?.join(format!("{name}.known_hosts")), line.as_bytes())?)
    }

    /// Writes the host of a workspace into a known_hosts of the person, and down which one that is.
    pub fn make_host_known(&self, name: &str, file: &Path, line: &str) -> Result<(), StoreError> {
        if self.persons(name).is_some_and(|before| before != file) {
            self.forget_host(name)?;
        }
        let told = self.ssh_folder()?.join(format!("{name}{PERSONS}"));
        write_atomic(&told, file.as_os_str().as_bytes())?;
        self.in_turn(file, || known_hosts::add(file, name, line))
    }

    /// The known_hosts of the person that a workspace's host was written into.
    fn persons(&self, name: &str) -> Option<PathBuf> {
        let told = self.root.join("ssh").join(format!("{name}{PERSONS}"));
        let file = read(&told, PATH).ok()??;
        Some(PathBuf::from(OsString::from_vec(file)))
    }

    /// Takes the host of a workspace out of the person's known_hosts.
    fn forget_host(&self, name: &str) -> Result<(), StoreError> {
        let Some(file) = self.persons(name) else { return Ok(()) };
        self.in_turn(&file, || known_hosts::remove(&file, name))?;
        Ok(remove(&self.root.join("ssh").join(format!("{name}{PERSONS}")))?)
    }

    /// One of ours at a time: the person's file is one for all workspaces.
    fn in_turn(&self, file: &Path, work: impl Fn() -> io::Result<()>) -> Result<(), StoreError> {
        let failed = |cause| StoreError::KnownHosts { path: file.into(), cause };
        let held = |error: LockError| failed(io::Error::other(error.to_string()));
        let lock = self.lock_patiently(KNOWN_HOSTS, PATIENCE).map_err(held)?;
        let mut done = work();
        for _ in 1..TRIES {
            // Somebody else's ssh may write at the same moment.
            if !done.as_ref().is_err_and(known_hosts::is_passing) {
                break;
            }
            done = work();
        }
        lock.remove();
        done.map_err(failed)
    }

    /// Removes the keys of a workspace.
    pub fn forget_keys(&self, name: &str) {
        // The file by which they are whole goes first.
        for end in [".known_hosts", "", ".pub", ".host", ".host.pub"] {
            let _ = remove(&self.root.join("ssh").join(format!("{name}{end}")));
        }
    }

    /// Removes everything of terminals over ssh. What cannot be removed now is tried again by those who tidy.
    pub fn forget_ssh(&self, name: &str) {
        self.forget_keys(name);
        let _ = self.forget_host(name);
    }

    /// The workspaces that have a file in the folder of keys, also one that was being written when its writer was killed.
    pub(super) fn names_of_keys(&self) -> Vec<String> {
        let names = self.files("ssh").filter_map(|file| {
            let name = file.trim_start_matches('.');
            Some(name.split('.').next()?.to_owned())
        });
        let mut names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
        names.sort();
        names.dedup();
        names
    }
}

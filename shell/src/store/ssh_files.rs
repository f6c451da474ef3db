//! The files of terminals over ssh: a workspace's keys, and what the person's own ssh knows of it.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::private_file::{ensure_folder, read, remove, write_atomic};
use super::{Store, StoreError, known_hosts};

/// Ends the name of the file that says in which known_hosts of the person a workspace is.
const PERSONS: &str = ".persons";

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
        let told = self.ssh_folder()?.join(format!("{name}{PERSONS}"));
        self.forget_host(name);
        write_atomic(&told, file.as_os_str().as_bytes())?;
        known_hosts::add(file, name, line)
            .map_err(|cause| StoreError::KnownHosts { path: file.into(), cause })
    }

    /// Takes the host of a workspace out of the person's known_hosts; one that cannot be written now is tried again by those
    /// who tidy.
    fn forget_host(&self, name: &str) {
        let told = self.root.join("ssh").join(format!("{name}{PERSONS}"));
        let Ok(Some(file)) = read(&told, PATH) else { return };
        let file = PathBuf::from(OsString::from_vec(file));
        if known_hosts::remove(&file, name).is_ok() {
            let _ = remove(&told);
        }
    }

    /// Removes the keys of a workspace.
    pub fn forget_ssh(&self, name: &str) {
        // The file by which they are whole goes first.
        for end in [".known_hosts", "", ".pub", ".host", ".host.pub"] {
            let _ = remove(&self.root.join("ssh").join(format!("{name}{end}")));
        }
        self.forget_host(name);
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

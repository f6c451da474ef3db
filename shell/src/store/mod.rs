//! What is kept on this machine: the installation's id, records of workspaces, values that a person typed,
//! approvals, locks (design 9).
//!
//! Everything lies below one folder that only its owner can read. A record's frozen texts and `values/` are the
//! only files that hold values, and they go with the workspace.

mod approvals;
mod choices;
mod known_hosts;
mod launched;
mod lock;
mod private_file;
mod record;
mod ssh_files;
mod values;

use std::env;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

pub use approvals::{StoredApproval, StoredApprovals};
pub use choices::RecordedChoices;
pub use launched::LastLaunch;
pub use lock::{Lock, LockError};
pub use private_file::PrivateFileError;
pub use record::{
    FrozenText, FrozenTexts, RanCommand, RecordedEngine, RecordedImage, RecordedWorkspace, WorkspaceRecord,
};
pub use values::WorkspaceValues;

use private_file::{ensure_folder, read, remove, write_atomic, write_atomic_soon, write_new};

/// Bytes of a stored file; a record holds a plan and the repository's texts.
const FILE_CAP: u64 = 8 * 1024 * 1024;

/// The store of one user.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

/// Why the store cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Neither XDG_STATE_HOME nor HOME says where it is.
    #[error("Set HOME or XDG_STATE_HOME to an absolute path: the store has no place.")]
    Nowhere,
    /// A file or folder is not what it must be.
    #[error(transparent)]
    File(#[from] PrivateFileError),
    /// A file's content is not what its version says; nothing was touched.
    #[error("The file {} is invalid; nothing was touched. Move it away to go on without it.", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
    },
    /// The person's known_hosts could not be written.
    #[error("The file {} could not be written: {cause}.", path.display())]
    KnownHosts {
        /// The file.
        path: PathBuf,
        /// The system's reason, or ours.
        cause: std::io::Error,
    },
    /// There is no randomness.
    #[error("The system gives no random numbers: {cause}.")]
    Random {
        /// The system's reason.
        cause: std::io::Error,
    },
}

/// How long who tidies holds a lock at most: a call or two of an engine.
const TIDYING: Duration = Duration::from_secs(2);

impl Store {
    /// The store of this process's user: `$XDG_STATE_HOME/orca-container`, else `~/.local/state/orca-container`.
    /// Nothing is made.
    pub fn of_process() -> Result<Self, StoreError> {
        let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let state =
            absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
        Ok(Self::at(&state.ok_or(StoreError::Nowhere)?.join("orca-container")))
    }

    /// The store in this folder.
    pub fn at(root: &Path) -> Self {
        Self { root: root.into() }
    }

    /// Its folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// docker's empty client configuration.
    pub fn docker_config(&self) -> Result<PathBuf, StoreError> {
        let folder = self.root.join("docker");
        ensure_folder(&self.root)?;
        ensure_folder(&folder)?;
        Ok(folder)
    }

    /// A file for podman that says that nobody is logged in anywhere.
    pub fn no_logins(&self) -> Result<String, StoreError> {
        let path = self.docker_config()?.join("auth.json");
        write_atomic(&path, b"{}")?;
        path.to_str().map(String::from).ok_or(StoreError::Invalid { path })
    }

    /// The installation's id, or `None` before the first effect.
    pub fn install_id(&self) -> Result<Option<String>, StoreError> {
        let path = self.root.join("install");
        let Some(bytes) = read(&path, 64)? else { return Ok(None) };
        let id = String::from_utf8(bytes).unwrap_or_default();
        let id = id.trim();
        if id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit()) {
            Ok(Some(id.into()))
        } else {
            Err(StoreError::Invalid { path })
        }
    }

    /// The installation's id, made where there is none: 128 random bits.
    pub fn ensure_install_id(&self) -> Result<String, StoreError> {
        ensure_folder(&self.root)?;
        if let Some(id) = self.install_id()? {
            return Ok(id);
        }
        write_new(&self.root.join("install"), random_id()?.as_bytes())?;
        // Another process may have been first; its id counts.
        self.install_id()?.ok_or(StoreError::Invalid { path: self.root.join("install") })
    }

    /// The lock of a workspace, or of the installation, for work on it. Who only tidies holds any lock for a moment, so that
    /// is waited for.
    pub fn lock(&self, name: &str) -> Result<Lock, LockError> {
        self.lock_patiently(name, TIDYING)
    }

    /// The lock where nobody has it now, for tidying what its holder left.
    pub fn lock_if_free(&self, name: &str) -> Result<Lock, LockError> {
        Lock::take(&self.root.join("locks"), name)
    }

    /// The lock for work, waiting for another process to be done with it.
    pub fn lock_patiently(&self, name: &str, patience: Duration) -> Result<Lock, LockError> {
        let begun = Instant::now();
        loop {
            match self.lock_if_free(name) {
                Err(LockError::Held { .. }) if begun.elapsed() < patience => sleep(Duration::from_millis(20)),
                taken => return taken,
            }
        }
    }

    /// Names of lock files that begin so, held or not.
    pub fn lock_names(&self, start: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.root.join("locks")) else { return Vec::new() };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        names
            .filter_map(|name| {
                name.strip_suffix(".lock").filter(|name| name.starts_with(start)).map(String::from)
            })
            .collect()
    }

    /// The record of a name as it is on disk now.
    pub fn record(&self, name: &str) -> Result<Option<WorkspaceRecord>, StoreError> {
        let (records, _) = self.records()?;
        Ok(records.into_iter().find(|record| record.file_name() == name))
    }

    /// All records that can be read, and the files that cannot.
    pub fn records(&self) -> Result<(Vec<WorkspaceRecord>, Vec<StoreError>), StoreError> {
        let folder = self.root.join("records");
        let mut records = Vec::new();
        let mut broken = Vec::new();
        let Ok(entries) = std::fs::read_dir(&folder) else { return Ok((records, broken)) };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in
            paths.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        {
            match read_json::<WorkspaceRecord>(&path) {
                Ok(Some(record)) if record.schema_version != 1 => broken.push(StoreError::Invalid { path }),
                Ok(Some(record)) => records.push(record),
                Ok(None) => {}
                Err(error) => broken.push(error),
            }
        }
        Ok((records, broken))
    }

    /// Whether a workspace has a record.
    pub fn has_record(&self, name: &str) -> bool {
        self.root.join("records").join(format!("{name}.json")).exists()
    }

    /// When a record was written last.
    pub fn record_written(&self, record: &WorkspaceRecord) -> Option<std::time::SystemTime> {
        let path = self.root.join("records").join(format!("{}.json", record.file_name()));
        path.symlink_metadata().and_then(|found| found.modified()).ok()
    }

    /// Writes a record.
    pub fn write_record(&self, record: &WorkspaceRecord) -> Result<(), StoreError> {
        self.write_json("records", record.file_name(), record)
    }

    /// Removes a record and everything that goes with it.
    pub fn remove_record(&self, record: &WorkspaceRecord) -> Result<(), StoreError> {
        let name = format!("{}.json", record.file_name());
        remove(&self.root.join("values").join(&name))?;
        remove(&self.root.join("launches").join(&name))?;
        self.forget_ssh(record.file_name());
        remove(&self.root.join("records").join(&name))?;
        Ok(())
    }

    /// Removes locks and typed variables whose workspace never got a record: its maker died before it.
    pub fn remove_orphans(&self) {
        for folder in ["values", "records", "ssh"] {
            // A file that was being written when its writer was killed: `.NAME.json.PID`.
            for file in self.files(folder).filter(|file| file.starts_with('.')) {
                let name = file.trim_start_matches('.').split('.').next().unwrap_or_default();
                if let Ok(_lock) = self.lock_if_free(name) {
                    let _ = remove(&self.root.join(folder).join(&file));
                }
            }
        }
        // `.install.PID`, `.approvals.json.PID`: of writers that are no more, and took no lock.
        for folder in ["", "launches"] {
            for file in self.files(folder).filter(|file| file.starts_with('.') && is_of_nobody(file)) {
                let _ = remove(&self.root.join(folder).join(&file));
            }
        }
        for name in ["worktree-", "install", "build", ssh_files::KNOWN_HOSTS]
            .iter()
            .flat_map(|start| self.lock_names(start))
        {
            if let Ok(lock) = self.lock_if_free(&name) {
                lock.remove();
            }
        }
        let of_workspaces = self.files("values").chain(self.files("launches"));
        let of_workspaces = of_workspaces.filter_map(|file| Some(file.strip_suffix(".json")?.to_owned()));
        for name in of_workspaces
            .chain(self.names_of_keys())
            .chain(self.lock_names("orca-ws-"))
            .filter(|name| !self.has_record(name))
            .collect::<Vec<_>>()
        {
            // A maker that lives holds the lock.
            let Ok(lock) = self.lock_if_free(&name) else { continue };
            if !self.has_record(&name) {
                // What cannot be removed now is found again by the next command.
                self.forget_values(&name);
                self.forget_ssh(&name);
                lock.remove();
            }
        }
    }

    /// Names of the files in one of its folders.
    fn files(&self, folder: &str) -> impl Iterator<Item = String> + use<> {
        let entries = std::fs::read_dir(self.root.join(folder)).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok())
    }

    /// Removes what a person typed for a workspace that came to nothing.
    pub fn forget_values(&self, name: &str) {
        // What cannot be removed now is found again by the next command.
        for folder in ["values", "launches"] {
            let _ = remove(&self.root.join(folder).join(format!("{name}.json")));
        }
    }

    /// What the last launch of a workspace had; `None` before the first.
    pub fn last_launch(&self, record: &WorkspaceRecord) -> Result<Option<LastLaunch>, StoreError> {
        // It is not written to the disk at any price, so half of one may be there; then it is not known.
        match read_json(&self.root.join("launches").join(format!("{}.json", record.file_name()))) {
            Err(StoreError::Invalid { .. }) => Ok(None),
            read => read,
        }
    }

    /// Writes down what a launch has.
    pub fn write_last_launch(&self, record: &WorkspaceRecord, launch: &LastLaunch) -> Result<(), StoreError> {
        let folder = self.root.join("launches");
        ensure_folder(&self.root)?;
        ensure_folder(&folder)?;
        let text = serde_json::to_vec(launch).unwrap_or_default();
        Ok(write_atomic_soon(&folder.join(format!("{}.json", record.file_name())), &text)?)
    }

    /// The variables that a person typed for a workspace.
    pub fn values(&self, record: &WorkspaceRecord) -> Result<WorkspaceValues, StoreError> {
        let path = self.root.join("values").join(format!("{}.json", record.file_name()));
        Ok(read_json(&path)?.unwrap_or_default())
    }

    /// Writes them; none leaves no file.
    pub fn write_values(&self, record: &WorkspaceRecord, values: &WorkspaceValues) -> Result<(), StoreError> {
        if values.is_empty() {
            remove(&self.root.join("values").join(format!("{}.json", record.file_name())))?;
            return Ok(());
        }
        self.write_json("values", record.file_name(), values)
    }

    /// What was approved.
    pub fn approvals(&self) -> Result<StoredApprovals, StoreError> {
        Ok(read_json(&self.root.join("approvals.json"))?.unwrap_or_default())
    }

    /// Adds approvals.
    pub fn approve(&self, new: Vec<StoredApproval>) -> Result<(), StoreError> {
        ensure_folder(&self.root)?;
        let mut approvals = self.approvals()?;
        approvals.add(new);
        let text = serde_json::to_vec_pretty(&approvals).unwrap_or_default();
        write_atomic(&self.root.join("approvals.json"), &text)?;
        Ok(())
    }

    fn write_json<T: serde::Serialize>(&self, folder: &str, name: &str, value: &T) -> Result<(), StoreError> {
        ensure_folder(&self.root)?;
        let folder = self.root.join(folder);
        ensure_folder(&folder)?;
        let path = folder.join(format!("{name}.json"));
        let text =
            serde_json::to_vec_pretty(value).map_err(|_| StoreError::Invalid { path: path.clone() })?;
        write_atomic(&path, &text)?;
        Ok(())
    }
}

fn read_json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Option<T>, StoreError> {
    let Some(bytes) = read(path, FILE_CAP)? else { return Ok(None) };
    let value = serde_json::from_slice(&bytes).map_err(|_| StoreError::Invalid { path: path.into() })?;
    Ok(Some(value))
}

/// Whether the process that a temporary file is named after is no more.
fn is_of_nobody(file: &str) -> bool {
    let writer = file.rsplit('.').next().and_then(|digits| digits.parse::<i32>().ok());
    let writer = writer.and_then(rustix::process::Pid::from_raw);
    writer.is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
}

/// 128 random bits as 32 hex digits.
pub fn random_id() -> Result<String, StoreError> {
    use std::io::Read;
    let mut bytes = [0_u8; 16];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut bytes))
        .map_err(|cause| StoreError::Random { cause })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn the_install_id_is_made_once_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(&folder.path().join("s"));
        assert_eq!(store.install_id().unwrap(), None);
        let id = store.ensure_install_id().unwrap();
        assert_eq!(store.ensure_install_id().unwrap(), id);
        let mode = std::fs::metadata(folder.path().join("s/install")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(std::fs::metadata(folder.path().join("s")).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn what_a_killed_process_left_goes_and_what_a_living_one_holds_stays() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(&folder.path().join("s"));
        let all = ["build", "install", "orca-ws-x", "worktree-x"];
        for name in all {
            drop(store.lock(name).unwrap());
        }
        let held = store.lock("worktree-y").unwrap();
        // No process has this number: it is beyond the kernel's own bound.
        let theirs = folder.path().join("known_hosts");
        store.make_host_known("orca-ws-k", &theirs, "orca-ws-k ssh-ed25519 AAAA").unwrap();
        assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "orca-ws-k ssh-ed25519 AAAA\n");
        for left in [
            "values/.orca-ws-x.json.4194305",
            "values/orca-ws-x.json",
            ".approvals.json.4194305",
            "ssh/orca-ws-x",
            "ssh/.orca-ws-y.known_hosts.4194305",
            "ssh/orca-ws-k.host.pub",
        ] {
            let path = folder.path().join("s").join(left);
            ensure_folder(path.parent().unwrap()).unwrap();
            write_new(&path, b"{}").unwrap();
        }
        // A program that another test starts at this moment has a copy of an open lock until it has begun.
        let begun = Instant::now();
        while store.lock_names("") != ["worktree-y"] {
            store.remove_orphans();
            assert!(begun.elapsed().as_secs() < 60, "{:?}", store.lock_names(""));
        }
        assert_eq!(
            store.files("values").chain(store.files("")).filter(|name| name.contains("json")).count(),
            0
        );
        assert_eq!(store.files("ssh").collect::<Vec<_>>(), Vec::<String>::new());
        assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "");
        held.remove();
    }

    #[test]
    fn many_hosts_come_and_go_at_once_and_none_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(&folder.path().join("s"));
        let theirs = folder.path().join("known_hosts");
        std::fs::write(&theirs, "a ssh-rsa X\n").unwrap();
        std::thread::scope(|scope| {
            for number in 0..4 {
                let (store, theirs) = (&store, &theirs);
                scope.spawn(move || {
                    for turn in 0..25 {
                        let name = format!("orca-ws-{number}");
                        let line = format!("{name} ssh-ed25519 {turn}");
                        store.make_host_known(&name, theirs, &line).unwrap();
                        assert!(std::fs::read_to_string(theirs).unwrap().contains(&line));
                        store.make_host_known(&name, theirs, &line).unwrap();
                        store.forget_ssh(&name);
                        assert!(!std::fs::read_to_string(theirs).unwrap().contains(&name));
                    }
                });
            }
        });
        assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "a ssh-rsa X\n");
    }

    #[test]
    fn an_invalid_file_is_an_error_and_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        std::fs::write(folder.path().join("approvals.json"), "{ not json").unwrap();
        std::fs::set_permissions(
            folder.path().join("approvals.json"),
            std::fs::Permissions::from_mode(0o600),
        )
        .unwrap();
        assert!(matches!(store.approvals(), Err(StoreError::Invalid { .. })));
        assert!(store.approve(Vec::new()).is_err());
        assert_eq!(std::fs::read_to_string(folder.path().join("approvals.json")).unwrap(), "{ not json");
    }

    #[test]
    fn a_link_in_the_store_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        std::fs::write(&target, "untouched").unwrap();
        let store = Store::at(&folder.path().join("s"));
        store.ensure_install_id().unwrap();
        symlink(&target, folder.path().join("s/approvals.json")).unwrap();
        assert!(store.approvals().is_err());
        // Writing renames over the link; what it points at is neither read nor changed.
        assert!(store.approve(Vec::new()).is_err());
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "untouched");
    }
}

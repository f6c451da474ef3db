//! One process at a time per workspace. The lock is the kernel's: it goes with the process, however that ends.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::private_file::{PrivateFileError, ensure_folder};
use crate::fault;

/// A held lock; dropping it, or the end of the process, releases it.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
}

/// Why a lock was not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// Another process holds it.
    #[error("Another orca-container is at work on this workspace ({holder}); wait for it or end it.")]
    Held {
        /// Who: its process id.
        holder: String,
    },
    /// The file cannot be used.
    #[error(transparent)]
    File(#[from] PrivateFileError),
    /// The system refused.
    #[error("The lock cannot be taken: {0}.")]
    System(#[from] std::io::Error),
}

impl Lock {
    pub(super) fn take(folder: &Path, name: &str) -> Result<Self, LockError> {
        if let Some(root) = folder.parent() {
            ensure_folder(root)?;
        }
        ensure_folder(folder)?;
        let path = folder.join(format!("{name}.lock"));
        loop {
            let mut file =
                fault::effect(|| (!path.exists()).then(|| "store make lock".into()), || open(&path))
                    .map_err(|cause| PrivateFileError::Failed { path: path.clone(), cause })?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    let mut holder = String::new();
                    let _ = file.take(32).read_to_string(&mut holder);
                    let digits: String = holder.chars().filter(char::is_ascii_digit).collect();
                    return Err(LockError::Held { holder: format!("process {digits}") });
                }
                Err(errno) => return Err(LockError::System(errno.into())),
            }
            // A holder that removed the workspace removed the file as well: a lock on that one locks nothing.
            if !is_at(&file, &path) {
                continue;
            }
            // Only who waits reads the number; on a full disk the lock holds without it.
            let _ = file.set_len(0).and_then(|()| file.rewind());
            let _ = write!(file, "{}", std::process::id());
            return Ok(Self { file, path });
        }
    }

    /// Releases the lock of something that is gone, and its file with it.
    pub fn remove(self) {
        if is_at(&self.file, &self.path) {
            // What is left would be an empty file; the next taker uses it.
            let remove = || std::fs::remove_file(&self.path);
            let _ = fault::effect(|| Some("store remove lock".into()), remove);
        }
    }
}

/// The file of a lock, made where it is not there.
fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
        .open(path)
}

/// Whether the open file is the one at the path.
fn is_at(file: &File, path: &Path) -> bool {
    let same =
        |one: &std::fs::Metadata, two: &std::fs::Metadata| (one.dev(), one.ino()) == (two.dev(), two.ino());
    matches!((file.metadata(), std::fs::metadata(path)), (Ok(one), Ok(two)) if same(&one, &two))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_in_place_of_a_lock_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let locks = folder.path().join("locks");
        Lock::take(&locks, "other").unwrap();
        let target = folder.path().join("precious");
        std::fs::write(&target, "kept").unwrap();
        std::os::unix::fs::symlink(&target, locks.join("w.lock")).unwrap();
        assert!(Lock::take(&locks, "w").is_err());
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "kept");
    }

    /// A program that another test starts at this moment has a copy of the open lock until it has begun.
    fn taken(locks: &Path) -> Lock {
        let begun = std::time::Instant::now();
        loop {
            match Lock::take(locks, "w") {
                Ok(lock) => return lock,
                Err(error) => assert!(begun.elapsed().as_secs() < 60, "{error}"),
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    #[test]
    fn a_second_taker_is_told_who_holds_it_and_gets_it_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let locks = folder.path().join("s/locks");
        let first = Lock::take(&locks, "w").unwrap();
        let error = Lock::take(&locks, "w").unwrap_err();
        assert!(error.to_string().contains(&std::process::id().to_string()), "{error}");
        drop(first);
        taken(&locks).remove();
        assert!(!locks.join("w.lock").exists());
        taken(&locks);
    }
}

//! Files that only their owner can read: made whole beside their place and renamed into it, read without
//! following a link.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{CWD, Mode, OFlags, openat};

use crate::fault;

/// Why a file of the store cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrivateFileError {
    /// It is a link, a pipe or another kind of thing.
    #[error("{} must be a regular file or folder of the store's own, not a link or anything else.", path.display())]
    Kind {
        /// The file.
        path: PathBuf,
    },
    /// Somebody else owns it, or can write it.
    #[error("{} must belong to you and be writable by nobody else (chmod go-w).", path.display())]
    Owner {
        /// The file.
        path: PathBuf,
    },
    /// It is larger than anything we write.
    #[error("{} is larger than anything that is written there.", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{} cannot be used: {cause}.", path.display())]
    Failed {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        cause: io::Error,
    },
}

fn failed(path: &Path) -> impl Fn(io::Error) -> PrivateFileError + '_ {
    |cause| PrivateFileError::Failed { path: path.into(), cause }
}

/// Makes a folder that only its owner can enter, or checks that it is one.
pub(super) fn ensure_folder(path: &Path) -> Result<(), PrivateFileError> {
    let make = || DirBuilder::new().recursive(true).mode(0o700).create(path);
    match fault::effect(|| path.symlink_metadata().is_err().then(|| named("make folder", path)), make) {
        Ok(()) => {}
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
        Err(cause) => return Err(failed(path)(cause)),
    }
    let found = fs::symlink_metadata(path).map_err(failed(path))?;
    if !found.is_dir() {
        return Err(PrivateFileError::Kind { path: path.into() });
    }
    owned(path, &found)?;
    if found.mode() & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).map_err(failed(path))?;
    }
    Ok(())
}

/// What is done to which file, for the list of effects: the folder's name tells which kind of file it is.
fn named(what: &str, path: &Path) -> String {
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
    format!("store {what} {}", folder.display())
}

fn owned(path: &Path, found: &fs::Metadata) -> Result<(), PrivateFileError> {
    let ours = found.uid() == rustix::process::geteuid().as_raw();
    if ours && found.mode() & 0o022 == 0 {
        Ok(())
    } else {
        Err(PrivateFileError::Owner { path: path.into() })
    }
}

/// The bytes of a file, or `None` where there is none.
pub(super) fn read(path: &Path, cap: u64) -> Result<Option<Vec<u8>>, PrivateFileError> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(CWD, path, flags, Mode::empty()) {
        Ok(descriptor) => File::from(descriptor),
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Ok(None),
        Err(rustix::io::Errno::LOOP) => return Err(PrivateFileError::Kind { path: path.into() }),
        Err(errno) => return Err(failed(path)(errno.into())),
    };
    let found = file.metadata().map_err(failed(path))?;
    if !found.is_file() {
        return Err(PrivateFileError::Kind { path: path.into() });
    }
    owned(path, &found)?;
    let mut bytes = Vec::new();
    file.take(cap.saturating_add(1)).read_to_end(&mut bytes).map_err(failed(path))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > cap {
        return Err(PrivateFileError::TooLarge { path: path.into() });
    }
    Ok(Some(bytes))
}

fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Writes a file whole that must not be there yet; one that is there already is left, and that is no error.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> Result<(), PrivateFileError> {
    match beside(path, bytes, File::sync_all, |temporary| {
        fault::effect(|| Some(named("link", path)), || fs::hard_link(temporary, path))
            .and_then(|()| fault::effect(|| Some(named("unlink", path)), || fs::remove_file(temporary)))
    }) {
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other.map_err(failed(path)),
    }
}

/// Writes a file whole: beside its place, then renamed into it. A link at the place is replaced, never followed;
/// the temporary file is gone also when a step fails.
pub(super) fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), PrivateFileError> {
    beside(path, bytes, File::sync_all, |temporary| rename(temporary, path)).map_err(failed(path))
}

/// The same for what may be lost when the machine stops: nobody waits for the disk.
pub(super) fn write_atomic_soon(path: &Path, bytes: &[u8]) -> Result<(), PrivateFileError> {
    beside(path, bytes, |_| Ok(()), |temporary| rename(temporary, path)).map_err(failed(path))
}

fn rename(temporary: &Path, path: &Path) -> io::Result<()> {
    fault::effect(|| Some(named("rename", path)), || fs::rename(temporary, path))
}

/// Files that this process wrote.
static WRITTEN: AtomicU32 = AtomicU32::new(0);

/// Writes a temporary file beside a place and puts it there; it is gone also when that fails.
fn beside(
    path: &Path,
    bytes: &[u8],
    kept: impl FnOnce(&File) -> io::Result<()>,
    place: impl FnOnce(&Path) -> io::Result<()>,
) -> io::Result<()> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    // The process id stands last: those who tidy ask whether it lives. Threads of one process have their own files.
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let temporary = path.with_file_name(format!(".{name}.{number}.{}", std::process::id()));
    let _ = fs::remove_file(&temporary);
    let write =
        || create_new(&temporary).and_then(|mut file| file.write_all(bytes).and_then(|()| kept(&file)));
    let written = fault::effect(|| Some(named("write", path)), write);
    let placed = written.and_then(|()| place(&temporary));
    if placed.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    placed
}

/// Removes a file; one that is not there is removed already.
pub(super) fn remove(path: &Path) -> Result<(), PrivateFileError> {
    let there = || path.symlink_metadata().is_ok().then(|| named("remove", path));
    match fault::effect(there, || fs::remove_file(path)) {
        Ok(()) => Ok(()),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(cause) => Err(failed(path)(cause)),
    }
}

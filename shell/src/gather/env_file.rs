//! The file of `--container-env-file`.
//!
//! Takes a path that a person typed; gives its bytes, which the core decodes. Refuses directories, devices and
//! sockets. A pipe is fine here, and waiting for its writer too: the person asked for it with `<(…)`.

use std::fmt;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::bounded_read::{kind_of, read_at_most};
use super::shown::Shown;

/// Bytes of an env file: the values of one launch are 1 MiB at most, the rest is room for comments.
pub const ENV_FILE_CAP: usize = 4 * 1024 * 1024;

/// An env file as it was read. It holds values, so `Debug` shows its name only.
#[derive(Clone, PartialEq, Eq)]
pub struct EnvFile {
    /// The path as it was typed, for messages; what is not UTF-8 in it is replaced.
    pub name: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

impl fmt::Debug for EnvFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EnvFile({}, …)", Shown(Path::new(&self.name)))
    }
}

/// Why an env file was not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvFileError {
    /// It is something that cannot hold variables.
    #[error("The env file {} must be a regular file or a pipe, but is {found}.", Shown(path))]
    NotReadableKind {
        /// The file.
        path: PathBuf,
        /// What it is.
        found: &'static str,
    },
    /// It is larger than what could be used.
    #[error("The env file {} must hold at most {ENV_FILE_CAP} bytes.", Shown(path))]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The system refused to read it, or it is not there.
    #[error("The env file {} cannot be read: {cause}.", Shown(path))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        cause: io::Error,
    },
}

/// Reads the file that a person typed.
pub fn read_env_file(path: &Path) -> Result<EnvFile, EnvFileError> {
    let unreadable = |cause| EnvFileError::Unreadable { path: path.to_path_buf(), cause };
    // Looked at before it is opened: opening a device may do anything.
    require_readable_kind(path, &path.metadata().map_err(unreadable)?)?;
    let file = File::open(path).map_err(unreadable)?;
    require_readable_kind(path, &file.metadata().map_err(unreadable)?)?;
    let bytes = read_at_most(file, ENV_FILE_CAP.saturating_add(1)).map_err(unreadable)?;
    if bytes.len() > ENV_FILE_CAP {
        return Err(EnvFileError::TooLarge { path: path.to_path_buf() });
    }
    Ok(EnvFile { name: path.to_string_lossy().into_owned(), bytes })
}

fn require_readable_kind(path: &Path, found: &Metadata) -> Result<(), EnvFileError> {
    if found.is_file() || is_pipe(found) {
        return Ok(());
    }
    Err(EnvFileError::NotReadableKind { path: path.to_path_buf(), found: kind_of(found.file_type()) })
}

#[cfg(unix)]
fn is_pipe(found: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    found.file_type().is_fifo()
}

#[cfg(not(unix))]
fn is_pipe(_: &Metadata) -> bool {
    false
}

//! Text files of a repository.
//!
//! Takes a folder that was already found and the name of a file in it; gives the text. Refuses everything but
//! regular files reached through real folders: what a repository says must be in the repository, and a link
//! in it could make any file of the host part of a message or of an answer.

use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::bounded_read::{ReadFault, is_missing, kind_of, read_at_most, require_regular};
use super::shown::Shown;

/// Why a file of a repository was not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TextFileError {
    /// The name leads out of the folder, or nowhere.
    #[error("The name {} must be a relative path without \"..\".", Shown(name))]
    NameInvalid {
        /// The name that was asked for.
        name: PathBuf,
    },
    /// Something else has the file's name.
    #[error("The file {} must be a regular file, but is {found}.", Shown(name))]
    NotRegular {
        /// The file, as it was asked for.
        name: PathBuf,
        /// What it is.
        found: &'static str,
    },
    /// A folder on the way is a link.
    #[error(
        "The file {} must be in a folder of the repository, but {} is a symbolic link.",
        Shown(name),
        Shown(folder)
    )]
    LinkedFolder {
        /// The file, as it was asked for.
        name: PathBuf,
        /// The part of its path that is a link.
        folder: PathBuf,
    },
    /// The text is not UTF-8.
    #[error("The file {} must be UTF-8, but line {line} is not.", Shown(name))]
    NotUtf8 {
        /// The file, as it was asked for.
        name: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    /// The system refused to read it.
    #[error("The file {} cannot be read: {cause}.", Shown(name))]
    Unreadable {
        /// The file, as it was asked for.
        name: PathBuf,
        /// The system's reason.
        cause: io::Error,
    },
}

/// Reads `relative` below `root`; `None` when there is no such file.
///
/// The core judges sizes: of a file larger than `cap` bytes the text is cut, but is still larger than `cap`.
pub fn read_repository_text(
    root: &Path,
    relative: &str,
    cap: usize,
) -> Result<Option<String>, TextFileError> {
    let name = PathBuf::from(relative);
    let Some(file) = open_below(root, &name)? else { return Ok(None) };
    // A cut may leave up to three bytes of a character behind, which do not count.
    let most = cap.saturating_add(4);
    let mut bytes = read_at_most(file, most).map_err(|cause| unreadable(&name, cause))?;
    if bytes.len() == most {
        bytes.truncate(end_of_whole_characters(&bytes));
    }
    text_of(bytes).map(Some).map_err(|line| TextFileError::NotUtf8 { name, line })
}

/// Bytes as text, or the line with the first byte that is not UTF-8.
pub(crate) fn text_of(bytes: Vec<u8>) -> Result<String, usize> {
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
        valid.filter(|byte| **byte == b'\n').count().saturating_add(1)
    })
}

/// The length without a last character of which bytes are missing.
fn end_of_whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    }
}

/// Looks at each part of the path, then opens it, so that a refusal can say what it met.
fn open_below(root: &Path, name: &Path) -> Result<Option<File>, TextFileError> {
    let parts = parts_of(name)?;
    let Some((last, folders)) = parts.split_last() else {
        return Err(TextFileError::NameInvalid { name: name.to_path_buf() });
    };
    let mut folder = PathBuf::new();
    for part in folders {
        folder.push(part);
        match root.join(&folder).symlink_metadata() {
            Ok(found) if found.is_symlink() => {
                return Err(TextFileError::LinkedFolder { name: name.to_path_buf(), folder });
            }
            Ok(_) => {}
            Err(error) if is_missing(&error) => return Ok(None),
            Err(cause) => return Err(unreadable(name, cause)),
        }
    }
    match root.join(&folder).join(last).symlink_metadata() {
        Ok(found) if found.is_file() => {}
        Ok(found) => {
            let found = kind_of(found.file_type());
            return Err(TextFileError::NotRegular { name: name.to_path_buf(), found });
        }
        Err(error) if is_missing(&error) => return Ok(None),
        Err(cause) => return Err(unreadable(name, cause)),
    }
    match open_parts(root, folders, last) {
        Ok(file) => require_still_regular(name, file).map(Some),
        Err(error) if is_missing(&error) => Ok(None),
        Err(cause) => Err(unreadable(name, cause)),
    }
}

/// Opens one part after the other without following a link, whatever was swapped in since it was looked at.
#[cfg(unix)]
fn open_parts(root: &Path, folders: &[&Path], last: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open, openat};
    let folder_flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = open(root, folder_flags, Mode::empty())?;
    for folder in folders {
        at = openat(&at, *folder, folder_flags | OFlags::NOFOLLOW, Mode::empty())?;
    }
    let file_flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(File::from(openat(&at, last, file_flags, Mode::empty())?))
}

#[cfg(not(unix))]
fn open_parts(root: &Path, folders: &[&Path], last: &Path) -> io::Result<File> {
    File::open(root.join(folders.iter().collect::<PathBuf>()).join(last))
}

fn require_still_regular(name: &Path, file: File) -> Result<File, TextFileError> {
    let found = file.metadata().map_err(|cause| unreadable(name, cause))?;
    match require_regular(&found) {
        Ok(()) => Ok(file),
        Err(ReadFault::NotRegular(found)) => {
            Err(TextFileError::NotRegular { name: name.to_path_buf(), found })
        }
        Err(ReadFault::Io(cause)) => Err(unreadable(name, cause)),
        Err(ReadFault::TooLarge) => Err(unreadable(name, io::ErrorKind::FileTooLarge.into())),
    }
}

fn parts_of(name: &Path) -> Result<Vec<&Path>, TextFileError> {
    let normal = |part| match part {
        Component::Normal(part) => Some(Path::new(part)),
        _ => None,
    };
    let parts: Option<Vec<&Path>> = name.components().map(normal).collect();
    parts.ok_or_else(|| TextFileError::NameInvalid { name: name.to_path_buf() })
}

fn unreadable(name: &Path, cause: io::Error) -> TextFileError {
    TextFileError::Unreadable { name: name.to_path_buf(), cause }
}

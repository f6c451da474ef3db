//! Opening a file that somebody else may have prepared, and reading a bounded piece of it.
//!
//! Takes a path, gives an open regular file or its first bytes. Refuses anything else before it is opened
//! (opening a pipe waits for a writer, opening a device may do anything) and looks again at what was opened,
//! so that a file swapped in between is refused too.

use std::fs::{File, FileType, Metadata};
use std::io::{self, Read};
use std::path::Path;

/// Why a file was not opened or read.
#[derive(Debug)]
pub(crate) enum ReadFault {
    /// There is something else in its place; the words say what, for "is …, not a regular file".
    NotRegular(&'static str),
    /// It holds more than the bound.
    TooLarge,
    /// The system said no.
    Io(io::Error),
}

impl From<io::Error> for ReadFault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// What to do with a symbolic link in the last part of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    /// Refuse it: the file belongs to a repository, which could point it at any file of the host.
    Refuse,
    /// Follow it: the path is a person's own.
    Follow,
}

/// Opens a regular file for reading; `None` when there is nothing.
pub(crate) fn open_regular(path: &Path, links: Links) -> Result<Option<File>, ReadFault> {
    let looked_at = match links {
        Links::Refuse => path.symlink_metadata(),
        Links::Follow => path.metadata(),
    };
    match looked_at {
        Ok(found) => require_regular(&found)?,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    match open_without_waiting(path, links) {
        Ok(file) => {
            require_regular(&file.metadata()?)?;
            Ok(Some(file))
        }
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The whole of a regular file that is never reached through a link; `None` when there is nothing.
pub(crate) fn read_whole(path: &Path, cap: usize) -> Result<Option<Vec<u8>>, ReadFault> {
    let Some(file) = open_regular(path, Links::Refuse)? else { return Ok(None) };
    let bytes = read_at_most(file, cap.saturating_add(1))?;
    if bytes.len() > cap {
        return Err(ReadFault::TooLarge);
    }
    Ok(Some(bytes))
}

/// The first bytes of a file, up to `most`.
pub(crate) fn read_at_most(file: impl Read, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(u64::try_from(most).unwrap_or(u64::MAX)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Refuses what is not a regular file.
pub(crate) fn require_regular(found: &Metadata) -> Result<(), ReadFault> {
    if found.is_file() { Ok(()) } else { Err(ReadFault::NotRegular(kind_of(found.file_type()))) }
}

/// Whether an error says that nothing is there; a folder of the path being a file says so as well.
pub(crate) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// A file's kind in words.
pub(crate) fn kind_of(file_type: FileType) -> &'static str {
    if file_type.is_symlink() {
        return "a symbolic link";
    }
    if file_type.is_dir() {
        return "a directory";
    }
    special_kind_of(file_type)
}

#[cfg(unix)]
fn special_kind_of(file_type: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    if file_type.is_fifo() {
        "a named pipe"
    } else if file_type.is_socket() {
        "a socket"
    } else if file_type.is_char_device() || file_type.is_block_device() {
        "a device"
    } else {
        "a special file"
    }
}

#[cfg(not(unix))]
fn special_kind_of(_: FileType) -> &'static str {
    "a special file"
}

/// `O_NONBLOCK`: should a pipe have taken the file's place since, opening it returns at once.
#[cfg(unix)]
fn open_without_waiting(path: &Path, links: Links) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};
    let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    if links == Links::Refuse {
        flags |= OFlags::NOFOLLOW;
    }
    Ok(File::from(open(path, flags, Mode::empty())?))
}

#[cfg(not(unix))]
fn open_without_waiting(path: &Path, _: Links) -> io::Result<File> {
    File::open(path)
}

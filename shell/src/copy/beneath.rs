//! Folders and files below a root, reached one real folder after the other: no link on the way is followed,
//! whatever is swapped in while it is walked.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, open, openat, readlinkat, statat};

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// An open folder.
#[derive(Debug)]
pub(super) struct Folder(OwnedFd);

impl Folder {
    /// The root itself: the one path that a person named, so links on the way to it are theirs.
    pub(super) fn root(path: &Path) -> io::Result<Self> {
        Ok(Self(open(path, FOLDER, Mode::empty())?))
    }

    /// The folder at a path below this one; the empty path is this one again.
    pub(super) fn beneath(&self, path: &[u8]) -> io::Result<Self> {
        let mut at = Self(openat(&self.0, ".", FOLDER, Mode::empty())?);
        for part in path.split(|byte| *byte == b'/').filter(|part| !part.is_empty()) {
            if part == b".." {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            at = Self(openat(&at.0, OsStr::from_bytes(part), FOLDER | OFlags::NOFOLLOW, Mode::empty())?);
        }
        Ok(at)
    }

    /// What an entry is, itself and not what it points to.
    pub(super) fn look(&self, name: &[u8]) -> io::Result<Stat> {
        Ok(statat(&self.0, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Where a link points.
    pub(super) fn link(&self, name: &[u8]) -> io::Result<Vec<u8>> {
        Ok(readlinkat(&self.0, OsStr::from_bytes(name), Vec::new())?.into_bytes())
    }

    /// The names in it, sorted; at most `most` of them, and whether there are more.
    pub(super) fn names(&self, most: usize) -> io::Result<(Vec<Vec<u8>>, bool)> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if matches!(name.as_slice(), b"." | b"..") {
                continue;
            }
            if names.len() == most {
                return Ok((names, true));
            }
            names.push(name);
        }
        names.sort();
        Ok((names, false))
    }

    /// A regular file, opened; anything else that has its name now is an error.
    pub(super) fn file(&self, name: &[u8]) -> io::Result<(File, Stat)> {
        let descriptor = openat(&self.0, OsStr::from_bytes(name), FILE, Mode::empty())?;
        let found = fstat(&descriptor)?;
        if kind(&found) != FileType::RegularFile {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok((File::from(descriptor), found))
    }
}

/// What kind of thing was found.
pub(super) fn kind(found: &Stat) -> FileType {
    FileType::from_raw_mode(found.st_mode)
}

/// A path's folder and last name.
pub(super) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => {
            (path.get(..at).unwrap_or_default(), path.get(at.saturating_add(1)..).unwrap_or_default())
        }
        None => (&[], path),
    }
}

/// A name in a folder.
pub(super) fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() { name.to_vec() } else { [folder, b"/", name].concat() }
}

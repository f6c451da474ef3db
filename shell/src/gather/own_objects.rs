//! Whether all that is cloned lies in the repository itself: nothing is fetched, nothing borrowed from another.
//!
//! Asked before the repository is read, and again right before and after the bundle is made. Between the two a list of
//! alternates cannot come and go: its folder would tell (ctime, which nobody but root sets). A single object or pack
//! that is a link only while git reads it can: times of those folders change with every commit of the person's own.

use std::fs::{self, DirEntry};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::committed::CommittedError;
use super::host_git::git;

/// The folder of the list of alternates.
const INFO: &str = "objects/info";

/// A repository that was found whole.
#[derive(Debug)]
pub struct OwnObjects {
    repository: PathBuf,
    seen: Vec<Seen>,
}

/// What was at a place.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    device_and_inode: Option<(u64, u64)>,
    /// Of the list of alternates and its folder, which seldom change for another reason.
    changed_at: Option<(i64, i64)>,
}

impl OwnObjects {
    /// Looks at the repository's configuration, its folders, each folder of loose objects, and what they hold.
    pub fn check(repository: &Path) -> Result<Self, CommittedError> {
        require_no_promise(repository)?;
        let (objects, refs) = (git_path(repository, "objects")?, git_path(repository, "refs")?);
        let mut seen = Vec::new();
        for (place, path) in [
            ("objects", objects.clone()),
            ("objects/pack", objects.join("pack")),
            (INFO, objects.join("info")),
            ("refs", refs.clone()),
            ("refs/heads", refs.join("heads")),
        ] {
            if leads_away(&path) {
                return Err(CommittedError::Borrowed { place: place.into() });
            }
            seen.push(Seen::at(&path, place == INFO));
        }
        let alternates = objects.join("info/alternates");
        require_no_list(&alternates)?;
        seen.push(Seen::at(&alternates, true));
        require_loose_objects_here(&objects)?;
        Ok(Self { repository: repository.into(), seen })
    }

    /// Looks again, after something was read from it.
    pub fn still(&self) -> Result<(), CommittedError> {
        let now = Self::check(&self.repository)?;
        if now.seen == self.seen { Ok(()) } else { Err(CommittedError::ChangedMeanwhile) }
    }
}

impl Seen {
    fn at(path: &Path, with_time: bool) -> Self {
        let found = path.symlink_metadata().ok();
        Self {
            device_and_inode: found.as_ref().map(|found| (found.dev(), found.ino())),
            changed_at: found.filter(|_| with_time).map(|found| (found.ctime(), found.ctime_nsec())),
        }
    }
}

/// A repository that lacks objects fetches them, by a transport that runs on this machine.
fn require_no_promise(repository: &Path) -> Result<(), CommittedError> {
    let pattern = r"^(remote\..*\.(promisor|partialclonefilter)|extensions\.partialclone)$";
    let configured = git(repository, &["config", "--get-regexp", pattern])?;
    match configured.code {
        0 => Err(CommittedError::PartialClone),
        1 => Ok(()),
        _ => Err(CommittedError::unreadable("the configuration", &configured)),
    }
}

/// A list that is there and not empty, whatever it is: git opens a pipe or a link as well.
fn require_no_list(alternates: &Path) -> Result<(), CommittedError> {
    let Ok(found) = alternates.symlink_metadata() else { return Ok(()) };
    if found.is_file() && found.len() == 0 {
        return Ok(());
    }
    Err(CommittedError::Borrowed { place: "objects/info/alternates".into() })
}

/// Every loose object is a file in a folder of the repository's own; there are 256 folders at most.
fn require_loose_objects_here(objects: &Path) -> Result<(), CommittedError> {
    let folders = fs::read_dir(objects).map_err(|cause| CommittedError::Unreadable {
        what: "the folder of objects".into(),
        why: cause.to_string(),
    })?;
    for folder in folders.flatten() {
        let name = folder.file_name().to_string_lossy().into_owned();
        let fans_out = name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if fans_out && leads_away(&folder.path()) {
            return Err(CommittedError::Borrowed { place: format!("objects/{name}") });
        }
    }
    Ok(())
}

/// Whether a place is a link, or a folder that holds one.
fn leads_away(place: &Path) -> bool {
    let is_link = |entry: io::Result<DirEntry>| {
        entry.and_then(|entry| entry.file_type()).is_ok_and(|kind| kind.is_symlink())
    };
    let Ok(found) = place.symlink_metadata() else { return false };
    found.is_symlink() || fs::read_dir(place).is_ok_and(|mut entries| entries.any(is_link))
}

/// Where git keeps a part of the repository.
fn git_path(repository: &Path, place: &str) -> Result<PathBuf, CommittedError> {
    let answer = git(repository, &["rev-parse", "--git-path", place])?;
    if answer.code != 0 {
        return Err(CommittedError::unreadable(place, &answer));
    }
    Ok(repository.join(answer.text()))
}

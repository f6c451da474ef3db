//! Walks what is to be copied and measures it, before a byte of it goes anywhere.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use orca_container_core::{RepositoryPath, limits};
use rustix::fs::{FileType, Stat};

use super::beneath::{Folder, join, kind, split};
use super::links::{is_git, resolve, stays};
use super::{Budget, CopyReport, Reason};

/// One thing that is copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its path in the checkout.
    pub source: Vec<u8>,
    /// Its path in the clone; another one where the entry is a link to a file of the repository.
    pub target: Vec<u8>,
    /// What it is.
    pub kind: ItemKind,
    /// What its owner may do: in the container everything runs as that one user, and no bit makes it another.
    pub mode: u32,
    /// Seconds since 1970 at which it was written.
    pub written: u64,
}

/// What is copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// A folder.
    Folder,
    /// A file of this size.
    File(u64),
    /// A link with this text.
    Link(Vec<u8>),
}

/// What a walk found.
#[derive(Debug, Default)]
pub struct Collected {
    /// In the order in which it is written: a folder before what is in it.
    pub items: Vec<Item>,
    /// What is left out so far.
    pub report: CopyReport,
}

/// Walks the paths of a plan below a checkout's root. `tracked` are paths of the commit that is cloned, each with
/// whether it is a folder: what the clone has is never written over. A path that is not there is no fault.
///
/// `is_ignored` says whether git ignores a path: asked for the file that an entry leads to which is a link.
pub fn collect(
    checkout: &Path,
    paths: &[RepositoryPath],
    tracked: &BTreeMap<Vec<u8>, bool>,
    budget: Budget,
    is_ignored: &dyn Fn(&[u8]) -> bool,
) -> io::Result<Collected> {
    let root = Folder::root(checkout)?;
    let root_path = checkout.as_os_str().as_bytes();
    let mut all = Collected::default();
    let mut looked_at = 0;
    for path in paths {
        let left = Left {
            bytes: budget.bytes.saturating_sub(all.report.bytes),
            entries: budget.entries.saturating_sub(all.report.entries),
        };
        let mut walk =
            Walk { root: &root, tracked, budget, left, is_ignored, looked_at, items: Vec::new(), bytes: 0 };
        let mut report = CopyReport::default();
        let outcome = walk.entry(root_path, path.as_bytes(), &mut report);
        // The bound of what is looked at is one for the whole run; an entry that passes it alone is not held against
        // those after it.
        looked_at = if outcome == Err(Reason::OverSizing) { looked_at } else { walk.looked_at };
        match outcome {
            Ok(()) => {
                all.report.entries = all.report.entries.saturating_add(count(&walk.items));
                all.report.bytes = all.report.bytes.saturating_add(walk.bytes);
                all.items.append(&mut walk.items);
            }
            // An entry that is too large is left out alone, with all that is in it.
            Err(reason) => report = CopyReport::default().with(path.as_bytes(), reason),
        }
        for left in report.left_out {
            all.report.leave_out(left.path.as_bytes(), left.reason);
        }
        all.report.more_left_out = all.report.more_left_out.saturating_add(report.more_left_out);
    }
    Ok(all)
}

fn count(items: &[Item]) -> u64 {
    u64::try_from(items.len()).unwrap_or(u64::MAX)
}

/// The walk of one entry.
struct Walk<'a> {
    root: &'a Folder,
    tracked: &'a BTreeMap<Vec<u8>, bool>,
    budget: Budget,
    left: Left,
    is_ignored: &'a dyn Fn(&[u8]) -> bool,
    looked_at: u64,
    items: Vec<Item>,
    bytes: u64,
}

/// What the entries before it left of the budget.
struct Left {
    bytes: u64,
    entries: u64,
}

/// Names in a folder on the way to an entry; one with more is not looked through for a `.git`.
const MOST_BESIDE: usize = 100_000;

impl Walk<'_> {
    /// The entry itself: a link is read as the file of the repository that it leads to, as Orca reads it, so that
    /// the copy does not depend on what else is copied.
    fn entry(&mut self, root_path: &[u8], path: &[u8], report: &mut CopyReport) -> Result<(), Reason> {
        let (folder, name) = split(path);
        let found = match self.root.beneath(folder).and_then(|folder| folder.look(name)) {
            Ok(found) => found,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(()),
            // A link where the path needs a folder: what is behind it is not the repository's to give.
            Err(cause) if is_link_or_file(&cause) => return Err(Reason::LinkLeavesRepository),
            Err(_) => return Err(Reason::Unreadable),
        };
        if kind(&found) != FileType::Symlink {
            return self.walk(path, path, report);
        }
        match resolve(self.root, root_path, path) {
            Ok(Some(real)) if !real.is_empty() && (self.is_ignored)(&real) => self.walk(&real, path, report),
            Ok(Some(real)) if !real.is_empty() => Err(Reason::LinkToUnignored),
            Ok(_) => Err(Reason::LinkLeavesRepository),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(_) => Err(Reason::Unreadable),
        }
    }

    /// No more is walked of an entry once it is too large.
    fn fits(&self) -> Result<(), Reason> {
        if self.looked_at > self.budget.looked_at {
            Err(Reason::OverSizing)
        } else if self.bytes > self.left.bytes {
            Err(Reason::OverBytes)
        } else if count(&self.items) > self.left.entries {
            Err(Reason::OverEntries)
        } else {
            Ok(())
        }
    }

    /// Whether a folder above it, below the root, is a repository or worktree of its own.
    fn is_in_another_repository(&self, source: &[u8]) -> io::Result<bool> {
        let slashes = source.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for folder in slashes.filter_map(|at| source.get(..at)) {
            let (names, more) = self.root.beneath(folder)?.names(MOST_BESIDE)?;
            if more || names.iter().any(|name| is_git(name)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A path and all below it; `Err` leaves the whole entry out.
    fn walk(&mut self, source: &[u8], target: &[u8], report: &mut CopyReport) -> Result<(), Reason> {
        if self.is_in_another_repository(source).map_err(|_| Reason::Unreadable)? {
            return Err(Reason::NestedRepository);
        }
        let mut open = vec![(source.to_vec(), target.to_vec())];
        while let Some((source, target)) = open.pop() {
            self.looked_at = self.looked_at.saturating_add(1);
            self.fits()?;
            match self.one(&source, &target) {
                Ok(Some(inside)) => {
                    let below = |name: Vec<u8>| (join(&source, &name), join(&target, &name));
                    // The stack gives the last first.
                    open.extend(inside.into_iter().rev().map(below));
                }
                Ok(None) => {}
                Err(Stop::Entry(reason)) => return Err(reason),
                Err(Stop::Here(reason)) => report.leave_out(&target, reason),
            }
        }
        self.fits()
    }

    /// One thing; gives the names in it when it is a folder.
    fn one(&mut self, source: &[u8], target: &[u8]) -> Result<Option<Vec<Vec<u8>>>, Stop> {
        if target.len() >= limits::PATH_BYTES || source.len() >= limits::PATH_BYTES {
            return Err(Stop::Here(Reason::PathTooLong));
        }
        let (above, name) = split(source);
        let folder = self.root.beneath(above)?;
        let found = folder.look(name)?;
        let is_folder = kind(&found) == FileType::Directory;
        if self.in_the_way(target, is_folder) {
            return Err(Stop::Here(Reason::ExistsInClone));
        }
        match kind(&found) {
            FileType::Directory => {
                let most = usize::try_from(self.budget.looked_at).unwrap_or(usize::MAX);
                let (names, more) = folder.beneath(name)?.names(most)?;
                if more {
                    return Err(Stop::Entry(Reason::OverSizing));
                }
                if names.iter().any(|name| is_git(name)) {
                    return Err(Stop::Here(Reason::NestedRepository));
                }
                if !self.tracked.contains_key(target) {
                    self.take(source, target, ItemKind::Folder, &found);
                }
                Ok(Some(names))
            }
            FileType::RegularFile => {
                let size = u64::try_from(found.st_size).unwrap_or(u64::MAX);
                self.bytes = self.bytes.saturating_add(size);
                self.take(source, target, ItemKind::File(size), &found);
                Ok(None)
            }
            FileType::Symlink => {
                let text = folder.link(name)?;
                if !stays(target, &text) {
                    return Err(Stop::Here(Reason::LinkLeavesRepository));
                }
                self.take(source, target, ItemKind::Link(text), &found);
                Ok(None)
            }
            _ => Err(Stop::Here(Reason::NotAFile)),
        }
    }

    /// Whether the clone has something at this path, or a file or link where the path needs a folder.
    fn in_the_way(&self, target: &[u8], is_folder: bool) -> bool {
        let itself = self.tracked.get(target).is_some_and(|folder| !(*folder && is_folder));
        let slashes = target.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        let mut above = slashes.filter_map(|at| self.tracked.get(target.get(..at)?));
        itself || above.any(|folder| !folder)
    }

    fn take(&mut self, source: &[u8], target: &[u8], kind: ItemKind, found: &Stat) {
        self.items.push(Item {
            source: source.to_vec(),
            target: target.to_vec(),
            kind,
            mode: found.st_mode & 0o700,
            written: u64::try_from(found.st_mtime).unwrap_or(0),
        });
    }
}

/// Where a walk cannot go on.
enum Stop {
    /// This one thing is left out.
    Here(Reason),
    /// The whole entry is.
    Entry(Reason),
}

impl From<io::Error> for Stop {
    fn from(cause: io::Error) -> Self {
        Self::Here(if is_link_or_file(&cause) { Reason::ChangedWhileRead } else { Reason::Unreadable })
    }
}

/// What opening a folder says of a link or a file.
fn is_link_or_file(cause: &io::Error) -> bool {
    let link = Some(rustix::io::Errno::LOOP.raw_os_error());
    cause.kind() == io::ErrorKind::NotADirectory || cause.raw_os_error() == link
}

impl CopyReport {
    fn with(mut self, path: &[u8], reason: Reason) -> Self {
        self.leave_out(path, reason);
        self
    }
}

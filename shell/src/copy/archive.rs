//! What was collected as a tar. A file is written only as it was measured: one that changed while it was read is
//! left out and told.
//!
//! A tar says a file's size before its bytes. Small files are read whole first; a large one goes under a name of
//! its own in the clone's `.git` and is linked into its place once it is known to be whole.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{Stat, fstat};
use tar::{Builder, EntryType, Header};

use super::beneath::{Folder, split};
use super::{CopyReport, Item, ItemKind, Reason};

/// Bytes of a file that is read whole before it is written.
const SMALL: u64 = 1024 * 1024;

/// Where a large file stays until it is whole; the clone's own `.git` is never part of a copy.
const WAITING: &str = ".git/orca-copy";

/// Writes the items below a checkout's root. The report loses what changed since it was measured.
pub fn write_archive(
    checkout: &Path,
    items: &[Item],
    report: &mut CopyReport,
    output: &mut dyn Write,
) -> io::Result<()> {
    let root = Folder::root(checkout)?;
    let mut archive = Archive { builder: Builder::new(output), report, waiting: 0 };
    for item in items {
        archive.item(&root, item)?;
    }
    archive.builder.finish()
}

struct Archive<'a> {
    builder: Builder<&'a mut dyn Write>,
    report: &'a mut CopyReport,
    waiting: u64,
}

impl Archive<'_> {
    fn item(&mut self, root: &Folder, item: &Item) -> io::Result<()> {
        match &item.kind {
            // A folder that its owner cannot write would not take what is in it.
            ItemKind::Folder => {
                let mut header = header(item, EntryType::Directory, 0, item.mode | 0o700);
                self.builder.append_data(&mut header, path(&item.target), io::empty())
            }
            ItemKind::Link(text) => {
                let mut header = header(item, EntryType::Symlink, 0, 0o777);
                // Only a text that does not fit the header loses its doubled slashes.
                if header.set_link_name_literal(text).is_ok() {
                    return self.builder.append_data(&mut header, path(&item.target), io::empty());
                }
                self.builder.append_link(&mut header, path(&item.target), path(text))
            }
            ItemKind::File(size) => self.file(root, item, *size),
        }
    }

    fn file(&mut self, root: &Folder, item: &Item, size: u64) -> io::Result<()> {
        let (folder, name) = split(&item.source);
        let Ok((file, before)) = root.beneath(folder).and_then(|folder| folder.file(name)) else {
            self.leave_out(item, size);
            return Ok(());
        };
        if before.st_size != i64::try_from(size).unwrap_or(-1) {
            self.leave_out(item, size);
            return Ok(());
        }
        if size <= SMALL {
            self.small(item, size, &file, &before)
        } else {
            self.large(item, size, &file, &before)
        }
    }

    fn small(&mut self, item: &Item, size: u64, file: &File, before: &Stat) -> io::Result<()> {
        let mut bytes = Vec::new();

        let read = Read::take(file, size.saturating_add(1)).read_to_end(&mut bytes);
        let whole = read.is_ok_and(|count| u64::try_from(count) == Ok(size)) && unchanged(file, before);
        if !whole {
            self.leave_out(item, size);
            return Ok(());
        }
        let mut header = header(item, EntryType::Regular, size, item.mode);
        self.builder.append_data(&mut header, path(&item.target), bytes.as_slice())
    }

    fn large(&mut self, item: &Item, size: u64, file: &File, before: &Stat) -> io::Result<()> {
        self.waiting = self.waiting.saturating_add(1);
        let waiting = format!("{WAITING}/{}", self.waiting);
        let mut header_of_file = header(item, EntryType::Regular, size, item.mode);
        let mut exact = Exact { file, left: size, whole: true };
        self.builder.append_data(&mut header_of_file, &waiting, &mut exact)?;
        if !(exact.whole && unchanged(file, before)) {
            self.leave_out(item, size);
            return Ok(());
        }
        let mut header = header(item, EntryType::Link, 0, item.mode);
        self.builder.append_link(&mut header, path(&item.target), &waiting)
    }

    fn leave_out(&mut self, item: &Item, size: u64) {
        self.report.entries = self.report.entries.saturating_sub(1);
        self.report.bytes = self.report.bytes.saturating_sub(size);
        self.report.leave_out(&item.target, Reason::ChangedWhileRead);
    }
}

fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

fn header(item: &Item, kind: EntryType, size: u64, mode: u32) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(mode);
    header.set_mtime(item.written);
    header.set_uid(0);
    header.set_gid(0);
    header
}

/// Whether an open file is as it was: size, time of writing, time of change.
fn unchanged(file: &File, before: &Stat) -> bool {
    let times = |s: &Stat| (s.st_size, s.st_mtime, s.st_mtime_nsec, s.st_ctime, s.st_ctime_nsec);
    fstat(file).is_ok_and(|now| times(&now) == times(before))
}

/// Exactly so many bytes of a file: what is missing is zeros, and the file then counts as changed.
struct Exact<'f> {
    file: &'f File,
    left: u64,
    whole: bool,
}

impl Read for Exact<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let Some(buffer) = buffer.get_mut(..most).filter(|buffer| !buffer.is_empty()) else { return Ok(0) };
        let count = if self.whole { self.file.read(buffer).unwrap_or(0) } else { 0 };
        let count = if count == 0 {
            self.whole = false;
            buffer.fill(0);
            buffer.len()
        } else {
            count
        };
        self.left = self.left.saturating_sub(u64::try_from(count).unwrap_or(0));
        Ok(count)
    }
}

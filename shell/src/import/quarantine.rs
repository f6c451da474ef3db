//! A repository of ours beside the store, in which all that came is judged before the person's repository sees a byte of
//! it: git checks objects of a bundle on a fetch only since 2.46. It reads the person's objects, and nothing else of that
//! repository: no configuration, no reference, no hook.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use orca_container_core::{BundleHead, is_object_id};

use super::ImportError;
use super::git::{Git, Whose};
use crate::engine::Output;
use crate::fault;

/// Configuration of the quarantine; it is all that counts in it.
const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n";

/// The folder of one import. Only one runs for a workspace, so what a killed one left is in the way of nobody.
#[derive(Debug)]
pub(super) struct Quarantine {
    folder: PathBuf,
    git: Git,
}

impl Quarantine {
    /// Makes it anew, reading the objects of a repository.
    pub(super) fn new(root: &Path, name: &str, objects: &Path) -> Result<Self, ImportError> {
        let folder = place(root, name).map_err(ImportError::Folder)?;
        let made = Self { git: Git::of(&folder.join("git"), Whose::Ours), folder };
        named("lay out", || made.lay_out(objects)).map_err(ImportError::Folder)?;
        Ok(made)
    }

    fn lay_out(&self, objects: &Path) -> io::Result<()> {
        let git = self.git.folder();
        for folder in ["objects/info", "objects/pack", "refs/heads"] {
            DirBuilder::new().recursive(true).mode(0o700).create(git.join(folder))?;
        }
        fs::write(git.join("HEAD"), "ref: refs/heads/none\n")?;
        fs::write(git.join("config"), CONFIG)?;
        fs::write(git.join("objects/info/alternates"), alternate(objects)?)
    }

    /// A file that has no name any more, so that it goes with this process however that ends.
    pub(super) fn unnamed_file(&self) -> io::Result<File> {
        let path = self.folder.join("bundle");
        let mut open = fs::OpenOptions::new();
        open.read(true).write(true).create_new(true).mode(0o600);
        let file = named("make bundle", || open.open(&path))?;
        named("unlink bundle", || fs::remove_file(&path))?;
        Ok(file)
    }

    /// git in it.
    pub(super) fn git(&self) -> &Git {
        &self.git
    }

    /// Judges a bundle's pack: every object by git's own rules, and whether all that one names is there. Gives the pack
    /// with what it presupposed added.
    pub(super) fn take(&self, bundle: &mut File, head: &BundleHead) -> Result<File, ImportError> {
        let at = u64::try_from(head.pack_at).unwrap_or(u64::MAX);
        bundle.seek(SeekFrom::Start(at)).map_err(ImportError::Folder)?;
        let pack = bundle.try_clone().map_err(ImportError::Folder)?;
        // Of a mode that is none git only takes note by itself, and reads a submodule.
        let judging = ["--fix-thin", "--strict=badFilemode=error"];
        let name = self.git.take_pack(pack, &judging)?.map_err(|said| refused(&said))?;
        let path = self.git.folder().join(format!("objects/pack/pack-{name}.pack"));
        File::open(path).map_err(ImportError::Folder)
    }

    /// Requires that an id is a commit itself, not a tag of one, and that its whole history is there.
    pub(super) fn require_history(&self, commit: &str, known: &[String]) -> Result<(), ImportError> {
        if !self.is_commit(commit)? {
            return Err(ImportError::NoCommit);
        }
        let mut args = vec!["rev-list", "--objects", "--quiet", commit, "--not"];
        args.extend(known.iter().map(String::as_str));
        let walked = self.git.walk(&args)?;
        if walked.code == 0 { Ok(()) } else { Err(refused(&walked)) }
    }

    /// Requires that a commit is in the history of what was known: it was said that there is nothing more.
    pub(super) fn require_within(&self, commit: &str, known: &[String]) -> Result<(), ImportError> {
        if self.is_commit(commit)? {
            for known in known {
                if self.is_ancestor(commit, known)? {
                    return Ok(());
                }
            }
        }
        Err(ImportError::NoCommit)
    }

    /// Whether an id is that of a commit.
    pub(super) fn is_commit(&self, id: &str) -> Result<bool, ImportError> {
        if !is_object_id(id) {
            return Ok(false);
        }
        let kind = self.git.ask(&["cat-file", "-t", id])?;
        Ok(kind.code == 0 && kind.text() == "commit")
    }

    /// Whether one commit is in the history of another.
    pub(super) fn is_ancestor(&self, old: &str, new: &str) -> Result<bool, ImportError> {
        let answer = self.git.walk(&["merge-base", "--is-ancestor", old, new])?;
        match answer.code {
            0 => Ok(true),
            1 => Ok(false),
            _ => Err(ImportError::git("the history", &answer)),
        }
    }

    /// A commit that two histories share.
    pub(super) fn shared(&self, old: &str, new: &str) -> Result<Option<String>, ImportError> {
        let answer = self.git.walk(&["merge-base", old, new])?;
        match answer.code {
            0 => Ok(Some(answer.text()).filter(|id| is_object_id(id))),
            1 => Ok(None),
            _ => Err(ImportError::git("the history", &answer)),
        }
    }

    /// How many commits a history has that another one lacks.
    pub(super) fn count(&self, base: Option<&str>, new: &str) -> Result<u64, ImportError> {
        let mut args = vec!["rev-list", "--count", new];
        args.extend(base.iter().flat_map(|base| ["--not", *base]));
        let answer = self.git.walk(&args)?;
        answer.text().parse().map_err(|_| ImportError::git("the history", &answer))
    }
}

impl Drop for Quarantine {
    fn drop(&mut self) {
        let _ = remove_all(&self.folder);
    }
}

/// Removes what a killed import left.
pub(super) fn remove_left(root: &Path, name: &str) {
    let _ = remove_all(&root.join("imports").join(name));
}

fn named<T>(what: &str, act: impl FnOnce() -> T) -> T {
    fault::effect(|| Some(format!("quarantine {what}")), act)
}

fn remove_all(folder: &Path) -> io::Result<()> {
    let there = || folder.exists().then(|| "quarantine remove".into());
    fault::effect(there, || fs::remove_dir_all(folder))
}

fn refused(said: &Output) -> ImportError {
    ImportError::Refused(said.complaint())
}

/// An empty folder of ours, for its owner alone.
fn place(root: &Path, name: &str) -> io::Result<PathBuf> {
    let all = root.join("imports");
    match DirBuilder::new().mode(0o700).create(&all) {
        Err(cause) if cause.kind() != io::ErrorKind::AlreadyExists => return Err(cause),
        _ => {}
    }
    let found = all.symlink_metadata()?;
    if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() || found.mode() & 0o077 != 0 {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it must be a folder of yours alone"));
    }
    let folder = all.join(name);
    match remove_all(&folder) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
        _ => {}
    }
    named("make folder", || DirBuilder::new().mode(0o700).create(&folder))?;
    Ok(folder)
}

/// The line that names another repository's objects, quoted so that any path is one.
fn alternate(objects: &Path) -> io::Result<String> {
    let text = objects.to_str().ok_or(io::ErrorKind::InvalidFilename)?;
    let quoted: String = text
        .chars()
        .map(|c| match c {
            '"' | '\\' => format!("\\{c}"),
            '\n' => "\\n".into(),
            c => c.to_string(),
        })
        .collect();
    Ok(format!("\"{quoted}\"\n"))
}

/// The first bytes of a file, at most so many.
pub(super) fn start_of(file: &mut File, most: usize) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.take(u64::try_from(most).unwrap_or(u64::MAX)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

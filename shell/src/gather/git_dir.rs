//! Which git directory a folder's `.git` stands for.
//!
//! Takes a folder, gives its git directory, the common directory and what HEAD holds. Refuses a `.git` that
//! is a link or a special file, and a pointer whose target does not point back.
//!
//! The last rule is ours, git has none like it: approvals are kept by the common directory, so a folder that
//! merely claims to be a worktree of a trusted repository (one line in a `.git` file of an unpacked archive)
//! must not get what was granted to that repository.

use std::path::{Path, PathBuf};

use super::bounded_read::read_whole;
use super::git_config::{GIT_CONFIG_CAP, GitConfig};
use super::git_head;
use super::repository::RepositoryError;

/// Bytes of HEAD, `commondir`, `gitdir` and a `.git` pointer: one path (4,096 on Linux) or one reference.
const POINTER_CAP: usize = 4096;

/// A folder that is a git directory.
pub(crate) struct GitDir {
    /// Its real path.
    pub(crate) path: PathBuf,
    /// The bytes of HEAD.
    pub(crate) head: Vec<u8>,
    /// The real path of the directory it shares with other worktrees, when it is a linked worktree's.
    shared: Option<PathBuf>,
}

impl GitDir {
    /// The directory with configuration, objects and branches.
    pub(crate) fn common(&self) -> &Path {
        self.shared.as_deref().unwrap_or(&self.path)
    }

    /// Whether it belongs to a worktree beside the main one.
    pub(crate) fn is_linked(&self) -> bool {
        self.shared.is_some()
    }
}

/// How a worktree refers to its git directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    /// `.git` is the git directory.
    Inside,
    /// `.git` is a file that names it.
    Pointer,
}

/// The git directory of a worktree's root; `None` when git would look on in the folder above.
pub(crate) fn of_worktree(root: &Path) -> Result<Option<(GitDir, Reference)>, RepositoryError> {
    let dot_git = root.join(".git");
    let found = match dot_git.symlink_metadata() {
        Ok(found) => found,
        Err(error) if super::bounded_read::is_missing(&error) => return Ok(None),
        Err(cause) => return Err(RepositoryError::Unreadable { path: dot_git, cause }),
    };
    if found.is_symlink() {
        return Err(RepositoryError::GitIsLink { path: dot_git });
    }
    let (dir, reference) = if found.is_dir() {
        (probe(&dot_git)?, Reference::Inside)
    } else {
        (Some(follow_pointer(&dot_git)?), Reference::Pointer)
    };
    let Some(dir) = dir else { return Ok(None) };
    require_shared_names_it(&dir, &dot_git)?;
    Ok(Some((dir, reference)))
}

/// The folder as a git directory, by git's own test (`is_git_directory`); `None` when it is none.
pub(crate) fn probe(dir: &Path) -> Result<Option<GitDir>, RepositoryError> {
    let Some(head) = read_small(&dir.join("HEAD"))? else { return Ok(None) };
    if !git_head::is_head(&head) {
        return Ok(None);
    }
    let found = GitDir { path: dir.to_path_buf(), head, shared: shared_dir(dir)? };
    let complete = found.common().join("objects").is_dir() && found.common().join("refs").is_dir();
    Ok(complete.then_some(found))
}

/// What git reads as the configuration of a git directory: the common file, then, where
/// `extensions.worktreeConfig` is on, the worktree's own.
pub(crate) fn configuration(common: &Path, dir: &Path) -> Result<GitConfig, RepositoryError> {
    let mut config = read_config(&common.join("config"))?;
    if worktree_config_on(common, &config)? {
        config.extend(read_config(&dir.join("config.worktree"))?);
    }
    Ok(config)
}

/// Whether worktrees have configuration of their own.
pub(crate) fn worktree_config_on(common: &Path, config: &GitConfig) -> Result<bool, RepositoryError> {
    boolean(common, config, "extensions.worktreeconfig")
}

/// A boolean of a configuration; absent is false.
pub(crate) fn boolean(
    common: &Path,
    config: &GitConfig,
    name: &'static str,
) -> Result<bool, RepositoryError> {
    let value = config.boolean(name);
    value.map(Option::unwrap_or_default).map_err(|_| bad_value(common, name))
}

/// The error for a value of this name that cannot be used.
pub(crate) fn bad_value(common: &Path, name: &'static str) -> RepositoryError {
    RepositoryError::ConfigValue { path: common.join("config"), name }
}

/// Refuses a linked worktree's pointer unless the git directory names this `.git` file, as git writes it.
pub(crate) fn require_named_back(dir: &GitDir, dot_git: &Path) -> Result<(), RepositoryError> {
    let not_named = || RepositoryError::NotNamedBack { path: dot_git.to_path_buf() };
    let bytes = read_small(&dir.path.join("gitdir"))?.ok_or_else(not_named)?;
    let named = dir.path.join(path_of(bytes.trim_ascii_end()).ok_or_else(not_named)?);
    let folder = named.parent().and_then(|folder| folder.canonicalize().ok());
    let same = named.file_name() == dot_git.file_name() && folder.as_deref() == dot_git.parent();
    if same { Ok(()) } else { Err(not_named()) }
}

/// A path written in a file of git.
pub(crate) fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    if bytes.is_empty() || bytes.contains(&0) { None } else { native_path(bytes) }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere a path of git can be impossible")]
fn native_path(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn native_path(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}

fn follow_pointer(dot_git: &Path) -> Result<GitDir, RepositoryError> {
    let bad = || RepositoryError::PointerInvalid { path: dot_git.to_path_buf() };
    let bytes = read_small(dot_git)?.ok_or_else(bad)?;
    let written = bytes.strip_prefix(b"gitdir: ").map(without_line_end).and_then(path_of).ok_or_else(bad)?;
    let folder = dot_git.parent().unwrap_or(dot_git);
    let target = folder.join(written).canonicalize().map_err(|_| bad())?;
    probe(&target)?.ok_or_else(bad)
}

/// A directory that shares another's objects must be where `git worktree add` puts it; otherwise any `.git`
/// folder could borrow the identity of a repository by one line in a `commondir` file.
fn require_shared_names_it(dir: &GitDir, dot_git: &Path) -> Result<(), RepositoryError> {
    match &dir.shared {
        Some(shared) if dir.path.parent() != Some(shared.join("worktrees").as_path()) => {
            Err(RepositoryError::NotNamedBack { path: dot_git.to_path_buf() })
        }
        _ => Ok(()),
    }
}

fn shared_dir(dir: &Path) -> Result<Option<PathBuf>, RepositoryError> {
    let file = dir.join("commondir");
    let Some(bytes) = read_small(&file)? else { return Ok(None) };
    let shared = path_of(without_line_end(&bytes)).and_then(|written| dir.join(written).canonicalize().ok());
    shared.map(Some).ok_or(RepositoryError::PointerInvalid { path: file })
}

/// Git removes line ends only: a path may end in a blank.
fn without_line_end(mut bytes: &[u8]) -> &[u8] {
    while let Some((b'\n' | b'\r', before)) = bytes.split_last() {
        bytes = before;
    }
    bytes
}

fn read_config(path: &Path) -> Result<GitConfig, RepositoryError> {
    match read_whole(path, GIT_CONFIG_CAP)
        .map_err(|fault| RepositoryError::of(path, GIT_CONFIG_CAP, fault))?
    {
        None => Ok(GitConfig::default()),
        Some(bytes) => GitConfig::parse(&bytes)
            .map_err(|fault| RepositoryError::ConfigSyntax { path: path.to_path_buf(), line: fault.line }),
    }
}

fn read_small(path: &Path) -> Result<Option<Vec<u8>>, RepositoryError> {
    read_whole(path, POINTER_CAP).map_err(|fault| RepositoryError::of(path, POINTER_CAP, fault))
}

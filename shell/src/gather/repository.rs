//! The git worktree around a folder, found without git.
//!
//! Takes any folder; gives the worktree's root, its directories, branch and remote by reading the same files
//! that git reads (gitrepository-layout(5)), since one child process costs more than a whole plan. Refuses
//! what has no worktree, and what could borrow another repository's name (see [`RepositoryError`]).
//!
//! Not followed, on purpose: `GIT_DIR` and its like (a plan must not depend on the caller's shell), includes
//! (one could name any file of the host), `insteadOf` (the rewritten URL often carries a password), and the
//! older `.git/remotes` and `.git/branches` files.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::bounded_read::ReadFault;
use super::git_config::GitConfig;
use super::git_dir::{self, GitDir, Reference};
use super::git_head;
use super::shown::Shown;

/// A git worktree and what it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// The real path of the worktree's root.
    pub worktree_path: PathBuf,
    /// The worktree's own git directory, as a real path.
    pub git_dir: PathBuf,
    /// The directory that all worktrees of the repository share, as a real path.
    pub common_dir: PathBuf,
    /// The main worktree's root when the common directory is its `.git`, else this worktree's.
    pub primary_checkout: PathBuf,
    /// The branch's short name; `None` when HEAD is detached or kept in a reftable.
    pub branch: Option<String>,
    /// The URL that `git remote get-url origin` would give without `insteadOf`.
    pub remote_url: Option<RemoteUrl>,
}

/// A remote's URL. It may hold a password, so it is printed only on purpose.
#[derive(Clone, PartialEq, Eq)]
pub struct RemoteUrl(String);

impl RemoteUrl {
    /// A URL that a person typed.
    pub fn new(url: String) -> Self {
        Self(url)
    }

    /// The URL itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for RemoteUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RemoteUrl(…)")
    }
}

/// Why a folder has no worktree that can be planned for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RepositoryError {
    /// Git would not find a repository either.
    #[error(
        "The folder {} must be in a git worktree, but neither it nor a folder above it has one.",
        Shown(path)
    )]
    NotARepository {
        /// The folder that was asked about.
        path: PathBuf,
    },
    /// A bare repository, or the inside of a git directory.
    #[error(
        "The folder {} must be in a git worktree, but is in a bare repository or a git directory.",
        Shown(path)
    )]
    Bare {
        /// The git directory.
        path: PathBuf,
    },
    /// The argument is not a folder.
    #[error("The path {} must be a folder.", Shown(path))]
    NotAFolder {
        /// The path that was asked about.
        path: PathBuf,
    },
    /// `.git` is a symbolic link: whoever can change the link chooses the repository.
    #[error(
        "The entry {} must be a directory or a file, but is a symbolic link; replace it by what it points to.",
        Shown(path)
    )]
    GitIsLink {
        /// The link.
        path: PathBuf,
    },
    /// Something else is where a file of git must be.
    #[error("The file {} must be a regular file, but is {found}.", Shown(path))]
    NotRegular {
        /// The file.
        path: PathBuf,
        /// What it is.
        found: &'static str,
    },
    /// A file of git is larger than any real one.
    #[error("The file {} must hold at most {cap} bytes.", Shown(path))]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bound.
        cap: usize,
    },
    /// The system refused to read it.
    #[error("The path {} cannot be read: {cause}.", Shown(path))]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        cause: io::Error,
    },
    /// A `.git` or `commondir` file names no git directory.
    #[error(
        "The file {} must name an existing git directory; \"git worktree repair\" writes it anew.",
        Shown(path)
    )]
    PointerInvalid {
        /// The file.
        path: PathBuf,
    },
    /// The git directory belongs to another worktree, or to none.
    #[error(
        "The file {} must name a git directory that names it back; \"git worktree repair\", or \"git config core.worktree\" for a separate git directory, sets that right.",
        Shown(path)
    )]
    NotNamedBack {
        /// The `.git` entry.
        path: PathBuf,
    },
    /// `core.worktree` says that the files are in another folder.
    #[error(
        "The repository of {} must have its files there, but its \"core.worktree\" names another folder.",
        Shown(path)
    )]
    WorktreeElsewhere {
        /// The folder with the `.git` entry.
        path: PathBuf,
    },
    /// HEAD names a branch that git would not create.
    #[error("The file {} must name a branch by a valid name in UTF-8.", Shown(path))]
    BranchName {
        /// HEAD.
        path: PathBuf,
    },
    /// Git's configuration is not written in its syntax.
    #[error("The file {} must follow git's syntax, but line {line} does not.", Shown(path))]
    ConfigSyntax {
        /// The configuration file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
    },
    /// A value in git's configuration cannot be used.
    #[error("The file {} must give \"{name}\" a value that git takes, in UTF-8.", Shown(path))]
    ConfigValue {
        /// The common configuration file; the value may be in the worktree's own.
        path: PathBuf,
        /// The entry's full name.
        name: &'static str,
    },
}

impl RepositoryError {
    pub(crate) fn of(path: &Path, cap: usize, fault: ReadFault) -> Self {
        let path = path.to_path_buf();
        match fault {
            ReadFault::NotRegular(found) => Self::NotRegular { path, found },
            ReadFault::TooLarge => Self::TooLarge { path, cap },
            ReadFault::Io(cause) => Self::Unreadable { path, cause },
        }
    }
}

/// Finds the worktree that a folder is in, as git does: upward, but never onto another file system.
pub fn find_repository(folder: &Path) -> Result<Repository, RepositoryError> {
    let start = real_folder(folder)?;
    for root in start.ancestors().take_while(|above| same_file_system(&start, above)) {
        if let Some((dir, reference)) = git_dir::of_worktree(root)? {
            return describe(root, &dir, reference);
        }
        // A folder that merely looks odd is no repository; only its own `.git` is worth an error.
        if let Ok(Some(bare)) = git_dir::probe(root) {
            return Err(RepositoryError::Bare { path: bare.path });
        }
    }
    Err(RepositoryError::NotARepository { path: folder.to_path_buf() })
}

fn describe(root: &Path, dir: &GitDir, reference: Reference) -> Result<Repository, RepositoryError> {
    let common = dir.common();
    let config = git_dir::configuration(common, &dir.path)?;
    require_worktree_here(root, dir, reference, &config)?;
    let branch = git_head::branch(&dir.head)
        .map_err(|_| RepositoryError::BranchName { path: dir.path.join("HEAD") })?;
    Ok(Repository {
        worktree_path: root.to_path_buf(),
        git_dir: dir.path.clone(),
        common_dir: common.to_path_buf(),
        primary_checkout: primary_checkout(root, dir)?,
        branch,
        remote_url: remote_url(common, &config)?,
    })
}

/// Refuses a git directory without a worktree or with one elsewhere. As in git, `core.bare` and
/// `core.worktree` of the common file speak of the main worktree only.
fn require_worktree_here(
    root: &Path,
    dir: &GitDir,
    reference: Reference,
    config: &GitConfig,
) -> Result<(), RepositoryError> {
    if dir.is_linked() {
        git_dir::require_named_back(dir, &root.join(".git"))?;
        if !git_dir::worktree_config_on(dir.common(), config)? {
            return Ok(());
        }
    }
    if git_dir::boolean(dir.common(), config, "core.bare")? {
        return Err(RepositoryError::Bare { path: dir.path.clone() });
    }
    match configured_worktree(root, dir.common(), &dir.path, config)? {
        Configured::Here => Ok(()),
        Configured::Elsewhere => Err(RepositoryError::WorktreeElsewhere { path: root.to_path_buf() }),
        Configured::Nothing if reference == Reference::Inside || dir.is_linked() => Ok(()),
        Configured::Nothing => Err(RepositoryError::NotNamedBack { path: root.join(".git") }),
    }
}

/// What `core.worktree` says about a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Configured {
    Nothing,
    Here,
    Elsewhere,
}

fn configured_worktree(
    root: &Path,
    common: &Path,
    git_dir: &Path,
    config: &GitConfig,
) -> Result<Configured, RepositoryError> {
    let Some(written) = config.values("core.worktree").next_back() else { return Ok(Configured::Nothing) };
    let written = written.and_then(git_dir::path_of);
    let written = written.ok_or_else(|| git_dir::bad_value(common, "core.worktree"))?;
    let here = git_dir.join(written).canonicalize().is_ok_and(|named| named == root);
    Ok(if here { Configured::Here } else { Configured::Elsewhere })
}

/// The main worktree's root, where the layout is the usual one and there is one.
fn primary_checkout(root: &Path, dir: &GitDir) -> Result<PathBuf, RepositoryError> {
    let common = dir.common();
    let main = common.parent().filter(|_| dir.is_linked() && common.ends_with(".git"));
    let Some(main) = main else { return Ok(root.to_path_buf()) };
    let config = git_dir::configuration(common, common)?;
    let elsewhere = configured_worktree(main, common, common, &config)? == Configured::Elsewhere;
    let none = elsewhere || git_dir::boolean(common, &config, "core.bare")?;
    Ok(if none { root } else { main }.to_path_buf())
}

/// The fetch URL: the first of several, and an empty one takes back those before it (git 2.46 and later).
fn remote_url(common: &Path, config: &GitConfig) -> Result<Option<RemoteUrl>, RepositoryError> {
    let bad = || git_dir::bad_value(common, "remote.origin.url");
    let mut first = None;
    for value in config.values("remote.origin.url") {
        match value.ok_or_else(bad)? {
            b"" => first = None,
            url => first = first.or(Some(url)),
        }
    }
    let Some(url) = first else { return Ok(None) };
    let url = std::str::from_utf8(url).map_err(|_| bad())?;
    Ok(Some(RemoteUrl(url.to_owned())))
}

fn real_folder(folder: &Path) -> Result<PathBuf, RepositoryError> {
    let real = folder
        .canonicalize()
        .map_err(|cause| RepositoryError::Unreadable { path: folder.to_path_buf(), cause })?;
    if real.is_dir() { Ok(real) } else { Err(RepositoryError::NotAFolder { path: folder.to_path_buf() }) }
}

/// Git stops at a mount point (`GIT_DISCOVERY_ACROSS_FILESYSTEM` is not read).
#[cfg(unix)]
fn same_file_system(start: &Path, above: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let device = |path: &Path| path.metadata().map(|found| found.dev()).ok();
    device(start) == device(above)
}

#[cfg(not(unix))]
fn same_file_system(_: &Path, _: &Path) -> bool {
    true
}

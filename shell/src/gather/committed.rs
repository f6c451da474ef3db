//! Texts of the commit that is cloned, and what git says of the repository: read through git's plumbing, with
//! nothing of the repository's configuration that could start a program.
//!
//! A text counts only as a regular blob: a link in the tree is refused like a link on disk.

use std::path::Path;

use super::host_git::git;
use super::own_objects::OwnObjects;
use crate::engine::{ClientError, Output};

/// Why a committed text cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommittedError {
    /// It is a link, a folder or a submodule.
    #[error("The committed {path} must be a regular file.")]
    NotRegular {
        /// Its path.
        path: String,
    },
    /// It is not UTF-8.
    #[error("The committed {path} must be UTF-8.")]
    NotUtf8 {
        /// Its path.
        path: String,
    },
    /// The repository lacks objects: cloning from it would run the remote's transport on this machine.
    #[error(
        "The repository is a partial clone, from which nothing can be cloned safely; fetch all its objects first."
    )]
    PartialClone,
    /// Its objects or references lie in another repository.
    #[error(
        "The repository's {place} lead to another repository, whose files would be cloned as well; make it whole first (git repack -a -d, then remove objects/info/alternates)."
    )]
    Borrowed {
        /// Which part of it.
        place: String,
    },
    /// What leads to another repository's objects changed while they were read.
    #[error(
        "The repository's list of borrowed objects, or a folder of it, was exchanged while it was cloned; run the command again."
    )]
    ChangedMeanwhile,
    /// git cannot read what is there.
    #[error(
        "git cannot read {what} of the repository: {why}. Where something is broken, git fsck tells what."
    )]
    Unreadable {
        /// What.
        what: String,
        /// git's own words.
        why: String,
    },
    /// A shallow repository's history ends before its beginning.
    #[error(
        "The repository is shallow, and a clone of a shallow bundle does not work; run git fetch --unshallow first."
    )]
    Shallow,
    /// The branch is not there.
    #[error("The branch has no commit yet.")]
    NoCommit,
    /// git could not be run.
    #[error("git could not be run: {0}")]
    Git(#[from] ClientError),
}

impl CommittedError {
    /// What git could not read, with its own words.
    pub(super) fn unreadable(what: &str, answer: &Output) -> Self {
        Self::Unreadable { what: what.into(), why: answer.complaint() }
    }
}

/// A blob as a text, cut after `cap` bytes and a little: longer than the bound stays longer than the bound, so that the core
/// says so. Only a cut may fall into a character; `None` where it is no UTF-8.
pub(crate) fn bounded_text(mut bytes: Vec<u8>, cap: usize) -> Option<String> {
    let is_cut = bytes.len() > cap.saturating_add(4);
    bytes.truncate(cap.saturating_add(4));
    let error = match String::from_utf8(bytes) {
        Ok(text) => return Some(text),
        Err(error) => error,
    };
    let (end, in_a_character) = (error.utf8_error().valid_up_to(), error.utf8_error().error_len().is_none());
    let mut bytes = error.into_bytes();
    bytes.truncate(end);
    if is_cut && in_a_character { String::from_utf8(bytes).ok() } else { None }
}

/// Names of the folders below `below/` that `git ls-tree -z` lists.
pub(crate) fn folders_listed(listing: &[u8], below: &str) -> Vec<String> {
    let text = String::from_utf8_lossy(listing);
    let entries = text.split('\0').filter_map(|entry| entry.split_once('\t'));
    let folders = entries.filter(|(facts, _)| facts.starts_with("040000"));
    folders.filter_map(|(_, path)| Some(path.strip_prefix(below)?.to_owned())).collect()
}

/// What is worth knowing of a commit's tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeNotes {
    /// It has submodules, which are not cloned.
    pub submodules: bool,
    /// Files of it are kept by git LFS, and come as pointers.
    pub lfs: bool,
}

/// A repository and the commit that is cloned.
#[derive(Debug)]
pub struct Committed<'a> {
    repository: &'a Path,
    commit: String,
}

impl<'a> Committed<'a> {
    /// The commit that a branch is at, by its whole name, in a repository that can be cloned from.
    pub fn at_reference(repository: &'a Path, reference: &str) -> Result<Self, CommittedError> {
        let parse = ["rev-parse", "--verify", "--quiet", "--end-of-options"];
        let id_of = |name: &str| git(repository, &[&parse[..], &[name]].concat());
        let unreadable = |answer: &Output| CommittedError::unreadable("the branch's commit", answer);
        let answer = id_of(&format!("{reference}^{{commit}}"))?;
        match answer.code {
            0 => {}
            // It says so without a word, also of a branch whose commit is lost.
            1 if id_of(reference)?.code == 0 => return Err(unreadable(&answer)),
            1 => return Err(CommittedError::NoCommit),
            _ => return Err(unreadable(&answer)),
        }
        OwnObjects::check(repository)?;
        if git(repository, &["rev-parse", "--is-shallow-repository"])?.text() == "true" {
            return Err(CommittedError::Shallow);
        }
        Ok(Self { repository, commit: answer.text() })
    }

    /// A commit by its id, for reading single texts of it.
    pub fn at_commit(repository: &'a Path, id: &str) -> Result<Self, CommittedError> {
        let commit = format!("{id}^{{commit}}");
        let answer = git(repository, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])?;
        if answer.code != 0 {
            return Err(CommittedError::unreadable("the commit of the frozen files", &answer));
        }
        OwnObjects::check(repository)?;
        Ok(Self { repository, commit: answer.text() })
    }

    /// The commit's id.
    pub fn commit(&self) -> &str {
        &self.commit
    }

    /// The text at a path of the commit, cut after `cap` bytes and a little, or `None` where there is none.
    pub fn text(&self, path: &str, cap: usize) -> Result<Option<String>, CommittedError> {
        let answer = git(self.repository, &["ls-tree", "-z", &self.commit, "--", path])?;
        if answer.code != 0 {
            return Err(CommittedError::unreadable(path, &answer));
        }
        let line = String::from_utf8_lossy(&answer.stdout).into_owned();
        let Some((entry, _)) = line.split_once('\t') else { return Ok(None) };
        let mut fields = entry.split(' ');
        let (mode, object) = (fields.next().unwrap_or(""), fields.nth(1).unwrap_or(""));
        if !matches!(mode, "100644" | "100755") {
            return Err(CommittedError::NotRegular { path: path.into() });
        }
        let blob = git(self.repository, &["cat-file", "blob", object])?;
        if blob.code != 0 {
            return Err(CommittedError::unreadable(path, &blob));
        }
        let text = bounded_text(blob.stdout, cap);
        text.map(Some).ok_or_else(|| CommittedError::NotUtf8 { path: path.into() })
    }

    /// Names of the folders in a folder of the commit.
    pub fn folders(&self, path: &str) -> Result<Vec<String>, CommittedError> {
        let below = format!("{path}/");
        let answer = git(self.repository, &["ls-tree", "-z", &self.commit, "--", &below])?;
        if answer.code != 0 {
            return Err(CommittedError::unreadable(path, &answer));
        }
        Ok(folders_listed(&answer.stdout, &below))
    }

    /// Submodules and LFS files of the commit.
    pub fn notes(&self) -> Result<TreeNotes, CommittedError> {
        let attributes = self.text(".gitattributes", 1024 * 1024).ok().flatten().unwrap_or_default();
        let submodules = self.text(".gitmodules", 1024 * 1024).ok().flatten().is_some();
        Ok(TreeNotes { submodules, lfs: attributes.contains("filter=lfs") })
    }
}

#[cfg(test)]
mod tests {
    use super::{bounded_text, folders_listed};

    #[test]
    fn of_a_listing_folders_are_taken_and_nothing_else() {
        let listing = b"100644 blob 1\t.devcontainer/readme\x00040000 tree 2\t.devcontainer/a b\x00\
            160000 commit 3\t.devcontainer/submodule\x00120000 blob 4\t.devcontainer/link\x00040000 tree 5\telsewhere/x\x00";
        assert_eq!(folders_listed(listing, ".devcontainer/"), ["a b"]);
        assert!(folders_listed(b"", ".devcontainer/").is_empty());
    }

    #[test]
    fn only_a_cut_may_fall_into_a_character() {
        assert_eq!(bounded_text(b"abc".to_vec(), 3).as_deref(), Some("abc"));
        let long = "\u{1f980}".repeat(10);
        let cut = bounded_text(long.clone().into_bytes(), 6).unwrap();
        assert!(cut.len() > 6 && long.starts_with(&cut), "{cut:?}");
        assert_eq!(bounded_text(b"abc\xf0\x9f".to_vec(), 100), None, "a file that ends in half a character");
        assert_eq!(bounded_text(b"a\xffb".to_vec(), 100), None);
    }
}

//! The person's repository: what of it is asked, and the two references that an import may write.

use std::fs::File;
use std::path::{Path, PathBuf};

use orca_container_core::is_object_id;

use super::ImportError;
use super::git::{Git, Whose};
use crate::gather::own_objects::OwnObjects;

/// The id of no object: a reference that must not be there yet.
const NONE: &str = "0000000000000000000000000000000000000000";

/// What is said of a move in the reference's log.
const LOG: &str = "orca-container fetch";

/// The repository, its branch, and the place where what came is kept.
#[derive(Debug)]
pub(super) struct Host {
    git: Git,
    objects: PathBuf,
    branch: String,
    kept: String,
}

/// A reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// It is not there.
    Absent,
    /// It is at this commit.
    Commit(String),
}

impl At {
    pub(super) fn commit(&self) -> Option<&str> {
        match self {
            Self::Absent => None,
            Self::Commit(id) => Some(id),
        }
    }
}

impl Host {
    /// A repository that has all its objects itself.
    pub(super) fn open(common: &Path, branch: &str, name: &str) -> Result<Self, ImportError> {
        let git = Git::of(common, Whose::Person);
        OwnObjects::check(common)?;
        if git.must("its depth", &["rev-parse", "--is-shallow-repository"])?.text() == "true" {
            return Err(crate::gather::committed::CommittedError::Shallow.into());
        }
        let objects = git.must("its objects", &["rev-parse", "--git-path", "objects"])?.text();
        let kept = format!("refs/orca/{name}/heads/{branch}");
        for reference in [&kept, &format!("refs/heads/{branch}")] {
            if git.ask(&["check-ref-format", reference])?.code != 0 {
                return Err(ImportError::Name(branch.into()));
            }
        }
        Ok(Self { objects: common.join(objects), git, branch: branch.into(), kept })
    }

    /// git in it.
    pub(super) fn git(&self) -> &Git {
        &self.git
    }

    /// Its objects' folder.
    pub(super) fn objects(&self) -> &Path {
        &self.objects
    }

    /// The reference that keeps what came.
    pub(super) fn kept_name(&self) -> &str {
        &self.kept
    }

    /// Where the branch is.
    pub(super) fn branch(&self) -> Result<At, ImportError> {
        self.at(&format!("refs/heads/{}", self.branch))
    }

    /// Where what came last is.
    pub(super) fn kept(&self) -> Result<At, ImportError> {
        self.at(&self.kept)
    }

    /// A reference by exactly this name. One that stands for another is refused: who moves it moves the other.
    fn at(&self, reference: &str) -> Result<At, ImportError> {
        let format = "--format=%(refname)%00%(objectname)%00%(objecttype)%00%(symref)";
        let answer = self.git.must("its references", &["for-each-ref", format, reference])?;
        let text = answer.text();
        let mut found = text.lines().map(|line| line.split('\0').collect::<Vec<_>>());
        let Some(fields) = found.find(|fields| fields.first() == Some(&reference)) else {
            // One that stands for something that is not there is not listed.
            let symbolic = self.git.ask(&["symbolic-ref", "--quiet", reference])?;
            return match symbolic.code {
                0 => Err(ImportError::Symbolic {
                    reference: reference.into(),
                    to: symbolic.text().trim().into(),
                }),
                _ => Ok(At::Absent),
            };
        };
        match fields.as_slice() {
            [_, id, "commit", ""] if is_object_id(id) => Ok(At::Commit((*id).into())),
            [_, _, _, symbolic] if !symbolic.is_empty() => {
                Err(ImportError::Symbolic { reference: reference.into(), to: (*symbolic).into() })
            }
            _ => Err(ImportError::OddReference(reference.into())),
        }
    }

    /// Takes a pack that was judged.
    pub(super) fn take(&self, pack: File) -> Result<(), ImportError> {
        let taken = self.git.take_pack(pack, &[])?;
        taken.map(drop).map_err(|said| ImportError::git("what came", &said))
    }

    /// Keeps what came, so that git does not tidy it away; what was kept before stays in the reference's log.
    pub(super) fn keep(&self, before: &At, new: &str) -> Result<(), ImportError> {
        let old = before.commit().unwrap_or(NONE);
        let args = ["update-ref", "--no-deref", "--create-reflog", "-m", LOG, &self.kept, new, old];
        self.git.must("to keep what came", &args).map(drop)
    }

    /// Moves the branch, where it still is as it was looked at.
    pub(super) fn advance(&self, old: &At, new: &str) -> Result<(), ImportError> {
        let old = old.commit().unwrap_or(NONE);
        let reference = format!("refs/heads/{}", self.branch);
        let moved = self.git.ask(&["update-ref", "--no-deref", "-m", LOG, &reference, new, old])?;
        if moved.code == 0 {
            return Ok(());
        }
        Err(ImportError::NotMoved {
            branch: self.branch.clone(),
            kept: self.kept.clone(),
            why: moved.complaint(),
        })
    }

    /// Takes the reference that kept what came away, where the branch has all of it.
    pub(super) fn forget(&self) -> Result<(), ImportError> {
        let (At::Commit(kept), At::Commit(branch)) = (self.kept()?, self.branch()?) else { return Ok(()) };
        if self.git.ask(&["merge-base", "--is-ancestor", &kept, &branch])?.code == 0 {
            self.git.must("its references", &["update-ref", "--no-deref", "-d", &self.kept, &kept])?;
        }
        Ok(())
    }
}

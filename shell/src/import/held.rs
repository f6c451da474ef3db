//! Who holds a branch on the host: a worktree that has it checked out, or a rebase or bisect that will come back to it.
//! What git itself counts, so that no files are left that no longer fit their branch.

use std::fs;
use std::path::{Path, PathBuf};

use super::ImportError;
use super::git::Git;
use crate::gather::read_at_most;

/// Bytes of one of git's small files.
const SMALL: usize = 64 * 1024;

/// Files of a worktree's own git folder that name the branch that is come back to.
const UNDER_WAY: [(&str, &str); 4] = [
    ("rebase-merge/head-name", "rebase"),
    ("rebase-merge/update-refs", "rebase"),
    ("rebase-apply/head-name", "rebase"),
    ("BISECT_START", "bisect"),
];

/// Where a branch is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The worktree.
    pub place: String,
    /// What will come back to it, where it is not simply checked out.
    pub under_way: Option<&'static str>,
    /// Whether the worktree's folder is gone.
    pub gone: bool,
}

/// The worktree that holds a branch.
pub(super) fn holder(git: &Git, branch: &str) -> Result<Option<Held>, ImportError> {
    let reference = format!("refs/heads/{branch}");
    let worktrees = worktrees(git)?;
    let checked_out = worktrees.iter().find(|worktree| worktree.branch.as_deref() == Some(&reference));
    if let Some(worktree) = checked_out {
        return Ok(Some(Held { place: worktree.path.clone(), under_way: None, gone: worktree.gone() }));
    }
    for (folder, place) in own_folders(git.folder(), &worktrees) {
        for (file, what) in UNDER_WAY {
            let text = small(&folder.join(file));
            let named = |line: &str| line.trim() == reference || line.trim() == branch;
            if text.lines().any(named) {
                return Ok(Some(Held { place, under_way: Some(what), gone: false }));
            }
        }
    }
    Ok(None)
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Worktree {
    path: String,
    branch: Option<String>,
}

impl Worktree {
    fn gone(&self) -> bool {
        Path::new(&self.path).symlink_metadata().is_err()
    }
}

fn worktrees(git: &Git) -> Result<Vec<Worktree>, ImportError> {
    let parted = git.ask(&["worktree", "list", "--porcelain", "-z"])?;
    if parted.code == 0 && !parted.cut {
        return Ok(listed(&parted.stdout, 0));
    }
    // A git of before 2.36 parts lines only.
    let lines = git.must("the worktrees", &["worktree", "list", "--porcelain"])?;
    if lines.cut {
        return Err(ImportError::git("the worktrees", &lines));
    }
    Ok(listed(&lines.stdout, b'\n'))
}

fn listed(output: &[u8], end: u8) -> Vec<Worktree> {
    let mut all: Vec<Worktree> = Vec::new();
    for line in output.split(|byte| *byte == end) {
        let line = String::from_utf8_lossy(line);
        if let Some(path) = line.strip_prefix("worktree ") {
            all.push(Worktree { path: path.into(), branch: None });
        } else if let (Some(branch), Some(last)) = (line.strip_prefix("branch "), all.last_mut()) {
            last.branch = Some(branch.into());
        }
    }
    all
}

/// The git folder of each worktree, with the worktree's place.
fn own_folders(common: &Path, worktrees: &[Worktree]) -> Vec<(PathBuf, String)> {
    let main = worktrees.first().map_or_else(|| common.display().to_string(), |first| first.path.clone());
    let mut folders = vec![(common.to_path_buf(), main)];
    for entry in fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten() {
        let folder = entry.path();
        let pointer = small(&folder.join("gitdir"));
        let place = pointer.trim_end().trim_end_matches("/.git").to_owned();
        folders.push((folder, place));
    }
    folders
}

/// A small text of git's; one that cannot be read names nothing.
fn small(path: &Path) -> String {
    let regular = path.symlink_metadata().is_ok_and(|found| found.is_file());
    let bytes =
        regular.then(|| fs::File::open(path).and_then(|file| read_at_most(file, SMALL)).ok()).flatten();
    String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worktrees_are_read_by_their_ends() {
        let of =
            |path: &str, branch: Option<&str>| Worktree { path: path.into(), branch: branch.map(Into::into) };
        let expected = [of("/a\nbranch refs/heads/x", Some("refs/heads/y")), of("/b", None)];
        let parted = "worktree /a\nbranch refs/heads/x\0HEAD 1\0branch refs/heads/y\0\0worktree /b\0HEAD 2\0detached\0\0";
        assert_eq!(listed(parted.as_bytes(), 0), expected);
        let lines = "worktree /a\nHEAD 1\nbranch refs/heads/y\n\nworktree /b\nbare\n";
        assert_eq!(listed(lines.as_bytes(), b'\n'), [of("/a", Some("refs/heads/y")), of("/b", None)]);
    }
}

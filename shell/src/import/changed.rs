//! Which files that run on the host differ between two commits, asked in the quarantine.

use std::collections::BTreeMap;

use orca_container_core::{HostFile, RawDiff, changed_host_files, limits};

use super::ImportError;
use super::git::Git;
use crate::engine::TakeOutError;

/// The tree without a file, which every git knows.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// Links whose texts are read; of more, each counts as one that leads out.
const LINKS: usize = 10_000;

/// The files, from a commit, or from nothing where there is none to begin with.
pub(super) fn changed(git: &Git, base: Option<&str>, new: &str) -> Result<Vec<HostFile>, ImportError> {
    let args = [
        "diff-tree",
        "-r",
        "--raw",
        "-z",
        "--full-index",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--end-of-options",
        base.unwrap_or(EMPTY_TREE),
        new,
    ];
    let mut output = Vec::new();
    let listed = git.list(&args, &mut output, limits::CHANGED_PATHS_BYTES).map_err(|error| match error {
        TakeOutError::TooLarge(_) => ImportError::TooManyPaths,
        error => ImportError::Steps(error),
    })?;
    if listed.complaint().contains("Out of memory") {
        return Err(ImportError::TooManyPaths);
    }
    if listed.code != 0 {
        return Err(ImportError::git("the changed files", &listed));
    }
    let changed = RawDiff::all(&output).ok_or(ImportError::git("the changed files", &listed))?;
    let texts = link_texts(git, &changed)?;
    Ok(changed_host_files(&changed, |one| texts.get(one.new_object).map(Vec::as_slice)))
}

/// The texts of the links, by their objects.
fn link_texts(git: &Git, changed: &[RawDiff<'_>]) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, ImportError> {
    let links: Vec<&[u8]> =
        changed.iter().filter(|one| one.is_link()).take(LINKS).map(|one| one.new_object).collect();
    if links.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut asked = links.join(&b'\n');
    asked.push(b'\n');
    let answer = git.ask_about(&["cat-file", "--batch"], &asked)?;
    // A text may be of any length: of those behind one that is too long nothing is known.
    Ok(if answer.cut { BTreeMap::new() } else { batch(&answer.stdout) })
}

/// `ID blob SIZE`, a line end, the text, a line end.
fn batch(mut rest: &[u8]) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut texts = BTreeMap::new();
    while let Some((id, text, after)) = one(rest) {
        texts.insert(id.into(), text.into());
        rest = after;
    }
    texts
}

fn one(rest: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let (line, rest) = (rest.get(..end)?, rest.get(end.saturating_add(1)..)?);
    let mut words = line.split(|byte| *byte == b' ');
    let (id, kind, size) = (words.next()?, words.next()?, words.next()?);
    let size: usize = std::str::from_utf8(size).ok()?.parse().ok()?;
    let text = rest.get(..size).filter(|_| kind == b"blob")?;
    Some((id, text, rest.get(size.saturating_add(1)..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_comes_apart_by_its_sizes() {
        let texts = batch(b"a blob 3\nx\ny\nb blob 0\n\nc blob 99\nshort\n");
        assert_eq!(texts.get(b"a".as_slice()).map(Vec::as_slice), Some(b"x\ny".as_slice()));
        assert_eq!(texts.get(b"b".as_slice()).map(Vec::as_slice), Some(b"".as_slice()));
        assert_eq!(texts.len(), 2);
        assert!(batch(b"a tree 1\nx\n").is_empty());
    }
}

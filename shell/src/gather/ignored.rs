//! What git ignores of the paths that a .worktreeinclude names: asked of git, decided by nobody here.
//!
//! A literal path is asked for as it stands, as Orca does. For patterns git lists every file it ignores. A folder
//! that is ignored whole is one path, unless an entry takes files out again: then its files are listed instead.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use orca_container_core::{IncludeRules, RepositoryPath, limits};

use super::host_git::git_with;
use crate::engine::{ClientError, Input, Output, Wanted};

/// Paths that one git is asked about: a path has at most 4 KiB, a command line 2 MiB.
const PORTION: usize = 400;

/// What git said.
#[derive(Debug, Default)]
pub struct Ignored {
    /// Paths that exist and that git ignores, sorted.
    pub paths: Vec<RepositoryPath>,
    /// Whether the patterns match more files than are copied at most; then only literal paths are listed.
    pub too_many: bool,
}

/// Asks git about a text's entries in a checkout.
pub fn ignored(checkout: &Path, text: &str) -> Result<Ignored, ClientError> {
    let rules = IncludeRules::of(text);
    let mut paths = BTreeSet::new();
    let existing: Vec<&str> = rules.literals().filter(|path| exists(checkout, path)).collect();
    for path in ignored_literals(checkout, &existing)? {
        let is_folder = checkout.join(path).symlink_metadata().is_ok_and(|found| found.is_dir());
        match (is_folder, rules.takes_out()) {
            (false, _) => paths.insert(RepositoryPath::from(path)),
            (true, false) => paths.insert(RepositoryPath::from(format!("{path}/").as_str())),
            (true, true) => false,
        };
    }
    let literal = paths.clone();
    let mut too_many = false;
    if rules.has_patterns() {
        match listed(checkout, &rules, false)? {
            // A folder that is named whole brings what is in it.
            Some(found) => paths.extend(found.into_iter().filter(|path| !is_below(path, &literal))),
            None => too_many = true,
        }
    }
    if rules.has_bare_names() {
        // Only for the count of files that other tools would find deeper; wholly ignored folders are not searched.
        paths.extend(listed(checkout, &rules, true)?.unwrap_or_default());
    }
    let too_many = too_many || paths.len() > limits::IGNORED_PATHS;
    let paths = if too_many { literal } else { paths };
    Ok(Ignored { paths: paths.into_iter().collect(), too_many })
}

/// Whether a path lies in one of these folders, which end with a slash.
fn is_below(path: &RepositoryPath, folders: &BTreeSet<RepositoryPath>) -> bool {
    let bytes = path.as_bytes();
    let slashes = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    let mut above = slashes.filter_map(|at| bytes.get(..=at));
    above.any(|folder| folder.len() < bytes.len() && folders.contains(folder))
}

/// Whether git ignores a path that a link led to.
pub fn is_ignored(checkout: &Path, path: &[u8]) -> Result<bool, ClientError> {
    Ok(check_ignore(checkout, &[path])?.code == 0)
}

/// Whether it is there, reached through real folders: git refuses to look behind a link.
fn exists(checkout: &Path, path: &str) -> bool {
    let folders = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
    let real = |folder: &str| checkout.join(folder).symlink_metadata().is_ok_and(|found| found.is_dir());
    folders.into_iter().all(real) && checkout.join(path).symlink_metadata().is_ok()
}

/// The literal paths that git ignores. git gives up at the first path it cannot judge (one in a submodule), so
/// then each is asked alone.
fn ignored_literals<'p>(checkout: &Path, paths: &[&'p str]) -> Result<Vec<&'p str>, ClientError> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let bytes: Vec<&[u8]> = paths.iter().map(|path| path.as_bytes()).collect();
    let together = check_ignore(checkout, &bytes)?;
    if matches!(together.code, 0 | 1) {
        let said: BTreeSet<&[u8]> = together.stdout.split(|byte| *byte == 0).collect();
        return Ok(paths.iter().copied().filter(|path| said.contains(path.as_bytes())).collect());
    }
    let mut found = Vec::new();
    for path in paths {
        if is_ignored(checkout, path.as_bytes())? {
            found.push(*path);
        }
    }
    Ok(found)
}

fn check_ignore(checkout: &Path, paths: &[&[u8]]) -> Result<Output, ClientError> {
    let input: Vec<u8> = paths.iter().flat_map(|path| [path, b"\0".as_slice()]).flatten().copied().collect();
    git_with(checkout, &["check-ignore", "-z", "--stdin"], Input::Bytes(&input), Wanted::List)
}

/// The ignored paths that the rules concern, or `None` when there are more than can be read: every file, or with
/// `folders` each wholly ignored folder as one.
fn listed(
    checkout: &Path,
    rules: &IncludeRules,
    folders: bool,
) -> Result<Option<Vec<RepositoryPath>>, ClientError> {
    let mut args = vec!["ls-files", "-z", "--others", "--ignored", "--exclude-standard"];
    if folders {
        args.push("--directory");
    }
    let answer = git_with(checkout, &args, Input::None, Wanted::List)?;
    if answer.code != 0 {
        return Err(answer.unusable("git ls-files"));
    }
    if answer.cut {
        // Its beginning is lost; a part of a list would be told as files that git does not ignore.
        return Ok(None);
    }
    let records = answer.stdout.split(|byte| *byte == 0);
    let paths = records.filter(|path| !path.is_empty()).map(|path| RepositoryPath::from(path.to_vec()));
    let bare = |path: &RepositoryPath| !path.as_bytes().ends_with(b"/");
    Ok(Some(paths.filter(|path| (!folders || bare(path)) && rules.concern(path)).collect()))
}

/// Paths of a commit's tree that are, hold or lie in one of these, each with whether it is a folder.
pub fn tracked(
    checkout: &Path,
    commit: &str,
    paths: &[RepositoryPath],
) -> Result<BTreeMap<Vec<u8>, bool>, ClientError> {
    let mut above = BTreeSet::new();
    for path in paths {
        let bytes = path.as_bytes();
        let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        above.extend(ends.filter_map(|at| bytes.get(..at)));
    }
    let whole = paths.iter().map(RepositoryPath::as_bytes).collect();
    let mut found = BTreeMap::new();
    tree_entries(checkout, commit, &["-z"], &above, &mut found)?;
    tree_entries(checkout, commit, &["-z", "-r", "-t"], &whole, &mut found)?;
    Ok(found)
}

/// The tree's entries at some paths, asked for in portions that fit a command line.
fn tree_entries(
    checkout: &Path,
    commit: &str,
    flags: &[&str],
    paths: &BTreeSet<&[u8]>,
    found: &mut BTreeMap<Vec<u8>, bool>,
) -> Result<(), ClientError> {
    let paths: Vec<&[u8]> = paths.iter().copied().collect();
    for portion in paths.chunks(PORTION) {
        // A file may be called `:!odd`, which git would read as a rule.
        let mut args: Vec<&OsStr> =
            ["--literal-pathspecs", "ls-tree", "--full-tree"].map(OsStr::new).to_vec();
        args.extend(flags.iter().map(OsStr::new));
        args.extend([OsStr::new(commit), OsStr::new("--")]);
        args.extend(portion.iter().map(|path| OsStr::from_bytes(path)));
        let answer = git_with(checkout, &args, Input::None, Wanted::List)?;
        if answer.code != 0 || answer.cut {
            return Err(answer.unusable("git ls-tree"));
        }
        for record in answer.stdout.split(|byte| *byte == 0) {
            let mut halves = record.splitn(2, |byte| *byte == b'\t');
            if let (Some(facts), Some(path)) = (halves.next(), halves.next()) {
                found.insert(path.to_vec(), facts.starts_with(b"040000"));
            }
        }
    }
    Ok(())
}

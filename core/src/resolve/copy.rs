//! Ignored files that the repository lists in .worktreeinclude: what is copied, what is left out and why.

use crate::{
    diagnostic::{Code, Findings},
    input::PlanRequest,
    limits,
    parse::{
        include_rules::{Rules, deeper},
        worktree_include::{Entry, Form, stays_inside},
    },
    repository_path::RepositoryPath,
    source::Source,
    text::quoted,
    words::Origin,
};
use alloc::{collections::BTreeSet, format, string::String, vec::Vec};
use serde::Serialize;

/// What a copy would bring into the volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Copy {
    /// Paths inside the repository, in the order of Orca (UTF-16 code units); a folder brings all it holds.
    pub files: Vec<RepositoryPath>,
    /// Entries that are not copied.
    pub left_out: Vec<LeftOut>,
}

/// An entry that is not copied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LeftOut {
    /// The entry.
    pub path: String,
    /// Why.
    pub code: Code,
    /// Where it stands.
    pub source: Source,
}

/// The copies of a request; none unless a person granted them.
pub(super) fn resolve(
    request: &PlanRequest,
    include: Option<&[Entry]>,
    granted: bool,
    findings: &mut Findings,
) -> Copy {
    let mut copy = Copy::default();
    let (Some(include), true, Some(file)) = (include, granted, &request.worktree_include) else {
        return copy;
    };
    if file.text.reveal().len() > limits::WORKTREE_INCLUDE_BYTES {
        let message = format!("A .worktreeinclude has at most {} bytes.", limits::WORKTREE_INCLUDE_BYTES);
        findings.drop(Code::IncludeTooLarge, Source::origin(Origin::WorktreeInclude), message);
        return copy;
    }
    if include.iter().filter(|entry| entry.form != Form::Unsafe).count() > limits::WORKTREE_INCLUDE_ENTRIES {
        let message = format!(
            "A .worktreeinclude names at most {} paths; the ones after them are not read, and nothing is copied.",
            limits::WORKTREE_INCLUDE_ENTRIES
        );
        findings.drop(Code::IncludeTooLarge, Source::origin(Origin::WorktreeInclude), message);
        return copy;
    }
    if file.ignored.len() > limits::IGNORED_PATHS {
        let message =
            format!("A request lists at most {} ignored paths; nothing is copied.", limits::IGNORED_PATHS);
        findings.drop(Code::IncludeTooLarge, Source::origin(Origin::WorktreeInclude), message);
        return copy;
    }
    let ignored: Vec<RepositoryPath> =
        file.ignored.iter().filter(|path| stays_inside(path)).cloned().collect();
    let rules = Rules::of(include);
    let mut used = BTreeSet::new();
    let mut files = BTreeSet::new();
    let mut folders = BTreeSet::new();
    for path in &ignored {
        if let Some(entry) = rules.taken_in_by(path) {
            used.insert(entry);
            files.insert(path.without_slash());
            if path.is_folder() {
                folders.insert(path.without_slash());
            }
        }
    }
    // What a folder brings is not named again.
    files.retain(|path: &RepositoryPath| !path.parents().any(|parent| folders.contains(parent)));
    for (index, entry) in include.iter().enumerate() {
        let source = Source::file(Origin::WorktreeInclude, ".worktreeinclude", entry.at);
        note_deeper(entry, &ignored, &source, findings);
        let takes_out = entry.form == Form::Pattern && entry.path.starts_with('!');
        if used.contains(&index) || takes_out {
            continue;
        }
        let (code, rule) = match entry.form {
            Form::Unsafe => (Code::UnsafeIncludePath, "stays inside the repository and outside every .git"),
            Form::Literal | Form::Pattern => {
                (Code::IncludeNotIgnored, "names a file that exists and that git ignores")
            }
        };
        let message = format!("An entry that is copied {rule}; {} is left out.", quoted(&entry.path));
        findings.drop(code, source.clone(), message);
        copy.left_out.push(LeftOut { path: entry.path.clone(), code, source });
    }
    copy.files = files.into_iter().collect();
    copy.files.sort_by(|a, b| a.lossy().encode_utf16().cmp(b.lossy().encode_utf16()));
    if copy.files.is_empty() {
        let message = "Ignored files are to be copied, but .worktreeinclude names none of those that the request lists; nothing is copied.";
        findings.notice(Code::IncludeCopiesNothing, Source::origin(Origin::WorktreeInclude), message);
    }
    copy
}

/// Orca reads a bare name at the root only; other tools read it at any depth, and people may mean that.
fn note_deeper(entry: &Entry, ignored: &[RepositoryPath], source: &Source, findings: &mut Findings) {
    let count = deeper(entry, ignored).count();
    if count > 0 {
        let message = format!(
            "{} is copied from the root only; {count} ignored files of that name lie deeper.",
            quoted(&entry.path)
        );
        findings.notice(Code::IncludeNameDeeper, source.clone(), message);
        findings.help(format!("Write \"**/{}\" to copy them all.", crate::text::escaped(&entry.path)));
    }
}

//! Ignored files that the repository lists in .worktreeinclude: what is copied, what is left out and why.

use crate::{
    diagnostic::{Code, Findings},
    input::PlanRequest,
    limits,
    parse::worktree_include::{Entry, Form, is_safe},
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
    /// Paths inside the repository, in the order of Orca (UTF-16 code units).
    pub files: Vec<String>,
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
        findings.drop(Code::TooManyEntries, Source::origin(Origin::WorktreeInclude), message);
        return copy;
    }
    let ignored: BTreeSet<&str> =
        file.ignored.iter().map(|path| path.trim_end_matches('/')).filter(|p| is_safe(p)).collect();
    for entry in include {
        let source = Source::file(Origin::WorktreeInclude, ".worktreeinclude", entry.at);
        let (code, rule) = match entry.form {
            Form::Literal if ignored.contains(entry.path.as_str()) => {
                copy.files.push(entry.path.clone());
                continue;
            }
            Form::Literal => (Code::IncludeNotIgnored, "names a file that exists and that git ignores"),
            Form::Unsafe => (Code::UnsafeIncludePath, "stays inside the repository and outside every .git"),
            Form::Pattern => {
                (Code::IncludePatternNotSupportedYet, "is a literal path; patterns are not read yet")
            }
        };
        let message = format!("An entry that is copied {rule}; {} is left out.", quoted(&entry.path));
        findings.drop(code, source.clone(), message);
        copy.left_out.push(LeftOut { path: entry.path.clone(), code, source });
    }
    copy.files.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
    copy
}

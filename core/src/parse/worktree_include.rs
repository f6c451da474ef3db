//! .worktreeinclude by Orca's rules: one entry a line, literal paths anchored at the root of the repository.
//!
//! The stricter path rule that Orca uses for its own lists is applied to every entry (`facts` orca 2.3).
//! Whether git ignores an entry is an input; the core never looks.

use crate::{
    limits,
    repository_path::RepositoryPath,
    source::Position,
    text::{is_deceptive, utf16_len},
};
use alloc::{collections::BTreeSet, string::String, vec::Vec};

/// One line that names something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The path, normalized as Orca does.
    pub(crate) path: String,
    /// Where it stands.
    pub(crate) at: Position,
    /// What the form of the line says.
    pub(crate) form: Form,
    /// Whether it began with a slash: the root of the repository.
    pub(crate) rooted: bool,
    /// Whether it ended with a slash: a folder.
    pub(crate) folder: bool,
}

/// What the form of a line says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A literal path inside the repository.
    Literal,
    /// A pattern.
    Pattern,
    /// A path that could leave the repository or reach into git's own folder.
    Unsafe,
}

/// The entries of a file in order, each once; it stops after one safe entry more than are allowed.
pub(crate) fn read(text: &str) -> Vec<Entry> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut seen = BTreeSet::new();
    let mut entries = Vec::new();
    let mut accepted = 0_usize;
    for (number, line) in (1_u32..).zip(text.split('\n')) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let slashed = line.replace('\\', "/");
        let path = slashed.strip_prefix("./").unwrap_or(&slashed);
        // A leading slash means the root of the repository, never of the host.
        let stripped = path.strip_prefix('/').filter(|rest| !rest.starts_with('/'));
        let (rooted, path) = (stripped.is_some(), stripped.unwrap_or(path));
        let (folder, path) = (path.ends_with('/'), path.trim_end_matches('/'));
        if !seen.insert((String::from(path), rooted)) {
            continue;
        }
        let form = form(path);
        if form != Form::Unsafe {
            accepted = accepted.saturating_add(1);
        }
        entries.push(Entry {
            path: path.into(),
            at: Position { line: number, column: 1 },
            form,
            rooted,
            folder,
        });
        if accepted > limits::WORKTREE_INCLUDE_ENTRIES {
            break;
        }
    }
    entries
}

fn form(path: &str) -> Form {
    if path.starts_with('!') || path.contains(['*', '?', '[']) {
        // A pattern matches only what git ignores inside the repository; one that climbs is no pattern for it.
        if path.split('/').any(|part| part == "..") { Form::Unsafe } else { Form::Pattern }
    } else if is_safe(path) {
        Form::Literal
    } else {
        Form::Unsafe
    }
}

/// Orca's `isWorktreeCopyPath`, plus `~`, which no part of it may begin with.
pub(crate) fn is_safe(path: &str) -> bool {
    let drive = path.as_bytes().get(1) == Some(&b':');
    !path.is_empty()
        && utf16_len(path) <= limits::WORKTREE_INCLUDE_ENTRY_UNITS
        && !drive
        && !path.starts_with('~')
        && !path.chars().any(|c| c < ' ' || c == '\\')
        && path.split('/').all(part_is_safe)
}

/// A path that git told us lies inside the repository and outside every `.git`. Any other name is a file's own
/// business: git gives names whole, with line ends and bytes that are no text.
pub(crate) fn stays_inside(path: &RepositoryPath) -> bool {
    let whole = path.without_slash();
    let part_is_inside = |part: &[u8]| {
        let text = String::from_utf8_lossy(part).to_ascii_lowercase();
        !matches!(part, b"" | b"." | b"..") && !is_git_folder(&text)
    };
    !whole.as_bytes().is_empty() && whole.as_bytes().split(|byte| *byte == b'/').all(part_is_inside)
}

/// Whether a name is `.git` by any name a file system gives it: in any case, without what HFS+ ignores, and by NTFS's
/// short names.
pub fn is_git_folder(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let seen: String = lower.chars().filter(|c| !is_deceptive(*c)).collect();
    let seen = seen.trim_end_matches([' ', '.']);
    let short =
        seen.strip_prefix("git~").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    seen == ".git" || short
}

fn part_is_safe(part: &str) -> bool {
    let lower = part.to_ascii_lowercase();
    let stem = lower.split('.').next().unwrap_or("");
    let device = matches!(stem, "con" | "prn" | "aux" | "nul")
        || matches!(stem.strip_prefix("com").or(stem.strip_prefix("lpt")), Some(n) if matches!(n.as_bytes(), [b'1'..=b'9']));
    !matches!(part, "" | "." | "..")
        && !is_git_folder(&lower)
        && !part.contains(':')
        && !part.ends_with([' ', '.'])
        && !device
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(text: &str) -> Vec<(String, Form)> {
        read(text).into_iter().map(|e| (e.path, e.form)).collect()
    }

    #[test]
    fn lines_are_read_as_orca_reads_them() {
        let text = "\u{feff}# c\r\n.env\r\n./local.properties\n/config/\n.env\n  cache/x  \na\\b\n";
        let expected = [".env", "local.properties", "config", "cache/x", "a/b"];
        assert_eq!(forms(text), expected.map(|p| (p.into(), Form::Literal)));
    }

    #[test]
    fn what_git_lists_keeps_its_name_unless_it_leads_out() {
        for inside in [&b"a\nb"[..], b"-rf", b"a/\xff", b"\"q\"", b"con", b"a:b", b"dir/"] {
            assert!(stays_inside(&inside.to_vec().into()), "{inside:?}");
        }
        for outside in [&b""[..], b"/", b"/etc/passwd", b"../x", b"a/../b", b"x/.GIT/config", b"a//b"] {
            assert!(!stays_inside(&outside.to_vec().into()), "{outside:?}");
        }
    }

    #[test]
    fn what_could_leave_the_repository_is_unsafe() {
        for bad in [
            "../x",
            "//etc/passwd",
            ".git/config",
            ".git",
            ".GIT/config",
            "git~1/config",
            ".g\u{200c}it/hooks",
            "a/./b",
            "./a/../../b",
            "a\0b",
            "~/.aws/credentials",
            "C:\\x",
            "a//b",
            "a/.",
            "x/.git/hooks",
            "con",
            "a/nul.txt",
            "a:b",
            "a /b",
            ".git.",
            "/",
        ] {
            assert!(matches!(forms(bad)[0].1, Form::Unsafe), "{bad}");
        }
        for pattern in ["*.env", "!x", "a?b", "[ab]"] {
            assert_eq!(forms(pattern)[0].1, Form::Pattern);
        }
    }
}

//! Files that people, or programs of theirs, run on the host as soon as a branch is checked out there: told when a
//! branch comes out of a workspace. A table of paths, and nothing here reads a file.

use alloc::{string::String, vec::Vec};

use crate::parse::raw_diff::RawDiff;
use crate::words::HostFileKind;
use table::{At, TABLE};

mod table;

/// A changed file that is run on the host.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct HostFile {
    /// Its path; what is not UTF-8 shows as U+FFFD.
    pub path: String,
    /// Who runs it, or what it is.
    pub kind: HostFileKind,
    /// Whether it is gone.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub gone: bool,
}

/// The changed files that are run on the host, in the order of the diff. A link is one where its text leads out of the
/// repository; `text` gives it, and one whose text is not known does.
pub fn changed_host_files<'t>(
    changed: &[RawDiff<'_>],
    text: impl Fn(&RawDiff<'_>) -> Option<&'t [u8]>,
) -> Vec<HostFile> {
    let kind = |one: &RawDiff<'_>| {
        let leads_out = one.is_link() && text(one).is_none_or(|text| leads_out(one.path, text));
        if leads_out {
            return Some(HostFileKind::Link);
        }
        if one.is_submodule() {
            return Some(HostFileKind::Git);
        }
        let executable = one.is_executable().then_some(HostFileKind::Script);
        host_file(one.path).or(executable)
    };
    let told = changed.iter().filter_map(|one| {
        Some(HostFile {
            path: String::from_utf8_lossy(one.path).into_owned(),
            kind: kind(one)?,
            gone: one.is_gone(),
        })
    });
    told.collect()
}

/// Who runs a file of this path, where the table knows somebody.
fn host_file(path: &[u8]) -> Option<HostFileKind> {
    let lower = path.to_ascii_lowercase();
    let mut parts: Vec<&[u8]> = lower.split(|byte| *byte == b'/').collect();
    let name = parts.pop()?;
    let fits = |at: &At| match at {
        At::Name(wanted) => name == wanted.as_bytes(),
        At::Ending(end) => name.ends_with(end.as_bytes()),
        At::Beginning(start) => name.starts_with(start.as_bytes()),
        At::Folder(folder) => {
            parts.contains(&folder.as_bytes()) || name == folder.as_bytes() && folder.starts_with('.')
        }
        At::InFolder(folder, wanted) => parts.last() == Some(&folder.as_bytes()) && name == wanted.as_bytes(),
    };
    TABLE.iter().find(|(at, _)| fits(at)).map(|(_, kind)| *kind)
}

/// Whether a link at this path leads out of the repository, or into git's own folder.
fn leads_out(path: &[u8], text: &[u8]) -> bool {
    if text.is_empty() || text.starts_with(b"/") || text.contains(&b'\\') {
        return true;
    }
    let mut depth = path.iter().filter(|byte| **byte == b'/').count();
    for part in text.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => match depth.checked_sub(1) {
                Some(above) => depth = above,
                None => return true,
            },
            part if part.eq_ignore_ascii_case(b".git") => return true,
            _ => depth = depth.saturating_add(1),
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use HostFileKind as Kind;

    #[test]
    fn the_table_knows_what_people_run() {
        let cases: &[(&str, Option<Kind>)] = &[
            (".husky/pre-commit", Some(Kind::Hook)),
            (".githooks/post-merge", Some(Kind::Hook)),
            ("tools/githooks/x", Some(Kind::Hook)),
            ("src/hooks/use-it.ts", None),
            (".pre-commit-config.yaml", Some(Kind::Hook)),
            (".github/workflows/ci.yml", Some(Kind::Ci)),
            ("sub/action.yml", Some(Kind::Ci)),
            (".gitlab-ci.yml", Some(Kind::Ci)),
            (".vscode/tasks.json", Some(Kind::Editor)),
            ("a/.vscode/settings.json", Some(Kind::Editor)),
            (".VSCode/Launch.json", Some(Kind::Editor)),
            (".idea/workspace.xml", Some(Kind::Editor)),
            (".envrc", Some(Kind::Shell)),
            ("deep/down/.envrc", Some(Kind::Shell)),
            ("Makefile", Some(Kind::Build)),
            ("GNUmakefile", Some(Kind::Build)),
            ("MAKEFILE", Some(Kind::Build)),
            ("justfile", Some(Kind::Build)),
            ("Taskfile.yml", Some(Kind::Build)),
            ("crate/build.rs", Some(Kind::Build)),
            ("settings.gradle.kts", Some(Kind::Build)),
            ("package.json", Some(Kind::Packages)),
            ("setup.py", Some(Kind::Packages)),
            (".npmrc", Some(Kind::Packages)),
            (".yarnrc.yml", Some(Kind::Packages)),
            (".gitattributes", Some(Kind::Git)),
            (".gitmodules", Some(Kind::Git)),
            (".devcontainer/devcontainer.json", Some(Kind::Container)),
            ("orca.yaml", Some(Kind::Container)),
            (".worktreeinclude", Some(Kind::Container)),
            ("app.Dockerfile", Some(Kind::Container)),
            (".claude/settings.json", Some(Kind::Agent)),
            ("AGENTS.md", Some(Kind::Agent)),
            ("run.sh", Some(Kind::Script)),
            // A folder of the table that became a file or a link.
            (".husky", Some(Kind::Hook)),
            ("src/main.rs", None),
            ("docs/hook.md", None),
            ("hooks", None),
            ("package.json.md", None),
            ("", None),
        ];
        for (path, kind) in cases {
            assert_eq!(host_file(path.as_bytes()), *kind, "{path}");
        }
    }

    #[test]
    fn links_count_by_where_they_lead() {
        for (path, text, out) in [
            ("link", "file", false),
            ("a/link", "../file", false),
            ("a/link", "../b/../c", false),
            ("link", "/etc/passwd", true),
            ("link", "../x", true),
            ("a/link", "../../x", true),
            ("a/link", "x/../../../y", true),
            ("link", ".git/config", true),
            ("link", "a/.GIT/hooks", true),
            ("link", "", true),
            ("link", "..\\x", true),
        ] {
            assert_eq!(leads_out(path.as_bytes(), text.as_bytes()), out, "{path} -> {text}");
        }
    }

    #[test]
    fn executables_links_and_names_of_the_table_are_told_and_nothing_else() {
        let output = b":000000 100755 0 1 A\0tool\0:000000 120000 0 2 A\0in\0:000000 120000 0 3 A\0out\0:000000 120000 0 4 A\0unknown\0:100644 000000 5 0 D\0Makefile\0:100644 100644 6 7 M\0readme\0:100644 100644 6 7 M\0\xff.sh\0";
        let changed = RawDiff::all(output).unwrap();
        let told = changed_host_files(&changed, |one| match one.new_object {
            b"2" => Some(b"tool"),
            b"3" => Some(b"../x"),
            _ => None,
        });
        let told: Vec<(&str, Kind, bool)> =
            told.iter().map(|file| (file.path.as_str(), file.kind, file.gone)).collect();
        assert_eq!(
            told,
            [
                ("tool", Kind::Script, false),
                ("out", HostFileKind::Link, false),
                ("unknown", HostFileKind::Link, false),
                ("Makefile", Kind::Build, true),
                ("\u{fffd}.sh", Kind::Script, false)
            ]
        );
    }
}

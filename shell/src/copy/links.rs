//! Where links lead: judged by reading them, never by following them.

use std::io;

use rustix::fs::FileType;

use super::beneath::{Folder, join, kind, split};

/// Links on one path; the kernel's own bound.
const MOST_LINKS: usize = 40;

/// `.git` by any of its names, so that a copy never brings what git would read as its own.
pub(super) fn is_git(name: &[u8]) -> bool {
    orca_container_core::is_git_folder(&String::from_utf8_lossy(name))
}

/// Whether a link's text, read at its place, stays in the repository and outside every `.git`. The link is kept as
/// it is, and resolved only in the container, so its text is what counts.
pub(super) fn stays(at: &[u8], text: &[u8]) -> bool {
    if text.starts_with(b"/") {
        return false;
    }
    let mut depth = split(at).0.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).count();
    for part in text.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return false,
            },
            part if is_git(part) => return false,
            _ => depth = depth.saturating_add(1),
        }
    }
    true
}

/// The real path below the root that a path leads to through links; `None` when one leads out of the repository or
/// into a `.git`.
pub(super) fn resolve(root: &Folder, root_path: &[u8], path: &[u8]) -> io::Result<Option<Vec<u8>>> {
    let mut left: Vec<Vec<u8>> = parts(path);
    left.reverse();
    let mut at: Vec<u8> = Vec::new();
    let mut links = 0_usize;
    while let Some(part) = left.pop() {
        if part == b".." {
            if at.is_empty() {
                return Ok(None);
            }
            at = split(&at).0.to_vec();
            continue;
        }
        if is_git(&part) {
            return Ok(None);
        }
        let folder = root.beneath(&at)?;
        if kind(&folder.look(&part)?) != FileType::Symlink {
            at = join(&at, &part);
            continue;
        }
        links = links.saturating_add(1);
        if links > MOST_LINKS {
            return Err(rustix::io::Errno::LOOP.into());
        }
        let text = folder.link(&part)?;
        let relative = match text.strip_prefix(b"/") {
            None => text.as_slice(),
            // An absolute link into the repository itself is as good as a relative one.
            Some(_) => match text.strip_prefix(root_path).and_then(|rest| rest.strip_prefix(b"/")) {
                Some(rest) => {
                    at.clear();
                    rest
                }
                None => return Ok(None),
            },
        };
        let mut more = parts(relative);
        more.reverse();
        left.extend(more);
    }
    Ok(Some(at))
}

fn parts(path: &[u8]) -> Vec<Vec<u8>> {
    path.split(|byte| *byte == b'/').filter(|part| !matches!(*part, b"" | b".")).map(<[u8]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_stays_when_its_text_never_climbs_out() {
        for (at, text) in [("a/b", "../c"), ("a/b/l", "../../x"), ("l", "x/y"), ("n/.bin/x", "../x/cli.js")] {
            assert!(stays(at.as_bytes(), text.as_bytes()), "{at} -> {text}");
        }
        for (at, text) in [
            ("l", "/etc/passwd"),
            ("l", "../x"),
            ("a/l", "../../x"),
            ("l", ".git/config"),
            ("l", "a/.GIT./x"),
        ] {
            assert!(!stays(at.as_bytes(), text.as_bytes()), "{at} -> {text}");
        }
    }

    #[test]
    fn a_path_is_resolved_inside_the_root_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        std::fs::create_dir_all(path.join("d/e")).unwrap();
        std::fs::create_dir(path.join(".git")).unwrap();
        std::fs::write(path.join("d/e/f"), "x").unwrap();
        let links = [
            ("in", "d/e/f"),
            ("dir", "d"),
            ("abs", path.join("d/e/f").to_str().unwrap()),
            ("out", "../x"),
            ("etc", "/etc/passwd"),
            ("git", ".git/config"),
            ("loop", "loop"),
            ("d/up", "../../x"),
        ]
        .map(|(name, text)| (name.to_owned(), text.to_owned()));
        for (name, text) in &links {
            symlink(text, path.join(name)).unwrap();
        }
        let root = Folder::root(path).unwrap();
        let resolved = |name: &str| {
            let real = path.as_os_str().as_encoded_bytes();
            resolve(&root, real, name.as_bytes()).map(|found| found.map(|p| String::from_utf8(p).unwrap()))
        };
        assert_eq!(resolved("in").unwrap().unwrap(), "d/e/f");
        assert_eq!(resolved("dir/e/f").unwrap().unwrap(), "d/e/f");
        assert_eq!(resolved("abs").unwrap().unwrap(), "d/e/f");
        for out in ["out", "etc", "git", "d/up"] {
            assert_eq!(resolved(out).unwrap(), None, "{out}");
        }
        assert!(resolved("loop").is_err());
    }
}

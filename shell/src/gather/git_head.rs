//! What a repository's HEAD says.
//!
//! Takes the bytes of HEAD, gives whether git would take it for one and the branch it names. Refuses a name
//! that git's own rules for references refuse, since it will end up in arguments and in labels.

/// Where reftable repositories point HEAD, so that older git stays away.
const REFTABLE_STUB: &str = ".invalid";

/// HEAD names a branch by a name that git would not create, or that is not UTF-8.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BadBranchName;

/// Whether git takes a file with these bytes for the HEAD of a repository (`validate_headref`).
pub(crate) fn is_head(bytes: &[u8]) -> bool {
    match symbolic(bytes) {
        Some(name) => name.starts_with(b"refs/"),
        None => bytes.get(..40).is_some_and(|id| id.iter().all(u8::is_ascii_hexdigit)),
    }
}

/// The branch's short name; `None` when HEAD is detached, or when only a reftable knows.
pub(crate) fn branch(bytes: &[u8]) -> Result<Option<String>, BadBranchName> {
    let Some(short) = symbolic(bytes).and_then(|name| name.strip_prefix(b"refs/heads/")) else {
        return Ok(None);
    };
    let short = std::str::from_utf8(short).map_err(|_| BadBranchName)?;
    match short {
        REFTABLE_STUB => Ok(None),
        _ if is_branch_name(short) => Ok(Some(short.to_owned())),
        _ => Err(BadBranchName),
    }
}

/// The reference that `ref: …` names, without the blanks around it.
fn symbolic(bytes: &[u8]) -> Option<&[u8]> {
    bytes.strip_prefix(b"ref:").map(<[u8]>::trim_ascii)
}

/// The rules of git-check-ref-format(1) for a branch.
pub(crate) fn is_branch_name(name: &str) -> bool {
    let part_ok =
        |part: &str| !part.is_empty() && !part.starts_with('.') && part.strip_suffix(".lock").is_none();
    let char_ok = |c: char| !c.is_ascii_control() && !" ~^:?*[\\".contains(c);
    name.chars().all(char_ok)
        && name.split('/').all(part_ok)
        && !name.contains("..")
        && !name.contains("@{")
        && !name.ends_with('.')
        && !name.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_keeps_its_slashes_and_letters() {
        assert_eq!(branch(b"ref: refs/heads/a/b-\xc3\xbc\n"), Ok(Some("a/b-ü".to_owned())));
        assert_eq!(branch(b"ref:\trefs/heads/x  \n"), Ok(Some("x".to_owned())));
    }

    #[test]
    fn no_branch_when_detached_elsewhere_or_in_a_reftable() {
        for head in
            ["0123456789012345678901234567890123456789\n", "ref: refs/x/y\n", "ref: refs/heads/.invalid\n"]
        {
            assert!(is_head(head.as_bytes()), "{head:?}");
            assert_eq!(branch(head.as_bytes()), Ok(None), "{head:?}");
        }
    }

    #[test]
    fn names_that_git_refuses_are_refused() {
        for name in
            ["", "a b", "a\nb", "a..b", "a@{b", "a.lock/b", ".a", "a//b", "-a", "a/", "a.", "a\\b", "a\u{7f}"]
        {
            assert_eq!(branch(format!("ref: refs/heads/{name}x\ny").as_bytes()), Err(BadBranchName));
            assert!(!is_branch_name(name), "{name:?}");
        }
        assert_eq!(branch(b"ref: refs/heads/\xff\n"), Err(BadBranchName));
    }

    #[test]
    fn other_files_called_head_are_none() {
        for text in ["", "ref: ../x", "hello", "0123"] {
            assert!(!is_head(text.as_bytes()), "{text:?}");
        }
    }
}

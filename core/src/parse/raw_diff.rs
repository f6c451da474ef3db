//! What `git diff-tree --raw -z --no-renames` prints: one entry for each path that differs between two trees.

/// The mode of a link.
const LINK: &[u8] = b"120000";

/// The mode of an executable file.
const EXECUTABLE: &[u8] = b"100755";

/// The mode of a submodule.
const SUBMODULE: &[u8] = b"160000";

/// A path that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawDiff<'d> {
    /// Its mode before; zeros where it is new.
    pub old_mode: &'d [u8],
    /// Its mode now; zeros where it is gone.
    pub new_mode: &'d [u8],
    /// Its object now.
    pub new_object: &'d [u8],
    /// Its path, which need not be text.
    pub path: &'d [u8],
}

impl<'d> RawDiff<'d> {
    /// Every entry, or `None` where the output is not what git prints.
    pub fn all(output: &'d [u8]) -> Option<alloc::vec::Vec<Self>> {
        let Some(output) = output.strip_suffix(b"\0") else {
            return output.is_empty().then(alloc::vec::Vec::new);
        };
        let mut parts = output.split(|byte| *byte == 0);
        let mut all = alloc::vec::Vec::new();
        while let Some(facts) = parts.next() {
            all.push(Self::of(facts, parts.next()?)?);
        }
        Some(all)
    }

    fn of(facts: &'d [u8], path: &'d [u8]) -> Option<Self> {
        let mut fields = facts.strip_prefix(b":")?.split(|byte| *byte == b' ');
        let (old_mode, new_mode) = (fields.next()?, fields.next()?);
        let _old_object = fields.next()?;
        Some(Self { old_mode, new_mode, new_object: fields.next()?, path })
    }

    /// Whether it is a link now.
    pub fn is_link(&self) -> bool {
        self.new_mode == LINK
    }

    /// Whether it is an executable file now.
    pub fn is_executable(&self) -> bool {
        self.new_mode == EXECUTABLE
    }

    /// Whether it is a submodule's commit now.
    pub fn is_submodule(&self) -> bool {
        self.new_mode == SUBMODULE
    }

    /// Whether nothing is there any more.
    pub fn is_gone(&self) -> bool {
        self.new_mode.iter().all(|digit| *digit == b'0')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_apart_at_nul_and_nothing_else() {
        let output = b":100644 100755 a b M\0x\ny\0:000000 120000 0 c A\0:100644 100644 a b M\0:100644 000000 a 0 D\0gone\0";
        let all = RawDiff::all(output).unwrap();
        assert_eq!(
            all.iter().map(|one| one.path).collect::<alloc::vec::Vec<_>>(),
            [b"x\ny".as_slice(), b":100644 100644 a b M", b"gone"]
        );
        assert!(all[0].is_executable() && all[1].is_link() && all[2].is_gone());
        assert_eq!(RawDiff::all(b""), Some(alloc::vec::Vec::new()));
    }

    #[test]
    fn what_git_does_not_print_is_none() {
        for output in
            [b"x".as_slice(), b"x\0y\0", b":1 2 3\0y\0", b":100644 100644 a b M\0", b":1 2 3 4 M\0x"]
        {
            assert_eq!(RawDiff::all(output), None, "{output:?}");
        }
    }
}

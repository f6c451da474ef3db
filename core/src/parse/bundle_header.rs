//! The head of a git bundle: which commit it brings of the one branch that is wanted. All else in it is passed over;
//! what it says that it presupposes is found out by git, from the objects.

use alloc::string::String;

use crate::limits;

/// Why a bundle cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BundleFault {
    /// It does not begin as a bundle does.
    NotABundle,
    /// Its head is longer than any honest one.
    HeadTooLong,
    /// It is of a kind that is not taken: with a filter, or of another object format.
    OtherKind,
    /// It does not bring the branch, or not once.
    NotTheBranch,
}

/// What is known of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleHead {
    /// The id that the branch has in it: 40 small hexadecimal digits.
    pub commit: String,
    /// Where the pack begins.
    pub pack_at: usize,
}

impl BundleHead {
    /// Reads the first bytes of a bundle, of which more may follow: [`limits::BUNDLE_HEAD_BYTES`] are always enough.
    pub fn read(start: &[u8], branch: &str) -> Result<Self, BundleFault> {
        let mut lines = Lines { rest: start, at: 0 };
        let version = match lines.next()? {
            b"# v2 git bundle" => 2,
            b"# v3 git bundle" => 3,
            _ => return Err(BundleFault::NotABundle),
        };
        let mut commit = None;
        loop {
            let line = lines.next()?;
            match line.first() {
                None => break,
                Some(b'@') if version == 3 && line == b"@object-format=sha1" => {}
                Some(b'@') => return Err(BundleFault::OtherKind),
                // What it presupposes.
                Some(b'-') => {}
                Some(_) => {
                    if let Some(id) = id_of(line, branch)? {
                        let before = commit.replace(id);
                        if before.is_some() {
                            return Err(BundleFault::NotTheBranch);
                        }
                    }
                }
            }
        }
        let commit = commit.ok_or(BundleFault::NotTheBranch)?;
        Ok(Self { commit: commit.into(), pack_at: lines.at })
    }
}

/// The id of a line `ID REF` where the reference is the branch.
fn id_of<'l>(line: &'l [u8], branch: &str) -> Result<Option<&'l str>, BundleFault> {
    let at = line.iter().position(|byte| *byte == b' ').ok_or(BundleFault::NotABundle)?;
    let (id, reference) = line.split_at_checked(at).ok_or(BundleFault::NotABundle)?;
    let name = reference.strip_prefix(b" refs/heads/");
    if name != Some(branch.as_bytes()) {
        return Ok(None);
    }
    let id = core::str::from_utf8(id).ok().filter(|id| is_object_id(id));
    id.map(Some).ok_or(BundleFault::NotABundle)
}

/// Whether a text is the id of an object: 40 small hexadecimal digits.
pub fn is_object_id(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

struct Lines<'s> {
    rest: &'s [u8],
    at: usize,
}

impl<'s> Lines<'s> {
    fn next(&mut self) -> Result<&'s [u8], BundleFault> {
        let short = if self.at == 0 { BundleFault::NotABundle } else { BundleFault::HeadTooLong };
        let end = self.rest.iter().position(|byte| *byte == b'\n').ok_or(short)?;
        let (line, rest) = self.rest.split_at_checked(end).ok_or(short)?;
        self.at = self.at.saturating_add(end).saturating_add(1);
        if self.at > limits::BUNDLE_HEAD_BYTES {
            return Err(BundleFault::HeadTooLong);
        }
        self.rest = rest.get(1..).unwrap_or_default();
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    const ID: &str = "0123456789abcdef0123456789abcdef01234567";

    fn read(text: &str) -> Result<BundleHead, BundleFault> {
        BundleHead::read(text.as_bytes(), "feature/x")
    }

    #[test]
    fn the_branch_and_the_place_of_the_pack_are_read_and_all_else_is_passed_over() {
        let head = format!(
            "# v2 git bundle\n-{ID} a subject\n{ID} refs/heads/main\n{ID} refs/heads/feature/x\n{ID} HEAD\n{ID} refs/heads/../../x\n\n"
        );
        let read = read(&format!("{head}PACK\n\n")).unwrap();
        assert_eq!((read.commit.as_str(), read.pack_at), (ID, head.len()));
        let third = format!("# v3 git bundle\n@object-format=sha1\n{ID} refs/heads/feature/x\n\n");
        assert_eq!(BundleHead::read(third.as_bytes(), "feature/x").unwrap().pack_at, third.len());
    }

    #[test]
    fn what_is_no_bundle_of_the_branch_is_refused() {
        let short = ID.replacen('0', "", 1);
        let cases = [
            (String::new(), BundleFault::NotABundle),
            ("garbage".into(), BundleFault::NotABundle),
            ("# v9 git bundle\n\n".into(), BundleFault::NotABundle),
            ("# v2 git bundle\n\n".into(), BundleFault::NotTheBranch),
            (format!("# v2 git bundle\n{ID} refs/heads/feature/xy\n\n"), BundleFault::NotTheBranch),
            (format!("# v2 git bundle\n{ID} refs/tags/feature/x\n\n"), BundleFault::NotTheBranch),
            (
                format!("# v2 git bundle\n{ID} refs/heads/feature/x\n{ID} refs/heads/feature/x\n\n"),
                BundleFault::NotTheBranch,
            ),
            (format!("# v2 git bundle\n{short} refs/heads/feature/x\n\n"), BundleFault::NotABundle),
            (
                format!("# v2 git bundle\n--upload-pack=x{short} refs/heads/feature/x\n\n"),
                BundleFault::NotTheBranch,
            ),
            (
                format!("# v2 git bundle\n{}  refs/heads/feature/x\n\n", ID.to_uppercase()),
                BundleFault::NotTheBranch,
            ),
            (
                format!("# v2 git bundle\n{} refs/heads/feature/x\n\n", ID.to_uppercase()),
                BundleFault::NotABundle,
            ),
            (
                format!("# v2 git bundle\n@filter=blob:none\n{ID} refs/heads/feature/x\n\n"),
                BundleFault::OtherKind,
            ),
            (
                format!("# v3 git bundle\n@filter=blob:none\n{ID} refs/heads/feature/x\n\n"),
                BundleFault::OtherKind,
            ),
            (
                format!("# v3 git bundle\n@object-format=sha256\n{ID} refs/heads/feature/x\n\n"),
                BundleFault::OtherKind,
            ),
            (format!("# v2 git bundle\n{ID} refs/heads/feature/x\n"), BundleFault::HeadTooLong),
            ("# v2 git bundle\nwithout\n\n".into(), BundleFault::NotABundle),
        ];
        for (text, fault) in cases {
            assert_eq!(read(&text), Err(fault), "{text:?}");
        }
    }

    #[test]
    fn a_head_has_a_bound() {
        let line = format!("{ID} refs/heads/other\n");
        let many = line.repeat(limits::BUNDLE_HEAD_BYTES / line.len() + 1);
        let text = format!("# v2 git bundle\n{many}{ID} refs/heads/feature/x\n\n");
        assert_eq!(read(&text), Err(BundleFault::HeadTooLong));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
            let mut text = b"# v2 git bundle\n".to_vec();
            text.extend(bytes);
            let _ = BundleHead::read(&text, "x");
        }
    }
}

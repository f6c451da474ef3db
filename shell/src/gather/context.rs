//! The files of a build: committed ones, as they stand in the commit. No filter, attribute or configuration of the
//! repository changes or runs anything, and nothing that is not committed is in it.
//!
//! Left out are `.env` and `.env.NAME`, which hold what a build must not see, anything called `.git`, submodules, and links
//! out of the folder.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};

use super::host_git::{command, git_with};
use crate::engine::{ClientError, Input, Output, Wanted};

/// Bytes of a link's text; longer ones are none that a file system takes.
const LINK_CAP: u64 = 4096;

/// A committed file.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    object: String,
    /// Its path in the context.
    name: Vec<u8>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    File { executable: bool },
    Link,
}

/// A context that can be written.
#[derive(Debug)]
pub struct Context<'a> {
    repository: &'a Path,
    entries: Vec<Entry>,
}

impl<'a> Context<'a> {
    /// The files of a folder of a commit, and one that is added under another name.
    pub fn of(
        repository: &'a Path,
        commit: &str,
        folder: &str,
        added: Option<(&str, &str)>,
    ) -> Result<Self, ClientError> {
        let below = if folder == "." { String::new() } else { format!("{folder}/") };
        let mut entries = listed(repository, commit, &below)?;
        if let Some((path, name)) = added {
            let found = listed(repository, commit, path)?.into_iter().next();
            let found = found.ok_or_else(|| Output::default().unusable("git ls-tree"))?;
            entries.retain(|entry| entry.name != name.as_bytes());
            entries.push(Entry { name: name.into(), ..found });
        }
        Ok(Self { repository, entries })
    }

    /// SHA-256 of a file in it, hex; `None` where there is none, or none of at most so many bytes.
    pub fn digest_of(&self, name: &str, most: usize) -> io::Result<Option<String>> {
        let found = self.entries.iter().find(|entry| entry.name == name.as_bytes());
        let Some(entry) = found.filter(|entry| matches!(entry.kind, Kind::File { .. })) else {
            return Ok(None);
        };
        let mut objects = Objects::open(self.repository)?;
        let size = objects.ask(&entry.object)?;
        if usize::try_from(size).is_ok_and(|size| size > most) {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        Read::take(&mut objects.output, size).read_to_end(&mut bytes)?;
        Ok(Some(HEXLOWER.encode(&Sha256::digest(&bytes))))
    }

    /// Writes it as a tar.
    pub fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        let mut objects = Objects::open(self.repository)?;
        let mut builder = Builder::new(output);
        for entry in &self.entries {
            let size = objects.ask(&entry.object)?;
            match entry.kind {
                Kind::File { executable } => {
                    let mut header = header(EntryType::Regular, size, if executable { 0o755 } else { 0o644 });
                    let contents = Read::take(&mut objects.output, size);
                    builder.append_data(&mut header, as_path(&entry.name), contents)?;
                    objects.end()?;
                }
                Kind::Link => {
                    let text = objects.text(size)?;
                    if stays_inside(&entry.name, &text) {
                        let mut header = header(EntryType::Symlink, 0, 0o777);
                        builder.append_link(&mut header, as_path(&entry.name), as_path(&text))?;
                    }
                }
            }
        }
        builder.finish()
    }
}

/// The entries of a tree at or below a path, by their names without it.
fn listed(repository: &Path, commit: &str, path: &str) -> Result<Vec<Entry>, ClientError> {
    let mut args = vec!["--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", commit];
    if !path.is_empty() {
        args.extend(["--", path]);
    }
    let answer = git_with(repository, &args, Input::None, Wanted::List)?;
    if answer.code != 0 || answer.cut {
        return Err(answer.unusable("git ls-tree"));
    }
    let records = answer.stdout.split(|byte| *byte == 0);
    // git writes no such tree; one made by hand could make a tar that is read otherwise than it looks.
    let odd = |record: &[u8]| {
        let path = record.splitn(2, |byte| *byte == b'\t').nth(1).unwrap_or(b"x");
        path.split(|byte| *byte == b'/').any(|part| matches!(part, b"" | b"." | b".."))
    };
    if records.clone().any(odd) {
        return Err(answer.unusable("git ls-tree"));
    }
    Ok(records.filter_map(|record| entry(record, path.as_bytes())).collect())
}

/// `MODE TYPE OBJECT\tPATH`.
fn entry(record: &[u8], below: &[u8]) -> Option<Entry> {
    let at = record.iter().position(|byte| *byte == b'\t')?;
    let (facts, path) = (std::str::from_utf8(record.get(..at)?).ok()?, record.get(at.saturating_add(1)..)?);
    let mut facts = facts.split(' ');
    let kind = match facts.next()? {
        "100644" => Kind::File { executable: false },
        "100755" => Kind::File { executable: true },
        "120000" => Kind::Link,
        _ => return None,
    };
    let name = path.strip_prefix(below)?;
    let mut parts = name.split(|byte| *byte == b'/');
    let last = name.rsplit(|byte| *byte == b'/').next()?;
    let left_out = parts.any(|part| part.eq_ignore_ascii_case(b".git")) || holds_variables(last);
    (!left_out).then(|| Entry { object: facts.nth(1).unwrap_or_default().into(), name: name.into(), kind })
}

/// `.env` and `.env.NAME`, but for the ones that are there to be read.
fn holds_variables(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    match name.strip_prefix(b".env") {
        Some(b"") => true,
        Some(rest) => rest.strip_prefix(b".").is_some_and(|rest| {
            !matches!(rest, b"example" | b"sample" | b"template" | b"dist" | b"defaults")
        }),
        None => false,
    }
}

/// Whether a link leads to a place in the context.
fn stays_inside(name: &[u8], text: &[u8]) -> bool {
    let mut depth = name.iter().filter(|byte| **byte == b'/').count();
    if text.is_empty() || text.starts_with(b"/") {
        return false;
    }
    for part in text.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => match depth.checked_sub(1) {
                Some(above) => depth = above,
                None => return false,
            },
            _ => depth = depth.saturating_add(1),
        }
    }
    true
}

fn header(kind: EntryType, size: u64, mode: u32) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(mode);
    header
}

fn as_path(bytes: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}

/// One git that gives objects as they are asked for.
struct Objects {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Objects {
    fn open(repository: &Path) -> io::Result<Self> {
        let mut git = command(repository, &["cat-file", "--batch"]).map_err(io::Error::other)?;
        git.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = git.spawn()?;
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        let input = child.stdin.take().ok_or_else(broken)?;
        let output = BufReader::new(child.stdout.take().ok_or_else(broken)?);
        Ok(Self { child, input, output })
    }

    /// Asks for an object; its bytes follow. Gives their number.
    fn ask(&mut self, object: &str) -> io::Result<u64> {
        self.input.write_all(format!("{object}\n").as_bytes())?;
        self.input.flush()?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let size = line.trim_end().strip_prefix(object).and_then(|rest| rest.strip_prefix(" blob "));
        size.and_then(|size| size.parse().ok())
            .ok_or_else(|| io::Error::other("git does not have a committed file"))
    }

    fn text(&mut self, size: u64) -> io::Result<Vec<u8>> {
        if size > LINK_CAP {
            return Err(io::Error::other("a committed link is longer than any can be"));
        }
        let mut text = Vec::new();
        Read::take(&mut self.output, size).read_to_end(&mut text)?;
        self.end()?;
        Ok(text)
    }

    /// The line end behind an object.
    fn end(&mut self) -> io::Result<()> {
        self.output.read_exact(&mut [0])
    }
}

impl Drop for Objects {
    /// Every object was read whole or was an error; git has nothing more to say.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_files_and_submodules_are_left_out() {
        let name = |record: &str| entry(record.as_bytes(), b"web/").map(|entry| entry.name);
        assert_eq!(name("100644 blob aa\tweb/a b\n"), Some(b"a b\n".to_vec()));
        assert_eq!(name("100755 blob aa\tweb/x/run"), Some(b"x/run".to_vec()));
        assert_eq!(name("100644 blob aa\tweb/.env.example"), Some(b".env.example".to_vec()));
        for left_out in [
            "100644 blob aa\tweb/.env",
            "100644 blob aa\tweb/x/.env",
            "100644 blob aa\tweb/.env.production",
            "100644 blob aa\tweb/.ENV.local",
            "100644 blob aa\tweb/x/.GIT/config",
            "160000 commit aa\tweb/sub",
            "100644 blob aa\tother",
        ] {
            assert_eq!(name(left_out), None, "{left_out}");
        }
    }

    #[test]
    fn links_stay_in_the_context() {
        for (name, text) in [("a", "b"), ("x/a", "../b"), ("x/y/a", "../../z/./b")] {
            assert!(stays_inside(name.as_bytes(), text.as_bytes()), "{name} {text}");
        }
        for (name, text) in
            [("a", "/etc/passwd"), ("a", "../b"), ("x/a", "../../b"), ("x/a", "y/../../../b"), ("a", "")]
        {
            assert!(!stays_inside(name.as_bytes(), text.as_bytes()), "{name} {text}");
        }
    }
}

//! Git's configuration syntax, read without git.
//!
//! Takes the bytes of one file of at most [`GIT_CONFIG_CAP`] bytes; gives its entries in order, named as
//! `git config --list` names them. Refuses what git refuses, with the line and never with its text.
//!
//! Includes (`include.path`, `includeIf`) are not followed: they could pull in any file of the host.
//! `url.<base>.insteadOf` is not applied: the rewritten URL often carries a password.
//! The grammar is that of git's own reader (`config.c`), which is stricter than git-config(1) tells.

use std::fmt;

/// Bytes of a configuration file that are read at most; real ones have a few kilobytes.
pub(crate) const GIT_CONFIG_CAP: usize = 1024 * 1024;

/// The entries of a configuration file. Values may be passwords, so `Debug` shows none.
#[derive(Default)]
pub(crate) struct GitConfig {
    entries: Vec<Entry>,
}

struct Entry {
    /// `section.key` or `section.subsection.key`; section and key in lower case.
    name: Vec<u8>,
    /// `None` when the line has no `=`, which means "true".
    value: Option<Vec<u8>>,
}

/// The line at which a file stops being git configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GitConfigSyntax {
    /// Counted from 1.
    pub(crate) line: usize,
}

impl GitConfig {
    /// Reads a whole file.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, GitConfigSyntax> {
        let mut reader = Reader::new(bytes);
        match reader.entries() {
            Some(entries) => Ok(Self { entries }),
            None => Err(GitConfigSyntax { line: reader.line }),
        }
    }

    /// Adds the entries of a file that git reads after this one.
    pub(crate) fn extend(&mut self, later: Self) {
        self.entries.extend(later.entries);
    }

    /// Every value of a name such as `remote.origin.url`, in order; `None` stands for a key without `=`.
    pub(crate) fn values<'a>(&'a self, name: &'a str) -> impl DoubleEndedIterator<Item = Option<&'a [u8]>> {
        self.entries.iter().filter(move |e| e.name == name.as_bytes()).map(|e| e.value.as_deref())
    }

    /// The last value as git's boolean: `Ok(None)` when there is none, an error when it is not a boolean.
    pub(crate) fn boolean(&self, name: &str) -> Result<Option<bool>, NotABoolean> {
        match self.values(name).next_back() {
            None => Ok(None),
            Some(None) => Ok(Some(true)),
            Some(Some(value)) => boolean(value).map(Some).ok_or(NotABoolean),
        }
    }
}

/// A value that git would not take for a boolean either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotABoolean;

impl fmt::Debug for GitConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GitConfig({} entries)", self.entries.len())
    }
}

/// `git_parse_maybe_bool`: words in any case, or a plain number.
fn boolean(value: &[u8]) -> Option<bool> {
    match value.to_ascii_lowercase().as_slice() {
        b"true" | b"yes" | b"on" => Some(true),
        b"false" | b"no" | b"off" | b"" => Some(false),
        number => std::str::from_utf8(number).ok()?.parse::<i32>().ok().map(|n| n != 0),
    }
}

/// A position in the file. Every method that gives `None` has met a fault in `line`.
struct Reader<'a> {
    rest: std::iter::Peekable<std::iter::Copied<std::slice::Iter<'a, u8>>>,
    ended: bool,
    /// The line of the character that was taken last.
    line: usize,
    after_newline: bool,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        Self { rest: bytes.iter().copied().peekable(), ended: false, line: 1, after_newline: false }
    }

    /// The next character; CR before LF is dropped, and the file's end reads as one more line end.
    fn take(&mut self) -> u8 {
        if self.after_newline {
            self.line = self.line.saturating_add(1);
        }
        let mut c = self.rest.next();
        if c == Some(b'\r') && self.rest.peek() == Some(&b'\n') {
            c = self.rest.next();
        }
        self.ended = c.is_none();
        let c = c.unwrap_or(b'\n');
        self.after_newline = c == b'\n' && !self.ended;
        c
    }

    fn entries(&mut self) -> Option<Vec<Entry>> {
        let mut entries = Vec::new();
        let mut section = Vec::new();
        let mut in_comment = false;
        loop {
            match self.take() {
                b'\n' if self.ended => return Some(entries),
                b'\n' => in_comment = false,
                _ if in_comment => {}
                c if is_space(c) => {}
                b'#' | b';' => in_comment = true,
                b'[' => section = self.section()?,
                c if c.is_ascii_alphabetic() => entries.push(self.entry(&section, c)?),
                _ => return None,
            }
        }
    }

    /// `[section]`, `[section.sub]` (all in lower case) or `[section "Sub"]`, after its opening bracket.
    fn section(&mut self) -> Option<Vec<u8>> {
        let mut name = Vec::new();
        loop {
            match self.take() {
                b']' if name.is_empty() => return None,
                b']' => break,
                c if is_space(c) => {
                    self.subsection(c, &mut name)?;
                    break;
                }
                c if is_key(c) || c == b'.' => name.push(c.to_ascii_lowercase()),
                _ => return None,
            }
        }
        name.push(b'.');
        Some(name)
    }

    fn subsection(&mut self, mut c: u8, name: &mut Vec<u8>) -> Option<()> {
        while is_space(c) {
            if c == b'\n' {
                return None;
            }
            c = self.take();
        }
        if c != b'"' {
            return None;
        }
        name.push(b'.');
        loop {
            c = match self.take() {
                b'"' => break,
                b'\\' => self.take(),
                c => c,
            };
            if matches!(c, b'\n' | 0) {
                return None;
            }
            name.push(c);
        }
        (self.take() == b']').then_some(())
    }

    fn entry(&mut self, section: &[u8], first: u8) -> Option<Entry> {
        let mut name = section.to_vec();
        let mut c = first;
        while is_key(c) {
            name.push(c.to_ascii_lowercase());
            c = self.take();
        }
        while matches!(c, b' ' | b'\t') {
            c = self.take();
        }
        let value = match c {
            b'\n' => None,
            b'=' => Some(self.value()?),
            _ => return None,
        };
        Some(Entry { name, value })
    }

    /// What follows `=`: quoted or not, without the blanks around it, over continued lines.
    fn value(&mut self) -> Option<Vec<u8>> {
        let mut value = Vec::new();
        let mut quoted = false;
        let mut in_comment = false;
        // Length before the blanks that end the value so far; they count only when something follows.
        let mut trimmed: Option<usize> = None;
        loop {
            let c = self.take();
            match c {
                b'\n' if quoted => return None,
                b'\n' => {
                    value.truncate(trimmed.unwrap_or(value.len()));
                    return Some(value);
                }
                _ if in_comment => {}
                c if is_space(c) && !quoted => {
                    if !value.is_empty() {
                        trimmed.get_or_insert(value.len());
                        value.push(c);
                    }
                }
                b';' | b'#' if !quoted => in_comment = true,
                // git cuts a value at NUL without a word.
                0 => return None,
                _ => {
                    trimmed = None;
                    match c {
                        b'\\' => value.extend_from_slice(self.escape()?),
                        b'"' => quoted = !quoted,
                        c => value.push(c),
                    }
                }
            }
        }
    }

    /// What a backslash and the character after it stand for; a continued line stands for nothing.
    fn escape(&mut self) -> Option<&'static [u8]> {
        match self.take() {
            b'\n' => Some(b""),
            b't' => Some(b"\t"),
            b'b' => Some(b"\x08"),
            b'n' => Some(b"\n"),
            b'\\' => Some(b"\\"),
            b'"' => Some(b"\""),
            _ => None,
        }
    }
}

fn is_space(c: u8) -> bool {
    matches!(c, b' ' | b'\t' | b'\r' | b'\n')
}

fn is_key(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'-'
}

#[cfg(test)]
mod tests;

//! Values that this process knows, kept out of what it says: errors, an engine's own words, debug lines, panics.
//!
//! It knows values, not names: whatever is gathered for a plan or a launch is known from then on, and masked wherever
//! it turns up, line by line where a value has several. Nothing is guessed. Values of fewer than four bytes (`1`,
//! `on`) cannot be told from the text around them and are not masked.

use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use orca_container_core::Sensitive;

/// What stands in place of a value, whatever its length.
const MASK: &str = "[hidden]";

/// Bytes of the shortest text that is masked.
const SHORTEST: usize = 4;

static KNOWN: Mutex<Vec<Sensitive>> = Mutex::new(Vec::new());

/// Remembers a value, to be masked from now on.
pub fn know(value: &str) {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    for line in value.split(['\n', '\r']).map(str::trim).filter(|line| line.len() >= SHORTEST) {
        for form in [Cow::Borrowed(line), Cow::Owned(quoted_form(line))] {
            if !known.iter().any(|old| old.reveal() == form) {
                known.push(Sensitive::new(&form));
            }
        }
    }
}

/// As Go, JSON and Rust write it between double quotes.
fn quoted_form(line: &str) -> String {
    line.replace('\\', "\\\\").replace('"', "\\\"").replace('\t', "\\t")
}

/// The text with every known value masked.
pub fn mask(text: &str) -> Cow<'_, str> {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut found: Vec<Range<usize>> = Vec::new();
    for value in known.iter() {
        let value = value.reveal();
        found.extend(text.match_indices(value).map(|(at, _)| at..at.saturating_add(value.len())));
    }
    drop(known);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    found.sort_by_key(|range| range.start);
    let mut masked = String::new();
    let mut told = 0;
    let mut hidden_until = None;
    for range in found {
        // Values that overlap leave nothing of either.
        if hidden_until.is_none_or(|end| range.start > end) {
            masked.push_str(text.get(told..range.start).unwrap_or_default());
            masked.push_str(MASK);
        }
        told = told.max(range.end);
        hidden_until = Some(told);
    }
    masked.push_str(text.get(told..).unwrap_or_default());
    Cow::Owned(masked)
}

/// A writer that masks what is written, line by line.
pub struct Redacting<'w> {
    inner: &'w mut dyn Write,
    line: Vec<u8>,
}

impl std::fmt::Debug for Redacting<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redacting")
    }
}

impl<'w> Redacting<'w> {
    /// Masks what goes to a writer.
    pub fn new(inner: &'w mut dyn Write) -> Self {
        Self { inner, line: Vec::new() }
    }

    /// Writes as it stands: for the person who is asked whether exactly this value may be used.
    pub fn plainly(&mut self, text: &str) -> io::Result<()> {
        self.flush()?;
        self.inner.write_all(text.as_bytes())
    }

    fn write_masked(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        self.inner.write_all(mask(&String::from_utf8_lossy(&line)).as_bytes())
    }
}

impl Write for Redacting<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.write_masked()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.line.is_empty() {
            self.write_masked()?;
        }
        self.inner.flush()
    }
}

impl Drop for Redacting<'_> {
    fn drop(&mut self) {
        // Where it cannot be written any more there is nobody to tell.
        let _ = self.flush();
    }
}

/// Makes a panic say where it was, and its text without values.
pub fn mask_panics() {
    std::panic::set_hook(Box::new(|info| {
        let text = info.payload();
        let text = text.downcast_ref::<&str>().copied().map(Cow::Borrowed);
        let text =
            text.or_else(|| info.payload().downcast_ref::<String>().map(|text| Cow::Borrowed(text.as_str())));
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let text = text.unwrap_or_default();
        let _ = writeln!(
            io::stderr(),
            "error: A fault of orca-container's own at {place}: {}. Please report it.",
            mask(&text)
        );
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_are_masked_wherever_they_are() {
        know("alpha-bravo-1");
        assert_eq!(mask("x=alpha-bravo-1, again alpha-bravo-1."), "x=[hidden], again [hidden].");
        assert_eq!(mask("alpha-bravo-2"), "alpha-bravo-2");
    }

    #[test]
    fn each_line_of_a_value_is_masked_alone_and_quoted() {
        know("first line of it\n  second \"quoted\\ line\r\n}\n");
        assert_eq!(mask("said: first line of it"), "said: [hidden]");
        assert_eq!(mask(r#"{"v":"second \"quoted\\ line"}"#), r#"{"v":"[hidden]"}"#);
        assert_eq!(mask("}"), "}", "too short to tell from other text");
    }

    #[test]
    fn overlapping_values_leave_nothing() {
        know("overlap-one-");
        know("one-overlap-two");
        assert_eq!(mask("<overlap-one-overlap-two>"), "<[hidden]>");
        assert_eq!(mask("overlap-one-"), "[hidden]");
        know("prefix-of");
        know("prefix-of-longer");
        assert_eq!(mask("prefix-of-longer prefix-of"), "[hidden] [hidden]");
    }

    #[test]
    fn a_writer_masks_across_writes_and_says_the_rest_at_the_end() {
        know("in-two-writes");
        let mut output = Vec::new();
        {
            let mut writer = Redacting::new(&mut output);
            write!(writer, "a in-two-").unwrap();
            write!(writer, "writes b\nthen in-two-writes").unwrap();
            writer.plainly("in-two-writes").unwrap();
        }
        assert_eq!(String::from_utf8(output).unwrap(), "a [hidden] b\nthen [hidden]in-two-writes");
    }
}

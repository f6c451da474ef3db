//! Values that this process knows, kept out of what others say through it: an engine's and git's own words, system
//! errors, debug lines, panics. Our own sentences hold no value by their types and are not masked: a repository could
//! otherwise hide what a person is asked by giving a variable the same text.
//!
//! It knows values, not names: whatever is gathered for a plan or a launch is known from then on, and masked wherever
//! it turns up, line by line where a value has several. Nothing is guessed. Values of fewer than four bytes (`1`,
//! `on`) cannot be told from the text around them and are not masked.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use zeroize::Zeroize;

mod spellings;

/// What stands in place of a value, whatever its length.
const MASK: &str = "[hidden]";

/// Bytes of the shortest text that is masked.
const SHORTEST: usize = 4;

/// A known text, which nothing prints.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Hidden(String);

impl Drop for Hidden {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

static KNOWN: Mutex<BTreeSet<Hidden>> = Mutex::new(BTreeSet::new());

/// Remembers a value, to be masked from now on.
pub fn know(value: &str) {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    for line in value.split(['\n', '\r']).map(str::trim).filter(|line| line.len() >= SHORTEST) {
        known.extend(spellings::of(line).into_iter().map(Hidden));
    }
}

/// Where known values are in a text.
fn places(text: &str) -> Vec<Range<usize>> {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let possible = known.iter().filter(|value| value.0.len() <= text.len());
    let found = possible.flat_map(|value| {
        text.match_indices(value.0.as_str()).map(|(at, _)| at..at.saturating_add(value.0.len()))
    });
    found.collect()
}

/// The text with every known value masked.
pub fn mask(text: &str) -> Cow<'_, str> {
    let mut found = places(text);
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
    fn a_value_in_an_engines_json_and_in_its_quotes_is_masked() {
        know("p&ss<word>\u{1b}[0m");
        assert_eq!(mask(r#"{"v":"p\u0026ss\u003cword\u003e\u001b[0m"}"#), r#"{"v":"[hidden]"}"#);
        assert_eq!(mask(r#"invalid value "p&ss<word>\x1b[0m""#), r#"invalid value "[hidden]""#);
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
}

//! A canary: a marker that is planted as a value and must come out nowhere, in no spelling.
//!
//! One canary for each input, so that a failure says whose value got out. The same seed gives the same
//! marker, so that snapshots stay what they are.

use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD, HEXLOWER, HEXUPPER};
use std::fmt::Write as _;

/// Characters of a marker. Long enough that none comes out by chance.
const LENGTH: usize = 12;

/// Letters and digits that look like nothing else in our outputs.
const ALPHABET: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefgh";

/// A marker and every spelling in which it is looked for.
#[derive(Clone, Debug)]
pub struct Canary {
    seed: String,
    marker: String,
    spellings: Vec<(&'static str, Vec<u8>)>,
}

impl Canary {
    /// The canary of a seed, such as the name of the input that it is planted in.
    pub fn new(seed: &str) -> Self {
        let marker = marker_of(seed);
        let spellings = spellings_of(&marker);
        Self { seed: seed.into(), marker, spellings }
    }

    /// Twelve characters to plant as a value, or as a part of one.
    pub fn marker(&self) -> &str {
        &self.marker
    }

    /// The first spelling that occurs in these bytes.
    pub fn found_in(&self, bytes: &[u8]) -> Option<&'static str> {
        let occurs = |needle: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
        self.spellings.iter().find(|(_, needle)| occurs(needle)).map(|(spelling, _)| *spelling)
    }

    /// Fails when the marker is in these bytes: as it is, reversed, in hex, base64 or percent encoding.
    ///
    /// # Panics
    /// When it is.
    pub fn assert_absent(&self, what: &str, bytes: &[u8]) {
        let found = self.found_in(bytes);
        let seed = &self.seed;
        assert!(found.is_none(), "the value of {seed:?} is in {what} ({})", found.unwrap_or_default());
    }
}

/// A digit in the middle of letters, spread over the seed by FNV-1a.
fn marker_of(seed: &str) -> String {
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let mut state = seed.bytes().fold(0xcbf2_9ce4_8422_2325, hash);
    let mut marker = String::new();
    for _ in 0..LENGTH.wrapping_sub(1) {
        state = hash(state, 0x5a);
        let index = usize::try_from(state.wrapping_shr(40) % 32).unwrap_or_default();
        marker.extend(ALPHABET.get(index).map(|byte| char::from(*byte)));
    }
    marker.push('7');
    marker
}

fn spellings_of(marker: &str) -> Vec<(&'static str, Vec<u8>)> {
    let bytes = marker.as_bytes();
    let percent = |upper: bool| {
        bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = if upper { write!(text, "%{byte:02X}") } else { write!(text, "%{byte:02x}") };
            text
        })
    };
    let mut spellings = vec![
        ("as it is", bytes.to_vec()),
        ("reversed", bytes.iter().rev().copied().collect()),
        ("in hex", HEXLOWER.encode(bytes).into_bytes()),
        ("in upper-case hex", HEXUPPER.encode(bytes).into_bytes()),
        ("percent-encoded", percent(true).into_bytes()),
        ("percent-encoded in lower case", percent(false).into_bytes()),
    ];
    for before in 0..3 {
        spellings.push(("in base64", in_base64(bytes, before, &BASE64_NOPAD)));
        spellings.push(("in base64url", in_base64(bytes, before, &BASE64URL_NOPAD)));
    }
    spellings
}

/// The characters of base64 that depend on the marker alone, when it begins `before` bytes into a group.
fn in_base64(marker: &[u8], before: usize, encoding: &data_encoding::Encoding) -> Vec<u8> {
    let mut bytes = vec![0; before];
    bytes.extend_from_slice(marker);
    let whole = bytes.len().wrapping_mul(8).wrapping_div(6);
    let shared = before.wrapping_mul(8).div_ceil(6);
    encoding.encode(&bytes).into_bytes().into_iter().take(whole).skip(shared).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use data_encoding::BASE64;

    #[test]
    fn a_marker_has_twelve_characters_and_depends_on_the_seed() {
        let (one, other) = (Canary::new("one"), Canary::new("other"));
        assert_eq!((one.marker().len(), other.marker().len()), (12, 12));
        assert_ne!(one.marker(), other.marker());
        assert_eq!(one.marker(), Canary::new("one").marker());
    }

    #[test]
    fn every_spelling_is_found_and_nothing_else_is() {
        let canary = Canary::new("x");
        let marker = canary.marker().to_owned();
        let reversed: String = marker.chars().rev().collect();
        for text in [marker.clone(), reversed, HEXLOWER.encode(marker.as_bytes())] {
            assert!(canary.found_in(format!("before {text} after").as_bytes()).is_some(), "{text}");
        }
        for before in ["", "a", "ab", "abc"] {
            for after in ["", "z", "zy", "zyx"] {
                let text = BASE64.encode(format!("{before}{marker}{after}").as_bytes());
                assert!(canary.found_in(text.as_bytes()).is_some(), "{text}");
            }
        }
        for other in [
            "",
            "nothing",
            marker.trim_end_matches(|last: char| last.is_ascii_digit()),
            Canary::new("y").marker(),
        ] {
            assert_eq!(canary.found_in(other.as_bytes()), None);
        }
    }

    #[test]
    #[should_panic(expected = "the value of \"x\" is in stdout (as it is)")]
    fn a_leak_names_its_input_and_its_output() {
        let canary = Canary::new("x");
        canary.assert_absent("stdout", canary.marker().as_bytes());
    }
}

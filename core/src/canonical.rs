//! Canonical JSON (RFC 8785) and the digests made of it.

use alloc::{string::String, vec::Vec};
use core::fmt::Write as _;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// SHA-256 of bytes, lower-case hex.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// SHA-256 of a value's canonical JSON, lower-case hex.
pub(crate) fn digest_hex(value: &Value) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    let digest = sha256_hex(text.as_bytes());
    // An approval's subject can hold a variable's value.
    zeroize::Zeroize::zeroize(&mut text);
    digest
}

/// RFC 8785: members ordered by the UTF-16 code units of their names, no blanks, shortest escapes.
///
/// Numbers of the boundary are integers below 2^53, which RFC 8785 prints as they are.
fn write_canonical(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_canonical(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            out.push('{');
            for (index, (name, member)) in members.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_string(name, out);
                out.push(':');
                write_canonical(member, out);
            }
            out.push('}');
        }
        Value::String(text) => write_string(text, out),
        // serde_json's own form is RFC 8785's (section 3.2.2) for literals and integers.
        scalar => {
            let _ = write!(out, "{scalar}");
        }
    }
}

/// A string with RFC 8785's escapes (section 3.2.2.2). A formatter would cost more than the whole digest.
fn write_string(text: &str, out: &mut String) {
    out.push('"');
    if text.bytes().any(|byte| byte < b' ' || byte == b'"' || byte == b'\\') {
        for c in text.chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\u{8}' => out.push_str("\\b"),
                '\t' => out.push_str("\\t"),
                '\n' => out.push_str("\\n"),
                '\u{c}' => out.push_str("\\f"),
                '\r' => out.push_str("\\r"),
                control if control < ' ' => {
                    let _ = write!(out, "\\u{:04x}", u32::from(control));
                }
                other => out.push(other),
            }
        }
    } else {
        out.push_str(text);
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{format, string::ToString as _};
    use serde_json::json;

    fn canonical(value: &Value) -> String {
        let mut out = String::new();
        write_canonical(value, &mut out);
        out
    }

    #[test]
    fn members_are_ordered_by_utf16_units_as_in_rfc_8785() {
        // The RFC's own example of an order that differs from that of code points (3.2.3).
        let value =
            json!({"\u{20ac}": 1, "\r": 2, "\u{fb33}": 3, "1": 4, "\u{1f600}": 5, "\u{80}": 6, "\u{f6}": 7});
        let names = ["\\r", "1", "\u{80}", "\u{f6}", "\u{20ac}", "\u{1f600}", "\u{fb33}"];
        let text = canonical(&value);
        let places: Vec<_> = names.iter().map(|name| text.find(&format!("\"{name}\":"))).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
    }

    #[test]
    fn strings_use_the_shortest_escapes() {
        assert_eq!(
            canonical(&json!("\u{8}\t\n\u{c}\r\"\\/\u{1}\u{7f}é")),
            "\"\\b\\t\\n\\f\\r\\\"\\\\/\\u0001\u{7f}é\""
        );
        for c in '\0'..='\u{2ff}' {
            assert_eq!(canonical(&json!([c, "x"])), json!([c, "x"]).to_string());
        }
        assert_eq!(canonical(&json!({"b": [1, true, null], "a": {}})), r#"{"a":{},"b":[1,true,null]}"#);
    }

    #[test]
    fn sha256_is_the_published_one() {
        assert_eq!(sha256_hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}

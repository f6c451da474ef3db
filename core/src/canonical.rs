//! Canonical JSON (RFC 8785) and the digests made of it.

use alloc::{format, string::String, vec::Vec};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// SHA-256 of bytes, lower-case hex.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
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
                write_canonical(&Value::String(name.clone()), out);
                out.push(':');
                write_canonical(member, out);
            }
            out.push('}');
        }
        // Scalars: serde_json's own form is RFC 8785's (section 3.2.2) for strings, literals and integers.
        scalar => out.push_str(&format!("{scalar}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        assert_eq!(canonical(&json!({"b": [1, true, null], "a": {}})), r#"{"a":{},"b":[1,true,null]}"#);
    }

    #[test]
    fn sha256_is_the_published_one() {
        assert_eq!(sha256_hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}

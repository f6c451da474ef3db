//! Bytes of a source as a value: what a variable can hold, or why not.

use orca_container_core::{Sensitive, limits, quoted};
use zeroize::Zeroizing;

use crate::redact;

/// Bytes that are taken of a source: a variable holds no more, and a line end may follow.
pub(super) const MOST: usize = limits::ENV_STRING_BYTES + 2;

/// The bytes as a value. The error names the secret and nothing of them.
pub(super) fn of(name: &str, bytes: &[u8]) -> Result<Sensitive, String> {
    // Known before it is judged: a part of what cannot be used is as unspeakable as what can.
    known(bytes);
    let fault = |what: &str| Err(format!("The source of the secret {} {what}.", quoted(name)));
    if bytes.is_empty() {
        return fault("gave no value");
    }
    if bytes.contains(&0) {
        return fault("gave a NUL character, which no variable can hold");
    }
    match std::str::from_utf8(bytes) {
        Ok(_) if bytes.len() > limits::ENV_STRING_BYTES => fault(&too_long()),
        Ok(text) => Ok(Sensitive::new(text)),
        Err(_) => fault("gave bytes that are not UTF-8"),
    }
}

/// Has the bytes masked from now on.
pub(super) fn known(bytes: &[u8]) {
    redact::know(&Zeroizing::new(String::from_utf8_lossy(bytes).into_owned()));
}

/// What is wrong with more than a variable holds.
pub(super) fn too_long() -> String {
    format!("gave more than the {} bytes that a variable can hold", limits::ENV_STRING_BYTES)
}

/// Without the one line end that a program puts after what it prints.
pub(super) fn without_line_end(bytes: &[u8]) -> &[u8] {
    bytes.strip_suffix(b"\r\n").or_else(|| bytes.strip_suffix(b"\n")).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_end_goes_and_nothing_else() {
        for (printed, value) in [
            ("a", "a"),
            ("a\n", "a"),
            ("a\r\n", "a"),
            ("a\n\n", "a\n"),
            ("a\r", "a\r"),
            (" a \t\n", " a \t"),
            ("\n", ""),
            ("\na\nb\n", "\na\nb"),
        ] {
            assert_eq!(without_line_end(printed.as_bytes()), value.as_bytes(), "{printed:?}");
        }
    }

    #[test]
    fn what_no_variable_holds_is_named_without_its_bytes() {
        for (bytes, said) in [
            (&b""[..], "no value"),
            (b"hunter\0two", "NUL"),
            (b"hunter\xfftwo", "UTF-8"),
            (&vec![b'h'; limits::ENV_STRING_BYTES + 1], "more than"),
        ] {
            let fault = of("NAME", bytes).unwrap_err();
            assert!(fault.contains(said) && fault.contains("\"NAME\""), "{fault}");
            assert!(!fault.contains("hunter") && !fault.contains("two"), "{fault}");
        }
        assert_eq!(of("NAME", " 🦀\n".as_bytes()).unwrap().reveal(), " 🦀\n");
    }
}

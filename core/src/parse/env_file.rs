//! docker's env-file dialect (`docker/cli` pkg/kvfile), read by us so that no engine ever sees a person's file.
//!
//! Blank lines and lines whose first non-blank character is `#` are skipped; blanks before a name go; the
//! first `=` splits; the value is kept byte for byte, quotes, blanks, `#` and `$` included; `\r\n` ends a
//! line. Stricter than docker: a name alone is refused (docker would take it from the host), a NUL is
//! refused. An error names file and line and never shows the line.

use crate::{
    limits,
    parse::{
        Located,
        env_name::{ENV_NAME_RULE, is_env_name},
    },
    secret::Sensitive,
    source::Position,
    text::quoted,
};
use alloc::{format, string::String, vec::Vec};

/// A line that breaks the dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EnvFileFault {
    /// Where.
    pub(crate) at: Position,
    /// One sentence without any value.
    pub(crate) message: String,
    /// The way out.
    pub(crate) help: Option<&'static str>,
}

/// Why bytes are not the text of an env file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvFileEncodingError {
    /// A UTF-16 byte order mark.
    #[error("A file of variables is UTF-8; this one is UTF-16. Save it as UTF-8.")]
    Utf16,
    /// Bytes that are not UTF-8.
    #[error("A file of variables is UTF-8; line {line} is not.")]
    NotUtf8 {
        /// The line, from 1.
        line: u32,
    },
}

/// The text of an env file from its bytes. No byte is replaced and none is shown.
pub fn decode_env_file(bytes: &[u8]) -> Result<Sensitive, EnvFileEncodingError> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(EnvFileEncodingError::Utf16);
    }
    core::str::from_utf8(bytes).map(Sensitive::new).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let lines = before.iter().filter(|b| **b == b'\n').count().saturating_add(1);
        EnvFileEncodingError::NotUtf8 { line: u32::try_from(lines).unwrap_or(u32::MAX) }
    })
}

/// The names that an env file sets, each with its line from 1, in order; the same name perhaps more than once. Lines that
/// break the dialect are left out.
pub fn env_file_lines(text: &Sensitive) -> Vec<(String, u32)> {
    read(text.reveal()).0.into_iter().map(|(name, _)| (name.value, name.at.line)).collect()
}

/// The variables of a file in order, the same name perhaps more than once, and all faults.
pub(crate) fn read(text: &str) -> (Vec<(Located<String>, Sensitive)>, Vec<EnvFileFault>) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut entries = Vec::new();
    let mut faults = Vec::new();
    for (number, line) in (1_u32..).zip(text.split('\n')) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let trimmed = line.trim_start_matches([' ', '\t', '\u{b}', '\u{c}']);
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        let indent = line.chars().count().saturating_sub(trimmed.chars().count());
        let column = u32::try_from(indent).unwrap_or(u32::MAX).saturating_add(1);
        let at = Position { line: number, column };
        match variable(trimmed) {
            Ok((name, value)) => {
                entries.push((Located { value: name.into(), at }, Sensitive::new(value)));
            }
            Err((message, help)) => faults.push(EnvFileFault { at, message, help }),
        }
        if entries.len() > limits::COLLECTION_ENTRIES {
            let message = format!("A file of variables has at most {} of them.", limits::COLLECTION_ENTRIES);
            faults.push(EnvFileFault { at, message, help: None });
            break;
        }
    }
    (entries, faults)
}

/// Name and value of one line. A name that breaks the rule is not shown: half a secret may stand there.
fn variable(line: &str) -> Result<(&str, &str), (String, Option<&'static str>)> {
    let Some((name, value)) = line.split_once('=') else {
        let message = String::from("Every line of a file of variables is NAME=value.");
        return Err((message, Some("A host variable is forwarded with forwardHostEnv, by its name.")));
    };
    if name.is_empty() {
        return Err(("A line of a file of variables begins with a name.".into(), None));
    }
    if name.ends_with([' ', '\t']) || name.contains([' ', '\t']) {
        let help = "Write NAME=value without blanks around the equals sign and without \"export\".";
        return Err(("A variable's name holds no blank.".into(), Some(help)));
    }
    if !is_env_name(name) {
        // Not shown: the line of a key file that ends in "=" looks like a name.
        return Err((format!("{ENV_NAME_RULE}; what stands before the equals sign is not one."), None));
    }
    if value.contains('\0') {
        return Err((format!("The value of {} holds no NUL character.", quoted(name)), None));
    }
    Ok((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn pairs(text: &str) -> Vec<(String, String)> {
        let (entries, faults) = read(text);
        assert_eq!(faults, vec![]);
        entries.into_iter().map(|(n, v)| (n.value, v.reveal().into())).collect()
    }

    fn fault_lines(text: &str) -> Vec<u32> {
        read(text).1.iter().map(|f| f.at.line).collect()
    }

    #[test]
    fn values_are_kept_byte_for_byte() {
        for value in [
            "\"hi there\"",
            "'x'",
            "aaa\\nbbb",
            "  hello  ",
            "abc$def${HOME}$$",
            "#ff0000",
            "v # note",
            "$(touch x)",
            "`id`",
            "postgres://h/db?sslmode=off&opt=a=b==",
            "\\d+\\.x",
            "",
            "a\rb",
            "🦀é",
        ] {
            assert_eq!(pairs(&format!("K={value}\n")), [("K".into(), value.into())]);
        }
    }

    #[test]
    fn blank_lines_comments_a_mark_and_carriage_returns_are_not_part_of_anything() {
        let text = "\u{feff}FIRST=1\r\n\r\n# c\n   # whole line comment\n  LEAD=x\nLAST=2";
        let expected = [("FIRST", "1"), ("LEAD", "x"), ("LAST", "2")].map(|(n, v)| (n.into(), v.into()));
        assert_eq!(pairs(text), expected);
        assert_eq!(pairs("\u{feff}"), []);
    }

    #[test]
    fn a_line_that_is_no_variable_is_named_by_number_and_never_shown() {
        let text = "A=1\nDELAY = 5\nTOKEN_NAME\r\nexport E=1\n=x\nuser-a=1\nmy.key=2\nhello world=3\nN=a\0b\nMIIEp/+x==\n";
        assert_eq!(fault_lines(text), [2, 3, 4, 5, 6, 7, 8, 9, 10]);
        let (_, faults) = read("SECRETwithoutequals\nBAD NAME=hunter2hunter2\nSECRET/+x==\n");
        let shown = format!("{faults:?}");
        assert!(!shown.contains("SECRET") && !shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn bytes_that_are_not_utf8_are_refused_with_their_line() {
        assert_eq!(decode_env_file(&[0xff, 0xfe, 0x46, 0]).unwrap_err(), EnvFileEncodingError::Utf16);
        assert_eq!(decode_env_file(b"A=1\nB=\xe9\n").unwrap_err(), EnvFileEncodingError::NotUtf8 { line: 2 });
        assert_eq!(decode_env_file("A=é".as_bytes()).unwrap().reveal(), "A=é");
    }
}

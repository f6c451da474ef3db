//! JSON into typed input, with errors that say where and what kind, and never quote a value.

use crate::{
    diagnostic::{Code, Diagnostic, Severity},
    source::{Position, Source},
    text::{escaped, quoted},
    words::Origin,
};
use alloc::{format, string::String};
use serde::de::DeserializeOwned;

/// Why a JSON text is not what it should be. Holds names and positions, never a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct JsonError {
    message: String,
    path: String,
    position: Position,
}

impl JsonError {
    /// The error as a refusal.
    pub fn diagnostic(&self) -> Diagnostic {
        let mut source = Source::origin(Origin::Request);
        source.line = Some(self.position.line);
        source.column = Some(self.position.column);
        if self.path != "." {
            source.path = Some(self.path.clone());
        }
        Diagnostic::new(Severity::Refused, Code::RequestInvalid, self.message.clone(), source)
    }
}

/// Reads one JSON document into a type. Unknown fields, nulls, doubled keys and trailing text are errors.
pub fn read_json<T: DeserializeOwned>(text: &str) -> Result<T, JsonError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = escaped(&format!("{}", error.path()));
        describe(&path, error.inner())
    })?;
    deserializer.end().map_err(|error| describe(".", &error))?;
    Ok(value)
}

/// Turns a parser's error into our own words. Its text quotes values, so only known parts are taken over.
fn describe(path: &str, error: &serde_json::Error) -> JsonError {
    let text = format!("{error}");
    let at =
        if path == "." { String::from("The JSON document") } else { format!("The field {}", quoted(path)) };
    let message = if error.is_syntax() || error.is_eof() {
        String::from("The text is one well-formed JSON document with nothing after it.")
    } else if let Some(name) = between(&text, "unknown field `", "`") {
        format!("Only known fields are read here; {} is not one.", quoted(name))
    } else if let Some(name) = between(&text, "missing field `", "`") {
        format!("{at} needs the field {}.", quoted(name))
    } else if let Some(name) = between(&text, "duplicate field `", "`") {
        format!("{at} names each field once; {} stands twice.", quoted(name))
    } else if text.starts_with("unknown variant") {
        format!("{at} takes one of the words of its list.")
    } else {
        format!("{at} has a value of another type or range than its schema says.")
    };
    let to_u32 = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    JsonError {
        message,
        path: path.into(),
        position: Position { line: to_u32(error.line()).max(1), column: to_u32(error.column()).max(1) },
    }
}

/// The part of a text between two markers, when the text begins with the first.
fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    text.strip_prefix(start)?.split(end).next()
}

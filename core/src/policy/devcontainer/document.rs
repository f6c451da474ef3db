//! devcontainer.json as properties of the table: each once, of its type, with its place. What a value means is judged
//! elsewhere.

use super::keys::{Key, Kind, Treatment, find, find_other_case};
use crate::{
    diagnostic::{Code, Diagnostic, Findings, Severity},
    input::DevcontainerFile,
    limits,
    parse::jsonc::{self, FaultKind, Member, Node, Value},
    source::{Position, Source},
    text::{escaped, escaped_name, quoted, quoted_name},
    words::Origin,
};
use alloc::{collections::BTreeSet, format, string::String, vec::Vec};

/// The properties that are known and of their type.
#[derive(Debug)]
pub(crate) struct Document<'r> {
    /// The file's path, for messages.
    pub(crate) file: &'r str,
    properties: Vec<(&'static Key, Member)>,
}

impl Document<'_> {
    /// A property's value.
    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        self.properties.iter().find(|(key, _)| key.name == name).map(|(_, member)| &member.node)
    }

    /// All properties with where their keys stand, in the order of the file.
    pub(crate) fn properties(&self) -> impl Iterator<Item = (&'static Key, Position, &Node)> {
        self.properties.iter().map(|(key, member)| (*key, member.at, &member.node))
    }

    /// A place in the file.
    pub(crate) fn source(&self, at: Position, path: &str) -> Source {
        source(self.file, at, path)
    }
}

fn source(file: &str, at: Position, path: &str) -> Source {
    let source = Source::file(Origin::Devcontainer, file, at);
    if path.is_empty() { source } else { source.at_path(path) }
}

/// Reads the file; `None` when it is none (then `findings` refuses).
pub(crate) fn read<'r>(file: &'r DevcontainerFile, findings: &mut Findings) -> Option<Document<'r>> {
    let members = match jsonc::read(file.text.reveal()) {
        Ok(members) => members,
        Err(fault) => {
            let code = match fault.kind {
                FaultKind::Syntax => Code::DevcontainerSyntax,
                FaultKind::Bounds => Code::DevcontainerTooLarge,
            };
            findings.refuse(code, source(&file.path, fault.at, ""), fault.message);
            return None;
        }
    };
    let mut document = Document { file: &file.path, properties: Vec::new() };
    let mut seen = BTreeSet::new();
    for member in members {
        match find(&member.key) {
            Some(key) if !seen.insert(key.name) => {
                let message = format!(
                    "Each property stands once; \"{}\" stands twice, and readers disagree about which one counts.",
                    key.name
                );
                findings.refuse(
                    Code::DevcontainerDuplicateKey,
                    document.source(member.at, key.name),
                    message,
                );
            }
            Some(key) => document.take(key, member, findings),
            None => unknown(&document, &member, findings),
        }
    }
    Some(document)
}

fn is_too_large(node: &Node) -> bool {
    match &node.value {
        Value::Object(members) => members.len() > limits::COLLECTION_ENTRIES,
        Value::List(items) => items.len() > limits::COLLECTION_ENTRIES,
        _ => false,
    }
}

fn too_many(document: &Document<'_>, node: &Node, path: &str, findings: &mut Findings) {
    let message =
        format!("A list or an object has at most {} entries; this one has more.", limits::COLLECTION_ENTRIES);
    findings.refuse(Code::DevcontainerTooLarge, document.source(node.at, path), message);
}

/// Members of what is judged stand once as well: of two, readers take one or the other, and one would be approved and the
/// other run.
fn refuse_doubled(document: &Document<'_>, node: &Node, path: &str, findings: &mut Findings) {
    match &node.value {
        _ if is_too_large(node) => too_many(document, node, path, findings),
        Value::Object(members) => {
            let mut seen = BTreeSet::new();
            for member in members {
                let path = format!("{path}.{}", escaped_name(&member.key));
                if seen.insert(member.key.as_str()) {
                    refuse_doubled(document, &member.node, &path, findings);
                } else {
                    let message =
                        format!("Each member stands once; {} stands twice.", quoted_name(&member.key));
                    findings.refuse(
                        Code::DevcontainerDuplicateKey,
                        document.source(member.at, &path),
                        message,
                    );
                }
            }
        }
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                refuse_doubled(document, item, &format!("{path}[{index}]"), findings);
            }
        }
        _ => {}
    }
}

impl Document<'_> {
    /// A value of another type than the property's is never read as if it were of that type.
    fn take(&mut self, key: &'static Key, member: Member, findings: &mut Findings) {
        if key.treatment == Treatment::Judged {
            refuse_doubled(self, &member.node, key.name, findings);
            if is_too_large(&member.node) {
                // What is refused for its size is not judged entry by entry.
                return;
            }
        }
        let Some(wrong) = fault(key.kind, &member.node, key.name) else {
            self.properties.push((key, member));
            return;
        };
        let message =
            format!("The property {} is {}; {}.", quoted(key.name), key.kind.words(), wrong.message);
        let severity = if key.strict { Severity::Refused } else { Severity::Dropped };
        let place = self.source(wrong.at, &wrong.path);
        findings.push(Diagnostic::new(severity, Code::WrongType, message, place));
    }
}

fn unknown(document: &Document<'_>, member: &Member, findings: &mut Findings) {
    let place = document.source(member.at, &escaped(&member.key));
    let message = match find_other_case(&member.key) {
        Some(key) => format!(
            "The property {} is none, but \"{}\" is one; other readers take it for that.",
            quoted(&member.key),
            key.name
        ),
        None => format!("The property {} is not known and has no effect.", quoted(&member.key)),
    };
    findings.notice(Code::DevcontainerUnknownKey, place, message);
}

/// What is not of a property's type.
struct Wrong {
    at: Position,
    path: String,
    message: String,
}

/// The first value that is not of its type.
fn fault(kind: Kind, node: &Node, path: &str) -> Option<Wrong> {
    match (kind, &node.value) {
        (Kind::Any, _)
        | (Kind::Text | Kind::TextOrTexts | Kind::Command, Value::Text(_))
        | (Kind::Flag, Value::Bool(_))
        | (Kind::Object, Value::Object(_))
        | (Kind::PortOrPorts, Value::Text(_) | Value::Number(_)) => None,
        (Kind::Texts | Kind::TextOrTexts, Value::List(items)) => {
            each(items, path, |value| matches!(value, Value::Text(_)), "a string")
        }
        (Kind::Ports | Kind::PortOrPorts, Value::List(items)) => each(
            items,
            path,
            |value| matches!(value, Value::Text(_) | Value::Number(_)),
            "a number or a string",
        ),
        (Kind::Mounts, Value::List(items)) => each(
            items,
            path,
            |value| matches!(value, Value::Text(_) | Value::Object(_)),
            "a string or an object",
        ),
        (Kind::TextMap, Value::Object(members)) => members
            .iter()
            .find_map(|member| scalar(member, path, |value| matches!(value, Value::Text(_)), "a string")),
        (Kind::NullableTextMap, Value::Object(members)) => members.iter().find_map(|member| {
            scalar(member, path, |value| matches!(value, Value::Text(_) | Value::Null), "a string or null")
        }),
        (Kind::Command, Value::List(items)) => {
            each(items, path, |value| matches!(value, Value::Text(_)), "a string")
        }
        (Kind::Command, Value::Object(members)) => members.iter().find_map(|member| {
            let path = format!("{path}.{}", escaped(&member.key));
            match &member.node.value {
                Value::Object(_) => Some(wrong(&member.node, path, "a string or a list of strings")),
                _ => fault(Kind::TextOrTexts, &member.node, &path),
            }
        }),
        _ => Some(wrong(node, path.into(), kind.words())),
    }
}

fn each(items: &[Node], path: &str, fits: impl Fn(&Value) -> bool, what: &str) -> Option<Wrong> {
    let (index, item) = items.iter().enumerate().find(|(_, item)| !fits(&item.value))?;
    Some(wrong(item, format!("{path}[{index}]"), what))
}

fn scalar(member: &Member, path: &str, fits: impl Fn(&Value) -> bool, what: &str) -> Option<Wrong> {
    let path = format!("{path}.{}", escaped(crate::text::name_only(&member.key).as_ref()));
    (!fits(&member.node.value)).then(|| wrong(&member.node, path, what))
}

fn wrong(node: &Node, path: String, what: &str) -> Wrong {
    let message = format!("here stands {}, where {what} belongs", node.value.kind());
    Wrong { at: node.at, path, message }
}

//! Strict JSON with comments: RFC 8259, `//` and `/* */`, one trailing comma, one byte order mark, and nothing that
//! readers disagree about. A document with any fault is no document: the reference CLI goes on after faults and reads
//! something else than its author wrote (`facts` devcontainer 4).
//!
//! jsonc-parser reads the text; what it lets through and RFC 8259 does not (controls in strings, other blanks) and our
//! own bounds are looked for first, in one pass over the text.

use crate::{limits, source::Position};
use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;
use jsonc_parser::{
    CollectOptions, CommentCollectionStrategy, ParseOptions,
    ast::{self, ObjectPropName},
    common::Ranged,
    parse_to_ast,
};

/// Why a text is no document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Where.
    pub(crate) at: Position,
    /// What kind.
    pub(crate) kind: FaultKind,
    /// One sentence about it, without any of the text.
    pub(crate) message: String,
}

/// What kind of fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// It breaks the grammar.
    Syntax,
    /// It has more bytes, depth or values than are read.
    Bounds,
}

/// A value with its place.
#[derive(Clone)]
pub(crate) struct Node {
    /// Its first character.
    pub(crate) at: Position,
    /// What it is.
    pub(crate) value: Value,
}

/// What a value is.
#[derive(Clone)]
pub(crate) enum Value {
    /// null
    Null,
    /// true or false
    Bool(bool),
    /// A number as written.
    Number(String),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// An object; doubled keys are all there, in their order.
    Object(Vec<Member>),
}

/// A member of an object.
#[derive(Clone)]
pub(crate) struct Member {
    /// The key.
    pub(crate) key: String,
    /// Where the key stands.
    pub(crate) at: Position,
    /// The value.
    pub(crate) node: Node,
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // It may hold values of variables.
        write!(f, "Node({}:{} {})", self.at.line, self.at.column, self.value.kind())
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())
    }
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Member({}:{})", self.at.line, self.at.column)
    }
}

impl Value {
    /// What it is, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "true or false",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

const STRICT: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// The document's root, which is an object.
pub(crate) fn read(text: &str) -> Result<Vec<Member>, Fault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.len() > limits::DEVCONTAINER_BYTES {
        let message = format!("The file has at most {} bytes.", limits::DEVCONTAINER_BYTES);
        return Err(Fault { at: Position::START, kind: FaultKind::Bounds, message });
    }
    scan(text)?;
    let collect = CollectOptions { comments: CommentCollectionStrategy::Off, tokens: false };
    let places = Places::of(text);
    let parsed = parse_to_ast(text, &collect, &STRICT).map_err(|error| Fault {
        at: places.at(error.range().start),
        kind: FaultKind::Syntax,
        message: format!("{}.", error.kind()),
    })?;
    let root =
        parsed.value.ok_or_else(|| syntax(Position::START, "The file holds one object; it is empty"))?;
    let at = places.at(root.start());
    match convert(&root, &places).value {
        Value::Object(members) => Ok(members),
        other => Err(syntax(at, &format!("The file holds one object, not {}", other.kind()))),
    }
}

fn syntax(at: Position, message: &str) -> Fault {
    Fault { at, kind: FaultKind::Syntax, message: format!("{message}.") }
}

/// What jsonc-parser lets through, and depth and number of values, before anything is built.
fn scan(text: &str) -> Result<(), Fault> {
    let (mut depth, mut values) = (0_usize, 0_usize);
    let mut at = Position::START;
    let mut state = State::Between;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match state {
            State::Text if c < ' ' => {
                return Err(syntax(at, "A string has no control characters; write \\n, \\t or \\u…"));
            }
            State::Text if c == '\\' => state = State::Escape,
            State::Text if c == '"' => state = State::Between,
            State::Escape => state = State::Text,
            State::Line if c == '\n' => state = State::Between,
            State::Block if c == '*' && chars.peek() == Some(&'/') => state = State::BlockEnd,
            State::BlockEnd => state = State::Between,
            State::Between => match c {
                '"' => {
                    values = values.saturating_add(1);
                    state = State::Text;
                }
                '/' if chars.peek() == Some(&'/') => state = State::Line,
                '/' if chars.peek() == Some(&'*') => state = State::BlockStart,
                '[' | '{' => {
                    depth = depth.saturating_add(1);
                    values = values.saturating_add(1);
                }
                ']' | '}' => depth = depth.saturating_sub(1),
                ',' => values = values.saturating_add(1),
                c if c.is_whitespace() && !matches!(c, ' ' | '\t' | '\r' | '\n') => {
                    return Err(syntax(
                        at,
                        "Between values stand blanks, tabs and line ends; this is another character",
                    ));
                }
                _ => {}
            },
            State::BlockStart => state = State::Block,
            State::Text | State::Line | State::Block => {}
        }
        if depth > limits::JSON_DEPTH || values > limits::JSON_VALUES {
            let message = format!(
                "The file nests at most {} deep and has at most {} values.",
                limits::JSON_DEPTH,
                limits::JSON_VALUES
            );
            return Err(Fault { at, kind: FaultKind::Bounds, message });
        }
        at = if c == '\n' {
            Position { line: at.line.saturating_add(1), column: 1 }
        } else {
            Position { column: at.column.saturating_add(1), ..at }
        };
    }
    Ok(())
}

/// Where a scan is.
#[derive(Clone, Copy)]
enum State {
    Between,
    Text,
    Escape,
    Line,
    BlockStart,
    Block,
    BlockEnd,
}

/// Byte offsets as lines and columns.
struct Places<'t> {
    text: &'t str,
    lines: Vec<usize>,
}

impl<'t> Places<'t> {
    fn of(text: &'t str) -> Self {
        let starts = text.match_indices('\n').map(|(at, _)| at.saturating_add(1));
        Self { text, lines: core::iter::once(0).chain(starts).collect() }
    }

    fn at(&self, offset: usize) -> Position {
        let line = self.lines.partition_point(|start| *start <= offset);
        let start = self.lines.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let column = self.text.get(start..offset).map_or(0, |before| before.chars().count());
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Position { line: number(line.max(1)), column: number(column).saturating_add(1) }
    }
}

fn convert(value: &ast::Value<'_>, places: &Places<'_>) -> Node {
    let at = places.at(value.start());
    let value = match value {
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::BooleanLit(flag) => Value::Bool(flag.value),
        ast::Value::NumberLit(number) => Value::Number(number.value.to_owned()),
        ast::Value::StringLit(text) => Value::Text(text.value.to_string()),
        ast::Value::Array(list) => {
            Value::List(list.elements.iter().map(|element| convert(element, places)).collect())
        }
        ast::Value::Object(object) => {
            let member = |property: &ast::ObjectProp<'_>| {
                let key = match &property.name {
                    ObjectPropName::String(text) => text.value.to_string(),
                    ObjectPropName::Word(word) => word.value.to_owned(),
                };
                let at = places.at(property.name.start());
                Member { key, at, node: convert(&property.value, places) }
            };
            Value::Object(object.properties.iter().map(member).collect())
        }
    };
    Node { at, value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<String> {
        read(text).unwrap().into_iter().map(|member| member.key).collect()
    }

    #[test]
    fn what_people_write_is_read() {
        for text in [
            "{\"a\": 1}",
            "\u{feff}{\"a\": 1}",
            "// c\r\n{ /* x /* y */ \"a\": [1, 2,], }\r\n// end",
            "{\"a\": \"\u{1f40b} \\ud83d\\ude00 \\u0041 \\/ // no comment\"}",
            "{\"a\": -0.5e+10}",
        ] {
            assert_eq!(keys(text), ["a"], "{text}");
        }
        assert_eq!(keys("{\"a\":1,\"a\":2,\"__proto__\":{}}"), ["a", "a", "__proto__"]);
    }

    #[test]
    fn every_fault_ends_the_reading() {
        let faults = [
            "",
            "  ",
            "// x",
            "null",
            "[]",
            "1",
            "{",
            "{} {}",
            "{} x",
            "{\"a\":1 \"b\":2}",
            "{\"a\":,\"b\":2}",
            "{\"a\":1,,}",
            "{,}",
            "{\"a\" 1}",
            "{'a':1}",
            "{a:1}",
            "{\"a\":01}",
            "{\"a\":0x1}",
            "{\"a\":+1}",
            "{\"a\":.5}",
            "{\"a\":1.}",
            "{\"a\":NaN}",
            "{\"a\":Infinity}",
            "{\"a\":\"\t\"}",
            "{\"a\":\"\n\"}",
            "{\"a\":\"\u{1}\"}",
            "{\"a\":\"\\q\"}",
            "{\"a\":\"\\u12\"}",
            "{\"a\":\"\\ud800\"}",
            "{\u{a0}}",
            "{\u{2028}}",
            "{\u{c}}",
            "# c\n{}",
            "{/* x",
            "{\"a\":\"x",
            "\u{feff}\u{feff}{}",
            "{\"a\":tru}",
        ];
        for text in faults {
            assert_eq!(read(text).unwrap_err().kind, FaultKind::Syntax, "{text:?}");
        }
    }

    #[test]
    fn depth_and_number_of_values_are_bounded() {
        let nested = |n: usize| format!("{{\"a\":{}{}}}", "[".repeat(n), "]".repeat(n));
        assert!(read(&nested(limits::JSON_DEPTH - 1)).is_ok());
        assert_eq!(read(&nested(limits::JSON_DEPTH)).unwrap_err().kind, FaultKind::Bounds);
        for open in ["[", "{\"a\":", "[{\"a\":"] {
            assert_eq!(read(&open.repeat(100_000)).unwrap_err().kind, FaultKind::Bounds, "{open}");
        }
        let many = format!("{{\"a\":[{}]}}", "1,".repeat(limits::JSON_VALUES));
        assert_eq!(read(&many).unwrap_err().kind, FaultKind::Bounds);
        let large = format!("{{\"a\":\"{}\"}}", "x".repeat(limits::DEVCONTAINER_BYTES));
        assert_eq!(read(&large).unwrap_err().kind, FaultKind::Bounds);
    }

    #[test]
    fn places_count_lines_and_characters() {
        let members = read("{\n  \"ä\": \"\u{1f40b}\", \"b\": [\n    true ]}").unwrap();
        let place = |at: Position| (at.line, at.column);
        assert_eq!(place(members[0].at), (2, 3));
        assert_eq!(place(members[1].at), (2, 13));
        assert!(matches!(&members[1].node.value, Value::List(list) if place(list[0].at) == (3, 5)));
        let fault = read("{\n \"a\": 1,\n \"b\": x}").unwrap_err();
        assert_eq!(place(fault.at), (3, 7), "{}", fault.message);
    }

    #[test]
    fn nothing_of_the_text_is_in_debug_or_faults() {
        let members = read("{\"a\": \"hunter2\"}").unwrap();
        assert!(!format!("{members:?}").contains("hunter2"));
        for text in
            ["{\"a\": \"hunter2\\q\"}", "{\"a\": hunter2}", "{\"a\": \"\\uhunter2\"}", "{\"a\": \"hunter2"]
        {
            assert!(!format!("{:?}", read(text).unwrap_err()).contains("hunt"), "{text}");
        }
    }
}

//! YAML 1.2 text into a tree of nodes with positions, bounded before and while it is read.
//!
//! The only file that names the YAML crate. It takes the whole text and gives one tree, or every
//! structural fault: broken syntax, a doubled key anywhere, a `%YAML` directive, a second document,
//! too many aliases, too much depth. Aliases are never expanded, scalars keep their source text.

use crate::{
    diagnostic::Code,
    limits,
    source::Position,
    text::{quoted_name, utf16_len},
};
use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};
use serde_yaml::granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle, Span};

/// A node of the document.
#[derive(Debug)]
pub(super) struct Node {
    /// What it is.
    pub(super) kind: NodeKind,
    /// Where it begins.
    pub(super) at: Position,
    /// Whether it carries a tag.
    pub(super) tagged: bool,
    /// Whether it carries an anchor.
    pub(super) anchored: bool,
}

/// The kinds of nodes.
#[derive(Debug)]
pub(super) enum NodeKind {
    /// A scalar; `plain` when it was written without quotes and not as a block.
    Scalar {
        /// The text, escapes of quoted scalars resolved.
        text: String,
        /// Whether it was written plain.
        plain: bool,
        /// Whether a comment that does not look like one cut the value (`a #b`).
        cut: bool,
    },
    /// A sequence.
    Sequence(Vec<Node>),
    /// A mapping, in order.
    Mapping(Vec<(Node, Node)>),
    /// A reference to an anchor.
    Alias,
}

/// A structural fault.
#[derive(Debug)]
pub(super) struct Fault {
    /// Which rule.
    pub(super) code: Code,
    /// Where.
    pub(super) at: Position,
    /// One sentence without any value.
    pub(super) message: String,
}

impl Fault {
    fn new(code: Code, at: Position, message: impl Into<String>) -> Self {
        Self { code, at, message: message.into() }
    }
}

/// Reads one document. `Ok(None)` is a text without any node.
pub(super) fn read(text: &str) -> Result<Option<Node>, Vec<Fault>> {
    if text.len() > limits::ORCA_YAML_BYTES {
        let message = format!("A file of this kind has at most {} bytes.", limits::ORCA_YAML_BYTES);
        return Err(Vec::from([Fault::new(Code::YamlTooLarge, Position::START, message)]));
    }
    if utf16_len(text) > limits::ORCA_YAML_UTF16_UNITS {
        let message =
            format!("A file of this kind has at most {} UTF-16 code units.", limits::ORCA_YAML_UTF16_UNITS);
        return Err(Vec::from([Fault::new(Code::YamlTooLarge, Position::START, message)]));
    }
    let mut builder = Builder { text, ..Builder::default() };
    builder.run();
    if builder.faults.is_empty() { Ok(builder.root) } else { Err(builder.faults) }
}

/// A collection that is not closed yet.
#[derive(Debug)]
struct Open {
    node: Node,
    anchor: usize,
    weight: usize,
    key: Option<Node>,
    keys: BTreeSet<String>,
}

/// What is known of an anchor: how often it was used, and how many aliases one use stands for.
#[derive(Debug, Default)]
struct Anchor {
    uses: usize,
    weight: usize,
}

#[derive(Debug, Default)]
struct Builder<'t> {
    text: &'t str,
    open: Vec<Open>,
    root: Option<Node>,
    faults: Vec<Fault>,
    anchors: BTreeMap<usize, Anchor>,
    documents: usize,
}

impl<'t> Builder<'t> {
    fn run(&mut self) {
        let mut options = Options::default();
        options.flow_nesting_limit = limits::YAML_DEPTH;
        options.block_nesting_limit = limits::YAML_DEPTH;
        options.set_emit_comments(false);
        let text = self.text;
        for next in Parser::new_from_str_with_options(text, options) {
            match next {
                Ok((event, span)) => {
                    if !self.event(event, &span) {
                        return;
                    }
                }
                Err(error) => {
                    let at = position(error.marker().line(), error.marker().col());
                    self.faults.push(syntax_fault(error.kind(), at));
                    return;
                }
            }
        }
    }

    /// Takes one event; false when nothing after it can be trusted.
    fn event(&mut self, event: Event<'t>, span: &Span) -> bool {
        let at = position(span.start.line(), span.start.col());
        match event {
            Event::DocumentStart(_, version) => return self.document(version.is_some(), at),
            Event::Scalar(text, style, anchor, tag) => {
                let plain = matches!(style, ScalarStyle::Plain);
                let cut = plain && self.cut_by_comment(span);
                let kind = NodeKind::Scalar { text: text.into_owned(), plain, cut };
                let node = Node { kind, at, tagged: tag.is_some(), anchored: anchor != 0 };
                return self.close(node, anchor, 1);
            }
            Event::Alias(id) => return self.alias(id, at),
            Event::SequenceStart(_, anchor, tag) => {
                self.open(NodeKind::Sequence(Vec::new()), at, anchor, tag.is_some());
            }
            Event::MappingStart(_, anchor, tag) => {
                self.open(NodeKind::Mapping(Vec::new()), at, anchor, tag.is_some());
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(done) = self.open.pop() {
                    return self.close(done.node, done.anchor, done.weight);
                }
            }
            _ => {}
        }
        true
    }

    fn document(&mut self, directive: bool, at: Position) -> bool {
        self.documents = self.documents.saturating_add(1);
        if directive {
            let message = "The file is YAML 1.2 without a %YAML directive; remove the directive.";
            self.faults.push(Fault::new(Code::YamlUnsupportedConstruct, at, message));
            return false;
        }
        if self.documents > 1 {
            let message = "The file holds one document; remove the second one.";
            self.faults.push(Fault::new(Code::YamlUnsupportedConstruct, at, message));
            return false;
        }
        true
    }

    fn open(&mut self, kind: NodeKind, at: Position, anchor: usize, tagged: bool) {
        let node = Node { kind, at, tagged, anchored: anchor != 0 };
        self.open.push(Open { node, anchor, weight: 0, key: None, keys: BTreeSet::new() });
    }

    /// Orca's parser allows each anchor a hundred uses, nested ones multiplied; so do we, without expanding.
    fn alias(&mut self, id: usize, at: Position) -> bool {
        let Some(anchor) = self.anchors.get_mut(&id) else {
            let message = "An alias refers to an anchor that is complete before it.";
            self.faults.push(Fault::new(Code::YamlUnsupportedConstruct, at, message));
            return false;
        };
        anchor.uses = anchor.uses.saturating_add(1);
        let weight = anchor.uses.saturating_mul(anchor.weight);
        if weight > limits::YAML_ALIASES {
            let message =
                format!("The aliases of one anchor stand for at most {} nodes.", limits::YAML_ALIASES);
            self.faults.push(Fault::new(Code::YamlUnsupportedConstruct, at, message));
            return false;
        }
        self.close(Node { kind: NodeKind::Alias, at, tagged: false, anchored: false }, 0, weight)
    }

    /// A node is complete: it goes into the collection around it, or is the root.
    fn close(&mut self, node: Node, anchor: usize, weight: usize) -> bool {
        if anchor != 0 {
            self.anchors.insert(anchor, Anchor { uses: 0, weight: weight.max(1) });
        }
        let Some(parent) = self.open.last_mut() else {
            self.root = Some(node);
            return true;
        };
        parent.weight = parent.weight.max(weight);
        match &mut parent.node.kind {
            NodeKind::Sequence(items) => items.push(node),
            NodeKind::Mapping(pairs) => match parent.key.take() {
                Some(key) => pairs.push((key, node)),
                None => {
                    // The key would be the text of its anchor; a doubled or a known key could hide behind it.
                    if matches!(node.kind, NodeKind::Alias) {
                        let message = "A key is written out; an alias could hide which key it is.";
                        self.faults.push(Fault::new(Code::YamlUnsupportedConstruct, node.at, message));
                        return false;
                    }
                    if let NodeKind::Scalar { text, .. } = &node.kind
                        && !parent.keys.insert(text.clone())
                    {
                        let message = format!(
                            "Each key stands once in its mapping; {} stands twice.",
                            quoted_name(text)
                        );
                        self.faults.push(Fault::new(Code::YamlDuplicateKey, node.at, message));
                        if self.faults.len() >= limits::YAML_FAULTS {
                            return false;
                        }
                    }
                    parent.key = Some(node);
                }
            },
            NodeKind::Scalar { .. } | NodeKind::Alias => {}
        }
        true
    }

    /// Whether ` #x` follows a plain scalar: a comment to YAML, probably part of the value to its writer.
    fn cut_by_comment(&self, span: &Span) -> bool {
        let rest = span.end.byte_offset().and_then(|end| self.text.get(end..)).unwrap_or("");
        // Only the blanks are looked at, never the rest of the line: that would be quadratic in its length.
        let Some(comment) = rest.trim_start_matches([' ', '\t']).strip_prefix('#') else { return false };
        comment.chars().next().is_some_and(|c| !c.is_whitespace() && c != '#')
    }
}

/// Our position of the parser's line (from 1) and column (from 0).
fn position(line: usize, column: usize) -> Position {
    let to_u32 = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Position { line: to_u32(line).max(1), column: to_u32(column).saturating_add(1) }
}

/// The parser's error in our words. Its own text can quote the file, so only its kind is used.
fn syntax_fault(kind: &ErrorKind, at: Position) -> Fault {
    let message = match kind {
        ErrorKind::RecursionLimitExceeded => {
            let message = format!("Collections nest at most {} deep.", limits::YAML_DEPTH);
            return Fault::new(Code::YamlTooDeep, at, message);
        }
        ErrorKind::UnsupportedYamlMajorVersion => {
            let message = "The file is YAML 1.2 without a %YAML directive; remove the directive.";
            return Fault::new(Code::YamlUnsupportedConstruct, at, message);
        }
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInPlainScalar => "YAML is indented with blanks; this line uses a tab.",
        ErrorKind::UnknownAnchor => {
            "An alias refers to an anchor; put text that begins with \"*\" in quotes."
        }
        ErrorKind::UnclosedQuotedScalar => "A quoted text ends with the quote it began with.",
        ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::UnexpectedEofFlowSequence
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::MismatchedFlowCollectionEnd { .. } => {
            "Every bracket and brace is closed by its own kind."
        }
        ErrorKind::UnexpectedCharacter { .. } => {
            "A plain text does not begin with this character; put it in quotes."
        }
        ErrorKind::UnknownQuotedScalarEscape => {
            "A text in double quotes knows YAML's escapes only; use single quotes to keep a backslash."
        }
        ErrorKind::MappingValueNotAllowed
        | ErrorKind::MappingKeyNotAllowed
        | ErrorKind::InvalidColonPlacement
        | ErrorKind::InvalidMappingValueWhitespace => {
            "A plain text holds no colon followed by a blank; put it in quotes."
        }
        _ => "The file is well-formed YAML 1.2; it breaks the syntax here.",
    };
    Fault::new(Code::YamlSyntax, at, message)
}

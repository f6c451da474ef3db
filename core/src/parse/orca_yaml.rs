//! orca.yaml: the whole real file is read, our block `worktree.container` strictly.
//!
//! It takes the text and gives the block with positions, plus every fault of form. Sibling keys, known to
//! Orca or not, are none of our business; inside the block an unknown key, a wrong type, a null, a tag, an
//! anchor, an alias or `<<` is refused (design 5).

use super::{
    Located,
    yaml::{self, Node, NodeKind},
};
use crate::{
    diagnostic::{Code, Findings},
    input::RepositoryFile,
    limits,
    secret::Sensitive,
    source::{Position, Source},
    text::{nearest, quoted, quoted_name},
    words::Origin,
};
use alloc::{format, string::String, vec::Vec};

/// The keys of the block, as the request that started this project lists them.
pub(crate) const CONTAINER_KEYS: &[&str] =
    &["mode", "image", "template", "network", "env", "forwardHostEnv", "copyIgnoredFiles"];

/// What the block says. Words are not judged yet.
#[derive(Debug, Default)]
pub(crate) struct ContainerBlock {
    /// `mode`.
    pub(crate) mode: Option<Located<String>>,
    /// `image`.
    pub(crate) image: Option<Located<String>>,
    /// `template`.
    pub(crate) template: Option<Located<String>>,
    /// `network`.
    pub(crate) network: Option<Located<String>>,
    /// `env`: names (at their keys) and values.
    pub(crate) env: Vec<(Located<String>, Sensitive)>,
    /// `forwardHostEnv`.
    pub(crate) forward_host_env: Vec<Located<String>>,
    /// `copyIgnoredFiles`.
    pub(crate) copy_ignored_files: Option<Located<bool>>,
}

/// Reads the block. `None` when the file has none, or when a fault was found (then `findings` refuses).
pub(crate) fn read(file: &RepositoryFile, findings: &mut Findings) -> Option<ContainerBlock> {
    let mut reader = Reader { file: &file.path, findings };
    let root = match yaml::read(file.text.reveal()) {
        Ok(root) => root?,
        Err(faults) => {
            for fault in faults {
                reader.refuse(fault.code, fault.at, "", fault.message);
            }
            return None;
        }
    };
    let container = reader.find_container(&root)?;
    Some(reader.block(container))
}

struct Reader<'a> {
    file: &'a str,
    findings: &'a mut Findings,
}

impl Reader<'_> {
    fn refuse(&mut self, code: Code, at: Position, path: &str, message: impl Into<String>) {
        let mut source = Source::file(Origin::OrcaYaml, self.file, at);
        if !path.is_empty() {
            source = source.at_path(path);
        }
        self.findings.refuse(code, source, message);
    }

    fn notice(&mut self, code: Code, at: Position, path: &str, message: impl Into<String>) {
        self.findings.notice(code, Source::file(Origin::OrcaYaml, self.file, at).at_path(path), message);
    }

    /// Our block. Orca drops a sibling of a wrong type alone; an alias could hide our block, so it is refused.
    fn find_container<'n>(&mut self, root: &'n Node) -> Option<&'n Node> {
        let NodeKind::Mapping(pairs) = &root.kind else {
            // `---` alone, `~` and `null` are an empty file.
            if matches!(&root.kind, NodeKind::Scalar { text, plain: true, .. } if is_null(text)) {
                return None;
            }
            self.refuse(Code::WrongType, root.at, "", "An orca.yaml is a mapping of keys to values.");
            return None;
        };
        let worktree = value_of(pairs, "worktree")?;
        match &worktree.kind {
            NodeKind::Mapping(pairs) => value_of(pairs, "container"),
            NodeKind::Alias => {
                let message = "The key \"worktree\" is written out; an alias could hide its container block.";
                self.refuse(Code::YamlUnsupportedConstruct, worktree.at, "worktree", message);
                None
            }
            _ => None,
        }
    }

    fn block(&mut self, container: &Node) -> ContainerBlock {
        let mut block = ContainerBlock::default();
        let path = "worktree.container";
        let Some(pairs) = self.mapping(container, path) else { return block };
        for (key, value) in pairs {
            let Some(name) = self.key(key, path) else { continue };
            let path = format!("{path}.{name}");
            match name {
                "mode" => block.mode = self.text(value, &path),
                "image" => block.image = self.text(value, &path),
                "template" => block.template = self.text(value, &path),
                "network" => block.network = self.text(value, &path),
                "env" => block.env = self.env(value, &path),
                "forwardHostEnv" => block.forward_host_env = self.names(value, &path),
                "copyIgnoredFiles" => block.copy_ignored_files = self.boolean(value, &path),
                _ => self.unknown(name, key.at),
            }
        }
        block
    }

    fn unknown(&mut self, name: &str, at: Position) {
        let path = format!("worktree.container.{}", crate::text::escaped(name));
        let message = format!(
            "The block \"worktree.container\" has the keys {}; {} is not one of them.",
            CONTAINER_KEYS.join(", "),
            quoted(name)
        );
        self.refuse(Code::UnknownKey, at, &path, message);
        if let Some(meant) = nearest(name, CONTAINER_KEYS.iter().copied()) {
            self.findings.help(format!("Did you mean \"{meant}\"?"));
        } else {
            self.findings.help("Remove the key; what only a person may decide goes into settings.");
        }
    }

    /// Refuses what no value of the block may carry.
    fn plain_node(&mut self, node: &Node, path: &str) -> bool {
        let construct = match (&node.kind, node.tagged, node.anchored) {
            (NodeKind::Alias, ..) => "an alias",
            (_, true, _) => "a tag",
            (_, _, true) => "an anchor",
            _ => return true,
        };
        let message = format!("Values of \"worktree.container\" are written out; this one uses {construct}.");
        self.refuse(Code::YamlUnsupportedConstruct, node.at, path, message);
        false
    }

    fn key<'n>(&mut self, key: &'n Node, path: &str) -> Option<&'n str> {
        if !self.plain_node(key, path) {
            return None;
        }
        match &key.kind {
            NodeKind::Scalar { text, plain: true, .. } if text == "<<" => {
                let message = "Keys of \"worktree.container\" are written out; \"<<\" merges nothing here.";
                self.refuse(Code::YamlUnsupportedConstruct, key.at, path, message);
                None
            }
            NodeKind::Scalar { text, .. } => Some(text),
            _ => {
                self.refuse(Code::WrongType, key.at, path, "A key is a text.");
                None
            }
        }
    }

    fn mapping<'n>(&mut self, node: &'n Node, path: &str) -> Option<&'n [(Node, Node)]> {
        if !self.plain_node(node, path) {
            return None;
        }
        match &node.kind {
            NodeKind::Mapping(pairs) if pairs.len() > limits::COLLECTION_ENTRIES => {
                self.too_many(node.at, path);
                None
            }
            NodeKind::Mapping(pairs) => Some(pairs),
            _ => {
                self.wrong_type(node, path, "a mapping of keys to values", "write {} for none");
                None
            }
        }
    }

    fn text(&mut self, node: &Node, path: &str) -> Option<Located<String>> {
        if !self.plain_node(node, path) {
            return None;
        }
        match &node.kind {
            NodeKind::Scalar { text, plain, .. } if !(*plain && is_null(text)) => {
                Some(Located { value: text.clone(), at: node.at })
            }
            _ => {
                self.wrong_type(node, path, "a text", "remove the key to leave it open");
                None
            }
        }
    }

    fn boolean(&mut self, node: &Node, path: &str) -> Option<Located<bool>> {
        if !self.plain_node(node, path) {
            return None;
        }
        let value = match &node.kind {
            NodeKind::Scalar { text, plain: true, .. } => match text.as_str() {
                "true" | "True" | "TRUE" => Some(true),
                "false" | "False" | "FALSE" => Some(false),
                _ => None,
            },
            _ => None,
        };
        if value.is_none() {
            self.wrong_type(node, path, "true or false", "remove the key to leave it open");
        }
        value.map(|value| Located { value, at: node.at })
    }

    /// Values keep their source text (`1.10`, `0042`, dates); null and collections are refused.
    fn env(&mut self, node: &Node, path: &str) -> Vec<(Located<String>, Sensitive)> {
        let mut env = Vec::new();
        for (key, value) in self.mapping(node, path).unwrap_or_default() {
            let Some(name) = self.key(key, path) else { continue };
            let path = format!("{path}.{}", crate::text::escaped_name(name));
            if !self.plain_node(value, &path) {
                continue;
            }
            match &value.kind {
                NodeKind::Scalar { text, plain, .. } if *plain && is_null(text) => {
                    let message =
                        format!("The variable {} has a text as its value, not null.", quoted_name(name));
                    self.refuse(Code::YamlNullValue, value.at, &path, message);
                    self.findings.help("Write \"\" for an empty value, or \"null\" in quotes for the word.");
                }
                NodeKind::Scalar { text, cut, .. } => {
                    if *cut {
                        let message = format!(
                            "YAML reads what follows the blank and \"#\" after the value of {} as a comment.",
                            quoted_name(name)
                        );
                        self.notice(Code::YamlCommentCutsValue, value.at, &path, message);
                        self.findings.help("Put the value in quotes if the \"#\" belongs to it.");
                    }
                    let name = Located { value: name.into(), at: key.at };
                    env.push((name, Sensitive::new(text)));
                }
                _ => self.wrong_type(value, &path, "a text", "write it on one line, in quotes"),
            }
        }
        env
    }

    fn names(&mut self, node: &Node, path: &str) -> Vec<Located<String>> {
        if !self.plain_node(node, path) {
            return Vec::new();
        }
        match &node.kind {
            NodeKind::Sequence(items) if items.len() > limits::COLLECTION_ENTRIES => {
                self.too_many(node.at, path);
                Vec::new()
            }
            NodeKind::Sequence(items) => items
                .iter()
                .enumerate()
                .filter_map(|(index, item)| self.text(item, &format!("{path}[{index}]")))
                .collect(),
            _ => {
                self.wrong_type(node, path, "a list of names", "write [] for none");
                Vec::new()
            }
        }
    }

    fn too_many(&mut self, at: Position, path: &str) {
        let message = format!("{} has at most {} entries.", quoted(path), limits::COLLECTION_ENTRIES);
        self.refuse(Code::TooManyEntries, at, path, message);
    }

    fn wrong_type(&mut self, node: &Node, path: &str, wanted: &str, help: &str) {
        let null = matches!(&node.kind, NodeKind::Scalar { text, plain: true, .. } if is_null(text));
        let code = if null { Code::YamlNullValue } else { Code::WrongType };
        self.refuse(code, node.at, path, format!("The key {} takes {wanted}.", quoted(path)));
        if null {
            self.findings.help(format!("It is null here; {help}."));
        }
    }
}

/// The spellings of null in YAML 1.2's core schema.
fn is_null(text: &str) -> bool {
    matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

fn value_of<'n>(pairs: &'n [(Node, Node)], name: &str) -> Option<&'n Node> {
    pairs.iter().find_map(|(key, value)| match &key.kind {
        NodeKind::Scalar { text, .. } if text == name => Some(value),
        _ => None,
    })
}

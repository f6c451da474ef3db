//! Lifecycle commands: inside the container, as its user, without secrets, once a person allows them.

use super::{Scene, is_nothing};
use crate::{
    diagnostic::{Code, Severity},
    limits,
    parse::jsonc::{Node, Value},
    policy::devcontainer::{keys::Key, substitution},
    source::Position,
    text::{escaped, quoted},
};
use alloc::{format, string::String, vec::Vec};

impl Scene<'_> {
    pub(super) fn command(&mut self, key: &'static Key, at: Position, node: &Node) {
        if is_nothing(node) {
            return;
        }
        let commands: Vec<(String, &Node)> = match &node.value {
            Value::Object(members) => members
                .iter()
                .map(|member| (format!("{}.{}", key.name, escaped(&member.key)), &member.node))
                .collect(),
            _ => [(key.name.into(), node)].into(),
        };
        let runnable = commands.into_iter().filter(|(path, node)| self.is_runnable(path, node)).count();
        if runnable > 0 && !self.runs_commands {
            let message = format!(
                "The repository wants {} to run inside the container; it does not until you approve.",
                quoted(key.name)
            );
            self.asks(at, key.name, message);
        }
    }

    /// One command: a string for a shell, or words for none.
    fn is_runnable(&mut self, path: &str, node: &Node) -> bool {
        let words = super::texts(node);
        let first_is_program = words.first().is_some_and(|(_, word)| !word.is_empty());
        let fits = |word: &str| word.len() <= limits::COMMAND_BYTES && !word.contains('\0');
        if !first_is_program || !words.iter().all(|(_, word)| fits(word)) {
            let message = format!(
                "A command has a program, at most {} bytes a word and no NUL; {} is left out.",
                limits::COMMAND_BYTES,
                quoted(path)
            );
            self.tell(Severity::Dropped, Code::CommandInvalid, node.at, path, message, None);
            return false;
        }
        for (at, word) in words {
            if let Err(why) = substitution::text(word, self.places()) {
                self.unresolved(at, path, why);
                return false;
            }
        }
        true
    }
}

//! Lifecycle commands: inside the container, as its user, without secrets, once a person allows them.

use super::{
    Scene, is_nothing,
    wanted::{WantedCommand, Words},
};
use crate::{
    diagnostic::{Code, Findings, Severity},
    input::PlanRequest,
    limits,
    parse::jsonc::{Node, Value},
    policy::{
        approval::Subject,
        devcontainer::{document::read, substitution},
        maximum,
    },
    source::Position,
    text::{escaped, quoted, quoted_whole},
    words::{Endpoint, EngineKind, LifecycleStage},
};
use alloc::{format, string::String, vec::Vec};
use serde_json::{Value as Json, json};

impl Scene<'_, '_> {
    pub(super) fn command(&mut self, stage: LifecycleStage, at: Position, node: &Node) {
        if is_nothing(node) {
            return;
        }
        let property = stage.as_str();
        let commands: Vec<(Option<String>, &Node)> = match &node.value {
            Value::Object(members) => {
                members.iter().map(|member| (Some(member.key.clone()), &member.node)).collect()
            }
            _ => [(None, node)].into(),
        };
        let mut runnable = Vec::new();
        for (name, node) in commands {
            let path =
                name.as_ref().map_or_else(|| property.into(), |name| format!("{property}.{}", escaped(name)));
            runnable.extend(self.runnable(&path, node).map(|words| (name, words)));
        }
        if runnable.is_empty() {
            return;
        }
        if !maximum::repository_commands_are_within(self.request) {
            return self.beyond_maximum(at, property, "commands of a repository");
        }
        if script(&runnable).len() > limits::LIFECYCLE_SCRIPT_BYTES {
            let message =
                format!("The commands of {} are too long together; they are left out.", quoted(property));
            return self.tell(Severity::Dropped, Code::CommandInvalid, at, property, message, None);
        }
        if !carries_values(self.request, self.engine) {
            let message = format!(
                "The text of {} would go where every value could be read or is kept; it is left out.",
                quoted(property)
            );
            return self.tell(Severity::Dropped, Code::CommandInvalid, at, property, message, None);
        }
        let wanted = WantedCommand { stage, commands: runnable, source: self.document.source(at, property) };
        if self.grants.runs_commands || self.ask_command(&wanted, at) {
            self.wanted.commands.push(wanted);
        }
    }

    fn ask_command(&mut self, wanted: &WantedCommand, at: Position) -> bool {
        let property = wanted.stage.as_str();
        let message = format!(
            "The repository wants {} to run inside the container: {}; it does not until you approve.",
            quoted(property),
            wanted.told()
        );
        let command = wanted.shown();
        self.ask(&Subject::LifecycleCommand { stage: wanted.stage, command: &command }, at, property, message)
    }

    /// The order of the specification, whatever that of the file: commands by their stages, remoteEnv over containerEnv.
    pub(super) fn in_order(&mut self) {
        self.wanted.commands.sort_by_key(|command| command.stage);
        self.wanted.variables.sort_by_key(|variable| {
            variable.source.path.as_deref().is_some_and(|path| path.starts_with("remoteEnv"))
        });
    }

    /// One command: a string for a shell, or words for none.
    fn runnable(&mut self, path: &str, node: &Node) -> Option<Words> {
        let words = super::texts(node);
        let first_is_program = words.first().is_some_and(|(_, word)| !word.is_empty());
        let fits = |word: &str| !word.contains('\0');
        let bytes: usize = words.iter().map(|(_, word)| word.len()).sum();
        if !first_is_program || bytes > limits::COMMAND_BYTES || !words.iter().all(|(_, word)| fits(word)) {
            let message = format!(
                "A command has a program, at most {} bytes and no NUL; {} is left out.",
                limits::COMMAND_BYTES,
                quoted(path)
            );
            self.tell(Severity::Dropped, Code::CommandInvalid, node.at, path, message, None);
            return None;
        }
        let mut resolved = Vec::new();
        for (at, word) in words {
            match substitution::text(word, self.places()) {
                Ok(word) => resolved.push(word),
                Err(why) => {
                    self.unresolved(at, path, why);
                    return None;
                }
            }
        }
        match &node.value {
            Value::Text(_) => resolved.pop().map(Words::Shell),
            _ => Some(Words::Program(resolved)),
        }
    }
}

/// Whether the engine is reached so that a launch can hand values over: the text of a command is one.
fn carries_values(request: &PlanRequest, engine: EngineKind) -> bool {
    let endpoint = request.engine.as_ref().map_or(Endpoint::Local, |facts| facts.endpoint);
    match (engine, endpoint) {
        (_, Endpoint::Plain) => false,
        (EngineKind::Docker, _) | (EngineKind::Podman, Endpoint::Local) => true,
        (EngineKind::Podman, _) => false,
    }
}

/// The text of a stage's commands in the request's file, whether anybody allowed them or not.
pub(crate) fn lifecycle_script(
    request: &PlanRequest,
    engine: EngineKind,
    stage: LifecycleStage,
) -> Option<String> {
    let document = read(request.devcontainer.as_ref()?, &mut Findings::default())?;
    let mut scene = Scene::read(request, &document, engine);
    scene.settle_commands();
    scene.wanted.commands.iter().find(|command| command.stage == stage).map(WantedCommand::script)
}

impl WantedCommand {
    /// As it stands in the file, for the person who decides.
    fn shown(&self) -> Json {
        match self.commands.as_slice() {
            [(None, words)] => words.shown(),
            named => named
                .iter()
                .map(|(name, words)| (name.clone().unwrap_or_default(), words.shown()))
                .collect::<serde_json::Map<String, Json>>()
                .into(),
        }
    }

    /// Whole, in words: a person agrees to nothing that is not shown.
    fn told(&self) -> String {
        let told = self.commands.iter().map(|(name, words)| match name {
            Some(name) => format!("{} as {}", words.told(), quoted(name)),
            None => words.told(),
        });
        told.collect::<Vec<_>>().join(", and ")
    }

    /// All of it as one text for a shell; commands with names run side by side, and all of them end before it does.
    pub(crate) fn script(&self) -> String {
        script(&self.commands)
    }
}

impl Words {
    fn shown(&self) -> Json {
        match self {
            Self::Shell(text) => json!(text),
            Self::Program(words) => json!(words),
        }
    }

    fn told(&self) -> String {
        match self {
            Self::Shell(text) => quoted_whole(text),
            Self::Program(words) => words.iter().map(|word| quoted_whole(word)).collect::<Vec<_>>().join(" "),
        }
    }

    fn script(&self) -> String {
        match self {
            Self::Shell(text) => text.clone(),
            Self::Program(words) => {
                words.iter().map(|word| single_quoted(word)).collect::<Vec<_>>().join(" ")
            }
        }
    }
}

fn script(commands: &[(Option<String>, Words)]) -> String {
    if let [(None, words)] = commands {
        return words.script();
    }
    let mut text = String::new();
    for (index, (_, words)) in commands.iter().enumerate() {
        // Each in a shell of its own, so that none can end or change another.
        text.push_str(&format!("/bin/sh -c {} & ORCA_P{index}=$!\n", single_quoted(&words.script())));
    }
    text.push_str("ORCA_R=0\n");
    for (index, (name, _)) in commands.iter().enumerate() {
        let name = single_quoted(&escaped(name.as_deref().unwrap_or_default()));
        text.push_str(&format!(
            "wait \"$ORCA_P{index}\" || {{ ORCA_R=$?; printf '%s ended with %s\\n' {name} \"$ORCA_R\" >&2; }}\n"
        ));
    }
    text.push_str("exit \"$ORCA_R\"\n");
    text
}

/// One word for a POSIX shell, whatever is in it.
fn single_quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_whole() {
        let words = Words::Program(["echo", "a b", "it's", "$(x)", ""].map(String::from).into());
        assert_eq!(words.script(), r"'echo' 'a b' 'it'\''s' '$(x)' ''");
    }
}

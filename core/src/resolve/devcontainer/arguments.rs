//! runArgs and mounts: read by docker's own grammars, judged, and told flag by flag.

use super::{Scene, texts, variables::Variable};
use crate::{
    diagnostic::{Code, Severity},
    parse::{
        Located,
        jsonc::{Member, Node, Value},
        mount_text::{self, MountText},
    },
    policy::devcontainer::{
        mounts::{self, MountAsk, MountRules},
        run_args::{
            self, RunArgRules,
            ask::{Ask, Asked},
        },
        substitution::{self, Unresolved},
    },
    source::{Position, Source},
};
use alloc::{format, vec::Vec};

impl Scene<'_> {
    /// Both together, since the last mount of a target counts wherever it was said.
    pub(super) fn arguments(&mut self) {
        let mut asked_mounts = self.mounts();
        for asked in self.run_args() {
            let Asked { ask, source } = asked;
            match ask {
                Ask::Mount(mount) => asked_mounts.push((mount, source)),
                Ask::Env { name, value } => {
                    let at = place(&source);
                    self.variable(
                        Variable { name: &name, at, value: Some(value.reveal()), value_at: at },
                        path(&source),
                        false,
                    );
                }
                Ask::Publish(port) => {
                    let message = format!(
                        "The repository wants the port {port} published on 127.0.0.1; it is not until you approve."
                    );
                    self.asks(place(&source), path(&source), message);
                }
                // Within their caps by their types; what they come to is settled with the plan.
                Ask::ShmSize(_)
                | Ask::Ulimit { .. }
                | Ask::Hostname(_)
                | Ask::User(_)
                | Ask::Network(_)
                | Ask::Memory(_)
                | Ask::NanoCpus(_)
                | Ask::Pids(_)
                | Ask::Platform(_)
                | Ask::Label { .. } => {}
            }
        }
        mounts::gathered(asked_mounts, |(mount, source)| (mount, source), self.findings);
    }

    fn run_args(&mut self) -> Vec<Asked> {
        let document = self.document;
        let Some(node) = document.get("runArgs") else { return Vec::new() };
        let mut tokens = Vec::new();
        for (at, token) in texts(node) {
            match substitution::text(token, self.places()) {
                Ok(value) => tokens.push(Located { value, at }),
                // A list without one of its tokens is another list.
                Err(why) => {
                    self.unresolved(at, "runArgs", why);
                    return Vec::new();
                }
            }
        }
        let rules = RunArgRules { engine: self.engine, file: document.file, mounts: MOUNTS };
        run_args::judge(&tokens, rules, self.findings)
    }

    fn mounts(&mut self) -> Vec<(MountAsk, Source)> {
        let document = self.document;
        let Some(Value::List(items)) = document.get("mounts").map(|node| &node.value) else {
            return Vec::new();
        };
        let mut asked = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let path = format!("mounts[{index}]");
            let read = match self.mount(item) {
                Ok(read) => read,
                Err(why) => {
                    self.unresolved(item.at, &path, why);
                    continue;
                }
            };
            let source = document.source(item.at, &path);
            match read {
                Err(fault) if fault.wrong_type => {
                    let message = format!("A mount is a string or an object of strings; {}.", fault.why);
                    self.tell(Severity::Refused, Code::WrongType, item.at, &path, message, None);
                }
                read => {
                    let judged = mounts::judge(read, MOUNTS, &source, self.findings);
                    asked.extend(judged.map(|mount| (mount, source)));
                }
            }
        }
        asked
    }

    fn mount(&self, item: &Node) -> Result<Result<MountText, mount_text::MountFault>, Unresolved> {
        let resolved = |text: &str| substitution::text(text, self.places());
        Ok(match &item.value {
            Value::Text(text) => mount_text::record(&resolved(text)?),
            Value::Object(members) => {
                let members: Result<Vec<Member>, Unresolved> = members
                    .iter()
                    .map(|member| {
                        let mut member = member.clone();
                        if let Value::Text(text) = &mut member.node.value {
                            *text = resolved(text)?;
                        }
                        Ok(member)
                    })
                    .collect();
                mount_text::object(&members?)
            }
            _ => mount_text::object(&[]),
        })
    }
}

/// `/workspace` is protected in any case; there is no other worktree yet.
const MOUNTS: MountRules<'_> = MountRules { workspace: &[] };

fn place(source: &Source) -> Position {
    Position { line: source.line.unwrap_or(1), column: source.column.unwrap_or(1) }
}

fn path(source: &Source) -> &str {
    source.path.as_deref().unwrap_or("runArgs")
}

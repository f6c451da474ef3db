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
            ask::{Ask, Asked, UlimitName},
        },
        substitution::{self, Unresolved},
    },
    secret::Sensitive,
    source::Source,
    text::quoted_name,
};
use alloc::{format, string::String, vec::Vec};

/// What flags ask for that may wait for an approval.
#[derive(Debug, Default)]
pub(super) struct OfFlags {
    /// Name, value and place of each variable.
    pub(super) variables: Vec<(String, Sensitive, Source)>,
    /// Each port with its place.
    pub(super) ports: Vec<(u16, Source)>,
}

impl Scene<'_, '_> {
    /// Both together, since the last mount of a target counts wherever it was said.
    pub(super) fn arguments(&mut self) {
        let mut asked_mounts = self.mounts();
        for asked in self.run_args() {
            let Asked { ask, source } = asked;
            let limits = &mut self.wanted.limits;
            match ask {
                Ask::Mount(mount) => asked_mounts.push((mount, source)),
                Ask::Env { name, value } => self.flags.variables.push((name, value, source)),
                Ask::Publish(port) => self.flags.ports.push((port, source)),
                Ask::ShmSize(bytes) => limits.shm_bytes = Some(bytes),
                Ask::Memory(bytes) => limits.memory_bytes = Some(bytes),
                Ask::NanoCpus(nano) => limits.nano_cpus = Some(nano),
                Ask::Pids(pids) => limits.pids = Some(pids),
                Ask::Ulimit { name: UlimitName::Nofile, soft, hard } => limits.nofile = Some((soft, hard)),
                // Every container's is 0.
                Ask::Ulimit { name: UlimitName::Core, .. } => {}
                Ask::Hostname(name) => self.wanted.hostname = Some(name),
                Ask::User(user) => self.wanted.user = Some((user, source)),
                Ask::Network(network) => self.wanted.network = Some((network, source)),
                Ask::Platform(platform) => self.wanted.platform = Some(platform),
                Ask::Label { name, .. } => {
                    let message = format!(
                        "The label {} is left out: programs on the host, such as proxies and updaters, act on the labels of containers.",
                        quoted_name(&name)
                    );
                    self.findings.notice(Code::RunArgIgnored, source, message);
                }
            }
        }
        let kept = mounts::gathered(asked_mounts, |(mount, source)| (mount, source), &mut self.findings);
        self.wanted.mounts = kept.into_iter().map(|(mount, _)| mount).collect();
    }

    /// What waits for a person like the properties that say the same.
    pub(super) fn settle_flags(&mut self) {
        let OfFlags { variables, ports } = core::mem::take(&mut self.flags);
        for (name, value, source) in variables {
            let at = source.position();
            let variable = Variable { name: &name, at, value: Some(value.reveal()), value_at: at };
            self.variable(variable, path(&source), false);
        }
        for (port, source) in ports {
            self.ask_ports(&[port].into(), source.position(), path(&source));
        }
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
        run_args::judge(&tokens, rules, &mut self.findings)
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
                    let judged = mounts::judge(read, MOUNTS, &source, &mut self.findings);
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

fn path(source: &Source) -> &str {
    source.path.as_deref().unwrap_or("runArgs")
}

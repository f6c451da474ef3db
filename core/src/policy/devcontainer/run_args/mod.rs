//! The verdicts on `runArgs`: flags into typed asks, everything else left out with its reason.
//!
//! Of a flag that engines take once, the last one counts, whatever an earlier one said; what cannot be allowed is told
//! wherever it stands. No finding holds a value of a variable, or a token that might be one.

pub(crate) mod ask;
mod limits_of;
mod names;
mod network;
mod security;
#[cfg(test)]
mod tests;

use super::{
    engine_flags::{AskKind, Treatment},
    mounts::{self, MountRules},
};
use crate::{
    diagnostic::{Code, Diagnostic, Findings, Severity},
    parse::{
        Located, mount_text,
        run_args::{FlagValue, ReadFlag, Stop, read},
    },
    source::{Position, Source},
    text::quoted,
    words::{EngineKind, Origin},
};
use alloc::{format, string::String, vec::Vec};
use ask::{Ask, Asked};
pub(crate) use names::is_platform;

/// What tokens are judged by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunArgRules<'a> {
    /// The engine of the plan.
    pub(crate) engine: EngineKind,
    /// The file, as the caller named it.
    pub(crate) file: &'a str,
    /// For mounts.
    pub(crate) mounts: MountRules<'a>,
}

/// Judges all tokens. Where one is no whole flag, nothing is asked for and one finding says which token it is.
pub(crate) fn judge(
    tokens: &[Located<String>],
    rules: RunArgRules<'_>,
    findings: &mut Findings,
) -> Vec<Asked> {
    let read = read(tokens);
    if let Some(stop) = read.stop {
        findings.push(unreadable(&stop, rules.file));
        return Vec::new();
    }
    let mut asked: Vec<(AskKind, Asked)> = Vec::new();
    for flag in &read.flags {
        let mut judge = Judge { flag, rules, source: place(rules.file, flag.index, flag.at), findings };
        let Some(kind) = judge.kind() else { continue };
        let asks = judge.asks(kind);
        // The last one counts, also where it is left out.
        asked.retain(|(other, earlier)| *other != kind || !replaces(flag, kind, &earlier.ask));
        let source = place(rules.file, flag.index, flag.at);
        asked.extend(asks.into_iter().map(|ask| (kind, Asked { ask, source: source.clone() })));
    }
    asked.into_iter().map(|(_, asked)| asked).collect()
}

/// Whether a flag takes the place of an earlier one of its kind; limits and labels do so for each name.
fn replaces(flag: &ReadFlag, kind: AskKind, earlier: &Ask) -> bool {
    match kind {
        AskKind::Env | AskKind::Mount | AskKind::Volume | AskKind::Tmpfs | AskKind::Publish => false,
        AskKind::Ulimit | AskKind::Label => {
            let FlagValue::Value(value) = &flag.said else { return false };
            let text = value.reveal();
            let said = text.split_once('=').map_or(text, |(name, _)| name);
            match earlier {
                Ask::Ulimit { name, .. } => name.as_str() == said,
                Ask::Label { name, .. } => name == said,
                _ => false,
            }
        }
        _ => true,
    }
}

fn place(file: &str, index: usize, at: Position) -> Source {
    Source::file(Origin::Devcontainer, file, at).at_path(format!("runArgs[{index}]"))
}

fn unreadable(stop: &Stop, file: &str) -> Diagnostic {
    let message = format!(
        "All of \"runArgs\" is left out because its token at index {} is not a whole flag: {}.",
        stop.index, stop.why
    );
    let source = place(file, stop.index, stop.at);
    Diagnostic::new(Severity::Dropped, Code::RunArgsUnreadable, message, source)
        .help("Write every flag as \"--flag=value\", and switches as \"--flag\".")
}

/// The judgement of one flag.
struct Judge<'f> {
    flag: &'f ReadFlag,
    rules: RunArgRules<'f>,
    source: Source,
    findings: &'f mut Findings,
}

impl Judge<'_> {
    /// The kind of a flag whose value decides; everything else is told here.
    fn kind(&mut self) -> Option<AskKind> {
        if !self.flag.flag.is_known_to(self.rules.engine) {
            self.note(&format!("{} does not have it", self.rules.engine));
            return None;
        }
        match self.flag.flag.treatment {
            Treatment::Ask(kind) => Some(kind),
            Treatment::Given => {
                if matches!(self.flag.said, FlagValue::Switch(false)) {
                    self.note("every container has it");
                }
                None
            }
            Treatment::Ignored(why) => {
                self.note(why);
                None
            }
            // What is switched off is not asked for.
            Treatment::Never(..) if matches!(self.flag.said, FlagValue::Switch(false)) => None,
            Treatment::Never(why, standard) => {
                self.drop(why, standard);
                None
            }
        }
    }

    fn asks(&mut self, kind: AskKind) -> Vec<Ask> {
        let said = self.flag.said.clone();
        let FlagValue::Value(held) = &said else { return Vec::new() };
        let text = held.reveal();
        let one = match kind {
            AskKind::Env => self.env(text),
            AskKind::CapAdd => self.cap_add(text),
            AskKind::SecurityOpt => self.security_opt(text),
            AskKind::Namespace(standard) => self.namespace(text, standard),
            AskKind::Mount => self.mount(mount_text::record(text)),
            AskKind::Volume => self.mount(mount_text::volume(text)),
            AskKind::Tmpfs => self.mount(mount_text::tmpfs(text)),
            AskKind::ShmSize => self.shm_size(text),
            AskKind::Ulimit => self.ulimit(text),
            AskKind::Memory => self.memory(text),
            AskKind::Cpus => self.cpus(text),
            AskKind::Pids => self.pids(text),
            AskKind::Hostname => self.hostname(text),
            AskKind::User => self.user(text),
            AskKind::Platform => self.platform(text),
            AskKind::Label => self.label(text),
            AskKind::Network => self.network(text),
            AskKind::Publish => return self.publish(text),
        };
        one.into_iter().collect()
    }

    fn mount(&mut self, read: Result<mount_text::MountText, mount_text::MountFault>) -> Option<Ask> {
        mounts::judge(read, self.rules.mounts, &self.source, self.findings).map(Ask::Mount)
    }

    /// The flag's name for messages.
    fn name(&self) -> String {
        quoted(&format!("--{}", self.flag.flag.long))
    }

    /// It is left out, and nothing is lost.
    fn note(&mut self, why: &str) {
        let message = format!("The flag {} is left out: {why}.", self.name());
        self.findings.notice(Code::RunArgIgnored, self.source.clone(), message);
    }

    /// It is left out.
    fn drop(&mut self, why: &str, standard: Option<&str>) {
        let message = format!("The flag {} is left out: {why}.", self.name());
        let finding = Diagnostic::new(Severity::Dropped, Code::RunArgDropped, message, self.source.clone());
        self.findings.push(match standard {
            Some(standard) => finding.standard(standard),
            None => finding,
        });
    }

    /// It gets less than it asks for.
    fn cap(&mut self, what: &str) {
        let message = format!("The flag {} gets less than it asks for: {what}.", self.name());
        self.findings.notice(Code::DevcontainerCapped, self.source.clone(), message);
    }

    fn dropped(&mut self, why: impl AsRef<str>) -> Option<Ask> {
        self.drop(why.as_ref(), None);
        None
    }
}

//! Which mounts a repository gets: volumes of its own and memory, nothing that is or may be a path of the host.

pub(crate) mod sources;
pub(crate) mod targets;
#[cfg(test)]
mod tests;

use crate::{
    canonical::sha256_hex,
    diagnostic::{Code, Diagnostic, Findings, Severity},
    limits,
    parse::{
        mount_text::{MountFault, MountText},
        quantity,
    },
    source::Source,
    text::quoted_name,
};
use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

/// A mount that a repository may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MountAsk {
    /// What is mounted.
    pub(crate) kind: MountAskKind,
    /// Absolute and normal path in the container, apart from every protected one.
    pub(crate) target: String,
    /// Whether it cannot be written.
    pub(crate) read_only: bool,
}

/// What is mounted. There is no variant for a path of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MountAskKind {
    /// A volume under the repository's own name for it; [`MountAsk::volume_name`] gives the name on the engine.
    Named(String),
    /// A volume without a name; it gets one all the same, so that it is found and removed.
    Anonymous,
    /// Memory, within its cap.
    Tmpfs {
        /// Its size.
        size_bytes: u64,
    },
}

impl MountAsk {
    /// The volume's name on the engine, in the namespace of a workspace; `None` for memory.
    ///
    /// `<workspace volume>-v-<begin of the asked name>-<hash>`: at most 60 bytes behind the prefix, legal on both
    /// engines, and different for different asked names. An asked name and a target never meet in one hash.
    pub(crate) fn volume_name(&self, workspace_volume: &str) -> Option<String> {
        let (hashed, shown) = match &self.kind {
            MountAskKind::Named(name) => (format!("name\0{name}"), name.as_str()),
            MountAskKind::Anonymous => (format!("target\0{}", self.target), "anonymous"),
            MountAskKind::Tmpfs { .. } => return None,
        };
        let legal = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let shown: String = shown.chars().filter(legal).take(24).collect();
        let hash = sha256_hex(hashed.as_bytes());
        Some(format!("{workspace_volume}-v-{shown}-{}", hash.get(..32).unwrap_or(&hash)))
    }
}

/// What a target is held against beside the fixed list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MountRules<'a> {
    /// Further folders of ours: where the worktree lies, when that is not below `/workspace`.
    pub(crate) workspace: &'a [&'a str],
}

/// Judges one mount; what is not a mount by form is told as left out.
pub(crate) fn judge(
    read: Result<MountText, MountFault>,
    rules: MountRules<'_>,
    source: &Source,
    findings: &mut Findings,
) -> Option<MountAsk> {
    let judged = read.map_err(|fault| Verdict::dropped(format!("it cannot be read: {}", fault.why)));
    match judged.and_then(|text| ask_of(&text, rules, source, findings)) {
        Ok(ask) => Some(ask),
        Err(verdict) => {
            findings.push(verdict.finding(source));
            None
        }
    }
}

/// Why a mount is left out.
pub(crate) struct Verdict {
    why: String,
    standard: Option<&'static str>,
    needless: bool,
}

impl Verdict {
    fn dropped(why: impl Into<String>) -> Self {
        Self { why: why.into(), standard: None, needless: false }
    }

    fn needless(why: impl Into<String>) -> Self {
        Self { needless: true, ..Self::dropped(why) }
    }

    fn standard(mut self, standard: &'static str) -> Self {
        self.standard = Some(standard);
        self
    }

    fn finding(self, source: &Source) -> Diagnostic {
        let (severity, code) = if self.needless {
            (Severity::Notice, Code::MountIgnored)
        } else {
            (Severity::Dropped, Code::MountDropped)
        };
        let message = format!("This mount is left out: {}.", self.why);
        let finding = Diagnostic::new(severity, code, message, source.clone());
        match self.standard {
            Some(standard) => finding.standard(standard),
            None => finding,
        }
    }
}

fn ask_of(
    text: &MountText,
    rules: MountRules<'_>,
    source: &Source,
    findings: &mut Findings,
) -> Result<MountAsk, Verdict> {
    let kind = text.kind.as_deref().unwrap_or("volume");
    // What the host would lose is told before what is wrong in the container.
    match kind {
        "volume" => sources::options(&text.others)?,
        "tmpfs" => {}
        "bind" => return Err(sources::host_path(text.source.as_deref())),
        other => return Err(sources::other_kind(other)),
    }
    let named = match (kind, text.source.as_deref()) {
        ("tmpfs", Some(_)) => return Err(Verdict::dropped("a tmpfs has no source")),
        (_, Some(name)) if !name.is_empty() => Some(sources::volume_name(name)?),
        _ => None,
    };
    let target = targets::judge(text.target.as_deref(), kind == "tmpfs", rules)?;
    note_options(text, kind, source, findings);
    let kind = match (kind, named) {
        ("tmpfs", _) => MountAskKind::Tmpfs { size_bytes: tmpfs_size(text, &target, source, findings)? },
        (_, Some(name)) => MountAskKind::Named(name.to_string()),
        (_, None) => MountAskKind::Anonymous,
    };
    Ok(MountAsk { kind, target, read_only: text.read_only })
}

/// Options and keys that change nothing here.
const NEEDLESS: &[&str] = &[
    // How docker fills a new volume, how macOS caches, how SELinux labels: the engine's own way is right.
    "volume-nocopy",
    "nocopy",
    "copy",
    "consistency",
    "cached",
    "delegated",
    "consistent",
    "z",
    "rw",
    // What every tmpfs and volume of ours has.
    "nosuid",
    "nodev",
];

fn note_options(text: &MountText, kind: &str, source: &Source, findings: &mut Findings) {
    let other = |option: &&String| !NEEDLESS.contains(&option.as_str());
    for option in text.others.iter().filter(other) {
        let message = format!("The option {} of this {kind} is left out.", quoted_name(option));
        findings.notice(Code::MountIgnored, source.clone(), message);
    }
}

fn tmpfs_size(
    text: &MountText,
    target: &str,
    source: &Source,
    findings: &mut Findings,
) -> Result<u64, Verdict> {
    let Some(written) = text.size.as_deref() else { return Ok(limits::TMPFS_BYTES) };
    let Some(asked) = quantity::bytes(written) else {
        return Err(Verdict::dropped("the size of a tmpfs is a number of bytes, perhaps with k, m or g"));
    };
    // 0 means without a limit.
    if asked == 0 || asked > limits::MEMORY_FILES_BYTES {
        let most = limits::MEMORY_FILES_BYTES;
        let message =
            format!("The tmpfs at {} gets {most} bytes, the most a repository gets.", quoted_name(target));
        findings.notice(Code::DevcontainerCapped, source.clone(), message);
        return Ok(most);
    }
    Ok(asked)
}

/// One mount a target, the last one, as the reference CLI does it; and no more than a workspace needs.
pub(crate) fn gathered<T>(
    asks: Vec<T>,
    mount: impl Fn(&T) -> (&MountAsk, &Source),
    findings: &mut Findings,
) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for ask in asks {
        let (new, source) = mount(&ask);
        if let Some(same) = kept.iter().position(|other| mount(other).0.target == new.target) {
            let message =
                format!("A later mount takes the place of this one at {}.", quoted_name(&new.target));
            if let Some(earlier) = kept.get(same) {
                findings.notice(Code::MountIgnored, mount(earlier).1.clone(), message);
            }
            kept.remove(same);
        } else if kept.len() >= limits::REPOSITORY_MOUNTS {
            let why = format!("a repository gets at most {} mounts", limits::REPOSITORY_MOUNTS);
            findings.push(Verdict::dropped(why).finding(source));
            continue;
        }
        kept.push(ask);
    }
    kept
}

//! For the project's own tests and fuzz targets: how `runArgs` and mounts are read and judged.

use crate::{
    diagnostic::{Diagnostic, Findings},
    parse::{
        Located,
        jsonc::{self, Value},
        mount_text,
        run_args::{FlagValue, StopKind, read},
    },
    policy::devcontainer::{
        mounts::{self, MountAsk, MountAskKind, MountRules},
        run_args::{
            RunArgRules,
            ask::{Ask, Asked},
            judge,
        },
    },
    source::{Position, Source},
    words::{EngineKind, Origin},
};
use alloc::{format, string::String, vec::Vec};

/// How tokens were read.
#[derive(Debug)]
pub struct Reading {
    /// Long name and value of each flag, switches as `true` and `false`, and whether the engine knows the flag.
    pub flags: Vec<(&'static str, String, bool)>,
    /// Index of the token that ended the reading, and what it is.
    pub stop: Option<(usize, &'static str)>,
}

/// Reads `runArgs`. What it gives holds values of variables.
pub fn reading(engine: EngineKind, tokens: &[String]) -> Reading {
    let read = read(&located(tokens));
    let flag = |read: &crate::parse::run_args::ReadFlag| {
        let said = match &read.said {
            FlagValue::Switch(on) => format!("{on}"),
            FlagValue::Value(value) => value.reveal().into(),
        };
        (read.flag.long, said, read.flag.is_known_to(engine))
    };
    let kind = |kind| match kind {
        StopKind::Positional => "positional",
        StopKind::EndOfFlags => "end_of_flags",
        StopKind::Unknown => "unknown",
        StopKind::Dangling => "dangling",
        StopKind::BadSwitch => "bad_switch",
        StopKind::Malformed => "malformed",
        StopKind::Ambiguous => "ambiguous",
        StopKind::Bounds => "bounds",
    };
    let stop = read.stop.as_ref().map(|stop| (stop.index, kind(stop.kind)));
    Reading { flags: read.flags.iter().map(flag).collect(), stop }
}

/// What came of a judgement.
#[derive(Debug, PartialEq)]
pub struct Judged {
    /// What is asked for, written anew from its type, one token each. It holds values of variables.
    pub asks: Vec<String>,
    /// What was found.
    pub findings: Vec<Diagnostic>,
    /// The names that volumes get.
    pub volumes: Vec<String>,
}

/// Judges `runArgs`. What it gives holds values of variables.
pub fn run_args(engine: EngineKind, tokens: &[String]) -> Judged {
    let mut findings = Findings::default();
    let rules = RunArgRules { engine, file: "devcontainer.json", mounts: MountRules { workspace: &[] } };
    let asked = judge(&located(tokens), rules, &mut findings);
    let (mounts, others): (Vec<Asked>, Vec<Asked>) =
        asked.into_iter().partition(|asked| matches!(asked.ask, Ask::Mount(_)));
    let mounts = mounts
        .into_iter()
        .filter_map(|asked| match asked.ask {
            Ask::Mount(mount) => Some((mount, asked.source)),
            _ => None,
        })
        .collect();
    let mounts = mounts::gathered(mounts, |(mount, source)| (mount, source), &mut findings);
    let asks = others.iter().map(|asked| token(&asked.ask));
    let asks = asks.chain(mounts.iter().map(|(mount, _)| mount_token(mount))).collect();
    let volumes = mounts.iter().filter_map(|(mount, _)| mount.volume_name("orca-ws-k")).collect();
    Judged { asks, findings: findings.into_sorted(), volumes }
}

/// Judges the list "mounts" of a devcontainer.json; `None` where the text has none.
pub fn mounts(text: &str) -> Option<Judged> {
    let members = jsonc::read(text).ok()?;
    let list = members.into_iter().find(|member| member.key == "mounts")?.node;
    let Value::List(nodes) = list.value else { return None };
    let mut findings = Findings::default();
    let mut asks = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        let source = Source::file(Origin::Devcontainer, "devcontainer.json", node.at)
            .at_path(format!("mounts[{index}]"));
        let read = match &node.value {
            Value::Text(text) => mount_text::record(text),
            Value::Object(members) => mount_text::object(members),
            _ => continue,
        };
        let rules = MountRules { workspace: &[] };
        if let Some(ask) = mounts::judge(read, rules, &source, &mut findings) {
            asks.push((ask, source));
        }
    }
    let kept = mounts::gathered(asks, |(mount, source)| (mount, source), &mut findings);
    let asks = kept.iter().map(|(mount, _)| mount_token(mount)).collect();
    let volumes = kept.iter().filter_map(|(mount, _)| mount.volume_name("orca-ws-k")).collect();
    Some(Judged { asks, findings: findings.into_sorted(), volumes })
}

fn located(tokens: &[String]) -> Vec<Located<String>> {
    tokens.iter().map(|token| Located { value: token.clone(), at: Position::START }).collect()
}

fn token(ask: &Ask) -> String {
    match ask {
        Ask::Env { name, value } => format!("--env={name}={}", value.reveal()),
        Ask::Mount(mount) => mount_token(mount),
        Ask::ShmSize(bytes) => format!("--shm-size={bytes}"),
        Ask::Ulimit { name, soft, hard } => format!("--ulimit={}={soft}:{hard}", name.as_str()),
        Ask::Hostname(name) => format!("--hostname={name}"),
        Ask::User(user) => format!("--user={user}"),
        Ask::Publish(port) => format!("--publish={port}"),
        Ask::Network(network) => format!("--network={network}"),
        Ask::Memory(bytes) => format!("--memory={bytes}"),
        Ask::NanoCpus(nano) => {
            let (whole, part) = (nano / 1_000_000_000, nano % 1_000_000_000);
            format!("--cpus={whole}.{part:09}")
        }
        Ask::Pids(pids) => format!("--pids-limit={pids}"),
        Ask::Platform(platform) => format!("--platform={platform}"),
        Ask::Label { name, value } => format!("--label={name}={value}"),
    }
}

fn mount_token(mount: &MountAsk) -> String {
    let target = format!("target={}", mount.target).replace('"', "\"\"");
    let source = match &mount.kind {
        MountAskKind::Named(name) => format!("type=volume,source={name}"),
        MountAskKind::Anonymous => "type=volume".into(),
        MountAskKind::Tmpfs { size_bytes } => format!("type=tmpfs,tmpfs-size={size_bytes}"),
    };
    format!("--mount={source},\"{target}\",readonly={}", mount.read_only)
}

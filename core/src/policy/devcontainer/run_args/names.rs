//! Flags with names: variables, labels, users, host names, platforms.

use super::{Judge, ask::Ask};
use crate::{
    parse::env_name::{ENV_NAME_RULE, is_env_name},
    secret::Sensitive,
    text::{is_deceptive, quoted_name},
};
use alloc::format;

/// Beginnings of labels by which Orca, engines and their tools recognise what is theirs.
const RESERVED_LABELS: &[&str] = &[
    "orca.",
    "devcontainer.",
    "com.docker.",
    "io.docker.",
    "org.dockerproject.",
    "io.podman.",
    "io.containers.",
    "io.buildah.",
    "io.kubernetes.",
];

impl Judge<'_> {
    pub(super) fn env(&mut self, text: &str) -> Option<Ask> {
        let Some((name, value)) = text.split_once('=') else {
            // No part of it is shown: it may be a value that lost its name.
            return self.dropped(
                "without \"=\" and a value it would copy a variable of the host; those are asked for in orca.yaml under \"forwardHostEnv\"",
            );
        };
        if !is_env_name(name) {
            let lower = ENV_NAME_RULE.strip_prefix('A').unwrap_or(ENV_NAME_RULE);
            return self.dropped(format!("{} is no name; a{lower}", quoted_name(name)));
        }
        Some(Ask::Env { name: name.into(), value: Sensitive::new(value) })
    }

    pub(super) fn label(&mut self, text: &str) -> Option<Ask> {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        let legal = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'/');
        let first = name.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
        if !first || name.len() > 128 || !name.bytes().all(legal) {
            return self.dropped("a label's name has letters, digits and . - _ / only, begins with one of the first two, and is at most 128 long");
        }
        let lower = name.to_ascii_lowercase();
        let reserved =
            |begin: &&&str| lower.starts_with(**begin) || Some(lower.as_str()) == begin.strip_suffix('.');
        if let Some(begin) = RESERVED_LABELS.iter().find(reserved) {
            let why = format!(
                "labels that begin with {} are how their owner finds what is its own",
                quoted_name(begin)
            );
            return self.dropped(why);
        }
        if value.len() > 4096 || value.contains(is_deceptive) {
            return self.dropped(format!(
                "the value of the label {} is too long or has control characters",
                quoted_name(name)
            ));
        }
        Some(Ask::Label { name: name.into(), value: value.into() })
    }

    /// RFC 1123: labels of letters, digits and inner hyphens, joined by dots.
    pub(super) fn hostname(&mut self, text: &str) -> Option<Ask> {
        let label = |label: &str| {
            let inner = label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
            (1..=63).contains(&label.len()) && inner && !label.starts_with('-') && !label.ends_with('-')
        };
        if text.len() <= 64 && text.split('.').all(label) {
            return Some(Ask::Hostname(text.into()));
        }
        self.dropped("a host name has letters, digits and inner hyphens, in parts of at most 63 joined by dots, 64 in all")
    }

    pub(super) fn user(&mut self, text: &str) -> Option<Ask> {
        let (user, group) = match text.split_once(':') {
            Some((user, group)) => (user, Some(group)),
            None => (text, None),
        };
        if is_root(user) || group.is_some_and(is_root) {
            self.drop(
                "the processes of a container never run as root, nor in root's group",
                Some("CIS Docker 5.24"),
            );
            return None;
        }
        if is_account(user) && group.is_none_or(is_account) {
            return Some(Ask::User(text.into()));
        }
        self.dropped("a user is a name or a number from 1 to 2147483647, perhaps with a colon and a group")
    }

    pub(super) fn platform(&mut self, text: &str) -> Option<Ask> {
        if is_platform(text) {
            return Some(Ask::Platform(text.into()));
        }
        self.dropped("a platform is \"linux/amd64\" or \"linux/arm64\"")
    }
}

/// `linux/amd64` or `linux/arm64`, perhaps with the variant v8.
pub(crate) fn is_platform(text: &str) -> bool {
    let mut parts = text.split('/');
    let known = parts.next() == Some("linux") && matches!(parts.next(), Some("amd64" | "arm64"));
    let variant = parts.next();
    known && parts.next().is_none() && matches!(variant, None | Some("v8"))
}

/// Root by its name or by any spelling of zero that a program could read.
fn is_root(account: &str) -> bool {
    let digits = account.trim_start_matches(['+', '-']);
    account == "root" || (!digits.is_empty() && digits.bytes().all(|b| b == b'0'))
}

fn is_account(account: &str) -> bool {
    let number = || account.parse::<u32>().is_ok_and(|id| (1..=0x7fff_ffff).contains(&id));
    let plain = account.bytes().all(|b| b.is_ascii_digit());
    if plain {
        return !account.starts_with('0') && number();
    }
    let mut bytes = account.bytes();
    let first = bytes.next().is_some_and(|b| b.is_ascii_lowercase() || b == b'_');
    let rest = bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'.' | b'-'));
    first && rest && account.len() <= 32
}

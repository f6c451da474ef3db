//! The three ways to write a mount: docker's CSV record (`--mount`, and the strings of "mounts"), `A:B:options`
//! (`--volume`), and an object of JSON. All give the same document; nothing is judged here but form.
//!
//! The grammar is docker's own, so that no text means something else here than there: a reference tool that splits at
//! commas takes `"type=bind","source=/"` for something harmless.

#[cfg(test)]
mod tests;

use super::{
    jsonc::{Member, Value},
    run_args::parse_bool,
};
use crate::{
    limits,
    text::{escaped_name, is_deceptive, quoted, quoted_name},
};
use alloc::{borrow::ToOwned, format, string::String, vec::Vec};

/// A mount as it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MountText {
    /// The kind, lower case; docker takes a volume where none is said.
    pub(crate) kind: Option<String>,
    /// Volume name or host path.
    pub(crate) source: Option<String>,
    /// Path in the container.
    pub(crate) target: Option<String>,
    /// Whether it cannot be written.
    pub(crate) read_only: bool,
    /// Size of a tmpfs, as written.
    pub(crate) size: Option<String>,
    /// Every other key or option, lower case where docker ignores case.
    pub(crate) others: Vec<String>,
}

/// Why a text is no mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MountFault {
    /// Whether a value has the wrong type (objects only).
    pub(crate) wrong_type: bool,
    /// A clause about it.
    pub(crate) why: String,
}

fn fault<T>(why: impl Into<String>) -> Result<T, MountFault> {
    Err(MountFault { wrong_type: false, why: why.into() })
}

/// Reads a CSV record of `key=value` fields.
pub(crate) fn record(text: &str) -> Result<MountText, MountFault> {
    characters(text)?;
    let mut mount = MountText::default();
    for field in fields(text)? {
        let (key, value) = match field.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (field.as_str(), None),
        };
        if key.trim() != key || value.is_some_and(|value| value.trim() != value) {
            return fault("blanks around a key or value are not allowed");
        }
        let key = key.to_lowercase();
        set(&mut mount, &key, value)?;
    }
    Ok(mount)
}

/// One field of a record.
fn set(mount: &mut MountText, key: &str, value: Option<&str>) -> Result<(), MountFault> {
    if matches!(key, "readonly" | "ro") {
        let word = value.unwrap_or("true");
        let Some(on) = parse_bool(word) else {
            return fault(format!("{} is followed by \"=true\", \"=false\" or nothing", quoted(key)));
        };
        mount.read_only = on;
        return Ok(());
    }
    let switch = matches!(key, "volume-nocopy" | "bind-nonrecursive" | "bind-create-src");
    match (key, value) {
        ("type", Some(value)) => mount.kind = Some(value.to_lowercase()),
        ("source" | "src", Some(value)) => mount.source = Some(value.to_owned()),
        ("target" | "dst" | "destination", Some(value)) => mount.target = Some(value.to_owned()),
        ("tmpfs-size", Some(value)) => mount.size = Some(value.to_owned()),
        (_, Some(_)) => mount.others.push(key.to_owned()),
        (_, None) if switch => mount.others.push(key.to_owned()),
        (_, None) => return fault(format!("{} is not a key with \"=\" and a value", quoted_name(key))),
    }
    Ok(())
}

/// Reads `target`, `source:target` or `source:target:options`.
pub(crate) fn volume(text: &str) -> Result<MountText, MountFault> {
    characters(text)?;
    let parts: Vec<&str> = text.split(':').collect();
    let mut mount = MountText { kind: Some("volume".into()), ..MountText::default() };
    let (source, target, options) = match parts.as_slice() {
        [target] => (None, *target, ""),
        // A drive of Windows has a colon of its own.
        [drive, path, ..] if is_drive(drive, path) => {
            let target = parts.get(2).copied().unwrap_or_default();
            mount.source = Some(format!("{drive}:{path}"));
            mount.target = Some(target.to_owned());
            return Ok(mount);
        }
        [source, target] => (Some(*source), *target, ""),
        [source, target, options] => (Some(*source), *target, *options),
        _ => return fault("it has more than three parts between colons"),
    };
    if source == Some("") || target.is_empty() {
        return fault("a part between colons is empty");
    }
    for option in options.split(',').filter(|option| !option.is_empty()) {
        match option {
            "ro" => mount.read_only = true,
            "rw" => mount.read_only = false,
            other => mount.others.push(other.to_owned()),
        }
    }
    mount.source = source.map(ToOwned::to_owned);
    mount.target = Some(target.to_owned());
    Ok(mount)
}

fn is_drive(drive: &str, path: &str) -> bool {
    drive.len() == 1 && drive.bytes().all(|b| b.is_ascii_alphabetic()) && path.starts_with(['\\', '/'])
}

/// Reads `path` or `path:options` of `--tmpfs`.
pub(crate) fn tmpfs(text: &str) -> Result<MountText, MountFault> {
    characters(text)?;
    let (target, options) = text.split_once(':').unwrap_or((text, ""));
    let mut mount =
        MountText { kind: Some("tmpfs".into()), target: Some(target.to_owned()), ..MountText::default() };
    for option in options.split(',').filter(|option| !option.is_empty()) {
        match option.split_once('=') {
            Some(("size", size)) => mount.size = Some(size.to_owned()),
            Some((key, _)) => mount.others.push(key.to_owned()),
            None if option == "ro" => mount.read_only = true,
            None if option == "rw" => mount.read_only = false,
            None => mount.others.push(option.to_owned()),
        }
    }
    Ok(mount)
}

/// Reads `{"type": …, "source": …, "target": …}`. Of doubled keys the last one counts; every other key is noted.
pub(crate) fn object(members: &[Member]) -> Result<MountText, MountFault> {
    let mut mount = MountText::default();
    for member in members {
        let known = matches!(member.key.as_str(), "type" | "source" | "target");
        match (&member.node.value, known) {
            (Value::Text(text), true) => {
                characters(text)?;
                set(&mut mount, &member.key, Some(text))?;
            }
            (Value::Bool(on), false) if member.key == "readonly" => mount.read_only = *on,
            (_, false) => mount.others.push(member.key.clone()),
            (other, true) => {
                let why = format!("{} is a string, not {}", quoted(&member.key), other.kind());
                return Err(MountFault { wrong_type: true, why });
            }
        }
    }
    Ok(mount)
}

/// What no path and no name in a mount has, and how long one is at most.
fn characters(text: &str) -> Result<(), MountFault> {
    if let Some(c) = text.chars().find(|c| is_deceptive(*c)) {
        return fault(format!("it holds the character \"{}\"", c.escape_unicode()));
    }
    if text.len() > limits::PATH_BYTES {
        return fault(format!("it has more than {} bytes", limits::PATH_BYTES));
    }
    Ok(())
}

/// The fields of one CSV record, by the rules of Go's encoding/csv, which docker reads with.
fn fields(text: &str) -> Result<Vec<String>, MountFault> {
    if text.is_empty() {
        return fault("it is empty");
    }
    let mut all = Vec::new();
    let mut rest = Some(text);
    while let Some(begin) = rest {
        let (field, more) = match begin.strip_prefix('"') {
            Some(inside) => quoted_field(inside)?,
            None => bare_field(begin)?,
        };
        all.push(field);
        rest = more;
    }
    Ok(all)
}

fn bare_field(begin: &str) -> Result<(String, Option<&str>), MountFault> {
    let (field, more) = match begin.split_once(',') {
        Some((field, more)) => (field, Some(more)),
        None => (begin, None),
    };
    if field.contains('"') {
        return fault(format!("a quote stands inside {}", escaped_name(field)));
    }
    Ok((field.to_owned(), more))
}

/// A field behind its opening quote; a doubled quote is one quote.
fn quoted_field(inside: &str) -> Result<(String, Option<&str>), MountFault> {
    let mut field = String::new();
    let mut rest = inside;
    loop {
        let Some((before, after)) = rest.split_once('"') else { return fault("a quote is not closed") };
        field.push_str(before);
        if let Some(more) = after.strip_prefix('"') {
            field.push('"');
            rest = more;
        } else if after.is_empty() {
            return Ok((field, None));
        } else if let Some(more) = after.strip_prefix(',') {
            return Ok((field, Some(more)));
        } else {
            return fault("behind a closing quote stands something else than a comma");
        }
    }
}

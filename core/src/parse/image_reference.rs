//! Image references by the OCI/docker grammar: `[domain/]path[:tag][@digest]`.
//!
//! Judged here so that a fault is found with its character, not deep inside an engine. A reference that
//! passes cannot begin with `-`, hold a blank, a comma, a quote or a control character.

use crate::limits;
use alloc::{format, string::String};

/// A valid image reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImageReference {
    written: String,
    digest: bool,
    full_name: String,
}

impl ImageReference {
    /// Judges a reference. The error is one sentence with the offending character escaped and its offset.
    pub(crate) fn parse(written: &str) -> Result<Self, String> {
        if written.is_empty() {
            return Err("An image reference is not empty.".into());
        }
        if written.len() > limits::IMAGE_REFERENCE_BYTES {
            return Err(format!("An image reference has at most {} bytes.", limits::IMAGE_REFERENCE_BYTES));
        }
        allowed_characters(written)?;
        let (rest, digest) = match written.split_once('@') {
            Some((rest, digest)) => (rest, Some(digest)),
            None => (written, None),
        };
        if let Some(digest) = digest {
            check_digest(digest)?;
        }
        let (name, tag) = split_tag(rest);
        if let Some(tag) = tag {
            check_tag(tag)?;
        }
        let (domain, path) = split_domain(name);
        if let Some(domain) = domain {
            check_domain(domain)?;
        }
        check_path(path)?;
        if name.len() > limits::IMAGE_NAME_BYTES {
            return Err(format!(
                "The name in an image reference has at most {} bytes.",
                limits::IMAGE_NAME_BYTES
            ));
        }
        if domain.is_none() && digest.is_none() && is_id(path, tag) {
            return Err("An image is named, not given by its id.".into());
        }
        let full_name = match domain {
            Some(domain) => format!("{}/{path}", domain.to_ascii_lowercase()),
            None if path.contains('/') => format!("docker.io/{path}"),
            None => format!("docker.io/library/{path}"),
        };
        Ok(Self { written: written.into(), digest: digest.is_some(), full_name })
    }

    /// The reference as it was written.
    pub(crate) fn as_str(&self) -> &str {
        &self.written
    }

    /// Whether it names exactly one image for ever.
    pub(crate) fn is_pinned(&self) -> bool {
        self.digest
    }

    /// Whether the reference lies below a prefix of whole components (`ghcr.io/acme/`, `ghcr.io/acme/base`).
    pub(crate) fn is_below(&self, prefix: &str) -> bool {
        let full_prefix = match prefix.split_once('/') {
            Some((domain, rest)) if is_domain(domain) => format!("{}/{rest}", domain.to_ascii_lowercase()),
            Some(_) => format!("docker.io/{prefix}"),
            None if is_domain(prefix) => prefix.to_ascii_lowercase(),
            None => format!("docker.io/library/{prefix}"),
        };
        match self.full_name.strip_prefix(full_prefix.as_str()) {
            Some("") => true,
            Some(rest) => full_prefix.ends_with('/') || rest.starts_with('/'),
            None => false,
        }
    }
}

/// Whether an engine could take the words for an image's id: hex digits alone, or `sha256:` and hex digits.
fn is_id(path: &str, tag: Option<&str>) -> bool {
    let hex = |text: &str| (12..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit());
    match tag {
        None => hex(path),
        Some(tag) => path == "sha256" && hex(tag),
    }
}

fn allowed_characters(written: &str) -> Result<(), String> {
    let allowed = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '/' | ':' | '@' | '+' | '[' | ']')
    };
    match written.char_indices().find(|(_, c)| !allowed(*c)) {
        None => Ok(()),
        Some((offset, c)) => Err(format!(
            "An image reference holds letters, digits and . - _ / : @ only; the character {} at offset {offset} is another.",
            shown(c)
        )),
    }
}

fn shown(c: char) -> String {
    if c.is_ascii_graphic() { format!("\"{c}\"") } else { format!("\"{}\"", c.escape_unicode()) }
}

fn check_digest(digest: &str) -> Result<(), String> {
    let hex = digest
        .strip_prefix("sha256:")
        .map(|hex| (hex, 64))
        .or(digest.strip_prefix("sha512:").map(|hex| (hex, 128)));
    let good = hex.is_some_and(|(hex, length)| {
        hex.len() == length && hex.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    });
    if good { Ok(()) } else { Err("A digest is \"sha256:\" and 64 lower-case hex digits.".into()) }
}

/// A tag follows the last colon that has no slash behind it.
fn split_tag(rest: &str) -> (&str, Option<&str>) {
    match rest.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
        _ => (rest, None),
    }
}

fn check_tag(tag: &str) -> Result<(), String> {
    let first = tag.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
    let rest = tag.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_'));
    if first && rest && tag.len() <= 128 {
        return Ok(());
    }
    Err("A tag begins with a letter, digit or underscore and has at most 128 of A-Z a-z 0-9 . - _.".into())
}

/// docker's rule: the first component is a domain when it holds a dot or a colon, is `localhost`, or is not lower case.
fn is_domain(component: &str) -> bool {
    component.contains(['.', ':'])
        || component == "localhost"
        || component.bytes().any(|b| b.is_ascii_uppercase())
}

fn split_domain(name: &str) -> (Option<&str>, &str) {
    match name.split_once('/') {
        Some((first, path)) if is_domain(first) => (Some(first), path),
        _ => (None, name),
    }
}

/// Letters, digits, dots and inner hyphens, with an optional port (the `[IPv6]` form as well).
fn check_domain(domain: &str) -> Result<(), String> {
    let (host, port) = match domain.strip_prefix('[') {
        Some(rest) => {
            let Some((address, after)) = rest.split_once(']') else { return Err(DOMAIN_RULE.into()) };
            let good = address.bytes().all(|b| b.is_ascii_hexdigit() || b == b':') && address.contains(':');
            if !good || !(after.is_empty() || after.starts_with(':')) {
                return Err(DOMAIN_RULE.into());
            }
            (None, after.strip_prefix(':'))
        }
        None => match domain.split_once(':') {
            Some((host, port)) => (Some(host), Some(port)),
            None => (Some(domain), None),
        },
    };
    let label = |label: &str| {
        let inner = label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        !label.is_empty() && inner && !label.starts_with('-') && !label.ends_with('-')
    };
    let host_good = host.is_none_or(|host| host.split('.').all(label));
    let port_good =
        port.is_none_or(|port| port.parse::<u16>().is_ok() && port.bytes().all(|b| b.is_ascii_digit()));
    if host_good && port_good { Ok(()) } else { Err(DOMAIN_RULE.into()) }
}

const DOMAIN_RULE: &str =
    "A registry is a host name of letters, digits, dots and inner hyphens, with an optional port.";

fn check_path(path: &str) -> Result<(), String> {
    if let Some((offset, c)) = path.char_indices().find(|(_, c)| c.is_ascii_uppercase()) {
        return Err(format!(
            "The repository in an image reference must be lower case; it has \"{c}\" at offset {offset} of {}.",
            crate::text::quoted(path)
        ));
    }
    if path.split('/').all(component_is_good) {
        return Ok(());
    }
    Err("A repository is lower-case letters and digits, parted by one of . _ __ or hyphens, in components parted by \"/\"."
        .into())
}

/// `[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*`
fn component_is_good(component: &str) -> bool {
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    if !edge(component.chars().next()) || !edge(component.chars().next_back()) {
        return false;
    }
    component
        .split(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        .all(|gap| matches!(gap, "" | "." | "_" | "__") || gap.bytes().all(|b| b == b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_references_are_accepted_unchanged() {
        let digest = format!("alpine@sha256:{}", "a".repeat(64));
        for good in [
            "alpine",
            "alpine:3.20",
            "ghcr.io/acme/base:V1.2-RC",
            "REG.EXAMPLE.COM:5000/a/b",
            "localhost/img:1",
            "localhost:5000/img",
            "a__b/c-d.e",
            "registry.example.com/team--x/app",
            "[::1]:5000/x",
            digest.as_str(),
            "a1.b2",
        ] {
            assert_eq!(ImageReference::parse(good).map(|r| r.written), Ok(good.into()));
        }
    }

    #[test]
    fn broken_references_are_refused_with_the_character_escaped() {
        for bad in [
            "",
            "-v",
            "--privileged",
            "ghcr.io/Acme/Base:1",
            "Alpine",
            "alpine:3.20\r",
            "alpine:3.20 ",
            "alpine:3.20\n--privileged",
            "alpine:3.20\u{200b}",
            "a//b",
            "a/",
            "/a",
            ":tag",
            "a:",
            "a@",
            "a@sha256:abc",
            "a,b",
            "a\"b",
            "a\0b",
            "a___b",
            "a..b",
            ".a",
            "a-",
            "http://a/b",
            "user@host/a",
            "a.b:x/c",
            "-a.b/c",
            "a\u{202e}b",
            "аlpine",
        ] {
            let refused = ImageReference::parse(bad).unwrap_err();
            assert!(!refused.chars().any(crate::text::is_deceptive), "{refused}");
        }
        assert!(ImageReference::parse(&"a".repeat(5000)).is_err());
        let (hex, short) = ("a".repeat(64), "a".repeat(12));
        for id in [hex.as_str(), &short, &format!("sha256:{hex}"), &format!("sha256:{short}")] {
            assert_eq!(
                ImageReference::parse(id),
                Err("An image is named, not given by its id.".into()),
                "{id}"
            );
        }
        assert!(ImageReference::parse("deadbeef").is_ok());
        assert!(ImageReference::parse("Alpine").unwrap_err().contains("must be lower case"));
        assert!(ImageReference::parse("alpine:3.20\r").unwrap_err().contains("\\u{d}\" at offset 11"));
    }

    #[test]
    fn a_prefix_ends_at_a_component() {
        let below = |image: &str, prefix: &str| ImageReference::parse(image).unwrap().is_below(prefix);
        assert!(below("ghcr.io/acme/base:1", "ghcr.io/acme/"));
        assert!(below("GHCR.IO/acme/base:1", "ghcr.io/acme"));
        assert!(below("ghcr.io/acme/base:1", "ghcr.io/acme/base"));
        assert!(!below("ghcr.io/acme-evil/base:1", "ghcr.io/acme"));
        assert!(below("alpine:3", "docker.io/library/"));
        assert!(below("alpine:3", "alpine"));
        assert!(!below("evil.io/docker.io/library/x", "docker.io/library/"));
    }
}

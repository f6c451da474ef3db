//! Where commands start and as whom, and the id that stays.

use super::Scene;
use crate::{
    canonical::sha256_hex,
    diagnostic::{Code, Severity},
    parse::jsonc::{Node, Value},
    policy::devcontainer::{keys::Key, substitution},
    text::{is_deceptive, quoted},
};
use alloc::{format, string::String, vec::Vec};
use data_encoding::{BASE32HEX_NOPAD, HEXLOWER};

/// `${devcontainerId}`: 52 digits of base 32, as the reference CLI's are. It stays for a worktree as long as the
/// installation does, so that an approval of what holds it stays as well; the installation's own id, which is random, keeps
/// a repository from testing guesses of paths by it.
pub(super) fn id(install: &str, repository: &str, workspace: &str) -> String {
    let hex = sha256_hex(format!("{install}\0{repository}\0{workspace}\0devcontainer").as_bytes());
    let bytes = HEXLOWER.decode(hex.as_bytes()).unwrap_or_default();
    BASE32HEX_NOPAD.encode(&bytes).to_ascii_lowercase()
}

impl Scene<'_, '_> {
    /// The clone, or a folder of it. `/workspaces/NAME` is the specification's own place for it.
    pub(super) fn workspace_folder(&mut self) {
        let Some(node) = self.document.get("workspaceFolder") else { return };
        let Value::Text(written) = &node.value else { return };
        match substitution::text(written, self.places()) {
            Err(why) => self.unresolved(node.at, "workspaceFolder", why),
            Ok(path) => match below_clone(&self.clone, &path) {
                Some(folder) => self.workspace_folder = folder,
                None => {
                    let message = format!(
                        "Commands start in the clone at {} or a folder of it; {} is left out.",
                        quoted(&self.clone),
                        quoted(&path)
                    );
                    self.drop_value(node.at, "workspaceFolder", message);
                }
            },
        }
    }

    /// Names and numbers that can be a user who is not root; what a name means is looked up in the image.
    pub(super) fn user(&mut self, key: &'static Key, node: &Node) {
        let Value::Text(written) = &node.value else { return };
        let user = match substitution::text(written, self.places()) {
            Ok(user) => user,
            Err(why) => return self.unresolved(node.at, key.name, why),
        };
        if !may_be_user(&user) {
            let message = format!(
                "A user is a name or a number, with or without a group, and never root; {} is left out.",
                quoted(&user)
            );
            self.tell(
                Severity::Dropped,
                Code::DevcontainerValueDropped,
                node.at,
                key.name,
                message,
                key.standard,
            );
            return;
        }
        // remoteUser is who works in it, wherever it stands; the flag --user says the same as containerUser.
        let stands =
            self.wanted.user.as_ref().map(|(_, source)| source.path.as_deref() == Some("remoteUser"));
        if key.name == "remoteUser" || stands != Some(true) {
            self.wanted.user = Some((user, self.document.source(node.at, key.name)));
        }
    }
}

/// The folder in the clone that a path means.
fn below_clone(clone: &str, path: &str) -> Option<String> {
    let plain = path.starts_with('/') && !path.chars().any(is_deceptive);
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if !plain || parts.contains(&"..") {
        return None;
    }
    let normal = format!("/{}", parts.join("/"));
    let below = |root: &str| {
        let rest = normal.strip_prefix(root)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| format!("{clone}{rest}"))
    };
    match parts.as_slice() {
        // What a workspaceMount puts the whole folder at.
        ["workspace" | "workspaces"] => Some(clone.into()),
        ["workspaces", name, ..] => below(&format!("/workspaces/{name}")),
        _ => below(clone),
    }
}

fn may_be_user(text: &str) -> bool {
    let (user, group) = text.split_once(':').map_or((text, None), |(user, group)| (user, Some(group)));
    let id = |text: &str| text.parse::<u32>().is_ok_and(|id| id > 0 && id <= 0x7fff_ffff && text.len() <= 10);
    let name = |text: &str| {
        let first = text.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
        let rest = text
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-' | b'.'));
        first && rest && text.len() <= 32 && text != "root"
    };
    let fits =
        |text: &str| if text.starts_with(|c: char| c.is_ascii_digit()) { id(text) } else { name(text) };
    fits(user) && group.is_none_or(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_read_in_the_clone() {
        let of = |path: &str| below_clone("/workspace/acme", path);
        assert_eq!(of("/workspaces/acme").unwrap(), "/workspace/acme");
        assert_eq!(of("/workspaces/other/packages//web/").unwrap(), "/workspace/acme/packages/web");
        assert_eq!(of("/workspace/acme/src").unwrap(), "/workspace/acme/src");
        assert_eq!(of("/workspace").unwrap(), "/workspace/acme");
        assert_eq!(of("/workspaces/").unwrap(), "/workspace/acme");
        for other in ["/", "/etc", "/workspace/acmex", "relative", "/workspaces/a/../../etc", "/a\nb"] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn users_are_never_root() {
        for user in ["node", "vscode", "1000", "1000:1000", "node:users", "_x", "app.user"] {
            assert!(may_be_user(user), "{user}");
        }
        for user in [
            "root",
            "0",
            "00",
            "+0",
            "0:0",
            "0:1000",
            "1000:0",
            "node:root",
            "",
            "-x",
            "Root",
            "4294967296",
            "2147483648",
            "a b",
            "a;b",
            "1000:",
        ] {
            assert!(!may_be_user(user), "{user}");
        }
    }

    #[test]
    fn the_id_stays_and_has_52_digits() {
        let one = id("install", "repository", "workspace");
        assert_eq!(one.len(), 52);
        assert!(one.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'v').contains(&b)));
        assert_eq!(one, id("install", "repository", "workspace"));
        assert_ne!(one, id("other", "repository", "workspace"));
    }
}

//! The result that Orca reads: how to reach the workspace over ssh.

use std::path::Path;

use serde_json::{Value, json};

use crate::ssh::{Keys, LoginError, login};
use crate::store::WorkspaceRecord;

/// Why the workspace cannot be reached over ssh.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultError {
    /// Nobody can log in.
    #[error(transparent)]
    Login(#[from] LoginError),
    /// A path is no text.
    #[error("The path {0} must be UTF-8.")]
    NotUtf8(String),
}

/// How a workspace is reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Reached {
    /// The result that Orca reads.
    pub result: Value,
    /// Whether files can be moved by sftp.
    pub sftp: bool,
}

/// The result for a workspace that runs. `command` is this program's path, `settings` a settings file that was named.
pub fn result(
    record: &WorkspaceRecord,
    keys: &Keys,
    command: &Path,
    settings: Option<&Path>,
) -> Result<Reached, ResultError> {
    let name = record.file_name();
    let login = login(record)?;
    let mut proxy = vec![quoted(command)?, "ssh-proxy".into()];
    if let Some(settings) = settings {
        proxy.extend(["--settings".into(), quoted(settings)?]);
    }
    proxy.push(name.into());
    let project_root = record.plan.clone.as_ref().map(|clone| clone.target.as_str()).unwrap_or_default();
    let target = json!({
        "label": record.workspace.name,
        "host": name,
        "port": 22,
        "username": login.user,
        "identityFile": text(&keys.identity)?,
        "identitiesOnly": true,
        "proxyCommand": proxy.join(" "),
    });
    let result = json!({
        "schemaVersion": 2,
        "checkoutMode": "provisioned-root",
        "connection": {"type": "ssh", "projectRoot": project_root, "target": target},
        "userData": {"resourceId": name, "knownHosts": text(&keys.known_hosts)?},
    });
    Ok(Reached { result, sftp: login.sftp })
}

fn text(path: &Path) -> Result<String, ResultError> {
    path.to_str().map(String::from).ok_or_else(|| ResultError::NotUtf8(path.to_string_lossy().into_owned()))
}

/// A word of ssh's ProxyCommand: a shell reads it, and ssh takes `%` for its own.
fn quoted(path: &Path) -> Result<String, ResultError> {
    let text = text(path)?.replace('%', "%%");
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'.' | b'-' | b'_' | b'%');
    if text.bytes().all(plain) {
        return Ok(text);
    }
    Ok(format!("'{}'", text.replace('\'', "'\\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_of_the_proxy_command() {
        let of = |path: &str| quoted(Path::new(path)).unwrap();
        assert_eq!(of("/usr/bin/orca-container"), "/usr/bin/orca-container");
        assert_eq!(of("/a b/50%/x"), "'/a b/50%%/x'");
        assert_eq!(of("/it's"), "'/it'\\''s'");
        assert_eq!(of("/a;rm -rf $HOME"), "'/a;rm -rf $HOME'");
    }
}

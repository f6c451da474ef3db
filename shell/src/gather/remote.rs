//! The request for a workspace that is cloned from a URL: no repository on this computer has a part in it.
//!
//! Takes a URL, settings and the words of the command line. The repository's own files are known once they are cloned.
//! What a clone is handed over for its one connection is read here as well: keys of the host that this computer knows,
//! and a token or a private key.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use orca_container_core::input::{PlanRequest, Workspace};
use orca_container_core::{CloneFrom, Sensitive, quoted};

use super::request::{PREVIEW, Words, assemble, know};
use super::shown::Shown;
use super::{RemoteUrl, read_at_most};
use crate::engine::{Bounds, ClientError, Input, Wanted, host_path, host_program, run_bounded};
use crate::redact;
use crate::settings::Settings;

/// Bytes of a private key; the largest in use has a few thousand.
const KEY_BYTES: usize = 64 * 1024;

/// How long a look into known_hosts may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is cloned.
#[derive(Clone, Debug)]
pub struct Remote {
    /// From where.
    pub url: RemoteUrl,
    /// What the workspace is called; like the repository without one. A second workspace of a URL needs one.
    pub name: Option<String>,
    /// The branch; the remote's own choice without one.
    pub branch: Option<String>,
}

/// What a person lets the one clone use.
#[derive(Clone, Debug, Default)]
pub enum Credential {
    /// Nothing.
    #[default]
    None,
    /// A token over https, and the name of its user.
    Token {
        /// The user.
        user: String,
        /// The token.
        token: Sensitive,
    },
    /// A file with a private key, over ssh.
    Key(PathBuf),
}

/// Why there is nothing to hand over.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialError {
    /// A token is for https, a key for ssh.
    #[error("{0}")]
    WrongKind(&'static str),
    /// A line end in it would be another line.
    #[error("A token, and the name of its user, is one line of text.")]
    Token,
    /// The file is none.
    #[error("The file {} must be a private key without a passphrase.", Shown(.0))]
    Key(PathBuf),
    /// Nobody said yet that this host is the right one.
    #[error(
        "This computer knows no key of the host {0}, so nothing would tell that it is the right one. Connect to it once with ssh, and clone again."
    )]
    UnknownHost(String),
    /// known_hosts could not be asked.
    #[error("What known_hosts says of {host} could not be read: {cause}")]
    KnownHosts {
        /// The host.
        host: String,
        /// Why.
        cause: ClientError,
    },
}

/// The request for a clone of a URL. Ids are the URL, and the name where one was given; it is judged by the core.
pub fn gather_remote(remote: &Remote, settings: &Settings, words: Words) -> PlanRequest {
    let url = remote.url.reveal();
    let id = remote.name.as_ref().map_or_else(|| url.to_owned(), |name| format!("{url}#{name}"));
    let workspace = Workspace {
        id,
        instance_id: PREVIEW.into(),
        repository_id: url.into(),
        name: remote.name.clone().unwrap_or_else(|| called(url)),
        branch: remote.branch.clone(),
        commit: None,
        base: None,
        new_branch: false,
        clone_from: CloneFrom::Remote,
        repo_path: String::new(),
        worktree_path: None,
        git_common_dir: None,
        remote_url: Some(Sensitive::new(url)),
        owner_uid: None,
        owner_gid: None,
    };
    let request = assemble(workspace, settings, settings.for_remote(url), words);
    know(&request);
    request
}

/// Like the repository, as its URL ends.
fn called(url: &str) -> String {
    let last = url.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
    last.strip_suffix(".git").unwrap_or(last).into()
}

/// What the clone reads.
#[derive(Clone, Debug)]
pub struct HandedOver {
    /// Its standard input (`Stdin::CloneSecret`).
    pub text: Sensitive,
    /// Whether a token or a key is in it.
    pub is_secret: bool,
}

/// What the clone reads, of a URL that the core took.
pub fn handed_over(url: &RemoteUrl, credential: &Credential) -> Result<HandedOver, CredentialError> {
    let text = match ssh_host(url.reveal()) {
        None => over_https(credential)?,
        Some(host) => over_ssh(&known_hosts(&host)?, credential)?,
    };
    Ok(HandedOver { text, is_secret: !matches!(credential, Credential::None) })
}

fn over_https(credential: &Credential) -> Result<Sensitive, CredentialError> {
    match credential {
        Credential::None => Ok(Sensitive::new("\n")),
        Credential::Key(_) => Err(CredentialError::WrongKind("A private key is for a URL over ssh.")),
        Credential::Token { user, token } => {
            let one_line = |text: &str| !text.is_empty() && !text.contains(char::is_control);
            if !one_line(user) || !one_line(token.reveal()) {
                return Err(CredentialError::Token);
            }
            Ok(Sensitive::from(format!("\n{user}\n{}\n", token.reveal())))
        }
    }
}

fn over_ssh(known_hosts: &str, credential: &Credential) -> Result<Sensitive, CredentialError> {
    let key = match credential {
        Credential::None => Sensitive::new(""),
        Credential::Token { .. } => {
            return Err(CredentialError::WrongKind("A token is for a URL over https."));
        }
        Credential::Key(path) => private_key(path)?,
    };
    Ok(Sensitive::from(format!("{known_hosts}\n{}", key.reveal())))
}

fn private_key(path: &Path) -> Result<Sensitive, CredentialError> {
    let bytes = File::open(path).and_then(|file| read_at_most(file, KEY_BYTES));
    let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let key = text.filter(|text| text.starts_with("-----BEGIN ") && text.contains("PRIVATE KEY-----"));
    let key = Sensitive::from(key.ok_or_else(|| CredentialError::Key(path.into()))?);
    redact::know(key.reveal());
    Ok(key)
}

/// The host of an ssh or scp-like URL as known_hosts names it; none of any other.
fn ssh_host(url: &str) -> Option<String> {
    if let Some((scheme, rest)) = url.split_once("://") {
        let authority = rest.split('/').next().unwrap_or_default();
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let ssh = scheme.eq_ignore_ascii_case("ssh");
        return ssh.then(|| match host.rsplit_once(':') {
            Some((name, port)) if port != "22" && !port.ends_with(']') => {
                format!("[{}]:{port}", name.trim_matches(['[', ']']))
            }
            Some((name, "22")) => name.trim_matches(['[', ']']).into(),
            _ => host.trim_matches(['[', ']']).into(),
        });
    }
    let (front, _) = url.split_once(':')?;
    Some(front.rsplit_once('@').map_or(front, |(_, host)| host).into())
}

/// Lines of the person's and the computer's known_hosts that name the host; hashed ones are found as well.
fn known_hosts(host: &str) -> Result<String, CredentialError> {
    let own = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".ssh/known_hosts"));
    let mut lines = String::new();
    for file in own.into_iter().chain([PathBuf::from("/etc/ssh/ssh_known_hosts")]) {
        if !file.is_file() {
            continue;
        }
        let cause = |cause| CredentialError::KnownHosts { host: quoted(host), cause };
        let program = host_program("ssh-keygen");
        let program = program.ok_or_else(|| cause(ClientError::Missing { program: "ssh-keygen".into() }))?;
        let mut command = Command::new(program);
        command.args(["-F", host, "-f"]).arg(&file).env_clear().env("PATH", host_path()).env("LC_ALL", "C");
        let asked = run_bounded(command, "ssh-keygen", Input::None, Wanted::Kept, Bounds::time(PATIENCE));
        let said = asked.map_err(cause)?.text();
        let found = said.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        found.for_each(|line| lines.extend([line, "\n"]));
    }
    if lines.is_empty() { Err(CredentialError::UnknownHost(quoted(host))) } else { Ok(lines) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_called_as_known_hosts_calls_it() {
        for (url, host) in [
            ("git@github.com:acme/web.git", Some("github.com")),
            ("github.com:web", Some("github.com")),
            ("ssh://git@github.com/acme/web", Some("github.com")),
            ("ssh://github.com:22/web", Some("github.com")),
            ("SSH://git@host:2222/web", Some("[host]:2222")),
            ("ssh://[::1]/web", Some("::1")),
            ("ssh://[::1]:2222/web", Some("[::1]:2222")),
            ("https://github.com/acme/web.git", None),
        ] {
            assert_eq!(ssh_host(url).as_deref(), host, "{url}");
        }
    }

    #[test]
    fn a_workspace_is_called_like_its_repository() {
        for (url, name) in [
            ("https://github.com/acme/web.git", "web"),
            ("https://github.com/acme/web/", "web"),
            ("git@github.com:web.git", "web"),
        ] {
            assert_eq!(called(url), name);
        }
    }

    #[test]
    fn a_token_is_one_line_for_https_and_a_key_is_for_ssh() {
        let token =
            |user: &str, token: &str| Credential::Token { user: user.into(), token: Sensitive::new(token) };
        assert_eq!(over_https(&token("u", "canary")).unwrap().reveal(), "\nu\ncanary\n");
        for credential in [token("u", "a\nb"), token("u\n", "a"), token("", "a"), token("u", "")] {
            assert!(matches!(over_https(&credential), Err(CredentialError::Token)));
        }
        assert!(over_https(&Credential::Key("/k".into())).is_err());
        assert!(over_ssh("h k\n", &token("u", "a")).is_err());
        assert_eq!(over_ssh("h k\n", &Credential::None).unwrap().reveal(), "h k\n\n");
    }

    #[test]
    fn only_a_private_key_is_handed_over() {
        let folder = tempfile::tempdir().unwrap();
        let (key, other) = (folder.path().join("key"), folder.path().join("other"));
        let text = "-----BEGIN OPENSSH PRIVATE KEY-----\ncanary\n-----END OPENSSH PRIVATE KEY-----\n";
        std::fs::write(&key, text).unwrap();
        std::fs::write(&other, "canary").unwrap();
        assert_eq!(over_ssh("h k\n", &Credential::Key(key)).unwrap().reveal(), format!("h k\n\n{text}"));
        let error = over_ssh("h k\n", &Credential::Key(other)).unwrap_err();
        assert!(!error.to_string().contains("canary"));
    }
}

//! The remote's URL as the clone may have it: without a password, and only over transports that are one.

use crate::secret::Sensitive;
use alloc::{format, string::String};

/// What becomes of a remote's URL.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Remote {
    /// It is set so; `stripped` when something secret was taken out.
    Set { url: String, stripped: bool },
    /// It is not set in the clone.
    NotSet,
}

/// http(s) loses user and password, ssh and scp-like keep their user; any other transport is not set
/// (`ext::` and `file:` run or read on this machine). Queries and fragments can hold tokens, so they go unset too.
pub(super) fn judge(url: &Sensitive) -> Remote {
    let url = url.reveal();
    let printable = !url.is_empty() && url.len() <= 2048 && url.bytes().all(|b| b.is_ascii_graphic());
    if !printable
        || url.starts_with('-')
        || url.contains(['?', '#', '\\', '"', '\'', '`', '<', '>', '{', '}', '|', '^', '$', ';'])
    {
        return Remote::NotSet;
    }
    match url.split_once("://") {
        Some((scheme, rest)) => with_scheme(&scheme.to_ascii_lowercase(), rest),
        None => scp_like(url),
    }
}

/// The URL that a workspace may be cloned from, as it is set as origin too. Nothing secret is in it: what stands in an
/// argument list is read by others, and what origin has stays in the volume.
pub(super) fn clonable(url: &Sensitive) -> Option<String> {
    let text = url.reveal();
    let scheme = text.split_once("://").map(|(scheme, rest)| (scheme.to_ascii_lowercase(), rest));
    match scheme {
        None => {}
        Some((scheme, _)) if scheme == "ssh" => {}
        Some((scheme, rest)) if scheme == "https" && !rest.split('/').next().unwrap_or("").contains('@') => {}
        Some(_) => return None,
    }
    match judge(url) {
        Remote::Set { url, stripped: false } => Some(url),
        Remote::Set { .. } | Remote::NotSet => None,
    }
}

fn with_scheme(scheme: &str, rest: &str) -> Remote {
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (user_info, host) = match authority.rsplit_once('@') {
        Some((user_info, host)) => (Some(user_info), host),
        None => (None, authority),
    };
    if !is_host(host) || path.is_empty() {
        return Remote::NotSet;
    }
    match scheme {
        "http" | "https" => {
            Remote::Set { url: format!("{scheme}://{host}/{path}"), stripped: user_info.is_some() }
        }
        "ssh" => {
            let (user, password) = match user_info.map(|info| info.split_once(':').unwrap_or((info, ""))) {
                Some((user, password)) => (user, !password.is_empty()),
                None => ("", false),
            };
            if !is_user(user) {
                return Remote::NotSet;
            }
            let at = if user.is_empty() { "" } else { "@" };
            Remote::Set { url: format!("ssh://{user}{at}{host}/{path}"), stripped: password }
        }
        _ => Remote::NotSet,
    }
}

/// `user@host:path`; a second colon before the host would be a password or a transport (`ext::`).
fn scp_like(url: &str) -> Remote {
    let Some((front, path)) = url.split_once(':') else { return Remote::NotSet };
    let (user, host) = front.rsplit_once('@').unwrap_or(("", front));
    let local = front.contains('/') || front.len() == 1;
    if local
        || path.is_empty()
        || path.starts_with([':', '-'])
        || !is_user(user)
        || !is_host(host)
        || path.contains('@')
    {
        return Remote::NotSet;
    }
    Remote::Set { url: url.into(), stripped: false }
}

fn is_user(user: &str) -> bool {
    !user.starts_with('-')
        && user.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'+'))
}

fn is_host(host: &str) -> bool {
    !host.is_empty()
        && !host.starts_with(['-', '.'])
        && host
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b':' | b'[' | b']'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(url: &str) -> Remote {
        judge(&Sensitive::new(url))
    }

    #[test]
    fn passwords_go_and_users_of_ssh_stay() {
        let set = |url: &str, stripped| Remote::Set { url: url.into(), stripped };
        assert_eq!(judged("https://github.com/acme/web.git"), set("https://github.com/acme/web.git", false));
        assert_eq!(
            judged("https://u:tok@github.com/acme/web.git"),
            set("https://github.com/acme/web.git", true)
        );
        assert_eq!(judged("HTTPS://tok@github.com:8443/a"), set("https://github.com:8443/a", true));
        assert_eq!(judged("https://u:p@ss@host/a"), set("https://host/a", true));
        assert_eq!(judged("ssh://git:pw@host:22/a"), set("ssh://git@host:22/a", true));
        assert_eq!(judged("git@github.com:acme/web.git"), set("git@github.com:acme/web.git", false));
        assert_eq!(judged("host:path"), set("host:path", false));
    }

    #[test]
    fn only_https_and_ssh_without_anything_secret_are_cloned() {
        for url in [
            "https://github.com/acme/web.git",
            "HTTPS://host:8443/a",
            "ssh://git@host:22/a",
            "git@github.com:acme/web.git",
            "host:path",
        ] {
            assert!(clonable(&Sensitive::new(url)).is_some(), "{url}");
        }
        for url in [
            "http://github.com/acme/web.git",
            "https://token@github.com/acme/web.git",
            "https://u:p@github.com/acme/web.git",
            "https://@host/a",
            "ssh://git:pw@host/a",
            "file:///srv/a",
            "/srv/a",
            "ext::sh -c id",
            "ext::id",
            "https::https://host/a",
            "git://host/a",
            "--upload-pack=id",
            "-oProxyCommand=id",
            "ssh://-oProxyCommand=id/a",
            "-oProxyCommand=id:a",
            "git@-oProxyCommand=id:a",
            "host:--upload-pack=id",
            "https://host/a?token=x",
            "https://host/a b",
            "https://host",
            "",
        ] {
            assert_eq!(clonable(&Sensitive::new(url)), None, "{url}");
        }
    }

    #[test]
    fn other_transports_and_odd_texts_are_not_set() {
        for url in [
            "",
            "ext::sh -c x",
            "ext::sh",
            "file:///etc",
            "/srv/repo",
            "../x",
            "C:\\repo",
            "C:/repo",
            "-oProxyCommand=x",
            "ssh://-oProxyCommand=x/a",
            "git://host/a",
            "user:pw@host:path",
            "https://host",
            "https://host/a?token=x",
            "https://host/a#x",
            "ssh://u;x@host/a",
            "https://ho\nst/a",
            "https:///a",
            "-u@host:x",
            "host:-x",
            "ftp://h/a",
        ] {
            assert_eq!(judged(url), Remote::NotSet, "{url:?}");
        }
    }
}

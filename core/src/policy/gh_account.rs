//! The GitHub account bound to a repository: which variables carry it (`facts` orca 3.3).

use crate::input::GhAccount;
use alloc::string::String;

/// A bound account, judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BoundAccount {
    /// Variable that carries the token.
    pub(crate) token_name: &'static str,
    /// Value of GH_HOST, for a host of one's own.
    pub(crate) gh_host: Option<String>,
}

/// Names that a bound account removes from the layers below it before it sets its own.
pub(crate) const REMOVED_BELOW: &[&str] =
    &["GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GH_HOST", "GH_REPO"];

impl BoundAccount {
    /// Judges the account; the error names the field that is wrong.
    pub(crate) fn judge(account: &GhAccount) -> Result<Self, &'static str> {
        let host = account.host.to_ascii_lowercase();
        if !host_is_valid(&host) {
            return Err("host");
        }
        let user_length = account.user.encode_utf16().count();
        if user_length == 0
            || user_length > 255
            || account.user.chars().any(|c| c.is_whitespace() || c.is_control())
        {
            return Err("user");
        }
        let public = host == "github.com" || host == "github.localhost" || host.ends_with(".ghe.com");
        Ok(if public {
            Self { token_name: "GH_TOKEN", gh_host: None }
        } else {
            Self { token_name: "GH_ENTERPRISE_TOKEN", gh_host: Some(host.clone()) }
        })
    }
}

/// `[a-z0-9][a-z0-9.-]*(:[0-9]+)?`, Orca's rule.
fn host_is_valid(host: &str) -> bool {
    let (name, port) = match host.split_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (host, None),
    };
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        && bytes.all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'.' || b == b'-')
        && port.is_none_or(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(host: &str) -> Result<BoundAccount, &'static str> {
        BoundAccount::judge(&GhAccount { host: host.into(), user: "ada".into() })
    }

    #[test]
    fn the_token_variable_depends_on_the_host() {
        for host in ["github.com", "GitHub.com", "github.localhost", "acme.ghe.com"] {
            assert_eq!(judged(host).unwrap().token_name, "GH_TOKEN", "{host}");
        }
        let own = judged("git.acme.example:8443").unwrap();
        assert_eq!(
            (own.token_name, own.gh_host.as_deref()),
            ("GH_ENTERPRISE_TOKEN", Some("git.acme.example:8443"))
        );
        assert_eq!(judged("notghe.com").unwrap().token_name, "GH_ENTERPRISE_TOKEN");
    }

    #[test]
    fn hosts_and_users_that_are_none_are_refused() {
        for host in ["", "-x", "a b", "a\0", "a@b", "a:", "a:b", "ex ample", "é"] {
            assert_eq!(judged(host), Err("host"), "{host}");
        }
        let account = GhAccount { host: "github.com".into(), user: "a b".into() };
        assert_eq!(BoundAccount::judge(&account), Err("user"));
    }
}

//! Which daemon the user's own docker would speak to and how: DOCKER_HOST or the current context, each with its TLS.
//!
//! docker takes TLS from DOCKER_TLS_VERIFY, DOCKER_TLS and DOCKER_CERT_PATH only where DOCKER_HOST or the default context
//! counts; a context that a person made brings its own (measured with docker 28).

use std::env;

use orca_container_core::Endpoint;
use serde_json::Value;

use super::super::client::Client;
use super::{EngineError, PATIENCE, base_env, json, not_answering};

/// How docker is reached.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DockerEndpoint {
    /// What DOCKER_HOST says.
    pub(super) host: String,
    /// Its kind.
    pub(super) kind: Endpoint,
    /// The folder with ca.pem, cert.pem and key.pem, with TLS.
    pub(super) certificates: Option<String>,
}

/// What protects a connection over TCP.
enum Tls {
    Off,
    /// Whoever answers is believed.
    Unverified,
    /// By the authority in this folder.
    Verified(String),
}

/// The endpoint that the user's own docker would use.
pub(super) fn docker_endpoint(program: &str) -> Result<DockerEndpoint, EngineError> {
    let of = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    if let Some(host) = of("DOCKER_HOST") {
        return judged(host, tls_of_environment(&of));
    }
    let names = ["DOCKER_CONFIG", "DOCKER_CONTEXT", "DOCKER_TLS_VERIFY", "DOCKER_TLS", "DOCKER_CERT_PATH"];
    let mut variables = base_env(&["PATH", "HOME"]);
    variables.extend(base_env(&names));
    let client = Client { program: program.into(), env: variables };
    let answer = client.ask(&["context", "inspect", "--format", "{{json .}}"], PATIENCE)?;
    let context = json(&answer);
    let host = context.pointer("/Endpoints/docker/Host").and_then(Value::as_str).unwrap_or_default();
    if answer.code != 0 || host.is_empty() {
        return Err(not_answering("docker", &answer));
    }
    let default = context.get("Name").and_then(Value::as_str) == Some("default");
    judged(host.to_owned(), if default { tls_of_environment(&of) } else { tls_of_context(&context) })
}

/// The user's docker configuration.
pub(super) fn user_docker_config(of: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    of("DOCKER_CONFIG").or_else(|| Some(format!("{}/.docker", of("HOME")?)))
}

/// As docker reads them: any text counts, `0` and `false` as well.
fn tls_of_environment(of: &dyn Fn(&str) -> Option<String>) -> Tls {
    if of("DOCKER_TLS_VERIFY").is_some() {
        let folder = of("DOCKER_CERT_PATH").or_else(|| user_docker_config(of));
        return Tls::Verified(folder.unwrap_or_default());
    }
    if of("DOCKER_TLS").is_some() { Tls::Unverified } else { Tls::Off }
}

/// A context with files of TLS, or one that says not to look at them.
fn tls_of_context(context: &Value) -> Tls {
    if context.pointer("/Endpoints/docker/SkipTLSVerify").and_then(Value::as_bool) == Some(true) {
        return Tls::Unverified;
    }
    let material = context.pointer("/TLSMaterial/docker").and_then(Value::as_array);
    if material.is_none_or(Vec::is_empty) {
        return Tls::Off;
    }
    let place = context.pointer("/Storage/TLSPath").and_then(Value::as_str).unwrap_or_default();
    Tls::Verified(format!("{place}/docker"))
}

/// TLS says something of TCP only: a socket and ssh are protected otherwise.
fn judged(host: String, tls: Tls) -> Result<DockerEndpoint, EngineError> {
    let plain = |host, kind| Ok(DockerEndpoint { host, kind, certificates: None });
    match (host.split_once("://").map(|(scheme, _)| scheme), tls) {
        (Some("unix" | "npipe"), _) => plain(host, Endpoint::Local),
        (Some("ssh"), _) => plain(host, Endpoint::Ssh),
        (_, Tls::Off) => plain(host, Endpoint::Plain),
        (_, Tls::Unverified) => Err(EngineError::TlsUnverified),
        (_, Tls::Verified(folder)) => {
            Ok(DockerEndpoint { host, kind: Endpoint::Tls, certificates: Some(folder) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(host: &str, tls: Tls) -> Option<Endpoint> {
        judged(host.into(), tls).ok().map(|endpoint| endpoint.kind)
    }

    fn environment(variables: &[(&str, &str)]) -> Tls {
        let of = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        tls_of_environment(&of)
    }

    #[test]
    fn endpoints_are_known_by_their_scheme() {
        assert_eq!(kind("unix:///var/run/docker.sock", Tls::Off), Some(Endpoint::Local));
        assert_eq!(kind("ssh://u@host", Tls::Off), Some(Endpoint::Ssh));
        assert_eq!(kind("tcp://host:2375", Tls::Off), Some(Endpoint::Plain));
        assert_eq!(kind("nonsense", Tls::Off), Some(Endpoint::Plain));
        // No client of ours makes TLS of this scheme alone.
        assert_eq!(kind("https://host:2376", Tls::Off), Some(Endpoint::Plain));
    }

    #[test]
    fn tls_counts_with_tcp_and_unverified_it_is_refused() {
        let verified = || Tls::Verified("/certificates".into());
        assert_eq!(kind("tcp://host:2376", verified()), Some(Endpoint::Tls));
        assert_eq!(kind("unix:///var/run/docker.sock", verified()), Some(Endpoint::Local));
        assert_eq!(kind("tcp://host:2376", Tls::Unverified), None);
        assert_eq!(kind("unix:///var/run/docker.sock", Tls::Unverified), Some(Endpoint::Local));
    }

    #[test]
    fn the_environments_tls_is_read_as_docker_reads_it() {
        assert!(matches!(environment(&[]), Tls::Off));
        assert!(matches!(environment(&[("DOCKER_TLS", "1")]), Tls::Unverified));
        let folder = |variables: &[(&str, &str)]| match environment(variables) {
            Tls::Verified(folder) => folder,
            Tls::Off | Tls::Unverified => "not verified".into(),
        };
        assert_eq!(folder(&[("DOCKER_TLS_VERIFY", "0"), ("HOME", "/home/ada")]), "/home/ada/.docker");
        let own = [("DOCKER_TLS_VERIFY", "1"), ("DOCKER_CERT_PATH", "/certificates"), ("DOCKER_TLS", "1")];
        assert_eq!(folder(&own), "/certificates");
        assert_eq!(folder(&[("DOCKER_TLS_VERIFY", "1"), ("DOCKER_CONFIG", "/config")]), "/config");
    }

    #[test]
    fn a_context_brings_its_own_tls() {
        let context = |skip: bool, files: &[&str]| {
            tls_of_context(&serde_json::json!({
                "Endpoints": {"docker": {"Host": "tcp://host:2376", "SkipTLSVerify": skip}},
                "TLSMaterial": {"docker": files}, "Storage": {"TLSPath": "/tls/ab12"},
            }))
        };
        assert!(matches!(context(false, &[]), Tls::Off));
        assert!(matches!(context(true, &["ca.pem"]), Tls::Unverified));
        assert!(matches!(context(false, &["ca.pem"]), Tls::Verified(folder) if folder == "/tls/ab12/docker"));
    }
}

//! Flags about the network: a repository may ask for less of it, and for ports that a person then grants.

use super::{Judge, ask::Ask};
use crate::{diagnostic::Code, limits, text::quoted_name, words::Network};
use alloc::{format, vec::Vec};

impl Judge<'_> {
    pub(super) fn network(&mut self, text: &str) -> Option<Ask> {
        match text {
            "none" => return Some(Ask::Network(Network::None)),
            "bridge" | "default" => return Some(Ask::Network(Network::Bridge)),
            "host" => self.drop("the container would share the host's network", Some("CIS Docker 5.10")),
            _ if text.starts_with("container:") || text.starts_with("ns:") => {
                self.drop("the container would share the network of another one", Some("CIS Docker 5.10"));
            }
            _ => {
                let why = "the network is \"none\" or \"bridge\"; networks by name and with options belong to others";
                self.drop(why, None);
            }
        }
        None
    }

    /// `[[address:]port:]port[/tcp]`, each port perhaps a range. Only the container's port is taken over.
    pub(super) fn publish(&mut self, text: &str) -> Vec<Ask> {
        let (ports, protocol) = text.split_once('/').unwrap_or((text, "tcp"));
        if !protocol.eq_ignore_ascii_case("tcp") {
            let why = format!("ports are published for tcp, not for {}", quoted_name(protocol));
            self.drop(&why, None);
            return Vec::new();
        }
        let (host, container) = match ports.rsplit_once(':') {
            Some((host, container)) => (Some(host), container),
            None => (None, ports),
        };
        let Some((first, last)) = range(container) else {
            self.drop("a published port is a number from 1 to 65535, or two with a hyphen", None);
            return Vec::new();
        };
        if last.saturating_sub(first) >= limits::PORT_RANGE {
            self.drop(&format!("a range has at most {} ports", limits::PORT_RANGE), None);
            return Vec::new();
        }
        if host.is_some() {
            let message = format!(
                "Port {first} is published on 127.0.0.1, at a port of the host that the engine chooses."
            );
            self.findings.notice(Code::RunArgIgnored, self.source.clone(), message);
        }
        (first..=last).map(Ask::Publish).collect()
    }
}

fn range(text: &str) -> Option<(u16, u16)> {
    let port = |text: &str| {
        let digits = !text.is_empty() && text.len() <= 5 && text.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| text.parse::<u16>().ok()).flatten().filter(|port| *port != 0)
    };
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (port(first)?, port(last)?);
    (first <= last).then_some((first, last))
}

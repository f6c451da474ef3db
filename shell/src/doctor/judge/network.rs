//! What a container on a bridge reaches: read from this machine's own tables, and tried only where a person asks for it.

use super::{Case, listed};
use crate::doctor::listeners::sentence;
use crate::doctor::probe::Tried;
use crate::doctor::report::{Finding, FindingCode};

/// Ports that a sentence names.
const PORTS: usize = 20;

pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = vec![listeners(case), metadata(case)];
    findings.extend(case.tried.map(tried));
    findings.extend(without_root(case));
    findings
}

/// A create with a network fails at its start there; one without is as good as anywhere.
fn without_root(case: &Case<'_>) -> Option<Finding> {
    if case.around.may_make_network != Some(false) {
        return None;
    }
    let message = "podman without root gives a container a network through /dev/net/tun, which this user may not open: only workspaces without a network can be made.";
    let help = "Make them with --network none, or let users open /dev/net/tun.";
    let of = if case.wanted.no_network { Finding::cost } else { Finding::problem };
    Some(of(FindingCode::NoNetworkWithoutRoot, message).help(help))
}

fn listeners(case: &Case<'_>) -> Finding {
    let listeners = match &case.machine.listeners {
        Some(listeners) if case.here => listeners,
        _ => {
            let message = "A container on a bridge reaches what listens on the engine's machine on another address than loopback; which ports these are cannot be read from here.";
            return Finding::cost(FindingCode::ListenersUnknown, message).help(HELP);
        }
    };
    if listeners.is_empty() {
        let message = "Nothing listens on this machine on another address than loopback, so a container on a bridge finds nothing here (TCP, read from this machine's list of listeners).";
        return Finding::good(FindingCode::NoListeners, message);
    }
    let gateway = case.around.gateway.map(|gateway| format!(" ({gateway})")).unwrap_or_default();
    // Without root the bridge is inside a network of its own, and its gateway is not this machine.
    let through = if case.detected.facts.rootless {
        "this machine's own addresses".to_owned()
    } else {
        format!("the gateway{gateway}")
    };
    let message = format!(
        "A container on a bridge reaches these ports of this machine through {through}, unless a firewall stops it: {}. They are read from this machine's list of TCP listeners{}.",
        sentence(listeners, PORTS),
        if case.tried.is_none() { ", not tried from inside a container (--image tries them)" } else { "" }
    );
    Finding::cost(FindingCode::ListenersReachable, message).help(HELP)
}

const HELP: &str =
    "Bind to 127.0.0.1 what no container needs, or use --network none where the agent needs no network.";

/// What a container found itself, by the tools of its image.
fn tried(tried: &Tried) -> Finding {
    let list = |ports: &[u16]| listed(&ports.iter().map(u16::to_string).collect::<Vec<_>>());
    match tried {
        Tried::Nothing(why) => Finding::cost(
            FindingCode::PortsNotTried,
            format!("No port was tried from inside a container: {why}."),
        )
        .help("Name an image that is there and has sh and nc or bash, or rely on the list of listeners."),
        Tried::Ports { open, closed } if open.is_empty() => Finding::good(
            FindingCode::NoPortAnswers,
            format!(
                "From inside a container none of these ports of this machine answered: {}.",
                list(closed)
            ),
        ),
        Tried::Ports { open, closed } => {
            let others =
                if closed.is_empty() { String::new() } else { format!("; these did not: {}", list(closed)) };
            let message = format!(
                "From inside a container these ports of this machine answered: {}{others}.",
                list(open)
            );
            Finding::cost(FindingCode::PortsAnswer, message).help(HELP)
        }
    }
}

/// Derived, never tried: a packet to that address is what an intruder sends.
fn metadata(case: &Case<'_>) -> Finding {
    let machine = if case.here { "this machine" } else { "the engine's machine" };
    let message = format!(
        "A container on a bridge can reach whatever {machine} can reach, the metadata address of clouds (169.254.169.254) included, unless a firewall rule drops it."
    );
    let finding = Finding::cost(FindingCode::MetadataReachable, message);
    finding.help("On a cloud machine, drop forwarded packets to 169.254.169.254, or give the machine no role; or use --network none.")
}

//! Tries, from inside a container, what the list of listeners only says: a throwaway container of an image that is
//! there already, as bare as what tries a port needs, on a bridge network of its own. It speaks to that network's gateway
//! and to nothing else; the image's shell is the image's, so a person names one that they trust.
//!
//! Container and network have a random name with a lock of that name taken before they are made, so that the next probe
//! finds what a killed one left.

use std::net::IpAddr;
use std::time::Duration;

use orca_container_core::input::EngineFacts;
use orca_container_core::{EVERY_CONTAINER, EngineKind, TRY_PORTS, quoted};
use serde_json::Value;

use super::report::ReachableListener;
use crate::engine::{Client, Output};
use crate::store::{Store, random_id};

/// Ports that are tried at most, a second each.
const MOST_PORTS: usize = 20;

/// Seconds for the container: it is made, tries each port, and is removed.
const PATIENCE: Duration = Duration::from_secs(90);

/// What a person asks for.
#[derive(Clone, Copy, Debug)]
pub struct Probe<'a> {
    /// The image, which is never pulled.
    pub image: &'a str,
    /// Where the lock is kept.
    pub store: &'a Store,
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tried {
    /// Ports of this machine that answered at the gateway, and those that did not.
    Ports {
        /// Answered.
        open: Vec<u16>,
        /// Did not.
        closed: Vec<u16>,
    },
    /// Nothing could be tried, and why.
    Nothing(String),
}

impl Probe<'_> {
    /// Tries the listeners that are bound to every address.
    pub fn try_ports(&self, facts: &EngineFacts, listeners: &[ReachableListener]) -> Tried {
        let every = |listener: &&ReachableListener| matches!(listener.address.as_str(), "0.0.0.0" | "::");
        let mut ports: Vec<u16> = listeners.iter().filter(every).map(|listener| listener.port).collect();
        ports.dedup();
        ports.truncate(MOST_PORTS);
        let client = Client { program: facts.client.program.clone(), env: facts.client.env.clone() };
        let throwaway = Throwaway { client, facts, probe: self };
        match throwaway.output(&ports) {
            Ok(printed) => read(&printed, &ports),
            Err(why) => Tried::Nothing(why),
        }
    }
}

/// The lines `open PORT` and `closed PORT` of ports that were asked for; whatever else an image prints is not read.
fn read(printed: &str, asked: &[u16]) -> Tried {
    let ports = |word: &str| -> Vec<u16> {
        let lines = printed.lines().filter_map(|line| line.strip_prefix(word)?.trim().parse().ok());
        lines.filter(|port| asked.contains(port)).collect()
    };
    let (open, closed) = (ports("open "), ports("closed "));
    if open.is_empty() && closed.is_empty() {
        return Tried::Nothing("the image has neither nc nor bash with timeout".into());
    }
    Tried::Ports { open, closed }
}

/// One container and one network, gone when the probe has ended.
struct Throwaway<'a> {
    client: Client,
    facts: &'a EngineFacts,
    probe: &'a Probe<'a>,
}

impl Throwaway<'_> {
    /// What the engine says, an exit code that is not zero being an error.
    fn ask(&self, args: &[&str]) -> Result<Output, String> {
        let output = self.client.ask(args, PATIENCE).map_err(|error| error.to_string())?;
        if output.code == 0 { Ok(output) } else { Err(format!("the engine says: {}", output.complaint())) }
    }

    /// What the container prints.
    fn output(&self, ports: &[u16]) -> Result<String, String> {
        let Ok(image) = self.ask(&["image", "inspect", "--format={{.Id}}", "--", self.probe.image]) else {
            return Err(format!("the engine has no image {}, and none is pulled", quoted(self.probe.image)));
        };
        let prefix = format!("orca-doctor-{}-", self.facts.kind);
        self.remove_left(&prefix);
        let store = self.probe.store;
        let install = store.ensure_install_id().map_err(|error| error.to_string())?;
        let name = format!("{prefix}{}", random_id().map_err(|error| error.to_string())?);
        let lock = store.lock(&name).map_err(|error| error.to_string())?;
        let printed =
            self.on_network(&name, &format!("--label=orca.install={install}"), &image.text(), ports);
        if self.remove(&name) {
            lock.remove();
        }
        printed
    }

    fn on_network(&self, name: &str, label: &str, image: &str, ports: &[u16]) -> Result<String, String> {
        self.ask(&["network", "create", "--driver=bridge", label, "--", name])?;
        let (_, gateway) = self.network(name).ok_or("its network has no gateway")?;
        let gateway = gateway.ok_or("its network has no gateway")?.to_string();
        let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
        let (named, network) = (format!("--name={name}"), format!("--network={name}"));
        let nproc = self.facts.nproc_needed.filter(|_| self.facts.kind == EngineKind::Podman);
        let nproc = nproc.map(|nproc| format!("--ulimit=nproc={nproc}:{nproc}"));
        let mut args = vec!["run", "--rm", &named, &network, label];
        args.extend(EVERY_CONTAINER);
        args.extend(SMALL);
        args.extend(nproc.as_deref());
        args.extend(["--entrypoint=/bin/sh", "--", image, "-c", TRY_PORTS, "sh", &gateway]);
        args.extend(ports.iter().map(String::as_str));
        Ok(self.ask(&args)?.text())
    }

    /// Id and gateway of a network of ours.
    fn network(&self, name: &str) -> Option<(String, Option<IpAddr>)> {
        let answer = self.ask(&["network", "inspect", "--", name]).ok()?;
        let document: Value = serde_json::from_slice(&answer.stdout).ok()?;
        let at = |places: [&str; 2]| places.iter().find_map(|place| document.pointer(place)?.as_str());
        let gateway = at(["/0/IPAM/Config/0/Gateway", "/0/subnets/0/gateway"]);
        Some((at(["/0/Id", "/0/id"])?.to_owned(), gateway.and_then(|text| text.parse().ok())))
    }

    /// Whether nothing of this name is left. The name is 128 random bits of ours, so what bears it is too.
    fn remove(&self, name: &str) -> bool {
        // `rm -f` of what is not there ends well on both engines; what did not end well may still be there.
        let container = self.ask(&["rm", "-f", "-v", "--", name]).is_ok();
        let network = match self.network(name) {
            Some((id, _)) => self.ask(&["network", "rm", "--", &id]).is_ok(),
            None => self.listed_networks(name).is_some_and(|names| names.is_empty()),
        };
        container && network
    }

    /// Networks of a name, where the engine tells: an inspect that fails need not mean that there is none.
    fn listed_networks(&self, name: &str) -> Option<Vec<String>> {
        let filter = format!("name={name}");
        let answer = self.ask(&["network", "ls", "--quiet", "--filter", &filter]).ok()?;
        Some(answer.text().lines().map(String::from).collect())
    }

    /// What probes left that were killed: their locks are held by nobody.
    fn remove_left(&self, prefix: &str) {
        for name in self.probe.store.lock_names(prefix) {
            let Ok(lock) = self.probe.store.lock_if_free(&name) else { continue };
            if self.remove(&name) {
                lock.remove();
            }
        }
    }
}

/// Beyond what every container has: what tries a port needs nothing.
const SMALL: [&str; 6] = [
    "--user=65534:65534",
    "--read-only",
    "--memory=67108864",
    "--pids-limit=64",
    "--ulimit=core=0:0",
    "--ulimit=nofile=1024:1024",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ports_that_were_asked_for_are_read() {
        let printed = "open 22\nclosed 80\nopen 9999\nopen \u{1b}[2J\nsomething\n";
        let tried = read(printed, &[22, 80, 443]);
        assert_eq!(tried, Tried::Ports { open: vec![22], closed: vec![80] });
        for nothing in ["", "none\n", "open 9999\n"] {
            assert!(matches!(read(nothing, &[22]), Tried::Nothing(_)), "{nothing}");
        }
    }
}

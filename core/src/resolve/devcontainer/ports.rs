//! Ports: the container's own, on 127.0.0.1 only, once a person agrees.

use super::Scene;
use crate::{
    parse::jsonc::{Node, Value},
    policy::{approval::Subject, devcontainer::keys::Key, maximum},
    source::Position,
    text::quoted,
};
use alloc::{collections::BTreeSet, format, string::ToString, vec::Vec};

impl Scene<'_, '_> {
    pub(super) fn ports(&mut self, key: &'static Key, at: Position, node: &Node) {
        let items: Vec<&Node> = match &node.value {
            Value::List(items) => items.iter().collect(),
            _ => [node].into(),
        };
        let mut ports = BTreeSet::new();
        for (index, item) in items.into_iter().enumerate() {
            let written = match &item.value {
                Value::Number(text) | Value::Text(text) => text.as_str(),
                _ => continue,
            };
            let port = if key.name == "appPort" { published(written) } else { forwarded(written) };
            match port {
                Some(port) => {
                    ports.insert(port);
                }
                None => {
                    let message = format!(
                        "A port is a number from 1 to 65535 of the container itself; {} is left out.",
                        quoted(written)
                    );
                    self.drop_value(item.at, &format!("{}[{index}]", key.name), message);
                }
            }
        }
        if !ports.is_empty() {
            self.ask_ports(&ports, at, key.name);
        }
    }

    /// What persons publish anyway need not be asked for.
    pub(super) fn ask_ports(&mut self, ports: &BTreeSet<u16>, at: Position, path: &str) {
        let new: Vec<u16> = ports.iter().copied().filter(|port| !self.grants.ports.contains(port)).collect();
        if new.is_empty() {
            return;
        }
        let known: BTreeSet<u16> = self.grants.ports.iter().chain(&self.wanted.ports).copied().collect();
        let all = known.union(ports).count();
        if !maximum::ports_are_within(self.request, all) {
            return self.beyond_maximum(at, path, "so many published ports");
        }
        let list: Vec<_> = new.iter().map(ToString::to_string).collect();
        let message = match list.as_slice() {
            [one] => format!(
                "The repository wants the port {one} published on 127.0.0.1; it is not until you approve."
            ),
            list => format!(
                "The repository wants the ports {} published on 127.0.0.1; they are not until you approve.",
                list.join(", ")
            ),
        };
        if self.ask(&Subject::Ports { ports: &new }, at, path, message) {
            self.wanted.ports.extend(new);
        }
    }
}

fn number(text: &str) -> Option<u16> {
    let plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|port| plain && *port > 0)
}

/// `3000`, `"3000"`, `"localhost:3000"`; another host would make the container a way to it.
fn forwarded(text: &str) -> Option<u16> {
    number(text.strip_prefix("localhost:").unwrap_or(text))
}

/// `8080`, `"8080:80"`, `"127.0.0.1:8080:80/tcp"`: the container's port counts, host and address are ours.
fn published(text: &str) -> Option<u16> {
    let text = text.strip_suffix("/tcp").unwrap_or(text);
    let mut parts = text.rsplitn(3, ':');
    let container = number(parts.next()?)?;
    let host = parts.next();
    let address = parts.next();
    let fits =
        |address: &str| !address.is_empty() && address.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    (host.is_none_or(|host| host.is_empty() || number(host).is_some()) && address.is_none_or(fits))
        .then_some(container)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_of_the_container_itself_are_read() {
        for (text, port) in [("3000", 3000), ("localhost:3000", 3000), ("1", 1), ("65535", 65535)] {
            assert_eq!(forwarded(text), Some(port), "{text}");
        }
        for text in [
            "0",
            "65536",
            "-1",
            "3.5",
            "1e3",
            "db:5432",
            "169.254.169.254:80",
            "",
            "localhost:",
            "+80",
            " 80",
        ] {
            assert_eq!(forwarded(text), None, "{text}");
        }
        for (text, port) in [
            ("80", 80),
            ("8080:80", 80),
            ("127.0.0.1:8080:80/tcp", 80),
            ("0.0.0.0:8080:80", 80),
            ("127.0.0.1::80", 80),
        ] {
            assert_eq!(published(text), Some(port), "{text}");
        }
        for text in ["8000-8010:80", "80/udp", "a:80", "80 -v /:/h", "::1:80:80x", ""] {
            assert_eq!(published(text), None, "{text}");
        }
    }
}

//! What listens on this machine, out of the kernel's tables `/proc/net/tcp` and `tcp6`.
//!
//! A container on a bridge reaches this machine at each of its addresses but loopback, since packets to any of them
//! arrive here; what is bound to loopback only stays out of its reach.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::report::ReachableListener;

/// State of a socket that listens (the kernel's `TCP_LISTEN`).
const LISTEN: &str = "0A";

/// The listeners in the two tables that a container could reach, each once, by port.
pub fn reachable(tcp: &str, tcp6: &str) -> Vec<ReachableListener> {
    let lines = tcp.lines().chain(tcp6.lines());
    let listeners: BTreeSet<(u16, IpAddr)> =
        lines.filter_map(listener).filter(|(_, address)| is_in_reach(*address)).collect();
    listeners
        .into_iter()
        .map(|(port, address)| ReachableListener { port, address: address.to_string() })
        .collect()
}

/// Port and address of a line that is a listener's.
fn listener(line: &str) -> Option<(u16, IpAddr)> {
    let mut fields = line.split_whitespace().skip(1);
    let (address, port) = fields.next()?.split_once(':')?;
    let state = fields.nth(1)?;
    if state != LISTEN {
        return None;
    }
    Some((u16::from_str_radix(port, 16).ok()?, ip(address)?.to_canonical()))
}

/// The kernel prints an address as words of 32 bits in the machine's own order, each as hex.
fn ip(hex: &str) -> Option<IpAddr> {
    let word = |at: usize| -> Option<[u8; 4]> {
        let digits = hex.get(at..at.checked_add(8)?)?;
        Some(u32::from_str_radix(digits, 16).ok()?.to_ne_bytes())
    };
    match hex.len() {
        8 => Some(Ipv4Addr::from(word(0)?).into()),
        32 => {
            let mut bytes = [0_u8; 16];
            for (index, chunk) in bytes.chunks_mut(4).enumerate() {
                chunk.copy_from_slice(&word(index.checked_mul(8)?)?);
            }
            Some(Ipv6Addr::from(bytes).into())
        }
        _ => None,
    }
}

/// Loopback is this machine's own; a link-local address of IPv6 is of another link than the bridge.
fn is_in_reach(address: IpAddr) -> bool {
    let link_local = matches!(address, IpAddr::V6(six) if six.is_unicast_link_local());
    !address.is_loopback() && !link_local
}

/// "22, 2024 and 8080 on 192.168.1.5": ports, with their address where it is not every one; at most `most`.
pub fn sentence(listeners: &[ReachableListener], most: usize) -> String {
    let every = |listener: &ReachableListener| matches!(listener.address.as_str(), "0.0.0.0" | "::");
    let mut ports: Vec<String> = Vec::new();
    for listener in listeners {
        let at_every = listeners.iter().any(|other| other.port == listener.port && every(other));
        let text = if at_every {
            listener.port.to_string()
        } else {
            format!("{} on {}", listener.port, listener.address)
        };
        if !ports.contains(&text) {
            ports.push(text);
        }
    }
    let more = ports.len().saturating_sub(most);
    ports.truncate(most);
    if more > 0 {
        return format!("{} and {more} more", ports.join(", "));
    }
    match ports.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
#[cfg(target_endian = "little")]
mod tests {
    use super::*;

    const TCP: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:07E8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 640 1 0 100 0 0 10 0
   1: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 641 1 0 100 0 0 10 0
   2: 050011AC:01BB 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 642 1 0 100 0 0 10 0
   3: 00000000:0016 0B0011AC:C001 01 00000000:00000000 00:00000000 00000000     0        0 643 1 0 100 0 0 10 0
";
    const TCP6: &str =
        "  sl  local_address                         remote_address                        st tx_queue
   0: 00000000000000000000000000000000:0016 00000000000000000000000000000000:0000 0A 00000000:00000000
   1: 00000000000000000000000001000000:0017 00000000000000000000000000000000:0000 0A 00000000:00000000
   2: 0000000000000000FFFF00000100007F:0018 00000000000000000000000000000000:0000 0A 00000000:00000000
   3: 0000000000000000FFFF0000050011AC:0019 00000000000000000000000000000000:0000 0A 00000000:00000000
   4: 000080FE00000000000000000100A8C0:001A 00000000000000000000000000000000:0000 0A 00000000:00000000
";

    fn found() -> Vec<(u16, String)> {
        reachable(TCP, TCP6).into_iter().map(|listener| (listener.port, listener.address)).collect()
    }

    #[test]
    fn listeners_on_every_or_another_address_are_in_reach_and_loopback_is_not() {
        let expected = [(22, "::"), (25, "172.17.0.5"), (443, "172.17.0.5"), (2024, "0.0.0.0")];
        assert_eq!(found(), expected.map(|(port, address)| (port, address.to_owned())));
    }

    #[test]
    fn a_connection_is_no_listener() {
        assert!(!found().contains(&(22, "0.0.0.0".into())));
    }

    #[test]
    fn broken_lines_are_passed_over() {
        for line in
            ["", "x", "0: 0:0", "0: ZZ000000:0016 0:0 0A", "0: 00000000:ZZ 0:0 0A", "0: é0000000:0016 0:0 0A"]
        {
            assert_eq!(reachable(line, line), [], "{line}");
        }
    }

    #[test]
    fn a_port_is_named_once_and_its_address_where_it_is_not_every_one() {
        assert_eq!(sentence(&reachable(TCP, TCP6), 20), "22, 25 on 172.17.0.5, 443 on 172.17.0.5 and 2024");
        assert_eq!(sentence(&reachable(TCP, TCP6), 2), "22, 25 on 172.17.0.5 and 2 more");
        assert_eq!(sentence(&reachable(TCP, ""), 20), "443 on 172.17.0.5 and 2024");
    }
}

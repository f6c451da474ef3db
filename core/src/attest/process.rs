//! The container's process as the host's kernel shows it: `/proc/PID/status` and the maps of its user namespace.

use super::Observation;
use alloc::{format, string::String};
use serde_json::json;

/// Texts of `/proc/PID/uid_map` and `gid_map`: what the ids of the process's user namespace are outside.
#[derive(Clone, Copy, Debug)]
pub struct IdMaps<'a> {
    /// `uid_map`.
    pub uid: &'a str,
    /// `gid_map`.
    pub gid: &'a str,
}

impl IdMaps<'_> {
    /// The maps of a process in the host's own user namespace.
    pub const HOST: Self = Self { uid: "0 0 4294967295\n", gid: "0 0 4294967295\n" };
}

/// Facts of a process from the text of its `status` file.
///
/// Field names: `CapInh` … `CapAmb` as hex, `NoNewPrivs`, `Seccomp`, and the real uid and gid, which must equal
/// the effective, saved and file-system ones. The ids are told as the container has them, by the maps; one that is root's
/// outside is 0 whatever it is called inside.
pub fn observe_process(status: &str, maps: &IdMaps<'_>) -> Observation {
    let mut observed = Observation::default();
    for line in status.lines() {
        let Some((name, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        match name {
            "CapInh" | "CapPrm" | "CapEff" | "CapBnd" | "CapAmb" => {
                let field = format!("process.cap{}", name.strip_prefix("Cap").unwrap_or(name));
                observed.set(field, String::from(value));
            }
            "NoNewPrivs" => number(&mut observed, "process.noNewPrivs", value),
            "Seccomp" => number(&mut observed, "process.seccomp", value),
            "Uid" => id(&mut observed, "process.uid", value, maps.uid),
            "Gid" => id(&mut observed, "process.gid", value, maps.gid),
            _ => {}
        }
    }
    observed
}

fn number(observed: &mut Observation, field: &str, value: &str) {
    if let Ok(number) = value.parse::<u64>() {
        observed.set(field, number);
    }
}

/// Four ids that must be one, and one of the container's; others are noted as they stand, which matches nothing.
fn id(observed: &mut Observation, field: &str, value: &str, map: &str) {
    let mut ids = value.split_whitespace();
    let first = ids.next().unwrap_or("");
    let outside = first.parse::<u64>().ok().filter(|_| ids.all(|id| id == first));
    match outside.and_then(|outside| inside(map, outside)) {
        Some(id) => observed.set(field, id),
        None => observed.set(field, json!(value)),
    }
}

/// What an id of outside is called inside. Each line of a map: the first id inside, the first outside, how many.
fn inside(map: &str, outside: u64) -> Option<u64> {
    if outside == 0 {
        return Some(0);
    }
    map.lines().find_map(|line| {
        let mut numbers = line.split_whitespace().map(|number| number.parse::<u64>().ok());
        let (first, from, count) = (numbers.next()??, numbers.next()??, numbers.next()??);
        let offset = outside.checked_sub(from).filter(|offset| *offset < count)?;
        first.checked_add(offset)
    })
}

//! The container's process as the host's kernel shows it: `/proc/PID/status`.

use super::Observation;
use alloc::{format, string::String};
use serde_json::json;

/// Facts of a process from the text of its `status` file.
///
/// Field names: `CapInh` … `CapAmb` as hex, `NoNewPrivs`, `Seccomp`, and the real uid and gid, which must equal
/// the effective, saved and file-system ones.
pub fn observe_process(status: &str) -> Observation {
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
            "Uid" => all_equal(&mut observed, "process.uid", value),
            "Gid" => all_equal(&mut observed, "process.gid", value),
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

/// Four ids that must be one; different ones are noted as they stand, which matches nothing.
fn all_equal(observed: &mut Observation, field: &str, value: &str) {
    let mut ids = value.split_whitespace();
    let first = ids.next();
    if ids.all(|id| Some(id) == first) {
        number(observed, field, first.unwrap_or(""));
    } else {
        observed.set(field, json!(value));
    }
}

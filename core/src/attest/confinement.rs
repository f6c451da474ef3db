//! What of the machine a container's process sees, as the host's kernel shows it: its own namespaces, and the parts
//! of /proc that engines cover. podman's inspect tells neither `--ipc=host` nor `unmask=ALL` (measured on 4.3).

use super::{Observation, mount_points};
use crate::plan::ContainerPlan;
use alloc::vec::Vec;
use serde_json::json;

/// Rows that only a reader who may trace the process can fill: where it may not, they are left out.
pub const CONFINEMENT_FIELDS: [&str; 4] =
    ["process.namespaces", "process.uncoveredPaths", "process.sysctlsReadOnly", "process.unplannedMounts"];

/// Places that both engines cover since long, where a kernel has them: its memory, its keys, its timers.
pub const COVERED_PATHS: [&str; 3] = ["/proc/kcore", "/proc/keys", "/proc/timer_list"];

/// Facts from the links `/proc/PID/ns/*`, each beside the host's own, and from `/proc/PID/mountinfo`; `existing` are
/// those of [`COVERED_PATHS`] that this kernel has, `id` is the container's.
pub fn observe_confinement(
    plan: &ContainerPlan,
    id: &str,
    namespaces: &[(&str, &str, &str)],
    mountinfo: &str,
    existing: &[&str],
) -> Observation {
    let mut observed = Observation::default();
    let own: Vec<&str> =
        namespaces.iter().filter(|(_, its, host)| its != host).map(|(name, ..)| *name).collect();
    observed.set("process.namespaces", json!(own));
    // proc(5): field 5 is the place, field 6 the options; the last mount at a place is the one that is seen.
    let mount = |place: &str| {
        let mut lines = mountinfo.lines().rev().map(|line| line.split(' ').skip(4));
        lines.find_map(|mut fields| (fields.next() == Some(place)).then(|| fields.next().unwrap_or("")))
    };
    let uncovered: Vec<&&str> = existing.iter().filter(|place| mount(place).is_none()).collect();
    observed.set("process.uncoveredPaths", json!(uncovered));
    let read_only = |options: &str| options.split(',').any(|option| option == "ro");
    observed.set("process.sysctlsReadOnly", mount("/proc/sys").is_some_and(read_only));
    observed.set("process.unplannedMounts", json!(mount_points::unplanned(plan, id, mountinfo)));
    observed
}

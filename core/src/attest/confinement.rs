//! What of the machine a container's process sees, as the host's kernel shows it: its own namespaces, and the parts
//! of /proc that engines cover. podman's inspect tells neither `--ipc=host` nor `unmask=ALL` (measured on 4.3).

use super::Observation;
use alloc::vec::Vec;
use serde_json::json;

/// Rows that only a reader who may trace the process can fill: where it may not, they are left out.
pub const CONFINEMENT_FIELDS: [&str; 3] =
    ["process.namespaces", "process.uncoveredPaths", "process.sysctlsReadOnly"];

/// Places that both engines cover since long, where a kernel has them: its memory, its keys, its timers.
pub const COVERED_PATHS: [&str; 3] = ["/proc/kcore", "/proc/keys", "/proc/timer_list"];

/// Facts from the links `/proc/PID/ns/*`, each beside the host's own, and from `/proc/PID/mountinfo`; `existing` are
/// those of [`COVERED_PATHS`] that this kernel has.
pub fn observe_confinement(
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
    observed
}

#[cfg(test)]
mod tests {
    use super::*;

    const COVERED: &str = "\
610 600 0:50 / /proc rw,nosuid - proc proc rw
611 610 0:50 /sys /proc/sys ro,nosuid - proc proc rw
612 610 0:5 /null /proc/kcore rw,nosuid - tmpfs tmpfs rw
";

    #[test]
    fn namespaces_of_its_own_are_those_that_differ_from_the_hosts() {
        let pairs = [("ipc", "ipc:[1]", "ipc:[2]"), ("net", "net:[3]", "net:[3]")];
        assert_eq!(observe_confinement(&pairs, "", &[]).get("process.namespaces"), Some(&json!(["ipc"])));
    }

    #[test]
    fn covered_places_are_read_from_the_mounts() {
        let observed = observe_confinement(&[], COVERED, &["/proc/kcore"]);
        assert_eq!(observed.get("process.uncoveredPaths"), Some(&json!([])));
        assert_eq!(observed.get("process.sysctlsReadOnly"), Some(&json!(true)));
        let open = COVERED.replace("/proc/kcore", "/other").replace(" ro,", " rw,");
        let observed = observe_confinement(&[], &open, &["/proc/kcore"]);
        assert_eq!(observed.get("process.uncoveredPaths"), Some(&json!(["/proc/kcore"])));
        assert_eq!(observed.get("process.sysctlsReadOnly"), Some(&json!(false)));
    }

    #[test]
    fn a_later_mount_over_a_place_is_what_counts() {
        let again = alloc::format!("{COVERED}613 610 0:50 /sys /proc/sys rw - proc proc rw\n");
        assert_eq!(observe_confinement(&[], &again, &[]).get("process.sysctlsReadOnly"), Some(&json!(false)));
    }
}

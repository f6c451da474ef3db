//! What the kernel shows of a container's confinement: namespaces, covered places, and mount points that nobody planned.

use crate::support::{request, sealed};
use orca_container_core::{ContainerPlan, Observation, observe_confinement};
use serde_json::{Value, json};

const ID: &str = "da42fe58fc03b1d79a5261fc42ea3fed8b66ce1c00c2fa3693fb46415e19d6b1";

fn plan(engine: &str) -> ContainerPlan {
    sealed(&request(engine))
}

fn seen_of(namespaces: &[(&str, &str, &str)], mountinfo: &str, existing: &[&str]) -> Observation {
    observe_confinement(&plan("docker"), ID, namespaces, mountinfo, existing)
}

const COVERED: &str = "\
610 600 0:50 / /proc rw,nosuid - proc proc rw
611 610 0:50 /sys /proc/sys ro,nosuid - proc proc rw
612 610 0:5 /null /proc/kcore rw,nosuid - tmpfs tmpfs rw
";

#[test]
fn namespaces_of_its_own_are_those_that_differ_from_the_hosts() {
    let pairs = [("ipc", "ipc:[1]", "ipc:[2]"), ("net", "net:[3]", "net:[3]")];
    assert_eq!(seen_of(&pairs, "", &[]).get("process.namespaces"), Some(&json!(["ipc"])));
}

#[test]
fn covered_places_are_read_from_the_mounts() {
    let observed = seen_of(&[], COVERED, &["/proc/kcore"]);
    assert_eq!(observed.get("process.uncoveredPaths"), Some(&json!([])));
    assert_eq!(observed.get("process.sysctlsReadOnly"), Some(&json!(true)));
    let open = COVERED.replace("/proc/kcore", "/other").replace(" ro,", " rw,");
    let observed = seen_of(&[], &open, &["/proc/kcore"]);
    assert_eq!(observed.get("process.uncoveredPaths"), Some(&json!(["/proc/kcore"])));
    assert_eq!(observed.get("process.sysctlsReadOnly"), Some(&json!(false)));
}

#[test]
fn a_later_mount_over_a_place_is_what_counts() {
    let again = format!("{COVERED}613 610 0:50 /sys /proc/sys rw - proc proc rw\n");
    assert_eq!(seen_of(&[], &again, &[]).get("process.sysctlsReadOnly"), Some(&json!(false)));
}

/// Mount points of a container of docker 20.10 and of podman 4.3, from `/proc/PID/mountinfo`: root, place, options and
/// kind. `ID` and `VOLUME` stand for the container and the workspace's volume.
const DOCKER: &str = "\
/ / overlay
/ /proc proc
/ /dev tmpfs
/ /dev/pts devpts
/ /sys sysfs
/ /sys/fs/cgroup tmpfs
/docker/ID /sys/fs/cgroup/memory cgroup
/ /dev/mqueue mqueue
/ /dev/shm tmpfs
/usr/bin/tini-static /sbin/docker-init ext4
/var/lib/docker/volumes/VOLUME/_data /workspace ext4
/var/lib/docker/containers/ID/resolv.conf /etc/resolv.conf ext4
/var/lib/docker/containers/ID/hostname /etc/hostname ext4
/var/lib/docker/containers/ID/hosts /etc/hosts ext4
/sys /proc/sys proc
/null /proc/keys tmpfs
/ /sys/firmware tmpfs
";

const PODMAN: &str = "\
/ / overlay
/ /proc proc
/ /dev tmpfs
/ /sys sysfs
/var/lib/containers/storage/volumes/VOLUME/_data /workspace ext4
/usr/bin/catatonit /run/podman-init ext4
/ /dev/pts devpts
/ /dev/shm tmpfs
/run/containers/storage/overlay-containers/ID/userdata/.containerenv /run/.containerenv ext4
/run/containers/storage/overlay-containers/ID/userdata/hosts /etc/hosts ext4
/libpod_parent/libpod-ID /sys/fs/cgroup/cpu cgroup
/null /proc/keys tmpfs
/ /sys/dev/block tmpfs
";

fn mountinfo(plan: &ContainerPlan, lines: &str) -> String {
    let volume = &plan.names.workspace_volume;
    let lines = lines.replace("ID", ID).replace("VOLUME", volume);
    let line = |line: &str| {
        let fields: Vec<&str> = line.split(' ').collect();
        format!("610 600 8:1 {} {} rw,relatime - {} source rw\n", fields[0], fields[1], fields[2])
    };
    lines.lines().map(line).collect()
}

fn unplanned(engine: &str, lines: &str) -> Value {
    let plan = plan(engine);
    let observed = observe_confinement(&plan, ID, &[], &mountinfo(&plan, lines), &[]);
    observed.get("process.unplannedMounts").cloned().unwrap()
}

#[test]
fn what_engines_mount_themselves_is_planned() {
    assert_eq!(unplanned("docker", DOCKER), json!([]));
    assert_eq!(unplanned("podman", PODMAN), json!([]));
    // Links of an image lead elsewhere: a merged /usr, a resolver's file in /run, a volume at the link's target.
    let linked = "/usr/bin/tini-static /usr/sbin/docker-init ext4\n\
                  /var/lib/docker/containers/ID/resolv.conf /run/systemd/resolve/stub-resolv.conf ext4\n\
                  /docker/volumes/VOLUME/_data /data xfs\n";
    assert_eq!(unplanned("docker", linked), json!([]));
    // Without root: devices of the machine one by one, its /sys with all in it.
    let rootless = "/null /dev/null devtmpfs\n/urandom /dev/urandom tmpfs\n/ /sys/kernel/security securityfs\n\
                    /home/ada/.local/share/containers/storage/volumes/VOLUME/_data /workspace btrfs\n";
    assert_eq!(unplanned("podman", rootless), json!([]));
    let images = format!("/var/lib/docker/volumes/{ID}/_data /var/lib/postgresql ext4\n");
    assert_eq!(unplanned("docker", &images), json!([]));
}

#[test]
fn what_nobody_planned_is_named() {
    for (line, place) in [
        ("/ /x overlay", "/x"),
        ("/etc /host ext4", "/host"),
        ("/run /host tmpfs", "/host"),
        ("/ /dev/x overlay", "/dev/x"),
        ("/etc /proc/x ext4", "/proc/x"),
        ("/etc /workspace/acme/x ext4", "/workspace/acme/x"),
        (
            "/run/containers/storage/overlay-containers/ID/userdata/secrets/hosts /run/secrets/hosts tmpfs",
            "/run/secrets/hosts",
        ),
        ("/home/ada/hosts /etc/hosts ext4", "/etc/hosts"),
        ("/var/lib/docker/volumes/somebodys/_data /data ext4", "/data"),
    ] {
        for (engine, usual) in [("docker", DOCKER), ("podman", PODMAN)] {
            assert_eq!(unplanned(engine, &format!("{usual}{line}\n")), json!([place]), "{engine} {line}");
        }
    }
}

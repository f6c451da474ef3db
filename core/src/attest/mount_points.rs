//! Mount points of a container's process that nobody planned. podman's inspect does not tell an overlay of a folder
//! (`-v DIR:/x:O`), a secret or an image that is mounted (measured on 4.3).
//!
//! Places are those of the kernel, after links of the image were followed: `/sbin` may be `/usr/sbin`, and
//! `/etc/resolv.conf` may lead to `/run`. So volumes and the engine's own files are known by what is mounted, and only
//! the rest by where. What is not sure to be unplanned is passed over: a workspace must start.

use crate::{plan::ContainerPlan, words::MountRole};
use alloc::{format, string::String, vec::Vec};

/// The kernel's own file systems, which say something of the kernel and hold nobody's files.
const KERNELS: &[&str] = &[
    "proc",
    "sysfs",
    "tmpfs",
    "ramfs",
    "devtmpfs",
    "devpts",
    "mqueue",
    "cgroup",
    "cgroup2",
    "securityfs",
    "selinuxfs",
    "debugfs",
    "tracefs",
    "pstore",
    "bpf",
    "configfs",
    "fusectl",
    "efivarfs",
    "hugetlbfs",
    "binfmt_misc",
    "autofs",
    "fuse.lxcfs",
];

/// Devices that an engine without root mounts one by one, since it makes none.
const DEVICES: [&str; 7] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/random", "/dev/urandom", "/dev/console"];

/// Files that engines write for each container.
const ENGINES_FILES: [&str; 7] =
    ["hosts", "hostname", "resolv.conf", ".containerenv", "passwd", "group", "localtime"];

/// Programs that engines put first into a container, and the subscriptions that distributions put into each one.
const ENGINES_PLACES: [&str; 3] = ["/dev/init", "/run/podman-init", "/run/secrets"];

/// Places that are told at most.
const MOST: usize = 20;

/// One line of mountinfo (proc(5)): what of its file system is mounted where.
struct Mount<'m> {
    root: &'m str,
    place: &'m str,
    kind: &'m str,
}

/// The mount points in a mountinfo that neither the plan nor the engine's own ways explain. `id` is the container's.
pub(super) fn unplanned(plan: &ContainerPlan, id: &str, mountinfo: &str) -> Vec<String> {
    let mounts = mountinfo.lines().filter_map(read);
    let strange = mounts.filter(|mount| {
        !is_of_the_plan(mount, plan) && !is_of_the_kernel(mount) && !is_of_the_engine(mount, id)
    });
    strange.map(|mount| String::from(mount.place)).take(MOST).collect()
}

fn read(line: &str) -> Option<Mount<'_>> {
    let (mounted, source) = line.split_once(" - ")?;
    let mut fields = mounted.split(' ').skip(3);
    Some(Mount { root: fields.next()?, place: fields.next()?, kind: source.split(' ').next()? })
}

/// A planned place, or a volume of the plan or of the image: inspect's row has told that there is no other.
fn is_of_the_plan(mount: &Mount<'_>, plan: &ContainerPlan) -> bool {
    let volume = mount.root.strip_suffix("/_data").and_then(|root| root.rsplit('/').next());
    let anonymous = |name: &str| name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    // A repository's volume lies where it was judged; a link of the image could lead it over ours.
    let planned = |name: &str| {
        let mut of_name = plan.mounts.iter().filter(|planned| planned.source.as_deref() == Some(name));
        of_name.any(|planned| planned.role != MountRole::Devcontainer || planned.target == mount.place)
    };
    match volume {
        Some(name) => anonymous(name) || planned(name),
        None => plan.mounts.iter().any(|planned| planned.source.is_none() && planned.target == mount.place),
    }
}

fn is_of_the_kernel(mount: &Mount<'_>) -> bool {
    let below = |root: &str| {
        mount.place.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let kernels = KERNELS.contains(&mount.kind) && ["/proc", "/sys", "/dev"].into_iter().any(below);
    mount.place == "/" || kernels || DEVICES.contains(&mount.place)
}

fn is_of_the_engine(mount: &Mount<'_>, id: &str) -> bool {
    let mut above = mount.root.rsplitn(3, '/');
    let (name, folder) = (above.next().unwrap_or(""), above.next().unwrap_or(""));
    let own_file = ENGINES_FILES.contains(&name)
        && (folder == id || (folder == "userdata" && mount.root.contains(&format!("/{id}/"))));
    own_file || mount.place.ends_with("/docker-init") || ENGINES_PLACES.contains(&mount.place)
}

//! What stands behind a mount: a volume's plain name, or something that is or may be a path of the host.

use super::Verdict;
use crate::text::quoted_name;
use alloc::{format, string::String, vec::Vec};

/// File names of the sockets that engines listen on. Who writes to one controls the host.
const SOCKETS: &[&str] = &[
    "docker.sock",
    "docker.raw.sock",
    "docker_engine",
    "dockerd.sock",
    "podman.sock",
    "containerd.sock",
    "containerd.sock.ttrpc",
    "buildkitd.sock",
    "crio.sock",
    "cri-dockerd.sock",
];

/// Folders in which those sockets lie.
const SOCKET_FOLDERS: &[&str] = &["/run", "/var/run"];

/// Folders of the host that CIS Docker 5.6 names.
const SENSITIVE: &[&str] = &["/", "/boot", "/dev", "/etc", "/lib", "/proc", "/sys", "/usr"];

/// Keys of a volume that put something else behind it than the engine's own storage.
pub(super) fn options(others: &[String]) -> Result<(), Verdict> {
    for option in others {
        let why = match option.as_str() {
            "volume-opt" => "options of a volume can put any folder, device or server of the host behind it",
            "volume-driver" => "a driver can put any folder of the host or a server behind a volume",
            "volume-subpath" | "subpath" => "a folder inside a volume can be a link that leads out of it",
            "u" | "U" | "chown" => "the engine would change owners behind the mount",
            "O" | "upperdir" | "workdir" => "an overlay is made of folders of the host",
            "idmap" => "the mapping of users is decided by Orca's plan",
            propagation if is_propagation(propagation) => "mounts are private to the container",
            _ => continue,
        };
        let verdict = Verdict::dropped(format!("it has the option {}, and {why}", quoted_name(option)));
        let shared = is_propagation(option);
        return Err(verdict.standard(if shared { "CIS Docker 5.20" } else { "CIS Docker 5.6" }));
    }
    Ok(())
}

fn is_propagation(option: &str) -> bool {
    matches!(
        option,
        "shared"
            | "rshared"
            | "slave"
            | "rslave"
            | "private"
            | "rprivate"
            | "unbindable"
            | "bind-propagation"
    )
}

/// Kinds that are neither volume, tmpfs nor bind.
pub(super) fn other_kind(kind: &str) -> Verdict {
    let why = match kind {
        "npipe" => "a named pipe belongs to the host, and the engine's own is one",
        "image" | "artifact" => "files of another image are not mounted",
        "cluster" => "a volume of a cluster belongs to others",
        "devpts" | "ramfs" => "only volumes and tmpfs are mounted",
        "glob" => "a pattern stands for paths of the host",
        _ => "a mount is of type \"volume\" or \"tmpfs\"",
    };
    let verdict = Verdict::dropped(format!("it is of type {}, and {why}", quoted_name(kind)));
    match kind {
        "npipe" => verdict.standard("CIS Docker 5.32"),
        "glob" => verdict.standard("CIS Docker 5.6"),
        _ => verdict,
    }
}

/// A name that both engines take for a volume; everything else may be a path.
pub(super) fn volume_name(source: &str) -> Result<&str, Verdict> {
    let first = source.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
    let rest = source.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'));
    // One letter could be a drive of Windows, and docker takes no name that short.
    if first && rest && (2..=255).contains(&source.len()) { Ok(source) } else { Err(host_path(Some(source))) }
}

/// The verdict on a source that is or may be a path of the host.
pub(super) fn host_path(source: Option<&str>) -> Verdict {
    let Some(source) = source else { return Verdict::dropped(HOST).standard("CIS Docker 5.6") };
    let shown = quoted_name(source);
    let path = normal(source);
    let file = path.rsplit('/').next().unwrap_or_default();
    let holds = SOCKET_FOLDERS.iter().any(|folder| is_at_or_above(&path, folder));
    if SOCKETS.contains(&file) {
        let why = format!("{shown} is the engine's socket, and who reaches it controls the host");
        return Verdict::dropped(why).standard("CIS Docker 5.32");
    }
    if holds && path.starts_with('/') && path != "/" {
        let why = format!("the engine's socket lies below {shown}, and who reaches it controls the host");
        return Verdict::dropped(why).standard("CIS Docker 5.32");
    }
    if SENSITIVE.iter().any(|folder| path == *folder || (*folder != "/" && is_at_or_above(folder, &path))) {
        let why = format!("{shown} is a folder of the host's own system");
        return Verdict::dropped(why).standard("CIS Docker 5.6");
    }
    if path.starts_with('/') || source.starts_with(['.', '~']) || source.contains(['/', '\\', ':']) {
        return Verdict::dropped(format!("{shown} is a path of the host, and {HOST}"))
            .standard("CIS Docker 5.6");
    }
    let rule = "a volume's name has two or more letters, digits and . _ -, and begins with a letter or digit";
    Verdict::dropped(format!("{shown} may be a path of the host; {rule}"))
}

const HOST: &str = "files of the host never enter the container by a mount";

/// Whether a path is the other one or lies above it.
pub(super) fn is_at_or_above(upper: &str, lower: &str) -> bool {
    match lower.strip_prefix(upper) {
        Some(rest) => rest.is_empty() || rest.starts_with('/') || upper.ends_with('/'),
        None => false,
    }
}

/// A path with slashes of one kind, lower case, without doubled slashes, `.` and `..`.
fn normal(source: &str) -> String {
    let slashes = source.replace('\\', "/").to_lowercase();
    let mut parts: Vec<&str> = Vec::new();
    for part in slashes.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let root = if slashes.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

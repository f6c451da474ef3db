//! Where in the container a repository may mount something.

use super::{MountRules, Verdict, sources::is_at_or_above};
use crate::{limits, plan::WORKSPACE_ROOT, text::quoted_name};
use alloc::{format, string::String, vec::Vec};

/// Folders that no mount of a repository equals, covers or lies in, each with its why.
///
/// The agent's user can write to few of them; a volume of its own over one could, would outlive a recreate, and would
/// be trusted by every command that Orca starts.
const PROTECTED: &[(&str, &str)] = &[
    (AGENT_ROOT, "the agents' settings and logins are kept there"),
    ("/etc", "the system is configured there: users, names of hosts, certificates"),
    ("/usr", "programs and libraries are there that every command of Orca's uses"),
    ("/bin", "programs are there that every command of Orca's uses"),
    ("/sbin", "programs are there that every command of Orca's uses"),
    ("/lib", "libraries are there that every command of Orca's uses"),
    ("/lib32", "libraries are there that every command of Orca's uses"),
    ("/lib64", "libraries are there that every command of Orca's uses"),
    ("/libx32", "libraries are there that every command of Orca's uses"),
    ("/proc", "the kernel's own view is there, and the engine masks parts of it"),
    ("/sys", "the kernel's own view is there, and the engine masks parts of it"),
    ("/dev", "the engine makes the few devices there; \"--shm-size\" gives /dev/shm its size"),
    ("/run", "engines and init systems keep their sockets and secrets there"),
    ("/var/run", "engines and init systems keep their sockets and secrets there"),
    ("/boot", "the system starts from there"),
    ("/root", "it is the home of root, and the container's user is not root"),
];

/// `/orca`, of which the agents' folder is a part.
const AGENT_ROOT: &str = "/orca";

/// The normal form of a target that is allowed.
pub(super) fn judge(target: Option<&str>, memory: bool, rules: MountRules<'_>) -> Result<String, Verdict> {
    let target = target.filter(|target| !target.is_empty());
    let Some(written) = target else { return Err(Verdict::dropped("its target is missing")) };
    let path = normal(written)?;
    if path == "/" {
        return Err(Verdict::dropped("its target is the root of the container, which it would cover"));
    }
    let ours = core::iter::once(WORKSPACE_ROOT).chain(rules.workspace.iter().copied());
    for folder in ours {
        if is_at_or_above(folder, &path) && folder != path {
            let why = "lies in the workspace, which is kept as a whole without it";
            return Err(Verdict::needless(format!("its target {} {why}", quoted_name(&path))));
        }
        if is_at_or_above(&path, folder) {
            let why = format!("its target {} would cover the workspace", quoted_name(&path));
            return Err(Verdict::dropped(why));
        }
    }
    for (folder, why) in PROTECTED {
        if is_at_or_above(folder, &path) || is_at_or_above(&path, folder) {
            let (target, folder) = (quoted_name(&path), quoted_name(folder));
            return Err(Verdict::dropped(format!("its target {target} meets the protected {folder}: {why}")));
        }
    }
    if !memory && is_at_or_above("/tmp", &path) {
        let why = "what is in /tmp is not kept, so a mount there is a tmpfs";
        return Err(Verdict::dropped(format!("its target is {}, and {why}", quoted_name(&path))));
    }
    Ok(path)
}

/// Absolute, without doubled slashes, `.` or a slash at the end; `..` and colons are no part of a target.
fn normal(written: &str) -> Result<String, Verdict> {
    if !written.starts_with('/') {
        return Err(Verdict::dropped(format!("its target {} is not absolute", quoted_name(written))));
    }
    if written.contains([':', '\\', '$']) || written.contains(crate::text::is_deceptive) {
        let why = "has a colon, backslash, dollar sign or control character";
        return Err(Verdict::dropped(format!("its target {} {why}", quoted_name(written))));
    }
    if written.len() > limits::PATH_BYTES {
        return Err(Verdict::dropped("its target is too long"));
    }
    let parts: Vec<&str> = written.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.contains(&"..") {
        return Err(Verdict::dropped(format!("its target {} has \"..\" in it", quoted_name(written))));
    }
    let path = format!("/{}", parts.join("/"));
    // No record of `--mount` can say it.
    if path.trim() != path {
        return Err(Verdict::dropped(format!("its target {} ends in a blank", quoted_name(&path))));
    }
    Ok(path)
}

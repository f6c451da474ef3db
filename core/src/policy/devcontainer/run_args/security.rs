//! Flags that would give a container more of the host: capabilities, options of the security modules, namespaces.

use super::{Judge, ask::Ask};
use crate::text::quoted_name;
use alloc::{format, string::String};

impl Judge<'_> {
    /// None is granted: every program runs as a user without any, and no-new-privileges keeps it so.
    pub(super) fn cap_add(&mut self, text: &str) -> Option<Ask> {
        for written in text.split(',') {
            let name = capability(written);
            let shown = quoted_name(&name);
            let why = match name.as_str() {
                "ALL" => "with all capabilities the container is root on the host".into(),
                "SYS_PTRACE" => format!(
                    "{shown} is not granted; debuggers of one's own processes work without it where the kernel allows"
                ),
                "NET_BIND_SERVICE" => {
                    format!(
                        "{shown} is not granted; a program in the container listens on a port of 1024 or above"
                    )
                }
                "NET_ADMIN" | "NET_RAW" => {
                    format!("{shown} is not granted; it spoofs and listens on the network")
                }
                _ if is_capability(&name) => format!("{shown} is not granted; no capability is"),
                _ => format!("{shown} is no capability, and none is granted"),
            };
            self.drop(&why, Some("CIS Docker 5.4"));
        }
        None
    }

    pub(super) fn security_opt(&mut self, text: &str) -> Option<Ask> {
        // Both separators are the engines' own.
        let (key, value) = match text.split_once(['=', ':']) {
            Some((key, value)) => (key, Some(value)),
            None => (text, None),
        };
        let shown = quoted_name(key);
        let (why, standard) = match (key, value) {
            ("no-new-privileges", None | Some("true")) => return None,
            ("no-new-privileges", _) => {
                ("no process ever gains privileges that its parent does not have".into(), "CIS Docker 5.26")
            }
            ("seccomp", Some("unconfined")) => {
                let why = "seccomp stays on; debuggers and browsers work under the engine's own profile";
                (why.into(), "CIS Docker 5.22")
            }
            ("seccomp", _) => {
                let why =
                    "the engine's own seccomp profile stays, and no file of the host is read for another";
                (why.into(), "CIS Docker 5.22")
            }
            ("apparmor", _) => ("the engine's own AppArmor profile stays".into(), "CIS Docker 5.2"),
            ("label" | "disable", _) => {
                ("SELinux keeps the container apart as the engine says".into(), "CIS Docker 5.3")
            }
            ("systempaths" | "mask" | "unmask" | "proc-opts", _) => {
                (format!("the kernel's paths stay masked, so {shown} is not granted"), "CIS Docker 5.6")
            }
            ("writable-cgroups", _) => ("control groups stay read-only".into(), "CIS Docker 5.25"),
            _ => (format!("{shown} is no option that a repository may set"), "CIS Docker 5.26"),
        };
        self.drop(&why, Some(standard));
        None
    }

    /// Namespaces are the container's own; what says so already is no ask at all.
    pub(super) fn namespace(&mut self, text: &str, standard: Option<&str>) -> Option<Ask> {
        let name = self.flag.flag.long;
        match text.split([':', '=']).next().unwrap_or_default() {
            "" | "private" | "none" | "shareable" if name != "userns" => {}
            "" | "auto" | "keep-id" | "nomap" | "private" if name == "userns" => {
                self.note("the mapping of users is decided by Orca's plan");
            }
            "host" => self.drop("the container would share that namespace with the host", standard),
            "container" | "ns" | "pod" => {
                self.drop("the container would share that namespace with another one", standard);
            }
            _ => self.drop("namespaces are the container's own", standard),
        }
        None
    }
}

/// Upper case, without the prefix that both engines take as well.
fn capability(written: &str) -> String {
    let upper = written.trim().to_ascii_uppercase();
    upper.strip_prefix("CAP_").map_or_else(|| upper.clone(), Into::into)
}

fn is_capability(name: &str) -> bool {
    !name.is_empty() && name.len() <= 32 && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
}

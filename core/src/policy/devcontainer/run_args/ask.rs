//! What a repository's `runArgs` may ask for: types, from which alone arguments are written.

use crate::{policy::devcontainer::mounts::MountAsk, secret::Sensitive, source::Source, words::Network};
use alloc::string::String;

/// One thing that was asked for, with the place of the flag.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// The thing.
    pub(crate) ask: Ask,
    /// The token that asked: file, line, column and `runArgs[index]`.
    pub(crate) source: Source,
}

/// A thing that may be asked for. Nothing here is granted yet: ceiling, template and environment layers come after.
#[derive(Clone, Debug)]
pub(crate) enum Ask {
    /// A variable; its name is well-formed, reserved names are judged where every layer's are.
    Env {
        /// The name.
        name: String,
        /// The value.
        value: Sensitive,
    },
    /// A volume or a tmpfs.
    Mount(MountAsk),
    /// Bytes of /dev/shm, within its cap.
    ShmSize(u64),
    /// A limit of the kernel's, within its cap.
    Ulimit {
        /// Which.
        name: UlimitName,
        /// The soft limit.
        soft: u64,
        /// The hard limit.
        hard: u64,
    },
    /// The host name, by RFC 1123.
    Hostname(String),
    /// A user, perhaps with a group, by name or number; never root by name or number.
    User(String),
    /// A port of the container to publish. Address and port on the host are Orca's.
    Publish(u16),
    /// none or bridge: it may tighten what a person allowed.
    Network(Network),
    /// Bytes of memory: counts where it is lower than the template's.
    Memory(u64),
    /// Billionths of a CPU: counts where it is lower than the template's.
    NanoCpus(u64),
    /// Number of processes: counts where it is lower than the plan's.
    Pids(u32),
    /// `linux/amd64` or `linux/arm64`, perhaps with a variant.
    Platform(String),
    /// A label outside the namespaces of Orca and the engines.
    Label {
        /// The name.
        name: String,
        /// The value.
        value: String,
    },
}

/// Limits of the kernel's that a repository may lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UlimitName {
    /// Open files.
    Nofile,
    /// Size of a core dump.
    Core,
}

impl UlimitName {
    /// The engines' word.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Nofile => "nofile",
            Self::Core => "core",
        }
    }
}

//! Every flag that `docker run`, `podman run` and their `create` know: one row a flag, which says how many tokens it
//! takes and what becomes of it when a repository asks for it in `runArgs`.
//!
//! A flag that is not here ends the reading of `runArgs`, since nobody can say whether it eats the next token. So the
//! table also has hidden flags, flags of newer versions, and the flags of podman itself that it takes after `run` as
//! well: some of those run a program on the host (measured). Standards are numbered as in the CIS Docker Benchmark 1.6.

mod reasons;
mod table;
#[cfg(test)]
mod tests;

use crate::words::EngineKind;

/// Which engines know a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engines {
    /// docker and podman.
    Both,
    /// docker alone.
    Docker,
    /// podman alone.
    Podman,
}

/// What a flag is followed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arity {
    /// Nothing: true or false, said only behind `=`.
    Switch,
    /// A value: behind `=`, or the next token whatever it looks like.
    Value,
}

/// Flags whose value decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AskKind {
    /// A variable.
    Env,
    /// A capability.
    CapAdd,
    /// A mount as a CSV record.
    Mount,
    /// A mount as `A:B:options`.
    Volume,
    /// A tmpfs as `path:options`.
    Tmpfs,
    /// Size of /dev/shm.
    ShmSize,
    /// A limit of the kernel's.
    Ulimit,
    /// The container's host name.
    Hostname,
    /// The user of its processes.
    User,
    /// A published port.
    Publish,
    /// The network.
    Network,
    /// Bytes of memory.
    Memory,
    /// CPUs.
    Cpus,
    /// Number of processes.
    Pids,
    /// Operating system and architecture of the image.
    Platform,
    /// A label.
    Label,
    /// An option of the security modules.
    SecurityOpt,
    /// A namespace; the standard speaks of the host's.
    Namespace(Option<&'static str>),
}

/// What becomes of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// Its value is read into a type and judged.
    Ask(AskKind),
    /// Every container has it anyway, so nothing is said about it.
    Given,
    /// Nothing is lost without it; why.
    Ignored(&'static str),
    /// A repository never gets it; why, and the standard behind it.
    Never(&'static str, Option<&'static str>),
}

/// One flag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flag {
    /// Who knows it.
    pub(crate) engines: Engines,
    /// Its name without dashes.
    pub(crate) long: &'static str,
    /// Its letter.
    pub(crate) short: Option<u8>,
    /// What follows it.
    pub(crate) arity: Arity,
    /// What becomes of it.
    pub(crate) treatment: Treatment,
}

impl Flag {
    /// Whether an engine knows it.
    pub(crate) fn is_known_to(&self, engine: EngineKind) -> bool {
        match self.engines {
            Engines::Both => true,
            Engines::Docker => engine == EngineKind::Docker,
            Engines::Podman => engine == EngineKind::Podman,
        }
    }
}

/// The flag of a name without dashes; letter case counts and nothing is abbreviated.
pub(crate) fn by_name(long: &str) -> Option<&'static Flag> {
    table::FLAGS.iter().find(|flag| flag.long == long)
}

/// The flag of a letter.
pub(crate) fn by_letter(letter: u8) -> Option<&'static Flag> {
    table::FLAGS.iter().find(|flag| flag.short == Some(letter))
}

/// Every name, for tests that try all of them.
#[cfg(test)]
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    table::FLAGS.iter().map(|flag| flag.long)
}

//! What a program that is called may take: time, and for git in a repository that somebody else may have arranged,
//! memory.

use std::process::Child;
use std::time::Duration;

/// Bytes of data that a short question to git may hold. It reads patterns and indexes whole, and a file of zeros takes no
/// room on a disk.
pub(crate) const QUESTION_MEMORY: u64 = 2 << 30;

/// Bytes of data for a bundle: deltas of a large repository take gigabytes.
pub(super) const BUNDLE_MEMORY: u64 = 8 << 30;

/// The bounds of one call.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How long it may take.
    pub deadline: Duration,
    /// Bytes of data that it and each of its children may hold.
    pub memory: Option<u64>,
}

impl Bounds {
    /// Bounded time alone.
    pub fn time(deadline: Duration) -> Self {
        Self { deadline, memory: None }
    }

    /// Bounds a program that was just started. What maps files, as git does with packs, is not counted. Where the
    /// system has no such limit for others, or the program has ended already, there is nothing to do.
    pub(super) fn hold(self, child: &Child) {
        if let Some(bytes) = self.memory {
            limit_data(child, bytes);
        }
    }
}

#[cfg(target_os = "linux")]
fn limit_data(child: &Child, bytes: u64) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    let _ = prlimit(Some(Pid::from_child(child)), Resource::Data, limit);
}

#[cfg(not(target_os = "linux"))]
fn limit_data(_: &Child, _: u64) {}

//! What a program that is called may take: time, and for git in a repository that somebody else may have arranged,
//! memory.

use std::io;
use std::process::{Child, Command};
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

    /// Starts a program within its bound of memory. What maps files, as git does with packs, is not counted.
    pub(super) fn spawn(self, command: &mut Command) -> io::Result<Child> {
        match self.memory {
            Some(bytes) => with_data_limit(bytes, || command.spawn()),
            None => command.spawn(),
        }
    }
}

/// A child has our limit from its first moment; one that is set from outside comes after it began to read. So ours is
/// lowered while it is started: far above what we hold, and what another thread starts meanwhile has room enough too.
#[cfg(target_os = "linux")]
fn with_data_limit<T>(bytes: u64, start: impl FnOnce() -> T) -> T {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use std::sync::{Mutex, PoisonError};
    static STARTING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    let own = getrlimit(Resource::Data);
    let lower = own.current.map_or(bytes, |current| current.min(bytes));
    // Where the system refuses, the program runs as it would without a bound.
    let _ = setrlimit(Resource::Data, Rlimit { current: Some(lower), maximum: own.maximum });
    let started = start();
    let _ = setrlimit(Resource::Data, own);
    started
}

#[cfg(not(target_os = "linux"))]
fn with_data_limit<T>(_: u64, start: impl FnOnce() -> T) -> T {
    start()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_its_limit_from_the_start_and_we_keep_ours() {
        let before = std::fs::read_to_string("/proc/self/limits").unwrap();
        let mut command = Command::new("grep");
        command.args(["^Max data size", "/proc/self/limits"]).stdout(std::process::Stdio::piped());
        let bounds = Bounds { deadline: Duration::from_secs(60), memory: Some(123 << 20) };
        let said = bounds.spawn(&mut command).unwrap().wait_with_output().unwrap();
        assert!(String::from_utf8_lossy(&said.stdout).contains(&(123_u64 << 20).to_string()), "{said:?}");
        assert_eq!(std::fs::read_to_string("/proc/self/limits").unwrap(), before);
    }
}

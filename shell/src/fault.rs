//! Every change that making, changing and removing a workspace makes in the world goes through [`effect`]: calls of an engine,
//! files of the store, git in the host's repository. (Keys for ssh, which `ssh-keygen` writes, and the orca.yaml that
//! `recipe init` writes do not.) A build with the feature `fault-injection` can be told to die before or after one of them, as
//! a killed process does; in any other build nothing of this is there.

/// Does something that changes the world. `name` says what, or `None` where this once nothing would change; it is asked
/// only by a build that can be told to die.
#[cfg(not(feature = "fault-injection"))]
#[inline]
pub(crate) fn effect<T>(_name: impl FnOnce() -> Option<String>, act: impl FnOnce() -> T) -> T {
    act()
}

#[cfg(feature = "fault-injection")]
pub(crate) use injected::effect;

#[cfg(feature = "fault-injection")]
mod injected {
    use std::io::Write;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use rustix::process::{Signal, getpid, kill_process};

    /// Where to die: `before:N` or `after:N`, the effects of a process counted from one.
    const POINT: &str = "ORCA_FAULT";

    /// A file that gets one line an effect: its name.
    const LIST: &str = "ORCA_FAULT_LIST";

    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Side {
        Before,
        After,
    }

    /// The same as without the feature, but that the process may not come back from it.
    pub(crate) fn effect<T>(name: impl FnOnce() -> Option<String>, act: impl FnOnce() -> T) -> T {
        let Some(name) = name() else { return act() };
        let number = next();
        list(&name);
        die_at(number, Side::Before);
        let done = act();
        die_at(number, Side::After);
        done
    }

    fn next() -> usize {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        COUNT.fetch_add(1, Ordering::SeqCst).saturating_add(1)
    }

    fn list(name: &str) {
        let Some(path) = std::env::var_os(LIST) else { return };
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        // A list that cannot be written is too short, which the tests find.
        let _ = file.and_then(|mut file| file.write_all(format!("{name}\n").as_bytes()));
    }

    fn point() -> Option<(Side, usize)> {
        static POINT_OF_PROCESS: OnceLock<Option<(Side, usize)>> = OnceLock::new();
        *POINT_OF_PROCESS.get_or_init(|| {
            let said = std::env::var(POINT).ok()?;
            let (side, number) = said.split_once(':')?;
            let side = match side {
                "before" => Side::Before,
                "after" => Side::After,
                _ => return None,
            };
            Some((side, number.parse().ok()?))
        })
    }

    /// No destructor runs and nothing is flushed: what is done is done, and nothing else.
    fn die_at(number: usize, side: Side) {
        if point() != Some((side, number)) {
            return;
        }
        let _ = kill_process(getpid(), Signal::KILL);
        loop {
            std::thread::park();
        }
    }
}

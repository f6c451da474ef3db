//! A value that a program prints: without a shell, without a terminal, within a deadline.
//!
//! It has the person's own environment, which password managers live on (HOME, DBUS_SESSION_BUS_ADDRESS, GPG_TTY), and
//! `/` as its folder, so that nothing of a repository is run or read by a relative path. Its standard error goes nowhere: a
//! program that fails may say the value there, and nobody could know it as one.

use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use orca_container_core::{Sensitive, quoted};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use zeroize::Zeroizing;

use super::value;
use crate::engine::{host_path, host_program};
use crate::trace;

/// How long a program may take: a person may have to find a key to touch, or type into a window.
pub(super) const DEADLINE: Duration = Duration::from_secs(60);

/// The value that a command prints. The error names the secret and its program, never an argument.
pub(super) fn value(name: &str, words: &[String], deadline: Duration) -> Result<Sensitive, String> {
    let (program, args) = words.split_first().ok_or_else(|| format!("{} has no command.", quoted(name)))?;
    let Some(path) = found(program) else {
        return Err(format!(
            "The secret {} comes from {}, which is no program here; it is installed, in PATH or at its absolute path.",
            quoted(name),
            quoted(program)
        ));
    };
    let mut command = Command::new(path);
    command.args(args).env("PATH", host_path()).current_dir("/");
    let begun = Instant::now();
    let ran = run(command, deadline).map_err(|cause| {
        format!("The secret {} comes from {}, which cannot be run: {cause}.", quoted(name), quoted(program))
    })?;
    trace::call(program, ["for", "the", "secret", name].iter(), &ran.ended.told(), begun.elapsed(), &[]);
    let fault = match ran.ended {
        Ended::Status(status) if status.success() => {
            return value::of(name, value::without_line_end(&ran.printed));
        }
        Ended::Status(_) => format!(
            "{}. What it says of it may hold the value, so it is not repeated here; run it by itself to read that",
            ran.ended.told()
        ),
        Ended::Deadline => format!("did not end within {} seconds", deadline.as_secs()),
        Ended::TooMuch => value::too_long(),
        Ended::Terminal => {
            "asks at the terminal, which it does not get here; unlock it before, or let it ask in a window"
                .into()
        }
    };
    Err(format!("The program {} of the secret {} {fault}.", quoted(program), quoted(name)))
}

/// An absolute path as it is; a name in the absolute folders of PATH.
fn found(program: &str) -> Option<PathBuf> {
    if !program.starts_with('/') {
        return host_program(program);
    }
    let path = Path::new(program);
    let runs = rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok() && path.is_file();
    runs.then(|| path.into())
}

/// How a program ended, or was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Status(ExitStatus),
    Deadline,
    TooMuch,
    Terminal,
}

impl Ended {
    fn told(self) -> String {
        match self {
            Self::Status(status) => match (status.code(), status.signal()) {
                (Some(code), _) => format!("ended with the exit code {code}"),
                (None, signal) => format!("was ended by the signal {}", signal.unwrap_or_default()),
            },
            Self::Deadline => "ended at its deadline".into(),
            Self::TooMuch => "ended, since it printed too much".into(),
            Self::Terminal => "ended, since it wants the terminal".into(),
        }
    }
}

/// What a program printed until it ended.
struct Ran {
    ended: Ended,
    printed: Zeroizing<Vec<u8>>,
}

/// Runs it to its end and to that of what it prints. It leads a group of its own, so that all that it started can be
/// ended with it.
fn run(mut command: Command, deadline: Duration) -> io::Result<Ran> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let begun = Instant::now();
    let mut child = command.spawn()?;
    let printed = Kept::of(child.stdout.take(), value::MOST);
    let ended = waited(&mut child, &printed, begun, deadline)?;
    Ok(Ran { ended, printed: printed.taken() })
}

fn waited(child: &mut Child, printed: &Kept, begun: Instant, deadline: Duration) -> io::Result<Ended> {
    let mut pause = Duration::from_millis(1);
    let why = loop {
        let (over, all) = printed.progress();
        match State::of(child)? {
            _ if over => break Ended::TooMuch,
            State::Ended if all => return child.wait().map(Ended::Status),
            State::WantsTerminal => break Ended::Terminal,
            _ if begun.elapsed() > deadline => break Ended::Deadline,
            _ => {}
        }
        thread::sleep(pause);
        pause = pause.saturating_mul(2).min(Duration::from_millis(20));
    };
    // The group has its number from the child, which is not collected yet: nobody else can have it.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    // One that left its group.
    child.kill()?;
    child.wait()?;
    Ok(why)
}

/// What a child is doing.
enum State {
    Runs,
    Ended,
    /// A group that is not in front is stopped where it reads from the terminal, and would wait for ever.
    WantsTerminal,
}

impl State {
    /// Looks without collecting it.
    fn of(child: &Child) -> io::Result<Self> {
        let looked = WaitIdOptions::EXITED | WaitIdOptions::STOPPED;
        let options = looked | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let Some(status) = waitid(WaitId::Pid(Pid::from_child(child)), options)? else {
            return Ok(Self::Runs);
        };
        let terminal = [Signal::TTIN, Signal::TTOU].map(Signal::as_raw);
        Ok(match status.stopping_signal() {
            Some(signal) if terminal.contains(&signal) => Self::WantsTerminal,
            Some(_) => Self::Runs,
            None => Self::Ended,
        })
    }
}

/// What came through a pipe so far, at most so much of it, wiped with the last who holds it.
#[derive(Clone)]
struct Kept(Arc<Mutex<Inner>>);

struct Inner {
    bytes: Zeroizing<Vec<u8>>,
    over: bool,
    ended: bool,
}

impl Kept {
    /// Reads on a thread of its own. What is too much is read and dropped: a full pipe would stop the program.
    fn of(pipe: Option<impl Read + Send + 'static>, most: usize) -> Self {
        // Room for all: a buffer that grows would leave its parts behind.
        let bytes = Zeroizing::new(Vec::with_capacity(most));
        let kept = Self(Arc::new(Mutex::new(Inner { bytes, over: false, ended: pipe.is_none() })));
        if let Some(mut pipe) = pipe {
            let into = kept.clone();
            thread::spawn(move || {
                let mut part = Zeroizing::new([0_u8; 16 * 1024]);
                while let Ok(count) = pipe.read(&mut *part) {
                    let Some(part) = part.get(..count).filter(|part| !part.is_empty()) else { break };
                    let mut kept = into.lock();
                    let room = most.saturating_sub(kept.bytes.len());
                    kept.over |= part.len() > room;
                    kept.bytes.extend_from_slice(part.get(..room).unwrap_or(part));
                }
                into.lock().ended = true;
            });
        }
        kept
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it is too much already, and whether it is all.
    fn progress(&self) -> (bool, bool) {
        let kept = self.lock();
        (kept.over, kept.ended)
    }

    fn taken(&self) -> Zeroizing<Vec<u8>> {
        std::mem::take(&mut self.lock().bytes)
    }
}

#[cfg(test)]
mod tests;

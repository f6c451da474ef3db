//! What a program writes, taken as it comes and not beyond a bound: one that writes more, or nothing for long, is ended.
//! Only the last of what it says on standard error is kept.

use std::io::{self, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::bounds::Bounds;
use super::bundle::LAST_WORDS;
use super::client::{ClientError, Output, Wanted, collect};
use super::pace::{Heard, Pace, never_block};
use crate::trace;

/// Bytes of an error text that are kept.
const ERROR_CAP: u64 = 64 * 1024;

/// The bounds of what is taken.
#[derive(Clone, Copy, Debug)]
pub struct OutBounds {
    /// Time and memory.
    pub call: Bounds,
    /// How long nothing may come and nothing be said.
    pub no_progress: Duration,
    /// Bytes that are taken.
    pub most: u64,
}

/// Why something was not taken whole.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TakeOutError {
    /// It wrote more.
    #[error("it is larger than {0} bytes")]
    TooLarge(u64),
    /// What was taken could not be kept.
    #[error("it could not be kept: {0}")]
    Sink(io::Error),
    /// The program did not do its part.
    #[error(transparent)]
    Client(#[from] ClientError),
}

/// Runs a command, whose standard input is the caller's to set, and gives each piece of its output to `sink`.
pub fn take_out(
    mut command: Command,
    program: &str,
    sink: &mut dyn Write,
    bounds: OutBounds,
) -> Result<Output, TakeOutError> {
    let begun = Instant::now();
    let failed = |cause: io::Error| match cause.kind() {
        io::ErrorKind::NotFound => ClientError::Missing { program: program.into() },
        _ => ClientError::Failed { program: program.into(), cause },
    };
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = bounds.call.spawn(&mut command).map_err(failed)?;
    let pace = Pace::new();
    let said = child.stderr.take().map(|pipe| collect(Heard::of(pipe, &pace), ERROR_CAP, Wanted::Kept));
    let taking = Taking { program, begun, pace: Arc::clone(&pace), bounds };
    let ended = match child.stdout.take() {
        Some(pipe) => taking.all(pipe, sink).and_then(|()| taking.end(&mut child)),
        None => taking.end(&mut child),
    };
    if ended.is_err() {
        let _ = child.kill();
        let _ = child.wait();
    }
    let code = match ended {
        Ok(code) => code,
        Err(error) => {
            trace::call(program, command.get_args(), "ended before its end", begun.elapsed(), &[]);
            return Err(error);
        }
    };
    let stderr = said.and_then(|said| said.recv_timeout(Duration::from_secs(5)).ok()).unwrap_or_default().0;
    trace::call(program, command.get_args(), &format!("exit code {code}"), begun.elapsed(), &stderr);
    Ok(Output { code, stderr, ..Output::default() })
}

struct Taking<'t> {
    program: &'t str,
    begun: Instant,
    pace: Arc<Pace>,
    bounds: OutBounds,
}

impl Taking<'_> {
    fn all(&self, mut pipe: ChildStdout, sink: &mut dyn Write) -> Result<(), TakeOutError> {
        never_block(&pipe);
        let (mut taken, mut pause) = (0_u64, Duration::from_micros(100));
        let mut buffer = vec![0_u8; 64 * 1024];
        loop {
            // Asked at each piece: one that always has something to say is ended as well.
            self.patience()?;
            match pipe.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => {
                    taken = taken.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
                    if taken > self.bounds.most {
                        return Err(TakeOutError::TooLarge(self.bounds.most));
                    }
                    sink.write_all(buffer.get(..count).unwrap_or_default()).map_err(TakeOutError::Sink)?;
                    self.pace.note();
                    pause = Duration::from_micros(100);
                }
                Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => {
                    thread::sleep(pause);
                    pause = pause.saturating_mul(2).min(Duration::from_millis(5));
                }
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(TakeOutError::Sink(cause)),
            }
        }
    }

    fn patience(&self) -> Result<(), ClientError> {
        let program = self.program.to_owned();
        if self.begun.elapsed() > self.bounds.call.deadline {
            let seconds = self.bounds.call.deadline.as_secs();
            return Err(ClientError::Deadline { program, seconds });
        }
        if self.pace.since() > self.bounds.no_progress {
            let why =
                format!("it wrote nothing for {} seconds and was ended", self.bounds.no_progress.as_secs());
            return Err(ClientError::Unusable { program, why });
        }
        Ok(())
    }

    /// Its output is at its end, so it has nothing more to do.
    fn end(&self, child: &mut Child) -> Result<i32, TakeOutError> {
        use std::os::unix::process::ExitStatusExt;
        let begun = Instant::now();
        let failed = |cause| ClientError::Failed { program: self.program.into(), cause };
        loop {
            if let Some(status) = child.try_wait().map_err(failed)? {
                let signal = status.signal().map(|signal| signal.saturating_add(128));
                return Ok(status.code().or(signal).unwrap_or(255));
            }
            if begun.elapsed() > LAST_WORDS {
                let why = "it wrote all and did not end".to_owned();
                return Err(ClientError::Unusable { program: self.program.into(), why }.into());
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(script: &str, no_progress: u64, deadline: u64) -> (Result<Output, TakeOutError>, usize) {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null());
        let mut kept = Vec::new();
        let bounds = OutBounds {
            call: Bounds::time(Duration::from_millis(deadline)),
            no_progress: Duration::from_millis(no_progress),
            most: 100_000,
        };
        let begun = Instant::now();
        let taken = take_out(command, "sh", &mut kept, bounds);
        assert!(begun.elapsed() < Duration::from_secs(30), "{script}");
        (taken, kept.len())
    }

    #[test]
    fn what_is_written_arrives_with_the_code_and_the_last_words() {
        let (output, kept) = taken("printf 12345; echo why >&2; exit 3", 20_000, 20_000);
        let output = output.unwrap();
        assert_eq!((output.code, output.complaint().as_str(), kept), (3, "why", 5));
    }

    #[test]
    fn endless_output_is_ended_at_its_bound() {
        let (output, kept) = taken("exec yes", 20_000, 20_000);
        assert!(matches!(output, Err(TakeOutError::TooLarge(100_000))), "{output:?}");
        assert!(kept <= 100_000);
    }

    #[test]
    fn output_that_stalls_is_ended() {
        for script in ["echo some; exec sleep 60", "exec sleep 60"] {
            let (output, _) = taken(script, 300, 20_000);
            assert!(output.unwrap_err().to_string().contains("wrote nothing for"), "{script}");
        }
    }

    #[test]
    fn output_that_trickles_is_ended_at_its_deadline() {
        for script in ["while :; do echo x; sleep 0.05; done", "while :; do echo x >&2; sleep 0.05; done"] {
            let (output, _) = taken(script, 5_000, 1_000);
            assert!(output.unwrap_err().to_string().contains("did not end within"), "{script}");
        }
    }

    #[test]
    fn a_full_disk_is_told() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut command = Command::new("yes");
        command.stdin(Stdio::null());
        let second = Duration::from_secs(20);
        let bounds = OutBounds { call: Bounds::time(second), no_progress: second, most: 1 << 40 };
        assert!(matches!(take_out(command, "yes", &mut Full, bounds), Err(TakeOutError::Sink(_))));
    }
}

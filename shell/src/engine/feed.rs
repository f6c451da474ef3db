//! What a call reads on its standard input, written at the pace at which it is taken.

use std::io::{self, Read, Write};
use std::process::ChildStdin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// What a call reads on its standard input.
#[derive(Default)]
pub enum Input<'a> {
    /// Nothing.
    #[default]
    None,
    /// These bytes.
    Bytes(&'a [u8]),
    /// What a reader gives, copied as it comes.
    Reader(Box<dyn Read + Send>),
    /// What a writer writes. A call that takes nothing of it for so long is ended.
    Written(Writer<'a>, Duration),
}

/// Writes a call's standard input.
pub type Writer<'a> = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'a>;

/// How long a call may take nothing of what is written to it.
pub const NO_PROGRESS: Duration = Duration::from_secs(120);

impl std::fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Bytes(_) => "Bytes",
            Self::Reader(_) => "Reader",
            Self::Written(..) => "Written",
        })
    }
}

/// When something was last taken of what is written, and whether anybody still waits for it.
pub(super) struct Pace {
    begun: Instant,
    millis: AtomicU64,
    over: AtomicBool,
}

impl Pace {
    pub(super) fn new() -> Self {
        Self { begun: Instant::now(), millis: AtomicU64::new(0), over: AtomicBool::new(false) }
    }

    /// Nobody waits any more: what is left of a killed client may hold the pipe open without reading it.
    pub(super) fn give_up(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    fn note(&self, millis: u64) {
        self.millis.store(millis, Ordering::Relaxed);
    }

    /// How long nothing was taken.
    pub(super) fn since(&self) -> Duration {
        self.begun.elapsed().saturating_sub(Duration::from_millis(self.millis.load(Ordering::Relaxed)))
    }
}

/// A pipe that notes when something was taken of it, and gives up when nobody waits any more.
pub(super) struct Paced<'p> {
    pipe: ChildStdin,
    pace: &'p Pace,
}

impl<'p> Paced<'p> {
    /// The pipe.
    pub(super) fn of(pipe: ChildStdin, pace: &'p Pace) -> Self {
        // Our own end only. Where that fails a write may block, as it does without it.
        if let Ok(flags) = fcntl_getfl(&pipe) {
            let _ = fcntl_setfl(&pipe, flags | OFlags::NONBLOCK);
        }
        Self { pipe, pace }
    }

    /// Writes all of an input. One that is not taken whole is the caller's to judge: a client that ends before it read
    /// everything mostly says why by its exit code.
    pub(super) fn feed(mut self, input: Input<'_>) -> io::Result<()> {
        let written = match input {
            Input::None => Ok(()),
            Input::Bytes(bytes) => self.write_all(bytes),
            Input::Reader(mut reader) => io::copy(&mut reader, &mut self).map(drop),
            Input::Written(write, _) => write(&mut self),
        };
        // What it does with what it has is the deadline's business.
        self.pace.note(u64::MAX);
        written
    }
}

impl Write for Paced<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut pause = Duration::from_micros(100);
        loop {
            match self.pipe.write(bytes) {
                Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => {}
                other => {
                    let millis = self.pace.begun.elapsed().as_millis();
                    self.pace.note(u64::try_from(millis).unwrap_or(u64::MAX));
                    return other;
                }
            }
            if self.pace.over.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            thread::sleep(pause);
            pause = pause.saturating_mul(2).min(Duration::from_millis(5));
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pipe.flush()
    }
}

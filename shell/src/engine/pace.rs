//! When something was last taken of what is written to a call, or heard of the program that it is written by.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// The pace of one call.
#[derive(Debug)]
pub struct Pace {
    begun: Instant,
    millis: AtomicU64,
    over: AtomicBool,
}

impl Pace {
    /// A pace that begins now.
    pub fn new() -> Arc<Self> {
        Arc::new(Self { begun: Instant::now(), millis: AtomicU64::new(0), over: AtomicBool::new(false) })
    }

    /// Nobody waits any more: what is left of a killed client may hold the pipe open without reading it.
    pub(super) fn give_up(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// Something was taken or heard.
    pub(super) fn note(&self) {
        let millis = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.millis.fetch_max(millis, Ordering::Relaxed);
    }

    /// All was written: what the call does with what it has is the deadline's business.
    pub(super) fn written(&self) {
        self.millis.store(u64::MAX, Ordering::Relaxed);
    }

    /// How long nothing was taken or heard.
    pub(super) fn since(&self) -> Duration {
        self.begun.elapsed().saturating_sub(Duration::from_millis(self.millis.load(Ordering::Relaxed)))
    }

    /// Tries until there is something to do, or nobody waits any more.
    pub(super) fn patiently<T>(&self, mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        let mut pause = Duration::from_micros(100);
        loop {
            match attempt() {
                Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => {}
                other => {
                    self.note();
                    return other;
                }
            }
            if self.over.load(Ordering::Relaxed) {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            thread::sleep(pause);
            pause = pause.saturating_mul(2).min(Duration::from_millis(5));
        }
    }
}

/// Our own end of a pipe only. Where that fails a call on it may block, as it does without it.
pub(super) fn never_block(pipe: &impl std::os::fd::AsFd) {
    if let Ok(flags) = fcntl_getfl(pipe) {
        let _ = fcntl_setfl(pipe, flags | OFlags::NONBLOCK);
    }
}

/// What a program says, each word of it noted: a program that tells its progress is at work.
#[derive(Debug)]
pub struct Heard<R> {
    pipe: R,
    pace: Arc<Pace>,
}

impl<R> Heard<R> {
    /// The pipe, and the pace of the call that waits for this program.
    pub fn of(pipe: R, pace: &Arc<Pace>) -> Self {
        Self { pipe, pace: Arc::clone(pace) }
    }
}

impl<R: Read> Read for Heard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.pipe.read(buffer)?;
        self.pace.note();
        Ok(count)
    }
}

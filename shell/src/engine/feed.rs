//! What a call reads on its standard input, written at the pace at which it is taken.

use std::io::{self, Read, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::Arc;
use std::time::Duration;

use super::pace::{Pace, never_block};

/// What a call reads on its standard input.
#[derive(Default)]
pub enum Input<'a> {
    /// Nothing.
    #[default]
    None,
    /// These bytes.
    Bytes(&'a [u8]),
    /// What another program writes, copied as it comes. A call that gets nothing of it for so long, and hears nothing of
    /// the program either, is ended.
    Program {
        /// The program's output.
        pipe: ChildStdout,
        /// The pace that its complaints are noted in.
        pace: Arc<Pace>,
        /// How long.
        no_progress: Duration,
    },
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
            Self::Program { .. } => "Program",
            Self::Written(..) => "Written",
        })
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
        never_block(&pipe);
        Self { pipe, pace }
    }

    /// Writes all of an input. One that is not taken whole is the caller's to judge: a client that ends before it read
    /// everything mostly says why by its exit code.
    pub(super) fn feed(mut self, input: Input<'_>) -> io::Result<()> {
        let written = match input {
            Input::None => Ok(()),
            Input::Bytes(bytes) => self.write_all(bytes),
            Input::Program { pipe, .. } => {
                never_block(&pipe);
                let mut pipe = Patient { pipe, pace: self.pace };
                io::copy(&mut pipe, &mut self).map(drop)
            }
            Input::Written(write, _) => write(&mut self),
        };
        self.pace.written();
        written
    }
}

impl Write for Paced<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let pipe = &mut self.pipe;
        self.pace.patiently(|| pipe.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pipe.flush()
    }
}

/// The output of a program that may never come: nobody is kept waiting for it once the call is given up.
struct Patient<'p> {
    pipe: ChildStdout,
    pace: &'p Pace,
}

impl Read for Patient<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let pipe = &mut self.pipe;
        self.pace.patiently(|| pipe.read(buffer))
    }
}

//! The person at the terminal: progress, and questions where there is one to answer.

use std::io::{self, IsTerminal};

use super::Io;
use crate::workspace::{Asked, Ui};

/// Progress on standard error; questions only where both ends are a terminal.
pub(super) struct Person<'a, 'io> {
    pub(super) io: &'a mut Io<'io>,
    /// Whether progress is said at all.
    pub(super) quiet: bool,
    /// Whether questions are asked.
    pub(super) asks: bool,
}

impl<'a, 'io> Person<'a, 'io> {
    pub(super) fn new(io: &'a mut Io<'io>) -> Self {
        let asks = io::stdin().is_terminal() && io::stderr().is_terminal();
        Self { io, quiet: false, asks }
    }
}

impl Ui for Person<'_, '_> {
    fn progress(&mut self, line: &str) {
        if !self.quiet {
            // Progress that cannot be written is lost; the work goes on.
            let _ = writeln!(self.io.stderr, "{line}").and_then(|()| self.io.stderr.flush());
        }
    }

    fn ask(&mut self, asked: &Asked<'_>) -> Option<bool> {
        if !self.asks {
            return None;
        }
        let _ = writeln!(self.io.stderr, "{}", asked.approval.message);
        if let (Some(file), Some(line)) = (&asked.approval.source.file, asked.approval.source.line) {
            let _ = writeln!(self.io.stderr, "  in {}, line {line}", orca_container_core::escaped(file));
        }
        if let Some(value) = &asked.value {
            let shown = orca_container_core::quoted_whole(value.reveal());
            // The one place where a value is shown: who answers must see what is asked.
            let _ = writeln!(self.io.stderr, "  its value: {shown}");
        }
        let _ = write!(self.io.stderr, "Approve? [y/N] ");
        let _ = self.io.stderr.flush();
        let mut answer = String::new();
        self.io.stdin.read_line(&mut answer).ok()?;
        Some(matches!(answer.trim(), "y" | "Y" | "yes"))
    }
}

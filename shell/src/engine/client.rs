//! One call of an engine's client: its complete environment, bounded time, bounded output, nothing inherited.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::fault;
use crate::redact::mask;
use crate::trace;

use super::bounds::Bounds;
use super::feed::{Input, Paced};
use super::pace::Pace;

/// Bytes of an output that are kept; an inspect has some tens of kilobytes.
const OUTPUT_CAP: u64 = 4 * 1024 * 1024;

/// Bytes of a list that are kept: names of 50,000 files and more.
const LIST_CAP: u64 = 32 * 1024 * 1024;

/// Bytes of an error text that are kept: the end of it says what went wrong.
const ERROR_CAP: u64 = 64 * 1024;

/// Bytes of a line of progress.
const LINE_CAP: usize = 64 * 1024;

/// How a client is called.
#[derive(Clone, Debug)]
pub struct Client {
    /// Absolute path of the program.
    pub program: String,
    /// Its complete environment.
    pub env: BTreeMap<String, String>,
}

/// What is done with a call's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Kept.
    Kept,
    /// Kept, though it may be a long list.
    List,
    /// Shown to the person as it comes, on standard error (an engine's own progress).
    Shown,
}

/// What a call gave.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// Exit code; a signal counts as 128 and its number, as in a shell.
    pub code: i32,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// Whether standard output was longer than what is kept of it.
    pub cut: bool,
    /// Whether it ended before it had read all of its input.
    pub unread: bool,
}

impl Output {
    /// Standard output as text without its last line end.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end().to_owned()
    }

    /// Why this is no answer to go on with.
    pub fn unusable(&self, program: &str) -> ClientError {
        let why = if self.cut { "it is too long".into() } else { self.complaint() };
        ClientError::Unusable { program: program.into(), why }
    }

    /// The last lines of the engine's own error text, without values that we know, escaped and bounded.
    pub fn complaint(&self) -> String {
        let text = String::from_utf8_lossy(&self.stderr);
        // Before anything is cut or escaped: a part of a value would not be known.
        let text = mask(&text);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines.iter().skip(lines.len().saturating_sub(5));
        let shown: Vec<String> = last.map(|line| escape_line(line)).collect();
        if shown.is_empty() { "it said nothing".into() } else { shown.join(" / ") }
    }
}

/// Keeps quotes and backslashes readable, makes controls visible, cuts after 300 characters.
fn escape_line(line: &str) -> String {
    line.trim().chars().take(300).map(visible).collect()
}

fn visible(c: char) -> String {
    if orca_container_core::is_deceptive(c) { c.escape_unicode().to_string() } else { c.to_string() }
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // An inspect can hold values of start variables.
        write!(
            f,
            "Output {{ code: {}, stdout: {} bytes, stderr: {} bytes }}",
            self.code,
            self.stdout.len(),
            self.stderr.len()
        )
    }
}

/// Why a call gave nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The program is not there.
    #[error("The program {program} was not found.")]
    Missing {
        /// The program.
        program: String,
    },
    /// It could not be started or read.
    #[error("{program} could not be run: {cause}.")]
    Failed {
        /// The program.
        program: String,
        /// The system's reason.
        cause: io::Error,
    },
    /// It gave nothing that can be used.
    #[error("{program} gave no usable answer: {why}.")]
    Unusable {
        /// The program.
        program: String,
        /// Its own words, or what is wrong with its answer.
        why: String,
    },
    /// It ended well without having read everything.
    #[error("What was written to {program} was not read to its end.")]
    NotTaken {
        /// The program.
        program: String,
    },
    /// Nothing was written to it, or it took nothing of it, and it was ended.
    #[error("What is written to {program} got no further for {seconds} seconds.")]
    NoProgress {
        /// The program.
        program: String,
        /// The bound.
        seconds: u64,
    },
    /// It took too long and was ended.
    #[error("{program} did not end within {seconds} seconds.")]
    Deadline {
        /// The program.
        program: String,
        /// The bound.
        seconds: u64,
    },
}

impl Client {
    /// Calls the client and waits for it.
    pub fn call(
        &self,
        args: &[String],
        input: Input<'_>,
        wanted: Wanted,
        deadline: Duration,
    ) -> Result<Output, ClientError> {
        let mut command = Command::new(&self.program);
        command.args(args).env_clear().envs(&self.env).current_dir("/");
        let run = || run(command, &self.program, input, wanted, Bounds::time(deadline));
        fault::effect(|| changes(args), run)
    }

    /// Calls it with nothing to read, and keeps what it says.
    pub fn ask(&self, args: &[&str], deadline: Duration) -> Result<Output, ClientError> {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        self.call(&args, Input::None, Wanted::Kept, deadline)
    }
}

/// What a call changes on the engine, in its own words; `None` for a question. What is not known as a question counts as a
/// change, so that none is forgotten.
fn changes(args: &[String]) -> Option<String> {
    let words: Vec<&str> = args.iter().map(String::as_str).take_while(|arg| *arg != "--").collect();
    let words: Vec<&str> = words.into_iter().filter(|arg| !arg.starts_with('-')).collect();
    let (verb, more) = words.split_first()?;
    let is_question = match *verb {
        // A `cp` is only ever out of a container; what follows a runtime's name is a question about it.
        "version" | "info" | "inspect" | "ps" | "context" | "system" | "cp" => true,
        _ if args.first().is_some_and(|first| first == "--runtime") => true,
        "container" | "volume" | "network" | "image" => matches!(more.first(), Some(&"inspect" | &"ls")),
        _ => false,
    };
    let noun = matches!(*verb, "volume" | "network" | "image").then(|| more.first().copied()).flatten();
    (!is_question).then(|| ["engine", verb].into_iter().chain(noun).collect::<Vec<_>>().join(" "))
}

/// Runs a prepared command under the same bounds; the engine's client and host git come through here.
pub fn run(
    mut command: Command,
    program: &str,
    input: Input<'_>,
    wanted: Wanted,
    bounds: Bounds,
) -> Result<Output, ClientError> {
    let begun = Instant::now();
    let failed = |cause: io::Error| match cause.kind() {
        io::ErrorKind::NotFound => ClientError::Missing { program: program.into() },
        _ => ClientError::Failed { program: program.into(), cause },
    };
    command.stdin(if matches!(input, Input::None) { Stdio::null() } else { Stdio::piped() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let cap = if wanted == Wanted::List { LIST_CAP } else { OUTPUT_CAP };
    let mut child = bounds.spawn(&mut command).map_err(failed)?;
    let stdout = child.stdout.take().map(|pipe| collect(pipe, cap, wanted));
    let stderr = child.stderr.take().map(|pipe| collect(pipe, ERROR_CAP, wanted));
    let stdin = child.stdin.take();
    let (pace, most) = match &input {
        Input::Program { pace, no_progress, .. } => (Arc::clone(pace), Some(*no_progress)),
        Input::Written(_, no_progress) => (Pace::new(), Some(*no_progress)),
        Input::None | Input::Bytes(_) => (Pace::new(), None),
    };
    let must_be_taken = matches!(input, Input::Written(..));
    let patience = Patience { deadline: bounds.deadline, no_progress: most.map(|most| (most, &*pace)) };
    let (ended, fed) = thread::scope(|scope| {
        let feeder = stdin.map(|pipe| {
            let pipe = Paced::of(pipe, &pace);
            scope.spawn(move || pipe.feed(input))
        });
        let ended = wait(&mut child, &patience);
        pace.give_up();
        let fed = feeder.map_or(Ok(()), |feeder| feeder.join().unwrap_or(Ok(())));
        ended.map(|ended| (ended, fed))
    })
    .map_err(failed)?;
    let unread = fed.is_err();
    let code = match ended {
        // It says that it is done, and did not take all of what must arrive whole.
        Waited::Ended(0) if must_be_taken && unread => {
            return Err(ClientError::NotTaken { program: program.into() });
        }
        Waited::Ended(code) => code,
        Waited::Deadline => {
            trace::call(program, command.get_args(), "ended at its deadline", begun.elapsed(), &[]);
            let seconds = bounds.deadline.as_secs();
            return Err(ClientError::Deadline { program: program.into(), seconds });
        }
        Waited::NoProgress => {
            trace::call(program, command.get_args(), "ended without progress", begun.elapsed(), &[]);
            let seconds = most.unwrap_or_default().as_secs();
            return Err(ClientError::NoProgress { program: program.into(), seconds });
        }
    };
    let read = |pipe: Option<mpsc::Receiver<(Vec<u8>, bool)>>| {
        pipe.and_then(|receiver| receiver.recv_timeout(Duration::from_secs(5)).ok()).unwrap_or_default()
    };
    let (stdout, cut) = read(stdout);
    let stderr = whole_lines(read(stderr));
    trace::call(program, command.get_args(), &format!("exit code {code}"), begun.elapsed(), &stderr);
    Ok(Output { code, stdout, stderr, cut, unread })
}

/// An engine's progress on its way to a person: whole lines, known values masked, nothing that a terminal obeys.
#[derive(Default)]
struct Shown {
    line: Vec<u8>,
}

impl Shown {
    fn take(&mut self, part: &[u8]) {
        for byte in part {
            self.line.push(*byte);
            // A line without an end is shown in pieces; a value that is cut so is longer than any line of progress.
            if matches!(byte, b'\n' | b'\r') || self.line.len() >= LINE_CAP {
                self.rest();
            }
        }
    }

    fn rest(&mut self) {
        let line = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&line).into_owned();
        let text = mask(&text).trim_end().chars().map(visible).collect::<String>();
        if !text.is_empty() {
            // Progress for a person; where nobody reads it, it is lost.
            let _ = writeln!(io::stderr(), "{text}");
        }
    }
}

/// Without the rest of a line whose beginning was dropped: a part of a value would not be known as one.
fn whole_lines((bytes, cut): (Vec<u8>, bool)) -> Vec<u8> {
    if !cut {
        return bytes;
    }
    let start = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at.saturating_add(1));
    bytes.get(start..).unwrap_or_default().into()
}

/// Reads a pipe to its end on a thread of its own, keeping at most `cap` bytes of the end.
pub(super) fn collect(
    mut pipe: impl Read + Send + 'static,
    cap: u64,
    wanted: Wanted,
) -> mpsc::Receiver<(Vec<u8>, bool)> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let (mut kept, mut cut) = (Vec::new(), false);
        let mut shown = Shown::default();
        let mut buffer = [0_u8; 16 * 1024];
        let cap = usize::try_from(cap).unwrap_or(usize::MAX);
        while let Ok(count) = pipe.read(&mut buffer) {
            let Some(part) = buffer.get(..count).filter(|part| !part.is_empty()) else { break };
            if wanted == Wanted::Shown {
                shown.take(part);
            }
            kept.extend_from_slice(part);
            if kept.len() > cap {
                kept.drain(..kept.len().saturating_sub(cap));
                cut = true;
            }
        }
        shown.rest();
        let _ = sender.send((kept, cut));
    });
    receiver
}

/// How long a child is waited for.
struct Patience<'p> {
    deadline: Duration,
    no_progress: Option<(Duration, &'p Pace)>,
}

/// How the waiting ended.
enum Waited {
    Ended(i32),
    Deadline,
    NoProgress,
}

/// Waits for a child; one that takes too long is killed.
fn wait(child: &mut Child, patience: &Patience<'_>) -> io::Result<Waited> {
    let begun = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Waited::Ended(code_of(status)));
        }
        let late = begun.elapsed() > patience.deadline;
        let stuck = patience.no_progress.is_some_and(|(most, pace)| pace.since() > most);
        if late || stuck {
            child.kill()?;
            child.wait()?;
            return Ok(if late { Waited::Deadline } else { Waited::NoProgress });
        }
        thread::sleep(pause);
        pause = (pause.saturating_mul(2)).min(Duration::from_millis(20));
    }
}

fn code_of(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().or_else(|| status.signal().map(|signal| signal.saturating_add(128))).unwrap_or(255)
}

#[cfg(test)]
mod tests;

//! Handing a workspace over to an Orca that may give up at any moment.
//!
//! Orca cancels a create by ending its whole process group, with SIGKILL after five seconds; it then knows nothing of what was
//! made. So the workspace is made by a process in a group of its own, the maker, which keeps it only where the process that
//! Orca started says that the result was written to Orca's pipe. That process alone holds Orca's pipes, since Orca waits for
//! their end. (Source: Orca's `ephemeral-vm-recipe-process`.)

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Bytes of the arguments, and of a result.
const BOUND: u64 = 1024 * 1024;

/// What the maker is told once its result was written.
const TAKEN: u8 = b'+';

/// Has another process of this program make the workspace, `words` being all arguments of it, and hands its result over. Gives
/// the maker's exit code; it says itself what went wrong.
pub fn hand_over(maker: &mut Command, words: &[OsString], out: &mut dyn Write) -> Result<u8, HandoverError> {
    // No word is an argument of the maker: one may hold a value.
    maker.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut maker = maker.spawn().map_err(HandoverError::Maker)?;
    let stderr = maker.stderr.take();
    let told = thread::spawn(move || stderr.map(|mut stderr| io::copy(&mut stderr, &mut io::stderr())));
    let handed = hand_over_from(&mut maker, words, out);
    // Whatever happened, the maker learns that nobody takes anything any more.
    drop(maker.stdin.take());
    let ended = maker.wait().map_err(HandoverError::Maker)?;
    // All that it said is told; where it cannot be, nobody reads it.
    let _ = told.join();
    // A maker that failed has said why, unless it could not; also one whose result nobody took.
    let code = ended.code().ok_or(HandoverError::Ended)?;
    if ended.success() {
        handed.map_err(HandoverError::Maker)?;
    }
    Ok(u8::try_from(code).unwrap_or(1))
}

/// Why nothing was handed over.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HandoverError {
    /// The maker could not be run, or spoken to.
    #[error("The process that makes the workspace could not be run: {0}.")]
    Maker(io::Error),
    /// Somebody ended the maker.
    #[error(
        "The process that makes the workspace was ended from outside. What it made goes with the next create of the same branch, or with rm."
    )]
    Ended,
}

fn hand_over_from(maker: &mut Child, words: &[OsString], out: &mut dyn Write) -> io::Result<()> {
    let (Some(to), Some(from)) = (maker.stdin.as_mut(), maker.stdout.take()) else { return Ok(()) };
    let mut told: Vec<u8> = words.iter().flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect();
    told.push(0);
    to.write_all(&told)?;
    let mut result = Vec::new();
    BufReader::new(from.take(BOUND)).read_until(b'\n', &mut result)?;
    if result.ends_with(b"\n") {
        out.write_all(&result)?;
        out.flush()?;
        // A maker that has gone has taken everything back, or has nothing to.
        let _ = to.write_all(&[TAKEN]);
    }
    Ok(())
}

/// The maker's end.
#[derive(Clone, Debug)]
pub struct Maker {
    /// Whether the result was taken, once that is known.
    taken: Arc<(Mutex<Option<bool>>, Condvar)>,
}

impl Maker {
    /// From this process's standard input: the arguments, and later what becomes of the result.
    pub fn begin() -> io::Result<(Vec<OsString>, Self)> {
        // Not through our own buffer, which the command line's part holds.
        Self::from(File::from(io::stdin().as_fd().try_clone_to_owned()?))
    }

    fn from(told: impl Read + Send + 'static) -> io::Result<(Vec<OsString>, Self)> {
        let mut told = BufReader::new(told);
        let mut words = Vec::new();
        loop {
            let mut word = Vec::new();
            (&mut told).take(BOUND).read_until(0, &mut word)?;
            match word.pop() {
                Some(0) if word.is_empty() => break,
                Some(0) => words.push(OsString::from_vec(word)),
                _ => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
        let maker = Self { taken: Arc::default() };
        let known = Arc::clone(&maker.taken);
        thread::spawn(move || {
            let mut answer = [0];
            let taken = told.read_exact(&mut answer).is_ok() && answer == [TAKEN];
            let (answered, changed) = &*known;
            *answered.lock().unwrap_or_else(PoisonError::into_inner) = Some(taken);
            changed.notify_all();
        });
        Ok((words, maker))
    }

    /// Whether nobody waits for a result any more; waits for that or for `most`.
    pub fn is_given_up_within(&self, most: Duration) -> bool {
        let (answered, changed) = &*self.taken;
        let answered = answered.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = changed.wait_timeout_while(answered, most, |answered| answered.is_none());
        *waited.unwrap_or_else(PoisonError::into_inner).0 == Some(false)
    }

    /// Whether a result that was written is taken; waits for it.
    pub fn is_taken(&self) -> bool {
        let (answered, changed) = &*self.taken;
        let answered = answered.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = changed.wait_while(answered, |answered| answered.is_none());
        *waited.unwrap_or_else(PoisonError::into_inner) == Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A maker that says what it was told, and whether its result was taken.
    const MAKER: &str = r#"told=$(dd bs=1 count=7 2>/dev/null | tr '\0' ,); printf '%s\nsecond\n' "$told"; \
[ "$(dd bs=1 count=1 2>/dev/null)" = + ] || exit 7; exit 3"#;

    fn handed(out: &mut dyn Write) -> Result<u8, HandoverError> {
        hand_over(Command::new("sh").args(["-c", MAKER]), &["a".into(), "b c".into()], out)
    }

    #[test]
    fn the_first_line_is_handed_over_and_the_makers_end_is_ours() {
        let mut out = Vec::new();
        assert_eq!(handed(&mut out).unwrap(), 3);
        assert_eq!(out, b"a,b c,,\n");
    }

    #[test]
    fn a_maker_that_somebody_ended_is_told() {
        let ended = hand_over(Command::new("sh").args(["-c", "kill -9 $$"]), &[], &mut Vec::new());
        assert!(matches!(ended, Err(HandoverError::Ended)), "{ended:?}");
    }

    #[test]
    fn a_result_that_nobody_reads_is_not_taken() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        assert_eq!(handed(&mut Closed).unwrap(), 7, "the maker knows");
    }

    #[test]
    fn a_maker_hears_its_words_and_what_became_of_its_result() {
        let told: &[u8] = b"recipe\0create\0--network\0\xff\0\0+";
        let (words, maker) = Maker::from(told).unwrap();
        assert_eq!(words.len(), 4);
        assert_eq!(words.last().unwrap().as_bytes(), b"\xff");
        assert!(maker.is_taken());
        assert!(!maker.is_given_up_within(Duration::ZERO));
        let told: &[u8] = b"recipe\0create\0\0";
        let (_, maker) = Maker::from(told).unwrap();
        assert!(!maker.is_taken());
        assert!(maker.is_given_up_within(Duration::ZERO));
        let cut: &[u8] = b"recipe\0crea";
        assert!(Maker::from(cut).is_err());
    }
}

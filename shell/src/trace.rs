//! What is run, for whom it matters (`--debug`): one line a call on standard error, known values masked.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::redact::mask;

static ON: AtomicBool = AtomicBool::new(false);

/// From now on calls are told.
pub fn turn_on() {
    ON.store(true, Ordering::Relaxed);
}

/// A call that ended: the words of its command, how it ended, how long it took, and what it complained of.
pub(crate) fn call(
    program: &str,
    args: impl Iterator<Item = impl AsRef<OsStr>>,
    ended: &str,
    took: Duration,
    stderr: &[u8],
) {
    if !ON.load(Ordering::Relaxed) {
        return;
    }
    let words: Vec<String> = args.map(|arg| shown(&arg.as_ref().to_string_lossy())).collect();
    let mut text = format!("debug: {program} {} ({ended}, {} ms)\n", words.join(" "), took.as_millis());
    for line in mask(&String::from_utf8_lossy(stderr)).lines().take(20) {
        text.push_str(&format!("debug:   {}\n", orca_container_core::escaped(line)));
    }
    // Where it cannot be written nobody reads it.
    let _ = io::stderr().write_all(mask(&text).as_bytes());
}

/// A command that takes our place: how it ends is told by nobody.
pub(crate) fn becomes(program: &str, args: impl Iterator<Item = impl AsRef<OsStr>>) {
    if !ON.load(Ordering::Relaxed) {
        return;
    }
    let words: Vec<String> = args.map(|arg| shown(&arg.as_ref().to_string_lossy())).collect();
    let text = format!("debug: {program} {} (in our place)\n", words.join(" "));
    let _ = io::stderr().write_all(mask(&text).as_bytes());
}

/// A word as it can be read: scripts and keys whole would hide the rest.
fn shown(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,@+%{}".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.into() } else { orca_container_core::quoted(word) }
}

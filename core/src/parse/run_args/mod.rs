//! Tokens of `runArgs` into flags: the grammar of pflag without interspersed arguments, which docker and podman share.
//!
//! A token that is no flag would become the image and every later flag its command; a flag without its value would eat
//! an argument of ours. So the reading stops at the first token that is not whole, and whoever called drops everything.

#[cfg(test)]
mod tests;

use super::Located;
use crate::{
    limits,
    policy::devcontainer::engine_flags::{Arity, Flag, by_letter, by_name},
    secret::Sensitive,
    source::Position,
    text::{quoted, quoted_name},
};
use alloc::{format, string::String, vec::Vec};

/// Everything that was read.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    /// The flags, in their order.
    pub(crate) flags: Vec<ReadFlag>,
    /// Why the reading ended before the last token.
    pub(crate) stop: Option<Stop>,
}

/// One flag.
#[derive(Clone, Debug)]
pub(crate) struct ReadFlag {
    /// Its row.
    pub(crate) flag: &'static Flag,
    /// What was said with it.
    pub(crate) said: FlagValue,
    /// Index of the token it begins in.
    pub(crate) index: usize,
    /// Where that token stands.
    pub(crate) at: Position,
}

/// What was said with a flag.
#[derive(Clone, Debug)]
pub(crate) enum FlagValue {
    /// A switch.
    Switch(bool),
    /// A value; it may be a variable's.
    Value(Sensitive),
}

/// The token that is no whole flag.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    /// Its index.
    pub(crate) index: usize,
    /// Its place.
    pub(crate) at: Position,
    /// What it is.
    pub(crate) kind: StopKind,
    /// What may be shown of it, in a clause that follows "because".
    pub(crate) why: String,
}

/// What ends the reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopKind {
    /// It would be the image.
    Positional,
    /// `--`, after which everything is image and command.
    EndOfFlags,
    /// A flag that is not in the table.
    Unknown,
    /// A flag whose value is missing.
    Dangling,
    /// A switch with another word than true or false.
    BadSwitch,
    /// Dashes without a name.
    Malformed,
    /// A token that versions of one engine read differently.
    Ambiguous,
    /// More tokens than are read, or a token that no process could get.
    Bounds,
}

/// Reads tokens up to the last one, or to the first that is no whole flag.
pub(crate) fn read(tokens: &[Located<String>]) -> Tokens {
    let mut reader = Reader { tokens, next: 0, flags: Vec::new() };
    let stop = reader.run().err();
    Tokens { flags: reader.flags, stop }
}

struct Reader<'t> {
    tokens: &'t [Located<String>],
    next: usize,
    flags: Vec<ReadFlag>,
}

/// Where a flag began.
#[derive(Clone, Copy)]
struct Start {
    index: usize,
    at: Position,
}

impl<'t> Reader<'t> {
    fn run(&mut self) -> Result<(), Stop> {
        while let Some((start, token)) = self.take()? {
            if token == "--" {
                return Err(start
                    .stop(StopKind::EndOfFlags, "it ends the flags, so that the next would be the image"));
            }
            if let Some(name) = token.strip_prefix("--") {
                self.long(start, name)?;
            } else if let Some(letters) = token.strip_prefix('-').filter(|letters| !letters.is_empty()) {
                self.short(start, letters)?;
            } else {
                return Err(self.positional(start, token));
            }
        }
        Ok(())
    }

    /// The next token, whatever it looks like.
    fn take(&mut self) -> Result<Option<(Start, &'t str)>, Stop> {
        let index = self.next;
        let Some(token) = self.tokens.get(index) else { return Ok(None) };
        let start = Start { index, at: token.at };
        if index >= limits::COLLECTION_ENTRIES {
            let why = format!("at most {} tokens are read", limits::COLLECTION_ENTRIES);
            return Err(start.stop(StopKind::Bounds, &why));
        }
        if self.flags.len() > limits::COLLECTION_ENTRIES {
            return Err(start.stop(StopKind::Bounds, "so many flags are not read"));
        }
        if token.value.contains('\0') {
            return Err(start.stop(StopKind::Bounds, "it holds a NUL, which no argument can"));
        }
        self.next = index.saturating_add(1);
        Ok(Some((start, &token.value)))
    }

    fn positional(&self, start: Start, token: &str) -> Stop {
        // Behind a variable it may be that variable's value.
        let hidden = self.flags.last().is_some_and(|last| last.flag.long == "env");
        let shown = if hidden { String::new() } else { format!("{} is no flag and ", quoted_name(token)) };
        start.stop(StopKind::Positional, &format!("{shown}it would be taken for the image"))
    }

    fn long(&mut self, start: Start, text: &str) -> Result<(), Stop> {
        if text.starts_with(['-', '=']) {
            return Err(start.stop(StopKind::Malformed, "it has no name of a flag behind its dashes"));
        }
        let (name, inline) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let Some(flag) = by_name(name) else {
            let why = format!("no engine is known to have the flag {}", quoted(&format!("--{name}")));
            return Err(start.stop(StopKind::Unknown, &why));
        };
        let said = match (flag.arity, inline) {
            (Arity::Value, Some(value)) => FlagValue::Value(Sensitive::new(value)),
            (Arity::Value, None) => self.value(start, flag)?,
            (Arity::Switch, Some(word)) => switch(start, flag, word)?,
            (Arity::Switch, None) => FlagValue::Switch(true),
        };
        self.note(start, flag, said);
        Ok(())
    }

    /// Letters of switches, then perhaps one that takes the rest of the token, or the next one, as its value.
    fn short(&mut self, start: Start, mut letters: &'t str) -> Result<(), Stop> {
        while let Some(letter) = letters.chars().next() {
            if self.flags.len() > limits::COLLECTION_ENTRIES {
                return Err(start.stop(StopKind::Bounds, "so many flags are not read"));
            }
            // Newer versions of pflag pass over flags of Go's own tests, older ones read `-t -e st.…` (measured).
            if letters.starts_with("test.") {
                return Err(
                    start.stop(StopKind::Ambiguous, "versions of one engine read \"-test.\" differently")
                );
            }
            let rest = letters.get(letter.len_utf8()..).unwrap_or_default();
            let found = u8::try_from(letter).ok().filter(u8::is_ascii).and_then(by_letter);
            let Some(flag) = found else {
                let why = format!("no engine is known to have the flag {}", quoted(&format!("-{letter}")));
                return Err(start.stop(StopKind::Unknown, &why));
            };
            // A lone `=` is no separator: `-v=` says `=`, and `-i=` asks for a flag of that letter.
            let inline = rest.strip_prefix('=').filter(|value| !value.is_empty());
            let (said, more) = match (flag.arity, inline) {
                (Arity::Switch, Some(word)) => (switch(start, flag, word)?, ""),
                (Arity::Switch, None) => (FlagValue::Switch(true), rest),
                (Arity::Value, Some(value)) => (FlagValue::Value(Sensitive::new(value)), ""),
                (Arity::Value, None) if rest.is_empty() => (self.value(start, flag)?, ""),
                (Arity::Value, None) => (FlagValue::Value(Sensitive::new(rest)), ""),
            };
            self.note(start, flag, said);
            letters = more;
        }
        Ok(())
    }

    /// The next token as a value, also when it begins with a dash.
    fn value(&mut self, start: Start, flag: &Flag) -> Result<FlagValue, Stop> {
        match self.take()? {
            Some((_, token)) => Ok(FlagValue::Value(Sensitive::new(token))),
            None => {
                let name = quoted(&format!("--{}", flag.long));
                Err(start.stop(StopKind::Dangling, &format!("the value of {name} is missing")))
            }
        }
    }

    fn note(&mut self, start: Start, flag: &'static Flag, said: FlagValue) {
        self.flags.push(ReadFlag { flag, said, index: start.index, at: start.at });
    }
}

impl Start {
    fn stop(self, kind: StopKind, why: &str) -> Stop {
        Stop { index: self.index, at: self.at, kind, why: why.into() }
    }
}

/// Go's words for true and false.
fn switch(start: Start, flag: &Flag, word: &str) -> Result<FlagValue, Stop> {
    match parse_bool(word) {
        Some(on) => Ok(FlagValue::Switch(on)),
        None => {
            let name = quoted(&format!("--{}", flag.long));
            let why = format!("{name} is followed by \"=true\", \"=false\" or nothing");
            Err(start.stop(StopKind::BadSwitch, &why))
        }
    }
}

/// Go's strconv.ParseBool.
pub(crate) fn parse_bool(word: &str) -> Option<bool> {
    match word {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}

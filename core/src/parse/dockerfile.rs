//! A Dockerfile as instructions, as docker's own reader parts them: a line that ends in a backslash goes on, comments and
//! empty lines inside of it are none. What builders read differently (heredocs, another escape character) is no
//! Dockerfile here.

use crate::source::Position;
use alloc::{
    string::{String, ToString},
    vec::Vec,
};

/// One instruction.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Instruction {
    /// Its word in capital letters.
    pub(crate) word: String,
    /// What follows, in one line.
    pub(crate) rest: String,
    /// Where it begins.
    pub(crate) at: Position,
}

/// Why a text is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DockerfileFault {
    /// `# escape=` or `# syntax=` other than docker's own.
    Directive,
    /// `<<` in an instruction that may take a heredoc.
    Heredoc,
    /// A control character.
    Control,
}

/// The instructions in their order.
pub(crate) fn read(text: &str) -> Result<Vec<Instruction>, (DockerfileFault, Position)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut instructions: Vec<Instruction> = Vec::new();
    let mut open: Option<Instruction> = None;
    for (index, line) in text.split('\n').enumerate() {
        let at = Position { line: u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1), column: 1 };
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.chars().any(|c| c.is_control() && c != '\t') {
            return Err((DockerfileFault::Control, at));
        }
        let trimmed = line.trim();
        if trimmed.starts_with('#') {
            check_directive(trimmed).map_err(|fault| (fault, at))?;
            continue;
        }
        if trimmed.is_empty() {
            continue;
        }
        let goes_on = trimmed.ends_with('\\');
        let part = if goes_on { trimmed.trim_end_matches('\\').trim_end() } else { trimmed };
        match &mut open {
            Some(instruction) => {
                if !instruction.rest.is_empty() {
                    instruction.rest.push(' ');
                }
                instruction.rest.push_str(part);
            }
            None => {
                let (word, rest) = part.split_once([' ', '\t']).unwrap_or((part, ""));
                let (word, rest) = (word.to_ascii_uppercase(), rest.trim().to_string());
                open = Some(Instruction { word, rest, at });
            }
        }
        if !goes_on {
            instructions.extend(open.take());
        }
    }
    instructions.extend(open);
    let heredoc = |instruction: &&Instruction| {
        matches!(instruction.word.as_str(), "RUN" | "COPY" | "ADD" | "ONBUILD")
            && instruction.rest.contains("<<")
    };
    match instructions.iter().find(heredoc) {
        Some(instruction) => Err((DockerfileFault::Heredoc, instruction.at)),
        None => Ok(instructions),
    }
}

/// Directives count in the first lines only; what looks like one is held to the same rule anywhere.
fn check_directive(comment: &str) -> Result<(), DockerfileFault> {
    let Some((name, value)) = comment.trim_start_matches('#').split_once('=') else { return Ok(()) };
    match name.trim().to_ascii_lowercase().as_str() {
        "escape" if value.trim() != "\\" => Err(DockerfileFault::Directive),
        "syntax" => {
            let own = ["docker/dockerfile:", "docker.io/docker/dockerfile:"];
            let own =
                value.trim() == "docker/dockerfile" || own.iter().any(|own| value.trim().starts_with(own));
            if own { Ok(()) } else { Err(DockerfileFault::Directive) }
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<(String, String)> {
        read(text).unwrap().into_iter().map(|i| (i.word, i.rest)).collect()
    }

    #[test]
    fn lines_go_on_over_comments_and_empty_lines() {
        let text =
            "# syntax=docker/dockerfile:1\nfrom a:1 as b\nRUN one \\\n  # a comment\n\n  && two\nCMD x";
        let expected = [("FROM", "a:1 as b"), ("RUN", "one && two"), ("CMD", "x")];
        let expected = expected.map(|(word, rest)| (word.into(), rest.into()));
        assert_eq!(words(text), expected);
        assert_eq!(words("RUN \\\n--mount=x y"), [("RUN".into(), "--mount=x y".into())]);
    }

    #[test]
    fn what_builders_read_differently_is_none() {
        let fault = |text: &str| read(text).unwrap_err().0;
        assert_eq!(fault("# escape=`\nFROM a"), DockerfileFault::Directive);
        assert_eq!(fault("#syntax = evil/frontend\nFROM a"), DockerfileFault::Directive);
        assert_eq!(fault("FROM a\nRUN <<EOF\nx\nEOF"), DockerfileFault::Heredoc);
        assert_eq!(fault("FROM a\u{0}"), DockerfileFault::Control);
    }
}

//! The README's transcripts are what the command prints.
//!
//! A block fenced as `console` holds commands after `$ `, perhaps broken by a backslash, and what each prints; a
//! line `…` stands for lines that are left out there. Digests and names of checkouts are those of whoever ran it.

use crate::{example, runs::project};
use std::fs;

const LEFT_OUT: &str = "…";

/// Commands of the README, each with the lines shown below it.
fn transcripts() -> Vec<(String, Vec<String>)> {
    let readme = fs::read_to_string(project("README.md")).unwrap();
    let mut transcripts = Vec::new();
    for block in readme.split("```console\n").skip(1) {
        let mut lines = block.split("\n```").next().unwrap().lines().peekable();
        while let Some(line) = lines.next() {
            let mut command = line.strip_prefix("$ ").expect("a transcript begins with a command").to_owned();
            while let Some(broken) = command.strip_suffix('\\') {
                command = format!("{broken}{}", lines.next().unwrap().trim_start());
            }
            let mut shown = Vec::new();
            while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
                shown.push(masked(line));
            }
            transcripts.push((command, shown));
        }
    }
    transcripts
}

/// A line without what differs between checkouts.
fn masked(line: &str) -> String {
    if let Some((before, _)) = line.split_once("--approve ") {
        return format!("{before}--approve DIGEST");
    }
    if line.starts_with("  clone     branch ") { "  clone".into() } else { line.to_owned() }
}

/// Whether the printed lines are the shown ones, with any lines where some are left out.
fn is_shown(printed: &[String], shown: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first == LEFT_OUT => {
            (0..=printed.len()).any(|skipped| is_shown(&printed[skipped..], rest))
        }
        Some((first, rest)) => printed.first() == Some(first) && is_shown(&printed[1..], rest),
    }
}

#[test]
fn transcripts_are_what_is_printed() {
    let transcripts = transcripts();
    let commands: Vec<&str> = transcripts.iter().map(|(command, _)| command.as_str()).collect();
    for wanted in
        ["orca-container plan ", "orca-container env examples", "orca-container env --why NODE_ENV "]
    {
        assert!(commands.iter().any(|command| command.starts_with(wanted)), "{wanted}: {commands:?}");
    }
    let repository = example::repository();
    for (command, shown) in transcripts {
        let words = shlex::split(&command).unwrap();
        let args: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_eq!(args[0], "orca-container", "{command}");
        let run = repository.ends(0, &args[1..]);
        let printed: Vec<String> = run.stdout.lines().map(masked).collect();
        assert!(
            is_shown(&printed, &shown),
            "README.md shows of {command}\n{}\n\nbut this is printed\n{}",
            shown.join("\n"),
            run.stdout
        );
    }
}

#[test]
fn a_transcript_that_is_not_printed_is_noticed() {
    let lines = |text: &str| text.lines().map(String::from).collect::<Vec<_>>();
    let printed = lines("a\nb\nc\nd");
    for shown in ["a\nb\nc\nd", "…\nc\nd", "a\n…", "a\n…\nd", "…", "a\n…\nb\nc\n…"] {
        assert!(is_shown(&printed, &lines(shown)), "{shown}");
    }
    for other in ["a\nb\nc", "a\n…\nc", "b\n…", "…\ne\n…", "a\n…\nc\nb\n…", "a\nb\nc\nd\n…\nd", ""]
    {
        assert!(!is_shown(&printed, &lines(other)), "{other}");
    }
}

/// People copy the first command; the transcript shows what it prints.
#[test]
fn the_first_command_is_the_first_transcript() {
    let readme = fs::read_to_string(project("README.md")).unwrap();
    let block = readme.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let words = shlex::split(&block.replace("\\\n", " ")).unwrap();
    let args = words.iter().skip_while(|word| *word != "--").skip(1);
    let transcript = shlex::split(&transcripts()[0].0).unwrap();
    assert!(words.starts_with(&["cargo".into(), "run".into()]));
    assert!(args.eq(transcript.iter().skip(1)), "{words:?} is not {transcript:?}");
}

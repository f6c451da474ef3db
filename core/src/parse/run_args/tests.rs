use super::*;

fn read_all(tokens: &[&str]) -> Tokens {
    let located = |(index, token): (usize, &&str)| Located {
        value: String::from(*token),
        at: Position { line: 1, column: u32::try_from(index).unwrap().saturating_add(1) },
    };
    read(&tokens.iter().enumerate().map(located).collect::<Vec<_>>())
}

/// `name=value` of each flag, switches as `name=true`.
fn flags(tokens: &[&str]) -> Vec<String> {
    let read = read_all(tokens);
    assert!(read.stop.is_none(), "{tokens:?}: {:?}", read.stop);
    let shown = |read: &ReadFlag| match &read.said {
        FlagValue::Switch(on) => format!("{}={on}", read.flag.long),
        FlagValue::Value(value) => format!("{}={}", read.flag.long, value.reveal()),
    };
    read.flags.iter().map(shown).collect()
}

#[test]
fn every_spelling_of_a_flag_is_the_same_flag() {
    for tokens in
        [&["-v", "/a:/b"][..], &["-v/a:/b"], &["-v=/a:/b"], &["--volume", "/a:/b"], &["--volume=/a:/b"]]
    {
        assert_eq!(flags(tokens), ["volume=/a:/b"], "{tokens:?}");
    }
    for tokens in [&["-it", "-v", "/a:/b"][..], &["-itv", "/a:/b"], &["-itv/a:/b"], &["-itv=/a:/b"]] {
        assert_eq!(flags(tokens), ["interactive=true", "tty=true", "volume=/a:/b"], "{tokens:?}");
    }
    assert_eq!(
        flags(&["-u0", "-m64m", "-ePATH=/x", "-h=foo"]),
        ["user=0", "memory=64m", "env=PATH=/x", "hostname=foo"]
    );
    assert_eq!(flags(&["-Pp", "1:1"]), ["publish-all=true", "publish=1:1"]);
    assert_eq!(flags(&["-privileged"]), ["publish=rivileged"]);
    assert_eq!(flags(&["-v=", "-e", ""]), ["volume==", "env="]);
    assert_eq!(flags(&["--label="]), ["label="]);
}

#[test]
fn a_value_is_the_next_token_whatever_it_looks_like() {
    assert_eq!(flags(&["--label", "-v", "-e", "--privileged"]), ["label=-v", "env=--privileged"]);
    assert_eq!(flags(&["--name", "--"]), ["name=--"]);
}

#[test]
fn switches_have_gos_words_only_and_only_behind_an_equals_sign() {
    for word in ["1", "t", "T", "TRUE", "true", "True"] {
        assert_eq!(flags(&[&format!("--privileged={word}")]), ["privileged=true"]);
    }
    for word in ["0", "f", "F", "FALSE", "false", "False"] {
        assert_eq!(flags(&[&format!("--init={word}")]), ["init=false"]);
    }
    assert_eq!(flags(&["-it=false"]), ["interactive=true", "tty=false"]);
}

#[test]
fn the_reading_stops_at_the_first_token_that_is_no_whole_flag() {
    use StopKind::{Ambiguous, BadSwitch, Bounds, Dangling, EndOfFlags, Malformed, Positional, Unknown};
    for (tokens, index, kind) in [
        (&["ubuntu"][..], 0, Positional),
        (&["--privileged", "true"], 1, Positional),
        (&["--label", "-v", "/:/h"], 2, Positional),
        (&["--init", ""], 1, Positional),
        (&["-"], 0, Positional),
        (&["\u{2013}privileged"], 0, Positional),
        (&[" --init"], 0, Positional),
        (&["--", "evil"], 0, EndOfFlags),
        (&["--privileged "], 0, Unknown),
        (&["--Privileged"], 0, Unknown),
        (&["--priv"], 0, Unknown),
        (&["--nam", "x"], 0, Unknown),
        (&["-Z"], 0, Unknown),
        (&["-i="], 0, Unknown),
        (&["-\u{e9}"], 0, Unknown),
        (&["-net", "host"], 0, Unknown),
        (&["--url", "x"], 0, Unknown),
        (&["--init", "--label"], 1, Dangling),
        (&["-it", "-itv"], 1, Dangling),
        (&["--privileged=yes"], 0, BadSwitch),
        (&["--init="], 0, BadSwitch),
        (&["-i=maybe"], 0, BadSwitch),
        (&["---x"], 0, Malformed),
        (&["--=x"], 0, Malformed),
        (&["-test.v"], 0, Ambiguous),
        (&["-itest.v"], 0, Ambiguous),
        (&["--label", "a\0b"], 1, Bounds),
    ] {
        let stop = read_all(tokens).stop.unwrap_or_else(|| panic!("{tokens:?}"));
        assert_eq!((stop.index, stop.kind), (index, kind), "{tokens:?}");
        assert_eq!(stop.at.column as usize, index + 1);
    }
    assert_eq!(read_all(&["-i"; 257]).stop.unwrap().kind, Bounds);
    assert!(read_all(&["-i"; 256]).stop.is_none());
}

#[test]
fn no_value_of_a_variable_is_shown() {
    for tokens in [
        &["-eTOKEN=hunter2", "x"][..],
        &["-e", "TOKEN", "hunter2"],
        &["-i", "TOKEN=hunter2"],
        &["--TOKEN=hunter2"],
        &["--env TOKEN=hunter2"],
        &["-ZTOKEN=hunter2"],
        &["--init=hunter2"],
    ] {
        let read = read_all(tokens);
        assert!(read.stop.is_some());
        assert!(!format!("{read:?}").contains("hunter2"), "{tokens:?}");
    }
}

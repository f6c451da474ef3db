//! The reader against git's rules; the differential test asks git itself.

use super::*;

fn last(text: &str, name: &str) -> Option<String> {
    let config = GitConfig::parse(text.as_bytes()).unwrap();
    config.values(name).next_back().flatten().map(|v| String::from_utf8(v.to_vec()).unwrap())
}

#[test]
fn section_and_key_ignore_case_and_a_subsection_does_not() {
    let text = "[REMOTE \"Origin\"]\n\tURL = upper\n[remote \"origin\"] url = lower\n";
    assert_eq!(last(text, "remote.origin.url").as_deref(), Some("lower"));
    assert_eq!(last(text, "remote.Origin.url").as_deref(), Some("upper"));
    assert_eq!(last("[Remote.ORIGIN]\nurl=x", "remote.origin.url").as_deref(), Some("x"));
}

#[test]
fn a_value_is_unquoted_trimmed_and_continued() {
    let cases: &[(&str, &str)] = &[
        ("  a b  ", "a b"),
        ("\"a b \" # c", "a b "),
        ("a#b", "a"),
        ("\"a#b;c\"", "a#b;c"),
        ("a \\\n  b", "a   b"),
        ("a\\tb\\\\\\\"", "a\tb\\\""),
        ("", ""),
        ("a\"  \"b  ; x \\", "a  b"),
        ("a \r", "a"),
        ("a\rb", "a\rb"),
    ];
    for (written, meant) in cases {
        assert_eq!(last(&format!("[a]\nb ={written}\n"), "a.b").as_deref(), Some(*meant), "{written:?}");
    }
}

#[test]
fn a_fault_names_its_line() {
    let cases: &[(&str, usize)] = &[
        ("[a]\nb = \"x\n", 2),
        ("[a]\nb = \\q\n", 2),
        ("[a\n]\n", 1),
        ("\n\n[a \"b\n\"]", 3),
        ("[a]\n1b = x", 2),
        ("1 = x", 1),
        ("[a]\nb # no value", 2),
        ("[a]\nb = x\0y", 2),
        ("[]", 1),
    ];
    for (text, line) in cases {
        assert_eq!(GitConfig::parse(text.as_bytes()).unwrap_err().line, *line, "{text:?}");
    }
}

#[test]
fn booleans_are_gits() {
    let of = |text: &str| GitConfig::parse(text.as_bytes()).unwrap().boolean("a.b");
    assert_eq!(of("[a]\nb"), Ok(Some(true)));
    assert_eq!(of("[a]\nb = Yes"), Ok(Some(true)));
    assert_eq!(of("[a]\nb ="), Ok(Some(false)));
    assert_eq!(of("[a]\nb = 0"), Ok(Some(false)));
    assert_eq!(of("[a]\nb = maybe"), Err(NotABoolean));
    assert_eq!(of("[a]\nc = 1"), Ok(None));
}

#[test]
fn debug_shows_no_value() {
    let config = GitConfig::parse(b"[a]\nb = marker").unwrap();
    assert_eq!(format!("{config:?}"), "GitConfig(1 entries)");
}

/// What `git config --list -z` says about the same bytes; `None` when git refuses them.
fn git_list(text: &[u8]) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config");
    std::fs::write(&file, text).unwrap();
    let output = std::process::Command::new("git")
        .args(["config", "--no-includes", "--list", "-z", "--file"])
        .arg(&file)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    output.status.success().then(|| blanks(output.stdout))
}

/// Before 2.45 git made every blank inside a value a space; the tests must pass with any git.
fn blanks(list: Vec<u8>) -> Vec<u8> {
    list.into_iter().map(|byte| if matches!(byte, b'\t' | b'\r') { b' ' } else { byte }).collect()
}

/// The same in the same format: name, newline and value if there is an `=`, NUL.
fn our_list(text: &[u8]) -> Option<Vec<u8>> {
    let mut list = Vec::new();
    for entry in GitConfig::parse(text).ok()?.entries {
        list.extend(entry.name);
        if let Some(value) = entry.value {
            list.push(b'\n');
            list.extend(value);
        }
        list.push(0);
    }
    Some(blanks(list))
}

#[test]
fn git_reads_the_same_from_what_is_easily_got_wrong() {
    let texts: &[&[u8]] = &[
        b"",
        b"\xef\xbb\xbf[a]\nb = c\n",
        b"[a]b=c",
        b"[a] b = c ; d\n[A.B-1] k\n",
        b"[a \"b\\\"c\\\\d\\x\"]\n k = v\n",
        b"[a  \"\"]\nk=v\n",
        b"[a\"b\"]\nk=v\n",
        b"[a \"b\" ]\nk=v\n",
        b"[a \"b\"]] k=v\n",
        b"[a]\r\n\tb = c\r\n\td = \"e\r\n",
        b"[a]\nb = c \\\r\n d\n",
        b"[a]\nb = \" c \" \" d \"  \n",
        b"[a]\nb = c # \\\nd = e\n",
        b"[a]\nb = c\\",
        b"[a]\nb = c\\\n",
        b"[a]\nb = \"c\\\nd\"\n",
        b"[a]\nb = \"c\nd\"\n",
        b"[a]\nb\\\n= c\n",
        b"[a]\nb-C9 = \xff\xfe\n",
        b"[a]\nb_c = d\n",
        b"[a]\nb = c\rd \r\n",
        b"[a]\nb =  \t \"\" \t\n",
        b"[a]\nb = \t\x0b c\n",
        b"[a.]\nb=c\n",
        b"[.a]\nb=c\n",
        b"[a.b \"c\"]\nd=e\n",
        b"[a]\n; x\n # y\n\n b = '\\\\' \\\" \\t|\\n|\\b|\n",
        b"[a]\n\x0cb = c\n",
    ];
    for text in texts {
        assert_eq!(our_list(text), git_list(text), "{}", text.escape_ascii());
    }
}

/// Texts of pieces that matter to the syntax, from a fixed sequence, so that a failure can be repeated.
#[test]
fn git_reads_the_same_from_shuffled_pieces() {
    let pieces = [
        "[",
        "]",
        "\"",
        "\\",
        "\n",
        "\r\n",
        "\r",
        " ",
        "\t",
        "=",
        "#",
        ";",
        ".",
        "-",
        "a",
        "B",
        "\\n",
        "\\\"",
        "ü",
        "[s]\n",
        "[s \"Sub\"]\n",
        "key = ",
        "k=v\n",
    ];
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut accepted = 0;
    for round in 0..400 {
        let mut text = String::from(if round % 4 == 0 { "" } else { "[s]\nkey = " });
        for _ in 0..=round % 12 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            text.push_str(pieces[usize::try_from(state % 23).unwrap()]);
        }
        let theirs = git_list(text.as_bytes());
        accepted += usize::from(theirs.is_some());
        assert_eq!(our_list(text.as_bytes()), theirs, "{text:?}");
    }
    assert!(
        (50..350).contains(&accepted),
        "the pieces must make both kinds of text, but {accepted} were accepted"
    );
}

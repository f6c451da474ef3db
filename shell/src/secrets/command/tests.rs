use super::*;
use orca_container_core::limits;

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

fn sh(script: &str) -> Result<Sensitive, String> {
    value("NAME", &words(&["/bin/sh", "-c", script]), Duration::from_secs(20))
}

#[test]
fn what_is_printed_is_the_value_but_for_one_line_end() {
    for (script, expected) in [
        ("printf 'a b'", "a b"),
        ("printf 'a\\n'", "a"),
        ("printf 'a\\r\\n'", "a"),
        ("printf 'a\\n\\n'", "a\n"),
        ("printf '\"q\" '\\''s'\\'' $(id) \\\\ 🦀\\n'", "\"q\" 's' $(id) \\ 🦀"),
        ("(sleep 0.2; printf second) & printf first-", "first-second"),
    ] {
        assert_eq!(sh(script).unwrap().reveal(), expected, "{script}");
    }
    let long = sh("head -c 130000 /dev/zero | tr '\\0' x").unwrap();
    assert_eq!(long.reveal().len(), 130_000);
}

#[test]
fn words_are_words_and_no_shell_reads_them() {
    let printed = value("NAME", &words(&["printf", "%s", "$HOME `id`; *"]), DEADLINE).unwrap();
    assert_eq!(printed.reveal(), "$HOME `id`; *");
}

#[test]
fn it_runs_in_the_root_folder_with_nothing_to_read_and_our_environment() {
    assert_eq!(sh("pwd").unwrap().reveal(), "/");
    assert_eq!(sh("readlink /proc/self/fd/0").unwrap().reveal(), "/dev/null");
    assert_eq!(sh("echo \"$CARGO_MANIFEST_DIR\"").unwrap().reveal(), env!("CARGO_MANIFEST_DIR"));
}

#[test]
fn a_program_is_an_absolute_path_or_in_an_absolute_folder_of_path() {
    for program in ["/nowhere/program", "/etc/passwd", "/", "no-such-program-here"] {
        let fault = value("NAME", &words(&[program, "hunter2"]), DEADLINE).unwrap_err();
        assert!(fault.contains("\"NAME\"") && fault.contains(program), "{fault}");
        assert!(fault.contains("no program here") && !fault.contains("hunter2"), "{fault}");
    }
}

#[test]
fn failures_name_secret_and_code_and_hold_nothing_of_what_was_printed() {
    for (script, said) in [
        ("echo hunter2-a; exit 3", "exit code 3"),
        ("echo hunter2-b; echo \"is hunter2-b wrong?\" >&2; exit 4", "exit code 4"),
        ("echo \"the password hunter2 expired\" >&2; exit 6", "run it by itself"),
        ("set -x; echo hunter2-c; exit 5", "exit code 5"),
        ("echo hunter2-d; kill -9 $$", "the signal 9"),
        ("printf 'hunter2\\0e'", "NUL"),
        ("printf 'hunter2\\377f'", "UTF-8"),
        ("true", "no value"),
        ("echo", "no value"),
        ("yes hunter2-g", "more than"),
    ] {
        let fault = sh(script).unwrap_err();
        assert!(fault.contains(said) && fault.contains("\"NAME\""), "{script}: {fault}");
        assert!(!fault.contains("hunter2"), "{script}: {fault}");
    }
}

#[test]
fn one_byte_more_than_a_variable_holds_is_too_much() {
    let most = limits::ENV_STRING_BYTES;
    let of = |count: usize| sh(&format!("head -c {count} /dev/zero | tr '\\0' x; echo"));
    assert_eq!(of(most).unwrap().reveal().len(), most);
    assert!(of(most + 1).unwrap_err().contains("more than"));
}

#[test]
fn what_does_not_end_is_ended_with_all_that_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    for script in ["sleep 100 & echo $! $$ > 'PIDS'; wait", "sleep 100 & echo $! > 'PIDS'"] {
        let script = script.replace("PIDS", &pids.display().to_string());
        let begun = Instant::now();
        let fault =
            value("NAME", &words(&["/bin/sh", "-c", &script]), Duration::from_millis(500)).unwrap_err();
        assert!(fault.contains("did not end within"), "{fault}");
        assert!(begun.elapsed() < Duration::from_secs(20));
        for pid in std::fs::read_to_string(&pids).unwrap().split_whitespace() {
            let stat = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            while begun.elapsed() < Duration::from_secs(20) && !stat().is_empty() && !stat().contains(") Z ")
            {
                thread::sleep(Duration::from_millis(5));
            }
            assert!(stat().is_empty() || stat().contains(") Z "), "{}", stat());
        }
    }
}

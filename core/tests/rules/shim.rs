//! The delivery shims, run for real: every name and value that passes the core arrives byte for byte, under
//! every shell that an image may have as sh, and never runs as shell text.
//!
//! `ORCA_TEST_SHELLS=dash,bash,busybox` makes a missing shell a failure; without it the shells at hand are used.

use crate::support;
use orca_container_core::{LaunchAnswer, NOT_WRITABLE, TERMINATE, TRY_PORTS};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

/// The ways to call a shell as `sh`.
pub(crate) fn shells() -> Vec<Vec<&'static str>> {
    let known: [(&str, &str, &[&str]); 4] = [
        ("dash", "/usr/bin/dash", &["/usr/bin/dash"]),
        ("bash", "/bin/bash", &["/bin/bash"]),
        ("bash", "/bin/bash", &["/bin/bash", "--posix"]),
        ("busybox", "/usr/bin/busybox", &["/usr/bin/busybox", "sh"]),
    ];
    let required = std::env::var("ORCA_TEST_SHELLS").unwrap_or_default();
    let mut found: Vec<Vec<&str>> = Vec::new();
    for (name, path, call) in known {
        if Path::new(path).exists() {
            found.push(call.to_vec());
        } else {
            assert!(!required.split(',').any(|r| r == name), "{name} is required and not there");
        }
    }
    if found.is_empty() {
        found.push(vec!["/bin/sh"]);
    }
    found
}

/// What the engine would do: the words after the container's id, in the environment that it would make of the
/// aliases; for podman line N of descriptor 3 is value N, as the helper writes it.
fn run(answer: &LaunchAnswer, shell: &[&str]) -> (BTreeMap<String, Vec<u8>>, Vec<u8>) {
    let start = answer.args.iter().position(|word| word == "/bin/sh").unwrap();
    let words = &answer.args[start + 1..];
    let descriptor = answer.args.iter().any(|word| word == "--preserve-fds");
    let mut lines = tempfile::NamedTempFile::new().unwrap();
    if descriptor {
        for name in &answer.names {
            let value = answer.env[&format!("ORCA_ENV_{name}")].replace('\\', "\\\\").replace('\n', "\\n");
            lines.write_all(value.as_bytes()).unwrap();
            lines.write_all(b"\n").unwrap();
        }
    }
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "exec 3<\"$1\"; shift; exec \"$@\"", "sh"]).arg(lines.path()).args(shell).args(words);
    command.env_clear().env("PATH", "/usr/bin:/bin").stdin(Stdio::null());
    if !descriptor {
        command.envs(answer.env.iter().filter(|(name, _)| name.starts_with("ORCA_ENV_")));
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{shell:?}: {:?}", output.status);
    let variables = output
        .stdout
        .split(|byte| *byte == 0)
        .filter(|entry| !entry.is_empty())
        .map(|entry| {
            let at = entry.iter().position(|byte| *byte == b'=').unwrap();
            (String::from_utf8(entry[..at].to_vec()).unwrap(), entry[at + 1..].to_vec())
        })
        .collect();
    (variables, output.stderr)
}

fn request_with(engine: &str, env: &BTreeMap<String, String>) -> Value {
    support::with(engine, &[("choices.env", json!(env))])
}

/// Names that the core admits but a shell may find special, and names like those of the shim itself.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[A-Za-z_][A-Za-z0-9_]{0,12}",
        prop::sample::select(vec![
            "IFS",
            "PS4",
            "ENV",
            "BASH_ENV",
            "PATH",
            "n",
            "v",
            "x",
            "p",
            "d",
            "left",
            "each",
            "value",
            "PWD",
            "OLDPWD",
            "HOSTNAME",
            "MAIL",
            "TMOUT",
            "FUNCNEST",
            "POSIXLY_CORRECT",
            "GLOBIGNORE",
            "REPLY",
            "OPTARG",
            "OPTERR",
            "CDPATH",
            "HISTFILE",
            "LANG",
            "TERM",
            "HOME",
            "LD_LIBRARY_PATH",
            "PS1",
            "if",
            "then",
            "export",
            "exec",
            "eval",
            "unset",
            "shift",
            "read",
            "printf",
        ])
        .prop_map(String::from),
    ]
}

/// Values that a shell would love to run.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>().prop_map(|text| text.replace('\0', "")),
        prop::collection::vec(
            prop::sample::select(vec![
                "\n",
                "\r",
                "\\",
                "'",
                "\"",
                "`",
                "$",
                "$(touch pwned)",
                "`touch pwned`",
                "${HOME}",
                "$ORCA_ENV_X",
                ";",
                "touch pwned;",
                "#",
                " ",
                "\t",
                "=",
                "-",
                "--",
                "%b",
                "%s",
                "\\n",
                "\\c",
                "\\0101",
                "\\",
                "é",
                "e\u{301}",
                "🦀",
                "a",
                "*",
                "~",
                "!",
                "&",
                "|",
                "\n\n",
            ]),
            0..12,
        )
        .prop_map(|parts| parts.concat()),
    ]
}

fn delivered(engine: &str, env: &BTreeMap<String, String>) -> Result<(), TestCaseError> {
    // What a shell owns, or is reserved, the core leaves out or refuses; those names have tests of their own.
    let request = request_with(engine, env);
    let Ok(answer) = support::launched(&request, &support::launch_request()) else { return Ok(()) };
    for shell in shells() {
        let (got, _) = run(&answer, &shell);
        for name in &answer.names {
            let Some(sent) = env.get(name) else { continue };
            prop_assert_eq!(
                got.get(name).map(Vec::as_slice),
                Some(sent.as_bytes()),
                "{} under {:?}",
                name,
                shell
            );
        }
        let left = got.keys().filter(|name| name.starts_with("ORCA_ENV_")).count();
        prop_assert_eq!(left, 0, "no alias is left");
        prop_assert_eq!(got.get("ORCA_LAUNCH_ID").map(Vec::len), Some(32));
    }
    prop_assert!(!Path::new("pwned").exists(), "a value ran as shell text");
    Ok(())
}

proptest! {
    #![proptest_config(crate::support::cases(10))]

    #[test]
    fn every_admitted_value_arrives_byte_for_byte_on_docker(env in prop::collection::btree_map(name(), value(), 1..8)) {
        delivered("docker", &env)?;
    }

    #[test]
    fn every_admitted_value_arrives_byte_for_byte_on_podman(env in prop::collection::btree_map(name(), value(), 1..8)) {
        delivered("podman", &env)?;
    }
}

#[test]
fn hard_values_arrive_byte_for_byte() {
    let long = "x".repeat(100_000);
    let env: BTreeMap<String, String> = [
        ("NEWLINES", "\na\n\nb\n"),
        ("TRAILING", "a\n\n\n"),
        ("CR", "a\r\nb\r"),
        ("EQUALS", "=a=b=="),
        ("EMPTY", ""),
        ("BLANKS", "  a  "),
        ("DOLLAR", "$(touch pwned)`id`${HOME}$$"),
        ("QUOTES", "'\"\\'\\\""),
        ("BACKSLASH", "\\n\\\\n\\0101\\c\\"),
        ("EMOJI", "🦀 e\u{301}"),
        ("LONG", &long),
        ("DASH", "-n"),
        ("PERCENT", "%s%b%%"),
        ("DOCKER_HOST", "tcp://x\n'$(y)"),
        ("IFS", "x"),
        ("PATH", "/usr/bin:/x y"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    for engine in ["docker", "podman"] {
        delivered(engine, &env).unwrap();
    }
}

#[test]
fn unset_names_are_taken_away() {
    let mut request =
        support::with("docker", &[("repoSettings.ghAccount", json!({"host": "github.com", "user": "ada"}))]);
    support::set(
        &mut request,
        "imageFacts.env",
        json!(["PATH=/usr/bin:/bin", "GITHUB_TOKEN=x", "GH_REPO=y"]),
    );
    let mut launch = support::launch_request();
    support::set(&mut launch, "values", json!({"ghToken": "t"}));
    let answer = support::launched(&request, &launch).unwrap();
    for shell in shells() {
        let start = answer.args.iter().position(|word| word == "/bin/sh").unwrap();
        let output = Command::new(shell[0])
            .args(&shell[1..])
            .args(&answer.args[start + 1..])
            .env_clear()
            .envs(&answer.env)
            .env("GITHUB_TOKEN", "x")
            .env("GH_REPO", "y")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).replace('\0', "\n");
        assert!(!text.contains("GITHUB_TOKEN") && !text.contains("GH_REPO"), "{shell:?}: {text}");
        assert!(text.contains("GH_TOKEN=t"), "{shell:?}: {text}");
    }
}

/// A launch of three processes, of which one ignores TERM when `stubborn`.
fn terminated(shell: &[&str], id: &str, stubborn: bool) {
    let script = if stubborn { "trap '' TERM; while :; do sleep 1; done" } else { "sleep 300" };
    let mut ours =
        Command::new("/bin/sh").args(["-c", "sleep 300 & wait"]).env("ORCA_LAUNCH_ID", id).spawn().unwrap();
    let mut second = Command::new("/bin/sh").args(["-c", script]).env("ORCA_LAUNCH_ID", id).spawn().unwrap();
    let mut other = Command::new("sleep").arg("300").env("ORCA_LAUNCH_ID", "0".repeat(32)).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(100));
    let status = Command::new(shell[0])
        .args(&shell[1..])
        .args(["-c", TERMINATE, "sh", id])
        .env_clear()
        .status()
        .unwrap();
    assert!(status.success(), "{shell:?}");
    assert!(!ours.wait().unwrap().success());
    assert!(!second.wait().unwrap().success());
    assert!(other.try_wait().unwrap().is_none(), "another launch was ended");
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn terminate_ends_the_launch_and_what_it_started_and_nothing_else() {
    for (index, shell) in shells().into_iter().enumerate() {
        terminated(&shell, &format!("{index}edcba9876543210fedcba9876543210"), false);
    }
}

#[test]
fn terminate_kills_what_ignores_it() {
    let shell = shells().remove(0);
    terminated(&shell, "abcdefabcdefabcdefabcdefabcdefab", true);
}

#[test]
fn folders_that_cannot_be_written_to_are_named_and_nothing_stays() {
    let folder = tempfile::tempdir().unwrap();
    let absent = folder.path().join("absent");
    // Nobody may make a file there, root neither.
    let blocked = Path::new("/proc/self");
    for shell in shells() {
        let (program, first) = shell.split_first().unwrap();
        let output = Command::new(program)
            .args(first)
            .args(["-c", NOT_WRITABLE, "sh"])
            .args([folder.path(), &absent, blocked, folder.path()])
            .output()
            .unwrap();
        assert!(output.status.success(), "{shell:?}: {output:?}");
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(said, format!("{}\n/proc/self\n", absent.display()), "{shell:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{shell:?}");
    }
}

/// On loopback, with bash or whatever nc is at hand.
#[test]
fn ports_that_answer_are_told_from_those_that_do_not() {
    let open = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let [open_port, closed_port] = [&open, &closed].map(|one| one.local_addr().unwrap().port().to_string());
    drop(closed);
    let expected = if ["/bin/bash", "/usr/bin/nc", "/bin/nc"].iter().any(|path| Path::new(path).exists()) {
        format!("open {open_port}\nclosed {closed_port}\nopen {open_port}\n")
    } else {
        "none\n".into()
    };
    for shell in shells() {
        let (program, first) = shell.split_first().unwrap();
        let output = Command::new(program)
            .args(first)
            .args(["-c", TRY_PORTS, "sh", "127.0.0.1", &open_port, &closed_port, &open_port])
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected, "{shell:?}");
    }
}

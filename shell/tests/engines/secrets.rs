//! Secrets from their real sources: asked at a launch, for what it needs, and in no other place.

use crate::bench::{Bench, COMMAND, Ran};
use crate::canary::places;
use crate::delivery::{exec_with_secrets, write_settings};
use orca_container_testkit::Canary;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A source that prints what a file holds.
fn file_source(bench: &Bench, name: &str, content: &[u8]) -> Value {
    let path = bench.path(&format!("value-of-{name}"));
    fs::write(&path, content).unwrap();
    json!({"name": name, "command": ["cat", path.to_str().unwrap()]})
}

/// A source that leaves a line in a file whenever it is asked.
fn counted(bench: &Bench, name: &str, then: &str) -> Value {
    let script = format!("echo asked >> '{}'; {then}", bench.path(&format!("asked-{name}")).display());
    json!({"name": name, "command": ["/bin/sh", "-c", script]})
}

fn times_asked(bench: &Bench, name: &str) -> usize {
    fs::read_to_string(bench.path(&format!("asked-{name}"))).unwrap_or_default().lines().count()
}

/// An `exec` with something on its standard input.
fn exec_with_input(bench: &Bench, flags: &[&str], input: &[u8], words: &[&str]) -> Ran {
    let mut child = spawned(bench, flags, words);
    // Whoever refuses reads nothing.
    let _ = child.stdin.take().unwrap().write_all(input);
    Ran::of(&child.wait_with_output().unwrap())
}

fn spawned(bench: &Bench, flags: &[&str], words: &[&str]) -> Child {
    let args = [&["exec", "acme"], flags, &["--"], words].concat();
    let mut command = bench.command(&args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

pub fn command_arrives(bench: &mut Bench) {
    let long = format!("{}\n", "x".repeat(100_000));
    let cases: [(&str, &[u8], &str); 7] = [
        ("PLAIN", b"plain", "plain"),
        ("ONE_LINE", b"line\n", "line"),
        ("WINDOWS", b"line\r\n", "line"),
        ("TWO_LINES", b"\na\n\n", "\na\n"),
        ("QUOTES", b"'\"\\' $(id) `id` ${HOME} %s\n", "'\"\\' $(id) `id` ${HOME} %s"),
        ("EMOJI", "🦀 e\u{301}\n".as_bytes(), "🦀 e\u{301}"),
        ("LONG", long.as_bytes(), long.trim_end()),
    ];
    let declared: Vec<Value> =
        cases.iter().map(|(name, content, _)| file_source(bench, name, content)).collect();
    write_settings(bench, &json!({"secrets": declared}));
    bench.create(&[]).ok();
    for (name, _, expected) in cases {
        let got = bench.exec(&["sh", "-c", &format!("printf '%s' \"${name}\"")]).ok().stdout;
        assert!(got == expected, "{name}: {} bytes", got.len());
    }
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

pub fn only_what_is_needed(bench: &mut Bench) {
    let mut repositories = serde_json::Map::new();
    repositories.insert(
        bench.repository().to_str().unwrap().to_owned(),
        json!({"container": {"env": {"DATABASE_URL": {"secret": "DB"}, "SHADOWED": "plain"}}}),
    );
    let declared = [
        counted(bench, "DB", "echo db-value"),
        counted(bench, "SHADOWED", "echo shadowed"),
        counted(bench, "HANDED", "echo from-the-source"),
    ];
    write_settings(
        bench,
        &json!({
            "secrets": declared, "repositories": repositories,
            "globalSettings": {"container": {"env": {"GLOBAL": {"secret": "DB"}}}}
        }),
    );
    bench.create(&[]).ok();
    for args in [
        vec!["plan", "acme", "--container-image", "x:1"],
        vec!["env", "acme"],
        vec!["env", "acme", "--preview", "--container-image", "x:1"],
        vec!["check", "acme"],
        vec!["ls"],
        vec!["status", "acme"],
        vec!["stop", "acme"],
        vec!["start", "acme"],
    ] {
        bench.run(&args).ok();
    }
    for name in ["DB", "SHADOWED", "HANDED"] {
        assert_eq!(times_asked(bench, name), 0, "only a launch asks: {name}");
    }
    let show = ["sh", "-c", "echo \"$DATABASE_URL|$DB|$SHADOWED|$HANDED\""];
    assert_eq!(bench.exec(&show).ok().stdout, "db-value|db-value|plain|from-the-source\n");
    let handed = exec_with_secrets(bench, &json!({"HANDED": "handed"}), &show).ok();
    assert_eq!(handed.stdout, "db-value|db-value|plain|handed\n");
    assert_eq!(times_asked(bench, "DB"), 2, "once a launch, for all that refers to it");
    assert_eq!(times_asked(bench, "SHADOWED"), 0);
    assert_eq!(times_asked(bench, "HANDED"), 1, "what the caller hands over wins");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// What is missing or wrong is told by name before anything starts in the container.
pub fn missing_is_an_error(bench: &mut Bench) {
    bench.create(&[]).ok();
    let script = |script: &str| json!({"name": "BAD", "command": ["/bin/sh", "-c", script]});
    let cases = [
        (json!({"name": "BAD"}), "--secrets-fd"),
        (json!({"name": "BAD", "command": ["no-such-program-here"]}), "no program here"),
        (json!({"name": "BAD", "command": ["/etc/passwd"]}), "no program here"),
        (script("echo hunter2; echo 'hunter2 is no key' >&2; exit 3"), "exit code 3"),
        (script("kill -9 $$"), "the signal 9"),
        (script("echo"), "no value"),
        (script("printf 'hunter2\\0'"), "NUL"),
        (script("printf 'hunter2\\377'"), "UTF-8"),
        (script("yes hunter2"), "more than"),
    ];
    for (declared, said) in cases {
        let with_others = [json!({"name": "OTHER"}), declared, counted(bench, "FINE", "echo fine")];
        write_settings(bench, &json!({"secrets": with_others}));
        let refused = bench.exec(&["touch", "/tmp/started"]).code(1);
        assert!(refused.stderr.contains(said) && refused.stderr.contains("\"BAD\""), "{}", refused.stderr);
        assert!(refused.stderr.contains("\"OTHER\""), "all are told at once: {}", refused.stderr);
        assert!(!format!("{refused:?}").contains("hunter2"), "{refused:?}");
    }
    handed_wrongly(bench);
    write_settings(bench, &json!({}));
    assert_eq!(bench.exec(&["test", "-e", "/tmp/started"]).code, 1);
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

fn handed_wrongly(bench: &Bench) {
    write_settings(bench, &json!({"secrets": [{"name": "BAD"}]}));
    for (line, said) in [
        ("{\"BAD\": \"hunter2\", \"BAD\": \"hunter2\"}\n", "stands twice"),
        ("{\"BAD\": [\"hunter2\"]}\n", "\"BAD\""),
        ("{\"BAD\": \"hunter2\", \"STRANGE\": \"hunter2\"}\n", "\"STRANGE\""),
        ("{\"BAD\":\n\"hunter2\"}\n", "one JSON object"),
        ("hunter2\n", "one JSON object"),
        ("", "one JSON object"),
        ("{}\n", "\"BAD\""),
    ] {
        let words = ["touch", "/tmp/started"];
        let refused = exec_with_input(bench, &["--secrets-stdin"], line.as_bytes(), &words).code(1);
        assert!(refused.stderr.contains(said), "{line}: {}", refused.stderr);
        assert!(!format!("{refused:?}").contains("hunter2"), "{refused:?}");
    }
    let both = ["exec", "acme", "--secrets-stdin", "--secrets-fd", "9", "--", "true"];
    assert_eq!(bench.run(&both).code, 2);
    let nothing = bench.run(&["exec", "acme", "--secrets-fd", "987", "--", "touch", "/tmp/started"]).code(1);
    assert!(nothing.stderr.contains("The descriptor 987"), "{}", nothing.stderr);
}

/// A program that does not end is ended with what it started; one that wants the terminal is told at once.
pub fn slow_is_an_error(bench: &mut Bench) {
    bench.create(&[]).ok();
    let pid = bench.path("pid");
    let slow = format!("sleep 987 & echo $! > '{}'; wait", pid.display());
    write_settings(bench, &json!({"secrets": [{"name": "SLOW", "command": ["/bin/sh", "-c", slow]}]}));
    let refused = bench.exec(&["touch", "/tmp/started"]).code(1);
    assert!(refused.stderr.contains("did not end within 60 seconds"), "{}", refused.stderr);
    let left = fs::read(format!("/proc/{}/cmdline", fs::read_to_string(pid).unwrap().trim()));
    assert!(!left.is_ok_and(|line| line.starts_with(b"sleep")), "what it started is ended as well");

    let asks =
        json!({"name": "ASKS", "command": ["/bin/sh", "-c", "read -r word </dev/tty; echo \"$word\""]});
    write_settings(bench, &json!({"secrets": [asks]}));
    let begun = Instant::now();
    let line = format!("{COMMAND} exec acme -- touch /tmp/started");
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &line, "/dev/null"]).env_clear().envs(&bench.env).env("SHELL", "/bin/sh");
    let output = terminal.current_dir(bench.path("")).stdin(Stdio::null()).output().unwrap();
    let refused = Ran::of(&output).code(1);
    assert!(refused.stdout.contains("asks at the terminal"), "{refused:?}");
    assert!(begun.elapsed() < Duration::from_secs(30), "it is not waited for");

    write_settings(bench, &json!({}));
    assert_eq!(bench.exec(&["test", "-e", "/tmp/started"]).code, 1);
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

pub fn stdin_leaves_the_rest(bench: &mut Bench) {
    write_settings(bench, &json!({"secrets": [{"name": "SECRET"}]}));
    bench.create(&[]).ok();
    let rest = "the rest\n\"of it\"\n".repeat(20_000);
    let input = format!("{}\n{rest}", json!({"SECRET": "a\n\"b\" 🦀\n"}));
    let words = ["sh", "-c", "printf '%s|' \"$SECRET\"; cat"];
    let ran = exec_with_input(bench, &["--secrets-stdin"], input.as_bytes(), &words).ok();
    assert!(ran.stdout == format!("a\n\"b\" 🦀\n|{rest}"), "{} bytes", ran.stdout.len());
    let mut shell = bench.command(&["shell", "acme", "--secrets-stdin"]);
    let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    shell.stdin.take().unwrap().write_all(b"{\"SECRET\": \"s\"}\necho \"is $SECRET\"\n").unwrap();
    assert_eq!(Ran::of(&shell.wait_with_output().unwrap()).ok().stdout, "is s\n");
    // A program such as Node hands a socket over, and goes on with the process through it.
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut command = bench.command(&["exec", "acme", "--secrets-stdin", "--"]);
    command.args(words).stdin(std::os::fd::OwnedFd::from(theirs)).stdout(Stdio::piped());
    let child = command.spawn().unwrap();
    drop(command);
    (&ours).write_all(b"{\"SECRET\": \"s\"}\nmore").unwrap();
    ours.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(Ran::of(&child.wait_with_output().unwrap()).ok().stdout, "s|more");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// Commands of the repository get no secret, and no source is asked for them.
pub fn lifecycle_gets_none(bench: &mut Bench) {
    let file = json!({
        "image": crate::bench::image(bench.engine),
        "postCreateCommand": "echo \"${SECRET-none}|${OTHER-none}\" > /tmp/ran"
    });
    bench.commit_file(".devcontainer.json", &file.to_string());
    let settings = json!({
        "globalSettings": {
            "container": {"env": {"OTHER": {"secret": "SECRET"}}},
            "policy": {"runRepositoryCommands": true}
        },
        "secrets": [counted(bench, "SECRET", "echo value")]
    });
    write_settings(bench, &settings);
    let mut args = crate::bench::create_args(bench.engine, "acme", "devcontainer");
    let asked = Ran::of(&bench.command(&args).output().unwrap());
    let digests: Vec<&str> =
        asked.stderr.lines().filter_map(|line| line.trim().strip_prefix("--approve ")).collect();
    args.extend(digests.iter().flat_map(|digest| ["--approve", digest]));
    bench.run(&args).ok();
    assert_eq!(times_asked(bench, "SECRET"), 0);
    assert_eq!(bench.exec(&["cat", "/tmp/ran"]).ok().stdout, "none|none\n");
    assert_eq!(bench.exec(&["sh", "-c", "echo \"$SECRET|$OTHER\""]).ok().stdout, "value|value\n");
    assert_eq!(times_asked(bench, "SECRET"), 2);
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// A value is in no file of ours, no command line, no answer of the engine and nothing that is said, by any source.
pub fn no_value_anywhere(bench: &mut Bench) {
    let place = bench.folder().display().to_string();
    let canary = |seed: &str| Canary::new(&format!("{} {seed} {place}", bench.engine));
    let (printed, handed, failed) = (canary("printed"), canary("handed"), canary("failed"));
    let all = [&printed, &handed, &failed];
    let declared = [file_source(bench, "PRINTED", printed.marker().as_bytes()), json!({"name": "HANDED"})];
    write_settings(bench, &json!({"secrets": declared}));
    bench.create(&[]).ok();
    let line = format!("{}\n", json!({"HANDED": handed.marker()}));

    let script = "[ -n \"$PRINTED\" ] && [ -n \"$HANDED\" ] && touch /tmp/ready; sleep 60";
    let mut child = spawned(bench, &["--secrets-stdin"], &["sh", "-c", script]);
    child.stdin.as_ref().unwrap().write_all(line.as_bytes()).unwrap();
    let (begun, id) = (Instant::now(), bench.container_id());
    while bench.client(&["exec", &id, "test", "-e", "/tmp/ready"]).code != 0 {
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", child.try_wait());
        thread::sleep(Duration::from_millis(100));
    }
    look(bench, &all, "while it runs");
    let _ = child.kill();
    unsaid(&all, "exec", &Ran::of(&child.wait_with_output().unwrap()));
    bench.client(&["exec", &id, "sh", "-c", "kill $(pidof sleep) 2>/dev/null; true"]);
    look(bench, &all, "afterwards");
    // What keeps it up is a sleep as well, and a launch looks at the container before it asks for a secret.
    bench.run(&["start", "acme"]).ok();

    let flags = ["--debug", "exec", "acme", "--", "true"];
    let missing = bench.run(&flags).code(1);
    assert!(missing.stderr.contains("debug: cat for the secret PRINTED"), "{}", missing.stderr);
    unsaid(&all, "a launch without its secret", &missing);
    let talks = format!(
        "v=$(cat '{}'); echo \"$v\"; set -x; : \"$v\"; echo \"bad: $v\" >&2; exit 9",
        bench.path("value-of-FAILED").display()
    );
    file_source(bench, "FAILED", failed.marker().as_bytes());
    write_settings(bench, &json!({"secrets": [{"name": "FAILED", "command": ["/bin/sh", "-c", talks]}]}));
    let refused = bench.run(&flags).code(1);
    assert!(refused.stderr.contains("exit code 9"), "{}", refused.stderr);
    unsaid(&all, "a source that fails and says what it knows", &refused);
    look(bench, &all, "after failed launches");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

#[track_caller]
pub fn unsaid(all: &[&Canary], what: &str, ran: &Ran) {
    for canary in all {
        canary
            .assert_absent(&format!("what {what} said"), format!("{}{}", ran.stdout, ran.stderr).as_bytes());
    }
}

#[track_caller]
pub fn look(bench: &Bench, all: &[&Canary], when: &str) {
    let mut places = places(bench, &bench.container_id(), &bench.container_name());
    for file in crate::bench::files_below(&bench.path("state")) {
        places.push((file.display().to_string(), fs::read(&file).unwrap_or_default()));
    }
    for log in [
        bench.client(&["logs", &bench.container_id()]),
        bench.client(&["exec", &bench.container_id(), "env"]),
    ] {
        places.push(("what the container says".into(), format!("{}{}", log.stdout, log.stderr).into_bytes()));
    }
    for (place, bytes) in &places {
        for canary in all {
            canary.assert_absent(&format!("{place} {when}"), bytes);
        }
    }
}

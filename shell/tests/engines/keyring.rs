//! Secrets from a real keyring: GNOME Keyring on a session bus of the test's own, in the test's own home.

use crate::bench::{Bench, COMMAND, Ran};
use crate::delivery::write_settings;
use crate::secrets::{look, unsaid};
use orca_container_testkit::Canary;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Starts the keyring, unlocked; it ends with its bus.
const UNLOCKED: &str =
    "printf word | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1 || exit 97\n";

/// A bus that starts nothing by itself.
const BARE_BUS: &str = "<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><policy context=\"default\">\
    <allow send_destination=\"*\"/><allow own=\"*\"/></policy></busconfig>";

/// A script with a session bus of its own.
fn session(bench: &Bench, options: &[&str], script: &str) -> Command {
    let run = bench.path("run");
    if !run.exists() {
        fs::create_dir(&run).unwrap();
        fs::set_permissions(&run, fs::Permissions::from_mode(0o700)).unwrap();
    }
    let mut command = Command::new("dbus-run-session");
    command.args(options).args(["--", "/bin/sh", "-c", script]).env_clear().envs(&bench.env);
    command.env("XDG_RUNTIME_DIR", run).env("ORCA", COMMAND).current_dir(bench.path(""));
    command.stdin(Stdio::null());
    command
}

#[track_caller]
fn in_session(bench: &Bench, script: &str) -> Ran {
    Ran::of(&session(bench, &[], &format!("{UNLOCKED}{script}")).output().unwrap())
}

fn declare(bench: &Bench, entry: &Value) {
    write_settings(bench, &json!({"secrets": [{"name": "KEY", "keyring": entry}]}));
}

fn entry(account: &str) -> Value {
    json!({"service": "orca-test", "account": account})
}

pub fn arrives(bench: &mut Bench) {
    bench.create(&[]).ok();
    let value = "'\"\\' $(id) 🦀\nsecond line\n";
    fs::write(bench.path("value"), value).unwrap();
    for name in ["account", "username"] {
        declare(bench, &entry(name));
        let store =
            format!("secret-tool store --label=orca service orca-test {name} {name} <value || exit 98\n");
        let show = "exec \"$ORCA\" exec acme -- sh -c 'printf \"%s|\" \"$KEY\"'";
        assert_eq!(in_session(bench, &format!("{store}{show}")).ok().stdout, format!("{value}|"), "{name}");
    }
    // What cannot be a variable's value, a missing entry, and one of several.
    let start = "exec \"$ORCA\" exec acme -- touch /tmp/started";
    let put = |account: &str, more: &str, bytes: &str| {
        format!(
            "printf '{bytes}' | secret-tool store --label=orca service orca-test account {account} {more} || exit 98\n"
        )
    };
    let several = [put("several", "n 1", "hunter2"), put("several", "n 2", "hunter2")].concat();
    for (account, put, said) in [
        ("missing", String::new(), "no such entry"),
        ("several", several, "several such entries"),
        ("bytes", put("bytes", "", "hunter2\\377"), "not UTF-8"),
    ] {
        declare(bench, &entry(account));
        let refused = in_session(bench, &format!("{put}{start}")).code(1);
        let text = &refused.stderr;
        assert!(text.contains(said) && !text.contains("hunter2"), "{account}: {text}");
        let names = ["\"KEY\"", "\"orca-test\"", &format!("\"{account}\"")].map(String::from);
        assert!(account == "bytes" || names.iter().all(|name| text.contains(name)), "{text}");
    }
    assert_eq!(bench.client(&["exec", &bench.container_id(), "test", "-e", "/tmp/started"]).code, 1);
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

pub fn no_keyring(bench: &mut Bench) {
    bench.create(&[]).ok();
    declare(bench, &entry("locked"));
    fs::write(bench.path("value"), "hunter2").unwrap();
    let start = "exec \"$ORCA\" exec acme -- touch /tmp/started";
    let lock = "secret-tool store --label=orca service orca-test account locked <value || exit 98\n\
        dbus-send --session --print-reply --dest=org.freedesktop.secrets /org/freedesktop/secrets \
        org.freedesktop.Secret.Service.Lock array:objpath:/org/freedesktop/secrets/collection/login >/dev/null || exit 99\n";
    let begun = Instant::now();
    let locked = in_session(bench, &format!("{lock}{start}")).code(1);
    assert!(locked.stderr.contains("is locked"), "{}", locked.stderr);
    assert!(begun.elapsed() < Duration::from_secs(30), "nobody sees a window, so none is waited for");

    let config = bench.path("bus.conf");
    fs::write(&config, BARE_BUS).unwrap();
    let option = format!("--config-file={}", config.display());
    let no_service = Ran::of(&session(bench, &[&option], start).output().unwrap()).code(1);
    assert!(no_service.stderr.contains("offers the Secret Service"), "{}", no_service.stderr);

    bench.env.remove("XDG_RUNTIME_DIR");
    let no_bus = bench.exec(&["touch", "/tmp/started"]).code(1);
    assert!(no_bus.stderr.contains("leads to a session bus"), "{}", no_bus.stderr);
    for refused in [locked, no_service, no_bus] {
        let names = ["\"KEY\"", "\"orca-test\"", "\"locked\""];
        assert!(names.iter().all(|name| refused.stderr.contains(name)), "{}", refused.stderr);
        assert!(!refused.stderr.contains("hunter2"), "{}", refused.stderr);
    }
    assert_eq!(bench.client(&["exec", &bench.container_id(), "test", "-e", "/tmp/started"]).code, 1);
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

pub fn no_value_anywhere(bench: &mut Bench) {
    let canary = Canary::new(&format!("{} keyring {}", bench.engine, bench.folder().display()));
    bench.create(&[]).ok();
    declare(bench, &entry("canary"));
    fs::write(bench.path("value"), canary.marker()).unwrap();
    let script = format!(
        "{UNLOCKED}secret-tool store --label=orca service orca-test account canary <value || exit 98\n\
         exec \"$ORCA\" --debug exec acme -- sh -c '[ -n \"$KEY\" ] && touch /tmp/ready; sleep 60'"
    );
    let mut command = session(bench, &[], &script);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (begun, id) = (Instant::now(), bench.container_id());
    while bench.client(&["exec", &id, "test", "-e", "/tmp/ready"]).code != 0 {
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", child.try_wait());
        thread::sleep(Duration::from_millis(100));
    }
    look(bench, &[&canary], "while it runs");
    bench.client(&["exec", &id, "sh", "-c", "kill $(pidof sleep) 2>/dev/null; true"]);
    let ran = Ran::of(&child.wait_with_output().unwrap());
    assert!(ran.stderr.contains("debug: the keyring for the secret KEY"), "{}", ran.stderr);
    unsaid(&[&canary], "exec", &ran);
    look(bench, &[&canary], "afterwards");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

//! Images: what they bring that must go, and what they lack.

use crate::bench::{Bench, build_image};
use std::process::Stdio;
use std::time::Duration;

fn create_from(bench: &Bench, image: &str) -> crate::bench::Ran {
    bench.create_from("acme", image, &[])
}

pub fn reserved_are_gone(bench: &mut Bench) {
    let changes = "ENV ORCA_TERMINAL_HANDLE=forged\nENV CLAUDE_CONFIG_DIR=/image\nENV ANTHROPIC_API_KEY=image\nENV NODE_VERSION=22\nENTRYPOINT [\"/bin/false\"]\nLABEL orca.install=forged\nLABEL orca.workspace=forged";
    let image = build_image(bench.engine, "full", changes);
    let made = create_from(bench, &image).ok();
    assert!(
        made.stderr.contains("ORCA_TERMINAL_HANDLE") && made.stderr.contains("entrypoint"),
        "{}",
        made.stderr
    );
    let script =
        "echo ${ORCA_TERMINAL_HANDLE-gone} ${ANTHROPIC_API_KEY-gone} $CLAUDE_CONFIG_DIR $NODE_VERSION";
    assert_eq!(bench.exec(&["sh", "-c", script]).ok().stdout, "gone gone /orca/agent/claude 22\n");
    // Also for a process that the engine starts without us.
    let inside = bench.client(&["exec", &bench.container_id(), "env"]).ok().stdout;
    assert!(!inside.contains("ORCA_TERMINAL_HANDLE") && !inside.contains("ANTHROPIC_API_KEY"), "{inside}");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// docker: the image's own chown runs as root in a container of its own; when it never ends, `rm` ends it.
pub fn endless_chown(bench: &mut Bench) {
    let image = build_image(bench.engine, "endless-chown", "");
    let args = crate::bench::create_args(bench.engine, "acme", &image);
    let mut child = bench.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let running = || {
        let records = crate::bench::files_below(&bench.path("state/orca-container/records"));
        let Some(name) = records.first().and_then(|file| file.file_stem()?.to_str()) else { return false };
        let filter = format!("name={name}-init");
        !bench.client(&["ps", "--quiet", "--filter", &filter]).ok().stdout.is_empty()
    };
    let mut ended = None;
    while ended.is_none() && !running() {
        std::thread::sleep(Duration::from_millis(100));
        ended = child.try_wait().unwrap();
    }
    // podman gives a volume to its user by itself, so that nothing of the image runs for it.
    assert_eq!(ended.is_some_and(|status| status.success()), bench.engine == "podman", "{ended:?}");
    let _ = child.kill();
    child.wait().unwrap();
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

pub fn missing_tools(bench: &mut Bench) {
    let without_git = create_from(bench, &build_image(bench.engine, "no-git", "")).code(1);
    assert!(
        without_git.stderr.contains("git") && without_git.stderr.contains("apt-get install"),
        "{}",
        without_git.stderr
    );
    bench.nothing_is_left();
    let without_sh = create_from(bench, &build_image(bench.engine, "no-sh", "")).code(1);
    assert!(without_sh.stderr.contains("sh"), "{}", without_sh.stderr);
    bench.nothing_is_left();
    let missing = create_from(bench, "orca-test-no-such-image.invalid/x:1").code(1);
    assert!(missing.stderr.contains("pull_image"), "{}", missing.stderr);
    bench.nothing_is_left();
}

/// docker: a volume stays root's where the image's chown only says that it gave it away.
pub fn idle_chown(bench: &mut Bench) {
    let refused = create_from(bench, &build_image(bench.engine, "idle-chown", "")).code(1);
    for part in ["1000:1000", "/workspace", "/orca/agent", "chown"] {
        assert!(refused.stderr.contains(part), "{part}: {}", refused.stderr);
    }
    bench.nothing_is_left();
}

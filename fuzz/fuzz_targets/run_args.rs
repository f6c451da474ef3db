//! Arbitrary `runArgs` and `mounts` of a devcontainer.json, judged alone.
//!
//! The first byte chooses: `m` the rest is the text of a file with "mounts", `p` podman, anything else docker; there the
//! rest is tokens, parted by newlines. Whatever they say: what is asked for holds no path of the host, reads back as
//! itself without a finding, and volumes lie in the workspace's namespace.
#![no_main]

use libfuzzer_sys::fuzz_target;
use orca_container_core::{
    EngineKind, Severity,
    probe::{Judged, mounts, run_args},
};

fuzz_target!(|data: &[u8]| {
    let Some((mode, rest)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    let engine = if *mode == b'p' { EngineKind::Podman } else { EngineKind::Docker };
    if *mode == b'm' {
        if let Some(judged) = mounts(&text) {
            holds(engine, &judged);
        }
        return;
    }
    let tokens: Vec<String> = text.split('\n').map(Into::into).collect();
    let judged = run_args(engine, &tokens);
    assert_eq!(judged, run_args(engine, &tokens), "the same tokens give the same verdicts");
    holds(engine, &judged);
});

fn holds(engine: EngineKind, judged: &Judged) {
    for finding in &judged.findings {
        assert!(finding.message.ends_with('.'), "{}", finding.message);
        assert!(finding.severity == Severity::Dropped || finding.severity == Severity::Notice);
    }
    for ask in &judged.asks {
        let Some(mount) = ask.strip_prefix("--mount=") else {
            let known = ["env", "shm-size", "ulimit", "hostname", "user", "publish", "network", "memory", "cpus"];
            let more = ["pids-limit", "platform", "label"];
            let name = ask.strip_prefix("--").and_then(|rest| rest.split('=').next()).expect("a long flag");
            assert!(known.contains(&name) || more.contains(&name), "{name}");
            continue;
        };
        let source = mount.strip_prefix("type=volume,source=").and_then(|rest| rest.split(',').next());
        assert!(mount.starts_with("type=volume,") || mount.starts_with("type=tmpfs,tmpfs-size="), "{mount}");
        if let Some(name) = source {
            assert!(name.len() > 1 && name.starts_with(|c: char| c.is_ascii_alphanumeric()), "{name}");
            assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-')), "{name}");
        }
    }
    for name in &judged.volumes {
        let behind = name.strip_prefix("orca-ws-k-v-").expect("the workspace's namespace");
        assert!(behind.len() <= 64);
    }
    // More asks than tokens are read at once may come of ranges of ports.
    if judged.asks.len() <= 256 {
        let again = run_args(engine, &judged.asks);
        assert_eq!(again.asks, judged.asks, "what survives reads back as itself");
        assert!(again.findings.is_empty(), "{:?}", again.findings);
    }
}

//! podman as a user who is not root: what is enforced, what is said of the rest, and that all of it works.

use crate::bench::Bench;
use crate::delivery::write_settings;
use crate::lifecycle::only_record;
use serde_json::{Value, json};
use std::fs;

/// Limits that podman discards here: all of them on cgroup v1, those that were not delegated on v2.
fn discarded(bench: &Bench) -> Vec<String> {
    let report = bench.run(&["doctor", "--json", "--engine", "podman"]);
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    let facts = &report["engines"][0]["facts"];
    assert_eq!((&facts["rootless"], &facts["userNamespace"]), (&json!(true), &json!(true)), "{report}");
    serde_json::from_value(facts["limitsDiscarded"].clone()).unwrap()
}

/// What podman itself answers with where it applied a limit.
fn applied(bench: &Bench, limit: &str) -> bool {
    let field = match limit {
        "memory" => "Memory",
        "swap" => "MemorySwap",
        "cpu" => "NanoCpus",
        _ => "PidsLimit",
    };
    bench.inspect()["HostConfig"][field].as_i64().unwrap() > 0
}

fn settings(bench: &Bench, policy: &Value) {
    write_settings(bench, &json!({"globalSettings": {"policy": policy}}));
    // The file is read by its owner only.
    bench.give(&bench.path("config"));
}

pub fn limits_are_refused_or_advisory(bench: &mut Bench) {
    let discarded = discarded(bench);
    let expected: &[&str] = match fs::read_to_string("/sys/fs/cgroup/cgroup.controllers") {
        // Version 2: it depends on what was delegated.
        Ok(_) => &[],
        Err(_) => &["memory", "swap", "cpu", "pids"],
    };
    assert!(expected.iter().all(|limit| discarded.iter().any(|other| other == limit)), "{discarded:?}");
    if !discarded.is_empty() {
        let refused = bench.create(&["--network", "none"]).code(1);
        assert!(refused.stderr.contains("[limits_unsupported]"), "{}", refused.stderr);
        bench.nothing_is_left();
    }

    settings(bench, &json!({"acceptAdvisoryLimits": true}));
    let made = bench.create(&["--network", "none"]).ok();
    assert_eq!(made.stderr.contains("[limits_advisory]"), !discarded.is_empty(), "{}", made.stderr);
    let plan = only_record(bench)["plan"].clone();
    assert_eq!(plan["limits"]["advisory"], json!(discarded));
    for (limit, field) in
        [("memory", "memoryBytes"), ("swap", "memorySwapBytes"), ("cpu", "nanoCpus"), ("pids", "pidsLimit")]
    {
        let field = json!(format!("container.{field}"));
        let claimed = plan["expectations"].as_array().unwrap().iter().any(|row| row["field"] == field);
        let enforced = !discarded.iter().any(|other| other == limit);
        // What the attestation claims, what the engine says that it did, and what the plan calls advisory agree.
        assert_eq!((claimed, applied(bench, limit)), (enforced, enforced), "{limit}");
    }
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

pub fn works_from_create_to_rm(bench: &mut Bench) {
    settings(bench, &json!({"acceptAdvisoryLimits": true}));
    let made = bench.create(&["--network", "none", "--container-env", "TYPED=a=b\nc"]).ok();
    assert!(!made.stderr.contains("kernel_evidence_unavailable"), "{}", made.stderr);
    assert_eq!(bench.exec(&["git", "log", "-1", "--format=%s"]).ok().stdout, "two\n");
    assert_eq!(bench.exec(&["sh", "-c", "printf %s \"$TYPED\""]).ok().stdout, "a=b\nc");
    // Both volumes are the workspace's user's, under the ids that it has inside.
    let script = "id -u; echo x >/workspace/x && echo x >/orca/agent/x && stat -c %u:%g /workspace /workspace/x /orca/agent/x";
    assert_eq!(bench.exec(&["sh", "-c", script]).ok().stdout, format!("1000\n{}", "1000:1000\n".repeat(3)));
    let pid = bench.inspect()["State"]["Pid"].as_u64().unwrap();
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let uid = status.lines().find_map(|line| line.strip_prefix("Uid:\t")).unwrap();
    assert!(!uid.starts_with("1000\t") && !uid.starts_with("0\t"), "{uid}");

    bench.run(&["stop", "acme"]).ok();
    bench.run(&["start", "acme"]).ok();
    assert_eq!(bench.exec(&["cat", "/orca/agent/x"]).ok().stdout, "x\n");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// Without root on cgroup v1 no cgroup names a container, and the kernel's word is there all the same.
pub fn the_kernels_word_is_there(bench: &mut Bench) {
    settings(bench, &json!({"acceptAdvisoryLimits": true, "strict": true}));
    bench.create(&["--network", "none"]).ok();
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// doctor as that user: other users inside than outside, and what the machine withholds is a problem by name.
pub fn doctor_says_what_is_missing(bench: &mut Bench) {
    settings(bench, &json!({"acceptAdvisoryLimits": true}));
    let withheld = crate::user::cannot_network().is_some();
    let report = bench.run(&["doctor", "--json", "--engine", "podman"]).code(i32::from(withheld)).stdout;
    let has = |code: &str| report.contains(&format!("\"code\":\"{code}\""));
    assert!(has("user_namespace") && !has("no_user_namespace") && !has("uid_shared"), "{report}");
    assert_eq!(has("no_network_without_root"), withheld, "{report}");
}

pub fn default_network(bench: &mut Bench) {
    settings(bench, &json!({"acceptAdvisoryLimits": true}));
    bench.create(&[]).ok();
    let networks = bench.exec(&["sh", "-c", "ip -o link show | wc -l"]).ok().stdout;
    assert!(networks.trim().parse::<u32>().unwrap() > 1, "only loopback: {networks}");
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

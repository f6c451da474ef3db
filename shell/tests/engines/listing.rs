//! What `ls` and `status` tell of workspaces: how much disk they take, and what a sidebar shows.

use crate::bench::Bench;
use serde_json::{Value, json};

pub fn sizes(bench: &mut Bench) {
    bench.create(&["--network=none"]).ok();
    bench.exec(&["sh", "-c", "dd if=/dev/zero of=/workspace/acme/three bs=1000000 count=3; dd if=/dev/zero of=/orca/agent/two bs=1000000 count=2; dd if=/dev/zero of=/home/agent/one bs=1000000 count=1"]).ok();
    let listed: Value = serde_json::from_str(&bench.run(&["ls", "--size", "--json"]).ok().stdout).unwrap();
    let bytes = |field: &str| listed[0]["disk"][field].as_u64().unwrap();
    assert!((3_000_000..3_900_000).contains(&bytes("workspaceBytes")), "{listed}");
    assert!((2_000_000..2_900_000).contains(&bytes("otherVolumesBytes")), "{listed}");
    assert!((1_000_000..1_900_000).contains(&bytes("containerBytes")), "{listed}");
    let table = bench.run(&["ls", "--size"]).ok().stdout;
    let row = table.lines().nth(1).unwrap();
    assert!(
        table.starts_with("NAME") && table.contains(" DISK ") && row.contains(" 6.") && row.contains("MB"),
        "{table}"
    );
    assert!(
        bench.run(&["ls", "--json"]).ok().stdout.contains("\"badge\"")
            && !bench.run(&["ls"]).stdout.contains("DISK")
    );
    bench.run(&["rm", "acme", "--force"]).ok();
}

/// Each thing that can be done is a command, and the first one helps.
pub fn badges(bench: &mut Bench) {
    bench.create(&["--network=none"]).ok();
    let badge = |bench: &Bench| {
        let status = bench.status();
        [&status["status"], &status["verdict"], &status["badge"]["tone"], &status["badge"]["actions"][0]]
            .map(Value::clone)
    };
    assert_eq!(badge(bench), ["running", "live", "good", "restart"].map(|word| json!(word)));
    bench.run(&["restart", "acme"]).ok();
    bench.commit_file("orca.yaml", "worktree: {}\n");
    assert_eq!(badge(bench), ["running", "live", "attention", "recreate"].map(|word| json!(word)));
    bench.run(&["recreate", "acme", "--adopt-repository-config"]).ok();
    bench.run(&["stop", "acme"]).ok();
    assert_eq!(badge(bench), ["stopped", "exited", "idle", "start"].map(|word| json!(word)));
    bench.run(&["start", "acme"]).ok();
    bench.client(&["rm", "-f", &bench.container_id()]).ok();
    assert_eq!(badge(bench), ["missing", "exited", "problem", "recreate"].map(|word| json!(word)));
    bench.run(&["recreate", "acme"]).ok();
    assert_eq!(badge(bench), ["running", "live", "good", "restart"].map(|word| json!(word)));

    // A removal that fails says so, and the same command ends it.
    bench.wrap(bench.engine, "case \"$*\" in \"volume rm \"*) exit 1 ;; esac");
    // The client that is recorded is the one on PATH.
    bench.run(&["recreate", "acme"]).ok();
    bench.run(&["rm", "acme", "--force"]).code(1);
    assert_eq!(badge(bench), ["removing", "exited", "problem", "rm"].map(|word| json!(word)));
    assert_eq!(bench.status()["phase"], "cleanup_failed");
    bench.wrap(bench.engine, "");
    bench.run(&["rm", "acme"]).ok();
    bench.nothing_is_left();
}

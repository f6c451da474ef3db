//! What `ls` and `status` tell of workspaces: how much disk they take, what a sidebar shows, and what waits.

use crate::bench::Bench;
use crate::delivery::write_settings;
use serde_json::{Value, json};
use std::fs;

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
    assert_eq!(
        badge(bench),
        ["running", "live", "attention", "recreate --adopt-repository-config"].map(|word| json!(word))
    );
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

/// Settings of now that a new container would go by are named field by field, and set the badge; an engine is not asked
/// once more for it.
pub fn changed_settings(bench: &mut Bench) {
    let settings = |template: &str| json!({"globalSettings": {"container": {"template": template}}});
    write_settings(bench, &settings("medium"));
    let calls = bench.path("calls");
    bench.wrap(bench.engine, &format!("echo \"$orca_step\" >>{}", calls.display()));
    bench.create(&["--network=none"]).ok();
    bench.nothing_waits();
    let listed = |bench: &Bench| {
        let _ = fs::remove_file(&calls);
        let listed: Value = serde_json::from_str(&bench.run(&["ls", "--json"]).ok().stdout).unwrap();
        (listed[0].clone(), fs::read_to_string(&calls).unwrap().lines().count())
    };
    let (_, before) = listed(bench);
    write_settings(bench, &settings("small"));
    let (now, after) = listed(bench);
    assert_eq!(before, after, "calls of the engine");
    assert_eq!(now["badge"]["text"], "running, recreate to update");
    let fields: Vec<&str> =
        now["waitingFields"].as_array().unwrap().iter().map(|one| one["field"].as_str().unwrap()).collect();
    assert!(fields.contains(&"limits.memoryBytes") && fields.contains(&"limits.template"), "{now}");
    let status = bench.run(&["status", "acme"]).ok().stdout;
    assert!(
        status.contains("Waits for a recreate: limits.template: \"medium\" becomes \"small\"\n"),
        "{status}"
    );
    let told = bench.run(&["recreate", "acme", "--dry-run", "--json"]).ok().stdout;
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["difference"]["plan"], now["waitingFields"], "what is said is what would be done");

    // A size that there is not, and a file that nobody can read: work goes on, and both are said.
    write_settings(bench, &settings("huge"));
    let status = bench.status();
    assert_eq!(status["badge"]["text"], "running, settings refused");
    assert_eq!(status["notPlannable"][0]["code"], "template_invalid");
    let text = bench.run(&["status", "acme"]).ok().stdout;
    assert!(
        text.contains("No plan by the settings of now: ") && text.contains("[template_invalid]"),
        "{text}"
    );
    bench.exec(&["true"]).ok();
    fs::write(bench.path("config/orca-container/settings.json"), "{").unwrap();
    let text = bench.run(&["status", "acme"]).ok().stdout;
    assert!(text.contains("What waits for a recreate is not known: "), "{text}");
    assert!(bench.status()["waitingUnknown"].is_string());

    write_settings(bench, &settings("small"));
    bench.run(&["recreate", "acme"]).ok();
    bench.nothing_waits();
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

//! Where a value can be seen while it is used and afterwards: nowhere but in the process that gets it, in the
//! frozen texts, and in what a person typed for the workspace.

use crate::bench::{Bench, files_below};
use crate::delivery::{exec_reading, secrets_file, write_settings};
use orca_container_testkit::Canary;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Folders in which the engines keep state, volumes left out: what is in a volume is the workspace's own.
const ENGINE_STATE: &[&str] = &[
    "/var/lib/docker/containers",
    "/var/lib/docker/volumes/metadata.db",
    "/var/lib/docker/network",
    "/run/docker",
    "/var/lib/containers/storage/libpod",
    "/var/lib/containers/storage/overlay-containers",
    "/run/containers",
    "/run/libpod",
];

fn look_everywhere(bench: &Bench, canaries: &[Canary], when: &str) {
    let mut places: Vec<(String, Vec<u8>)> = Vec::new();
    for process in fs::read_dir("/proc").unwrap().flatten() {
        if process.file_name().to_string_lossy().bytes().all(|b| b.is_ascii_digit()) {
            places.push((
                format!("the command line of process {}", process.file_name().display()),
                fs::read(process.path().join("cmdline")).unwrap_or_default(),
            ));
        }
    }
    let id = bench.container_id();
    places.push(("the container's inspect".into(), bench.client(&["inspect", &id]).ok().stdout.into_bytes()));
    let volume = bench.container_name();
    places.push((
        "the volume's inspect".into(),
        bench.client(&["volume", "inspect", &volume]).ok().stdout.into_bytes(),
    ));
    for root in ENGINE_STATE {
        for file in
            files_below(Path::new(root)).into_iter().chain(Path::new(root).is_file().then(|| root.into()))
        {
            // Pipes and sockets hold nothing that stays.
            if fs::symlink_metadata(&file)
                .is_ok_and(|found| found.is_file() && found.len() < 64 * 1024 * 1024)
            {
                places.push((file.display().to_string(), fs::read(&file).unwrap_or_default()));
            }
        }
    }
    let store = bench.path("state/orca-container");
    for file in files_below(&store) {
        let kept_on_purpose =
            file.starts_with(store.join("values")) || file.starts_with(store.join("records"));
        if !kept_on_purpose {
            places.push((file.display().to_string(), fs::read(&file).unwrap_or_default()));
        }
    }
    for file in
        files_below(&std::env::temp_dir()).into_iter().filter(|file| !file.starts_with(bench.path("")))
    {
        if fs::symlink_metadata(&file).is_ok_and(|found| found.is_file() && found.len() < 1024 * 1024) {
            let ours = file.to_string_lossy().contains("orca");
            if ours {
                places.push((file.display().to_string(), fs::read(&file).unwrap_or_default()));
            }
        }
    }
    for canary in canaries {
        for (place, bytes) in &places {
            canary.assert_absent(&format!("{place} {when}"), bytes);
        }
    }
}

pub fn no_value_anywhere(bench: &mut Bench) {
    let seeds = ["agent", "project", "local", "host", "secret", "shared", "file"];
    // Another run of the tests on this machine has markers of its own.
    let run = std::process::id();
    let canaries: Vec<Canary> =
        seeds.iter().map(|seed| Canary::new(&format!("{} {seed} {run}", bench.engine))).collect();
    let marker = |seed: &str| canaries[seeds.iter().position(|s| *s == seed).unwrap()].marker().to_owned();
    let mut repositories = serde_json::Map::new();
    repositories.insert(
        bench.repository().to_str().unwrap().to_owned(),
        json!({"commandSourcePolicy": "run-both", "agentEnv": {"PROJECT": marker("project")}, "container": {"env": {"LOCAL": marker("local")}}}),
    );
    write_settings(
        bench,
        &json!({
            "agent": "claude", "secrets": [{"name": "SECRET"}],
            "globalSettings": {"agentDefaultEnv": {"claude": {"AGENT": marker("agent")}}, "container": {"forwardHostEnv": ["HOSTVAR"]}},
            "repositories": repositories
        }),
    );
    bench.commit_file(
        "orca.yaml",
        &format!("worktree:\n  container:\n    env:\n      SHARED: {}\n", marker("shared")),
    );
    fs::write(bench.path("w.env"), format!("FILE={}\n", marker("file"))).unwrap();
    let made = bench.create(&["--container-env-file", bench.path("w.env").to_str().unwrap()]).ok();
    for canary in &canaries {
        canary.assert_absent("create's output", format!("{}{}", made.stdout, made.stderr).as_bytes());
    }

    // While it runs.
    let secrets = secrets_file(bench, &json!({"SECRET": marker("secret")}));
    let script = "for n in AGENT PROJECT LOCAL HOSTVAR SECRET SHARED FILE; do eval \"[ -n \\\"\\$$n\\\" ]\" || exit 9; done; touch /tmp/ready; sleep 30";
    let mut shell = exec_reading(bench, &secrets, &["sh", "-c", script]);
    shell.env("HOSTVAR", marker("host")).stdin(Stdio::null());
    shell.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = shell.spawn().unwrap();
    let begun = Instant::now();
    let id = bench.container_id();
    while bench.client(&["exec", &id, "test", "-e", "/tmp/ready"]).code != 0 {
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", child.try_wait());
        std::thread::sleep(Duration::from_millis(100));
    }
    look_everywhere(bench, &canaries, "while it runs");
    bench.client(&["exec", &id, "sh", "-c", "kill $(pidof sleep) 2>/dev/null; true"]);
    let _ = child.kill();
    let output = child.wait_with_output().unwrap();
    for canary in &canaries {
        canary.assert_absent("exec's output", &[output.stdout.clone(), output.stderr.clone()].concat());
    }
    // Afterwards, and in what we print about it.
    look_everywhere(bench, &canaries, "afterwards");
    for args in [vec!["ls", "--json"], vec!["status", "acme", "--json"], vec!["status", "acme"]] {
        let ran = bench.run(&args).ok();
        for canary in &canaries {
            canary.assert_absent(&format!("{args:?}"), format!("{}{}", ran.stdout, ran.stderr).as_bytes());
        }
    }
    bench.run(&["rm", "acme"]).ok();
    bench.nothing_is_left();
    for file in files_below(&bench.path("state")) {
        for canary in &canaries {
            canary.assert_absent(&format!("{} after rm", file.display()), &fs::read(&file).unwrap());
        }
    }
}

//! docker in debug mode, whose log holds what exec is handed: no value goes there that is kept nowhere.

use crate::bench::Bench;
use crate::delivery::{exec_with_secrets, write_settings};
use crate::dockerd::Dockerd;
use orca_container_testkit::Canary;
use serde_json::json;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

pub fn no_secret_is_logged(bench: &mut Bench) {
    let config = bench.path("daemon.json");
    fs::write(&config, r#"{"debug": true}"#).unwrap();
    let options = [format!("--config-file={}", config.display())];
    let daemon = Dockerd::start(&options, &crate::bench::image("docker"));
    bench.env.insert("DOCKER_HOST".into(), daemon.socket());
    let [typed, secret, host] = ["typed", "secret", "host"].map(|seed| Canary::new(&format!("debug {seed}")));

    let value = format!("TYPED={}", typed.marker());
    let made = bench.create(&["--network=none", "--container-env", &value]).ok();
    assert!(made.stderr.contains("[engine_debug]"), "{}", made.stderr);
    bench.exec(&["true"]).ok();
    assert!(daemon.log().contains(typed.marker()), "a value would not be seen here");

    write_settings(bench, &json!({"secrets": [{"name": "SECRET"}]}));
    let with_secret = || exec_with_secrets(bench, &json!({"SECRET": secret.marker()}), &["true"]);
    let refused = with_secret().code(1);
    assert!(refused.stderr.contains("engine_debug_with_secrets"), "{}", refused.stderr);

    // The daemon is asked each time: it needs no new workspace once the mode is off.
    daemon.reload(&config, r#"{"debug": false}"#);
    let begun = Instant::now();
    while daemon.client(&["info", "--format={{.Debug}}"]).stdout.trim() != "false" {
        assert!(begun.elapsed() < Duration::from_secs(60), "the daemon did not read its file again");
        thread::sleep(Duration::from_millis(50));
    }
    with_secret().ok();
    daemon.reload(&config, r#"{"debug": true}"#);
    while daemon.client(&["info", "--format={{.Debug}}"]).stdout.trim() != "true" {
        assert!(begun.elapsed() < Duration::from_secs(60), "the daemon did not read its file again");
        thread::sleep(Duration::from_millis(50));
    }
    bench.env.insert("HOSTVAR".into(), host.marker().into());
    write_settings(bench, &json!({"globalSettings": {"container": {"forwardHostEnv": ["HOSTVAR"]}}}));
    let refused = bench.exec(&["true"]).code(1);
    assert!(refused.stderr.contains("engine_debug_with_secrets"), "{}", refused.stderr);
    for canary in [&secret, &host] {
        canary.assert_absent("the daemon's log", daemon.log().as_bytes());
    }
    let doctor = bench.run(&["doctor", "--json", "--engine", "docker"]);
    assert!(doctor.stdout.contains("\"debug_mode\""), "{}", doctor.stdout);
    write_settings(bench, &json!({}));
    bench.run(&["rm", "acme", "--force"]).ok();
    assert_eq!(daemon.left(), "");
}

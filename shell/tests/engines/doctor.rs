//! doctor's word against the engines' own, and what it does to find out.

use crate::bench::{Bench, Ran};
use serde_json::{Value, json};
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

fn report(bench: &Bench) -> Value {
    let report: Value =
        serde_json::from_str(&bench.run(&["doctor", "--json", "--engine", bench.engine]).ok().stdout)
            .unwrap();
    assert_eq!(report["engines"].as_array().unwrap().len(), 1, "{report}");
    report["engines"][0].clone()
}

fn codes(report: &Value) -> Vec<&str> {
    report["findings"].as_array().unwrap().iter().map(|finding| finding["code"].as_str().unwrap()).collect()
}

/// The facts are the engine's own, read here by another way than doctor's.
pub fn facts_are_the_engines(bench: &mut Bench) {
    let report = report(bench);
    let facts = &report["facts"];
    let ask = |format: &str| bench.client(&["info", "--format", format]).ok().stdout.trim().to_owned();
    let (version, cpus, memory, place, cgroup) = match bench.engine {
        "docker" => {
            ("{{.ServerVersion}}", "{{.NCPU}}", "{{.MemTotal}}", "{{.DockerRootDir}}", "{{.CgroupVersion}}")
        }
        _ => (
            "{{.Version.Version}}",
            "{{.Host.CPUs}}",
            "{{.Host.MemTotal}}",
            "{{.Store.GraphRoot}}",
            "{{.Host.CgroupsVersion}}",
        ),
    };
    assert_eq!(facts["version"], json!(ask(version)));
    assert_eq!(facts["cpus"].to_string(), ask(cpus));
    assert_eq!(facts["memoryBytes"].to_string(), ask(memory));
    assert_eq!(facts["cgroupVersion"].to_string(), ask(cgroup).trim_start_matches('v'));
    let place = ask(place);
    assert_eq!(facts["dataPlaces"][0]["path"], json!(place));
    assert_eq!((&facts["endpoint"], &facts["onThisMachine"]), (&json!("local"), &json!(true)));

    let df = Command::new("df").args(["--output=avail", "-B1", &place]).output().unwrap();
    let free: f64 = Ran::of(&df).ok().stdout.lines().nth(1).unwrap().trim().parse().unwrap();
    let told = facts["dataPlaces"][0]["freeBytes"].as_f64().unwrap();
    // Others write to the same disk between the two looks.
    assert!((told - free).abs() < free * 0.2, "{told} {free}");

    let passwd = fs::read_to_string("/etc/passwd").unwrap();
    let shared = passwd.lines().any(|line| line.split(':').nth(2) == Some("1000"));
    assert_eq!(codes(&report).contains(&"uid_shared"), shared, "{report}");
}

/// A container on a bridge reaches the one and not the other; `lifecycle` and `hardening` work with such containers.
pub fn listeners_are_named(bench: &mut Bench) {
    let everywhere = TcpListener::bind("0.0.0.0:0").unwrap();
    let loopback = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
    let report = report(bench);
    let listeners = report["facts"]["reachableListeners"].as_array().unwrap();
    assert!(listeners.contains(&json!({"port": port(&everywhere), "address": "0.0.0.0"})), "{report}");
    assert!(!listeners.iter().any(|listener| listener["port"] == json!(port(&loopback))), "{report}");
    assert!(codes(&report).contains(&"listeners_reachable"));
    drop(everywhere);
}

/// Nothing is made, pulled or removed: the engine's client is only ever asked.
pub fn it_only_asks(bench: &mut Bench) {
    let folder = bench.path("bin");
    fs::create_dir(&folder).unwrap();
    let real = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|folder| folder.join(bench.engine))
        .find(|path| path.exists())
        .unwrap();
    let log = bench.path("asked");
    let script = format!("#!/bin/sh\necho \"$*\" >>\"{}\"\nexec {} \"$@\"\n", log.display(), real.display());
    let program = folder.join(bench.engine);
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    bench.env.insert("PATH".into(), format!("{}:{}", folder.display(), bench.env["PATH"]));
    report(bench);
    let asked = fs::read_to_string(&log).unwrap();
    let questions = [
        "--version",
        "context inspect ",
        "version ",
        "info ",
        "network inspect ",
        "--runtime runsc info ",
        "--runtime kata info ",
    ];
    for line in asked.lines() {
        assert!(questions.iter().any(|question| line.starts_with(question)), "{line}");
    }
    assert!(asked.lines().any(|line| line.starts_with("info ")), "{asked}");
    assert!(!bench.path("state").exists(), "doctor wrote a store");
}

/// The sentence is derived; here it is tried, over the gateway of this workspace's own network and nothing else.
pub fn a_container_reaches_what_is_named(bench: &mut Bench) {
    let everywhere = TcpListener::bind("0.0.0.0:0").unwrap();
    let loopback = TcpListener::bind("127.0.0.1:0").unwrap();
    let [open, closed] = [&everywhere, &loopback].map(|listener| listener.local_addr().unwrap().port());
    std::thread::spawn(move || {
        for stream in everywhere.incoming() {
            let _ = std::io::Write::write_all(&mut stream.unwrap(), b"reached");
        }
    });
    bench.create(&[]).ok();
    let gateway = bench.exec(&["sh", "-c", "ip -4 route show default | awk '{print $3}'"]).ok().stdout;
    let gateway = gateway.trim();
    assert!(gateway.parse::<std::net::Ipv4Addr>().is_ok(), "{gateway:?}");
    let tried = |port: u16| bench.exec(&["timeout", "5", "nc", "-w", "3", gateway, &port.to_string()]).stdout;
    assert_eq!((tried(open).as_str(), tried(closed).as_str()), ("reached", ""));

    // And doctor's own container, with its image's own tools.
    let image = crate::bench::image(bench.engine);
    let probed = bench.run(&["doctor", "--json", "--engine", bench.engine, "--image", &image]).ok().stdout;
    let probed: Value = serde_json::from_str(&probed).unwrap();
    let findings = probed["engines"][0]["findings"].as_array().unwrap();
    let answer =
        findings.iter().find(|finding| finding["code"] == "ports_answer").unwrap()["message"].to_string();
    let (answered, _) = answer.split_once("; these did not").unwrap_or((&answer, ""));
    assert!(answered.contains(&open.to_string()) && !answer.contains(&closed.to_string()), "{answer}");

    let report = report(bench).to_string();
    assert!(report.contains(&format!("\"port\":{open}")) && !report.contains(&format!("\"port\":{closed}")));
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// Nothing is pulled for a probe, and an image without tools is said to have none; nothing of either is left.
pub fn what_cannot_be_tried_is_said(bench: &mut Bench) {
    let without_sh = crate::bench::build_image(bench.engine, "no-sh", "");
    for (image, why) in [("registry.invalid/x:1", "none is pulled"), (without_sh.as_str(), "the engine says")]
    {
        let ran = bench.run(&["doctor", "--json", "--engine", bench.engine, "--image", image]).ok();
        assert!(ran.stdout.contains("\"ports_not_tried\"") && ran.stdout.contains(why), "{}", ran.stdout);
        bench.nothing_is_left();
    }
}

/// Killed in its midst, it leaves what the next one removes.
pub fn a_killed_probe_is_cleaned_up(bench: &mut Bench) {
    let image = crate::bench::image(bench.engine);
    let args = ["doctor", "--json", "--engine", bench.engine, "--image", &image];
    // A probe may end before it is seen; one of these is caught in its midst.
    let caught = (0..20).any(|_| {
        let mut child = bench.command(&args).stdout(std::process::Stdio::null()).spawn().unwrap();
        while bench.left_on_engine().is_empty() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let _ = child.kill();
        child.wait().unwrap();
        !bench.left_on_engine().is_empty()
    });
    assert!(caught, "each was killed too late to leave anything");
    bench.run(&args).ok();
    bench.nothing_is_left();
}

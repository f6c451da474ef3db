//! Values byte for byte in every layer, and those that no process can carry.

use crate::bench::{Bench, Ran, image};
use crate::delivery::{exec_reading, secrets_file, write_settings};
use crate::policy::create_approved;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::ffi::OsStringExt;

/// Values that something on the way could change.
fn hard_values(lines: bool) -> Vec<String> {
    let mut values: Vec<String> = [
        "",
        " ",
        " a b ",
        "=",
        "=a==b=",
        "# no comment",
        "a#b",
        "'",
        "\"",
        "'\"\\'\"",
        "\\",
        "\\n\\t\\0101\\c",
        "$(id)`id`${HOME}$$",
        "; exit 1 #",
        "é e\u{301} 🦀",
        "--",
        "-n",
        "*",
        "~",
        "a\tb",
        "%s%d",
        "\u{1b}[31m",
    ]
    .map(String::from)
    .into();
    if lines {
        values.extend(["\n", "\na", "a\n", "a\n\nb\n", "\r\n", "a\rb", "a\r"].map(String::from));
    }
    values
}

/// Byte for byte in every layer: each value in each layer under a name of its own, all in one process.
pub fn every_value_in_every_layer(bench: &mut Bench) {
    let named = |layer: &str, lines: bool| -> Vec<(String, String)> {
        let mut values = hard_values(lines);
        // Together less than a process may have.
        values.push("x".repeat(100_000));
        values.into_iter().enumerate().map(|(n, value)| (format!("{layer}_{n}"), value)).collect()
    };
    let object = |pairs: &[(String, String)]| {
        Value::Object(pairs.iter().map(|(name, value)| (name.clone(), json!(value))).collect())
    };
    let layers = ["GLOBAL", "REPOSITORY", "PROJECT", "AGENT", "SHARED", "HOST", "SECRET", "TYPED"];
    let mut all: Vec<(String, String)> = Vec::new();
    let mut of = |layer: &str, lines: bool| {
        let pairs = named(layer, lines);
        all.extend(pairs.clone());
        pairs
    };
    let [global, repository, project, agent, shared, host, secret, typed] =
        layers.map(|layer| of(layer, true));
    let (file, start) = (of("FILE", false), of("START", false));
    // Of devcontainer.json `${…}` is its own language, which has tests of its own.
    let mut of_file = |layer: &str| {
        let mut pairs = named(layer, true);
        pairs.retain(|(_, value)| !value.contains("${") && value.len() < 100_000);
        all.extend(pairs.clone());
        object(&pairs)
    };
    let devcontainer = json!({
        "image": image(bench.engine), "containerEnv": of_file("CONTAINER"), "remoteEnv": of_file("REMOTE")
    });
    fs::create_dir(bench.repository().join(".devcontainer")).unwrap();
    bench.commit_file(".devcontainer/devcontainer.json", &devcontainer.to_string());
    let mut repositories = serde_json::Map::new();
    repositories.insert(
        bench.repository().to_str().unwrap().to_owned(),
        json!({"commandSourcePolicy": "run-both", "agentEnv": object(&project), "container": {"env": object(&repository)}}),
    );
    let names_of =
        |pairs: &[(String, String)]| pairs.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let secrets: Vec<Value> = names_of(&secret).into_iter().map(|name| json!({"name": name})).collect();
    // Start variables are one line of 64 KiB at most.
    let start: Vec<(String, String)> = start.into_iter().filter(|(_, value)| value.len() < 60_000).collect();
    all.retain(|(name, value)| !(name.starts_with("START") && value.len() > 60_000));
    let mut with_start: Vec<(String, String)> = global;
    with_start.extend(start.clone());
    write_settings(
        bench,
        &json!({
            "agent": "claude", "secrets": secrets,
            "globalSettings": {
                "agentDefaultEnv": {"claude": object(&agent)},
                "container": {"env": object(&with_start), "startEnv": names_of(&start), "forwardHostEnv": names_of(&host)}
            },
            "repositories": repositories
        }),
    );
    let mut yaml = String::from("worktree:\n  container:\n    env:\n");
    for (name, value) in &shared {
        // A JSON string is a double-quoted YAML one.
        yaml.push_str(&format!("      {name}: {}\n", json!(value)));
    }
    bench.commit_file("orca.yaml", &yaml);
    for (name, value) in &host {
        bench.env.insert(name.clone(), value.clone());
    }
    let lines: String = file.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
    fs::write(bench.path("w.env"), lines).unwrap();
    create_approved(bench, "devcontainer", &["--container-env-file", "w.env"]).ok();
    let mut set: Vec<String> = vec!["env".into(), "set".into(), "acme".into()];
    set.extend(typed.iter().map(|(name, value)| format!("{name}={value}")));
    bench.run(&set.iter().map(String::as_str).collect::<Vec<_>>()).ok();

    let given = secrets_file(bench, &object(&secret));
    let output = exec_reading(bench, &given, &["env", "-0"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let got: std::collections::BTreeMap<&str, &str> =
        text.split('\0').filter_map(|entry| entry.split_once('=')).collect();
    assert!(all.len() > 250, "{}", all.len());
    for (name, value) in &all {
        assert!(
            got.get(name.as_str()) == Some(&value.as_str()),
            "{name}: {:?}",
            got.get(name.as_str()).map(|v| v.len())
        );
    }
    bench.run(&["rm", "acme", "--force"]).ok();
    bench.nothing_is_left();
}

/// What no process can carry is refused by its name, in every layer, before anything starts.
pub fn impossible_values(bench: &mut Bench) {
    bench.create(&[]).ok();
    let repository = bench.repository().to_str().unwrap().to_owned();
    let large = "x".repeat(131_072);
    let refused = |bench: &Bench, layer: &str, secrets: &Value| {
        let file = secrets_file(bench, secrets);
        let ran = Ran::of(&exec_reading(bench, &file, &["touch", "/tmp/started"]).output().unwrap()).code(1);
        assert!(ran.stderr.contains("BAD"), "{layer}: {}", ran.stderr);
        let id = bench.container_id();
        assert_ne!(bench.client(&["exec", &id, "test", "-e", "/tmp/started"]).code, 0, "{layer}");
    };
    for bad in ["a\0b", large.as_str()] {
        let env = json!({"BAD": bad});
        for (layer, settings) in [
            ("settings", json!({"globalSettings": {"container": {"env": env}}})),
            ("agent", json!({"agent": "claude", "globalSettings": {"agentDefaultEnv": {"claude": env}}})),
            ("repo settings", json!({"repositories": {&repository: {"container": {"env": env}}}})),
            ("project", json!({"repositories": {&repository: {"agentEnv": env}}})),
        ] {
            write_settings(bench, &settings);
            refused(bench, layer, &json!({}));
        }
        write_settings(bench, &json!({"secrets": [{"name": "BAD"}]}));
        refused(bench, "secret", &env);
    }
    // A file with such a value is not imported, and what was set before stays.
    write_settings(bench, &json!({}));
    bench.run(&["env", "set", "acme", "GOOD=1"]).ok();
    for bad in [b"BAD=a\0b\n".to_vec(), format!("BAD={large}\n").into_bytes(), b"BAD=a\xffb\n".to_vec()] {
        fs::write(bench.path("bad.env"), &bad).unwrap();
        let ran = bench.run(&["env", "import", "acme", "bad.env"]).code(1);
        assert!(ran.stderr.contains("BAD") || ran.stderr.contains("line 1"), "{}", ran.stderr);
        assert_eq!(bench.exec(&["sh", "-c", "echo $GOOD${BAD-absent}"]).ok().stdout, "1absent\n");
    }
    write_settings(bench, &json!({"globalSettings": {"container": {"forwardHostEnv": ["BAD"]}}}));
    for bad in [b"a\xffb".to_vec(), large.clone().into_bytes()] {
        if bad.len() > 100_000 {
            // The kernel itself refuses it on the host.
            continue;
        }
        let mut command = bench.command(&["exec", "acme", "--", "touch", "/tmp/started"]);
        let ran = Ran::of(&command.env("BAD", std::ffi::OsString::from_vec(bad)).output().unwrap()).code(1);
        assert!(ran.stderr.contains("BAD"), "{}", ran.stderr);
    }
    write_settings(bench, &json!({}));
    bench.run(&["rm", "acme", "--force"]).ok();
    // The repository's: nothing is made at all.
    for bad in ["\"a\\0b\"".to_owned(), format!("\"{large}\"")] {
        bench.commit_file("orca.yaml", &format!("worktree:\n  container:\n    env:\n      BAD: {bad}\n"));
        let ran = bench.create(&[]).code(1);
        assert!(ran.stderr.contains("BAD"), "{}", ran.stderr);
    }
    bench.commit_file("orca.yaml", "x: y\n");
    fs::create_dir(bench.repository().join(".devcontainer")).unwrap();
    for bad in ["a\0b", large.as_str()] {
        let file = json!({"image": image(bench.engine), "containerEnv": {"BAD": bad}});
        bench.commit_file(".devcontainer/devcontainer.json", &file.to_string());
        // Whatever such a file holds, it stops nothing: it is left out, by its name.
        let ran = create_approved(bench, "devcontainer", &[]).ok();
        assert!(ran.stderr.contains("dropped:") && ran.stderr.contains("\"BAD\""), "{}", ran.stderr);
        assert_eq!(bench.exec(&["sh", "-c", "echo ${BAD-absent}"]).ok().stdout, "absent\n");
        bench.run(&["rm", "acme", "--force"]).ok();
    }
    bench.nothing_is_left();
}

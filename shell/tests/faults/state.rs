//! What a world holds: things of this installation on the engine, files of the store, references and odd files of the
//! host's repository. Names that are random are put by what they name, so that two runs can be compared.

use crate::bench::{Bench, files_below};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

/// The state of a world.
pub type State = BTreeSet<String>;

/// The state now.
pub fn state(bench: &Bench) -> State {
    let names = names(bench);
    let mut all: State = on_engine(bench).into_iter().collect();
    all.extend(in_store(bench));
    all.extend(in_repository(bench));
    let plain =
        |line: &String| names.iter().fold(line.clone(), |line, (name, role)| line.replace(name, role));
    all.iter().map(plain).collect()
}

/// The random names that a record has, the longest first.
fn names(bench: &Bench) -> Vec<(String, &'static str)> {
    let mut names = Vec::new();
    for file in files_below(&bench.path("state/orca-container/records")) {
        let Ok(record) = serde_json::from_slice::<Value>(&fs::read(&file).unwrap()) else { continue };
        let text = |pointer: &str| record.pointer(pointer).and_then(Value::as_str).map(String::from);
        names.extend(text("/plan/names/container").map(|name| (name, "WORKSPACE")));
        // podman has a network of its own for each, which is called like the container.
        names.extend(text("/plan/network/name").map(|name| (name, "NETWORK")));
    }
    names
}

fn on_engine(bench: &Bench) -> Vec<String> {
    let Ok(install) = fs::read_to_string(bench.path("state/orca-container/install")) else {
        return Vec::new();
    };
    let filter = format!("label=orca.install={}", install.trim());
    let kinds: [(&str, &[&str], &str); 3] = [
        ("container", &["ps", "-a"], "{{.Names}} {{.State}}"),
        ("volume", &["volume", "ls"], "{{.Name}}"),
        ("network", &["network", "ls"], "{{.Name}}"),
    ];
    let mut all = Vec::new();
    for (kind, words, format) in kinds {
        let listed = bench.client(&[words, &["--filter", &filter, "--format", format]].concat()).ok();
        all.extend(listed.stdout.lines().map(|line| format!("{kind} {}", without_times(line))));
    }
    all
}

/// podman tells since when a container is as it is.
fn without_times(line: &str) -> String {
    let (name, told) = line.split_once(' ').unwrap_or((line, ""));
    let state = match told.split(' ').next() {
        Some("Up") => "running",
        Some("Exited") => "exited",
        _ => told,
    };
    format!("{name} {state}")
}

fn in_store(bench: &Bench) -> Vec<String> {
    let root = bench.path("state/orca-container");
    let file = |path: std::path::PathBuf| format!("store {}", path.strip_prefix(&root).unwrap().display());
    let mut all: Vec<String> = files_below(&root).into_iter().map(file).collect();
    // A quarantine may be nothing but folders.
    let imports = fs::read_dir(root.join("imports")).into_iter().flatten().flatten();
    all.extend(imports.map(|entry| format!("import {}", entry.file_name().display())));
    all
}

/// References by name, and files of git's that only something interrupted leaves.
fn in_repository(bench: &Bench) -> Vec<String> {
    let git = bench.repository().join(".git");
    let references = bench.git(&["for-each-ref", "--format=%(refname)"]);
    let mut all: Vec<String> = references.lines().map(|line| format!("reference {line}")).collect();
    for path in files_below(&git) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if ["tmp_", "incoming"].iter().any(|start| name.starts_with(start))
            || path.extension().is_some_and(|extension| extension == "lock")
        {
            all.push(format!("repository {}", path.strip_prefix(&git).unwrap().display()));
        }
    }
    all
}

/// Fails where a state is not the expected one, with what is left and what is missing.
#[track_caller]
pub fn same(found: &State, expected: &State, when: &str) {
    let left: Vec<&String> = found.difference(expected).collect();
    let missing: Vec<&String> = expected.difference(found).collect();
    assert!(left.is_empty() && missing.is_empty(), "{when}: left: {left:?}, missing: {missing:?}");
}

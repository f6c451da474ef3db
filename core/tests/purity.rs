//! The core is pure, and that it is can be seen: what it is made of is pinned here, features included, alone
//! and as the workspace builds it. That planning makes no system call is shown by `tests/purity/strace.sh`.
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const CORE: &str = "orca-container-core";

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// What is linked with the core when `packages` are built together: `name version features`, sorted.
///
/// Procedural macros and what only they need run in the compiler and are left out. One target for all
/// machines, since what a package needs depends on it.
fn closure(packages: &[&str]) -> BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(here("..")).args([
        "tree",
        "--offline",
        "--locked",
        "--edges=normal,no-proc-macro",
        "--target=x86_64-unknown-linux-gnu",
        "--prefix=depth",
        "--no-dedupe",
        "--format= {p} {f}",
    ]);
    let output = command.args(packages.iter().map(|name| format!("-p={name}"))).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("cargo prints UTF-8");
    let mut closure = BTreeSet::new();
    let mut inside = false;
    for line in text.lines().filter(|line| !line.is_empty()) {
        let (depth, package) = line.split_once(' ').expect("a line has a depth");
        if depth == "0" {
            inside = package.split(' ').next() == Some(CORE);
        }
        if inside {
            closure.insert(without_folder(package));
        }
    }
    assert!(!closure.is_empty(), "cargo tree did not list the core");
    closure
}

/// Packages of this workspace are listed with their folder, which differs between machines.
fn without_folder(package: &str) -> String {
    let (name, rest) = package.split_once(" (").unwrap_or((package, ""));
    let features = rest.rsplit_once(')').map_or("", |(_, features)| features);
    format!("{name}{features}").trim_end().to_owned()
}

#[test]
fn the_core_is_made_of_exactly_these_packages_and_features() {
    let mut text = String::from(
        "# Everything that is linked with the core: package, version, features. Written by\n\
         # `ORCA_UPDATE_CLOSURE=1 cargo test -p orca-container-core --test purity`; look at the difference: each\n\
         # line is code that sees every request.\n",
    );
    let sections = [
        ("the core alone", closure(&[CORE])),
        ("the core as the workspace builds it", closure(&[CORE, "orca-container", "orca-container-testkit"])),
    ];
    for (title, lines) in sections {
        let _ = write!(text, "\n[{title}]\n");
        for line in lines {
            let _ = writeln!(text, "{line}");
        }
    }
    let path = here("tests/purity/closure.txt");
    if std::env::var_os("ORCA_UPDATE_CLOSURE").is_some() {
        fs::write(&path, &text).expect("the list can be written");
    }
    let pinned = fs::read_to_string(&path).unwrap_or_default();
    let (pinned_lines, lines): (BTreeSet<_>, BTreeSet<_>) =
        (pinned.lines().collect(), text.lines().collect());
    let new: Vec<_> = lines.difference(&pinned_lines).collect();
    let gone: Vec<_> = pinned_lines.difference(&lines).collect();
    assert!(pinned == text, "new: {new:#?}, gone: {gone:#?}; see the head of {}", path.display());
}

/// All files of the core, each with its path from `src`.
fn sources() -> Vec<(String, String)> {
    fn read(folder: &Path, root: &Path, files: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                read(&path, root, files);
            } else {
                let name = path.strip_prefix(root).expect("below the root").display().to_string();
                files.push((name, fs::read_to_string(&path).expect("a source")));
            }
        }
    }
    let mut files = Vec::new();
    read(&here("src"), &here("src"), &mut files);
    assert!(files.len() > 20, "the sources were not found");
    files
}

/// The compiler holds both; this holds the attributes.
#[test]
fn the_core_has_neither_std_nor_unsafe_code() {
    let lib = fs::read_to_string(here("src/lib.rs")).expect("lib.rs");
    for attribute in ["#![no_std]", "#![forbid(unsafe_code)]", "#[cfg(test)]\nextern crate std;"] {
        assert!(lib.contains(attribute), "{attribute}");
    }
    assert_eq!(lib.matches("extern crate std").count(), 1);
    for (name, text) in sources() {
        // Unit tests stand at the end of a file, or in a file of their own.
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let names_std = code.match_indices("std::").any(|(at, _)| {
            code.get(..at).and_then(|before| before.chars().next_back()).is_none_or(|c| !c.is_alphanumeric())
        });
        assert!(!names_std || name.ends_with("tests.rs"), "{name} names std");
    }
    assert!(!here("build.rs").exists(), "the core has no build script");
}

#[test]
fn the_yaml_crate_is_named_in_one_file() {
    let files: Vec<String> =
        sources().into_iter().filter(|(_, text)| text.contains("serde_yaml")).map(|(name, _)| name).collect();
    assert_eq!(files, ["parse/yaml.rs"]);
}

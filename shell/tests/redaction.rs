//! Values that were gathered stay out of a panic's text, whatever panics.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

use orca_container::gather::request::{Words, gather};
use orca_container::{redact, settings::Settings};
use orca_container_core::Sensitive;
use orca_container_core::input::{ContainerOptions, EnvSetting, UniqueMap};
use orca_container_testkit::Canary;

/// Set for the process that panics: the folder of its repository.
const PANICS: &str = "ORCA_TEST_PANICS_IN";

#[test]
fn a_panic_tells_its_place_and_no_value() {
    let canary = Canary::new("panic");
    if let Some(folder) = std::env::var_os(PANICS) {
        panic_with_value(Path::new(&folder), canary.marker());
    }
    let folder = tempfile::tempdir().unwrap();
    assert!(Command::new("git").args(["init", "-q"]).arg(folder.path()).status().unwrap().success());
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", "a_panic_tells_its_place_and_no_value"])
        .env(PANICS, folder.path())
        .env("RUST_BACKTRACE", "full")
        .output()
        .unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("redaction.rs") && said.contains("the value was [hidden]!"), "{said}");
    canary.assert_absent("a panic's text", &[output.stdout, output.stderr].concat());
}

/// What is gathered is known without being told so.
fn panic_with_value(folder: &Path, value: &str) -> ! {
    redact::mask_panics();
    let env = UniqueMap::from_iter([("TOKEN".to_owned(), EnvSetting::Value(Sensitive::new(value)))]);
    let choices = ContainerOptions { env: Some(env), ..ContainerOptions::default() };
    let words = Words { choices, ..Words::default() };
    let _ = gather(folder, &Settings::default(), words).unwrap();
    panic!("the value was {value}!");
}

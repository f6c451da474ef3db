//! How long planning takes, beside the least that any planner has to do, in the same run.
//!
//! `cargo bench -p orca-container-core --bench plan`; what it shows is in `docs/performance.md`.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench fails by panicking and says what it measured"
)]

mod support;

use divan::{Bencher, black_box, counter::BytesCount};
use orca_container_core::json;
use orca_container_testkit::floods;
use support::{floor, requests};

fn main() {
    floor::check();
    divan::main();
}

#[divan::bench]
fn floor_of_the_typical_request(bencher: Bencher<'_, '_>) {
    let request = requests::typical();
    let orca_yaml = requests::typical_orca_yaml();
    bencher.bench(|| floor::answer(black_box(&request), black_box(&orca_yaml)));
}

#[divan::bench]
fn plan_of_the_typical_request(bencher: Bencher<'_, '_>) {
    let request = requests::typical();
    bencher.bench(|| json::plan(black_box(&request)));
}

#[divan::bench(args = [1, 8, 64, 256, 512, 1024, 2048])]
fn plan_of_variables(bencher: Bencher<'_, '_>, variables: usize) {
    let request = requests::with_variables(variables);
    bencher.bench(|| json::plan(black_box(&request)));
}

/// Names of the hostile texts, which are too long to be arguments.
fn hostile() -> Vec<&'static str> {
    floods()
        .into_iter()
        .map(|(name, _)| name)
        .chain(["as many variables as fit", "as many keys as fit"])
        .collect()
}

#[divan::bench(args = hostile(), sample_count = 20, sample_size = 1)]
fn plan_of_hostile_orca_yaml(bencher: Bencher<'_, '_>, name: &str) {
    let text = match name {
        "as many variables as fit" => requests::full_of_variables(),
        "as many keys as fit" => requests::keys(requests::MOST_BYTES),
        _ => floods().into_iter().find(|flood| flood.0 == name).map(|flood| flood.1).unwrap_or_default(),
    };
    let bytes = BytesCount::of_str(&text);
    let request = requests::with_orca_yaml(&text);
    bencher.counter(bytes).bench(|| json::plan(black_box(&request)));
}

/// A valid orca.yaml of many keys: how time grows with the text, beside only reading it.
const KIB: [usize; 3] = [16, 64, 256];

#[divan::bench(args = KIB)]
fn plan_of_a_long_orca_yaml(bencher: Bencher<'_, '_>, kib: usize) {
    let request = requests::with_orca_yaml(&requests::keys(kib * 1024));
    bencher.bench(|| json::plan(black_box(&request)));
}

#[divan::bench(args = KIB)]
fn read_of_a_long_orca_yaml(bencher: Bencher<'_, '_>, kib: usize) {
    let text = requests::keys(kib * 1024);
    bencher.bench(|| serde_yaml::from_str::<serde_json::Value>(black_box(&text)).expect("valid YAML"));
}

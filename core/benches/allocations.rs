//! What planning allocates, beside the least that any planner has to do. Not `plan.rs`: counting takes time.
//!
//! `cargo bench -p orca-container-core --bench allocations`
#![expect(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a bench fails by panicking and says what it measured"
)]
#![expect(dead_code, reason = "most requests are for the other bench")]

mod support;

use divan::{AllocProfiler, Bencher, black_box};
use orca_container_core::json;
use support::{floor, requests};

#[global_allocator]
static ALLOCATIONS: AllocProfiler = AllocProfiler::system();

fn main() {
    floor::check();
    divan::main();
}

#[divan::bench(sample_count = 1, sample_size = 1)]
fn floor_of_the_typical_request(bencher: Bencher<'_, '_>) {
    let request = requests::typical();
    let orca_yaml = requests::typical_orca_yaml();
    bencher.bench(|| floor::answer(black_box(&request), black_box(&orca_yaml)));
}

#[divan::bench(sample_count = 1, sample_size = 1)]
fn plan_of_the_typical_request(bencher: Bencher<'_, '_>) {
    let request = requests::typical();
    bencher.bench(|| json::plan(black_box(&request)));
}

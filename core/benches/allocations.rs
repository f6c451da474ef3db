//! What planning allocates, beside the least that any planner has to do. Not `plan.rs`: counting takes time.
//!
//! `cargo bench -p orca-container-core --bench allocations`

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

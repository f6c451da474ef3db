//! The command dies, as by `kill -9`, before and after each of its effects, and at random moments; one command after that
//! must end in a good state. The same switch as for the other tests on engines: `ORCA_TEST_ENGINES=docker,podman`.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and says what it tried"
)]

#[expect(dead_code, reason = "these tests need a part of it")]
#[path = "../engines/bench.rs"]
mod bench;
#[expect(dead_code, reason = "these tests need a part of it")]
#[path = "../engines/user.rs"]
mod user;

mod faults;
mod kept;
mod kills;
mod life;
mod state;

use bench::Bench;
use libtest_mimic::{Arguments, Trial};

/// A test on one engine.
type Test = fn(&mut Bench);

const TESTS: &[(&str, Test)] = &[
    ("life::a_create_a_removal_or_a_sweep_that_dies_is_ended_by_the_same_command", life::dies),
    ("kept::what_dies_beside_work_is_ended_by_the_same_command_and_keeps_the_work", kept::dies),
    ("kills::what_is_killed_at_any_moment_is_ended_by_the_same_command", kills::at_random),
];

fn main() {
    let mut arguments = Arguments::from_args();
    // Both engines at once, and two worlds on each: a daemon waits more than it works.
    arguments.test_threads = arguments.test_threads.or(Some(4));
    let wanted = std::env::var("ORCA_TEST_ENGINES").unwrap_or_default();
    let mut trials = Vec::new();
    for (name, test) in TESTS {
        for engine in ["docker", "podman"] {
            let on = wanted.split(',').any(|name| name.trim() == engine);
            let run = move || {
                test(&mut Bench::new(engine));
                Ok(())
            };
            trials.push(Trial::test(format!("{engine}::{name}"), run).with_ignored_flag(!on));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

//! Where a command can die: its effects, and the points before and after each.

use crate::bench::{Bench, Ran};
use std::fs;

/// A place where a command dies.
#[derive(Clone, Debug)]
pub struct Point {
    /// As the command is told: `before:N` or `after:N`.
    at: String,
    /// The effect, for whoever reads a failure.
    effect: String,
}

impl std::fmt::Display for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.at, self.effect)
    }
}

/// Runs a command to its end and gives its effects.
pub fn effects(bench: &Bench, args: &[&str]) -> (Ran, Vec<String>) {
    let list = bench.path("effects");
    let _ = fs::remove_file(&list);
    let ran = Ran::of(&bench.command(args).env("ORCA_FAULT_LIST", &list).output().unwrap());
    let text = fs::read_to_string(list).unwrap_or_default();
    (ran, text.lines().map(String::from).collect())
}

/// The points of a command: after each of its effects, and before the first. Before another one the world is as it was after
/// the one before that, since nothing else changes it; `ORCA_TEST_FAULTS=all` tries both sides of each.
pub fn points(effects: &[String]) -> Vec<Point> {
    let all = std::env::var("ORCA_TEST_FAULTS").is_ok_and(|said| said == "all");
    let point = |side: &str, number: usize| {
        let effect = effects.get(number.saturating_sub(1)).cloned().unwrap_or_default();
        Point { at: format!("{side}:{number}"), effect }
    };
    let numbers = 1..=effects.len();
    let both = numbers.flat_map(|number| [("before", number), ("after", number)]);
    both.filter(|at| all || at.0 == "after" || at.1 == 1).map(|(side, number)| point(side, number)).collect()
}

/// Runs a command that dies at a point; one that ends by itself never came there, which is a failure.
#[track_caller]
pub fn dies(bench: &Bench, args: &[&str], point: &Point) {
    use std::os::unix::process::ExitStatusExt;
    let output = bench.command(args).env("ORCA_FAULT", &point.at).output().unwrap();
    assert_eq!(output.status.signal(), Some(9), "{args:?} at {point}: {:?}", Ran::of(&output));
}

//! What follows from the facts, for a person: pure functions over what was gathered.

mod engine;
mod ground;
mod network;
mod security;

use orca_container_core::Diagnostic;

use super::machine::{Machine, Surroundings};
use super::probe::Tried;
use super::report::Finding;
use crate::engine::Detected;

/// Everything that is judged.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The engine.
    pub detected: &'a Detected,
    /// Whether its machine is this one.
    pub here: bool,
    /// This machine.
    pub machine: &'a Machine,
    /// Around the engine.
    pub around: &'a Surroundings,
    /// What a person wants of it.
    pub wanted: &'a Wanted,
    /// What a container tried, where a person asked for that.
    pub tried: Option<&'a Tried>,
}

/// What a person's settings want of an engine.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The workspace's uid where neither image nor settings say another.
    pub uid: u32,
    /// Whether workspaces have no network where nobody says another.
    pub no_network: bool,
    /// What the core refuses for this engine under these settings.
    pub refusals: Vec<Diagnostic>,
}

/// All findings, problems first.
pub fn findings(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = engine::findings(case);
    findings.extend(security::findings(case));
    findings.extend(ground::findings(case));
    findings.extend(network::findings(case));
    findings.sort_by_key(|finding| finding.severity);
    findings
}

/// "a", "a and b", "a, b and c".
fn listed(words: &[String]) -> String {
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests;

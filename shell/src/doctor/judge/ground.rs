//! The disk under the engine.

use orca_container_core::quoted;

use super::{Case, listed};
use crate::doctor::report::{Finding, FindingCode};
use crate::engine::{DISK_FLOOR, Space, check_floor, gibibytes};

pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let kind = case.detected.facts.kind;
    let message = format!(
        "{kind} limits no volume: what runs in a workspace can fill the disk that {kind} keeps its data on."
    );
    let unlimited = Finding::cost(FindingCode::DiskNotLimited, message)
        .help("Give the engine a disk or a partition of its own, so that a full one stops nothing else.");
    vec![free(case), unlimited]
}

fn free(case: &Case<'_>) -> Finding {
    let kind = case.detected.facts.kind;
    let spaces = &case.around.spaces;
    if let Err(low) = check_floor(kind, spaces) {
        return Finding::problem(FindingCode::DiskLow, low.to_string());
    }
    if spaces.is_empty() || spaces.iter().any(|space| space.free.is_none()) {
        let message = format!(
            "What is free where {kind} keeps its data cannot be measured from here; a create needs {} and does not check it.",
            gibibytes(DISK_FLOOR)
        );
        return Finding::cost(FindingCode::DiskUnmeasured, message)
            .help(format!("Look with \"{kind} system df\" and with df on the engine's machine."));
    }
    let told = |space: &Space| {
        let free = gibibytes(space.free.unwrap_or_default());
        format!("{free} in {}", quoted(&space.place.to_string_lossy()))
    };
    let told: Vec<String> = spaces.iter().map(told).collect();
    Finding::good(FindingCode::DiskFree, format!("Free where {kind} keeps its data: {}.", listed(&told)))
}

//! `doctor`: what engines are there, what each costs a user, and what to do about it.
//!
//! Gathering (`machine`, the engines' own answers) and judging (`judge`) are apart. Nothing is made, changed or pulled,
//! and no packet is sent anywhere but to the engines themselves; only where a person names an image, a throwaway container
//! (`probe`) tries this machine's ports. No variable's value is in the report.

mod judge;
mod listeners;
mod login_users;
mod machine;
mod probe;
mod refusals;
mod report;

use std::path::Path;

use orca_container_core::input::GlobalSettings;
use orca_container_core::{DEFAULT_USER_ID, EngineKind, LimitKind, escaped};

pub use report::{
    DataPlace, DoctorReport, EngineReport, Finding, FindingCode, FindingSeverity, ReachableListener,
    ShownFacts,
};

use crate::engine::{Detected, EngineError, detect, host_program};
pub use probe::{Probe, Tried};

use judge::{Case, Wanted};
use machine::{Machine, Surroundings};

/// Runtimes that a report names; an engine that lists more has been tampered with.
const MOST_RUNTIMES: usize = 32;

/// Looks at the chosen engine, or at every one whose client is on PATH. Engines that are not there are not in the
/// report. `docker_config` is the folder of docker's empty configuration; it need not exist.
///
/// With a `probe` a throwaway container tries the ports, and is gone when this returns.
pub fn examine(
    chosen: Option<EngineKind>,
    settings: &GlobalSettings,
    docker_config: &Path,
    probe: Option<Probe<'_>>,
) -> DoctorReport {
    let machine = Machine::here();
    let kinds = [EngineKind::Docker, EngineKind::Podman];
    let wanted = kinds.into_iter().filter(|kind| chosen.is_none_or(|chosen| chosen == *kind));
    let there = wanted.filter_map(|kind| Some((kind, host_program(kind.as_str())?)));
    let engines = there.map(|(kind, program)| {
        match detect(Some(kind), settings.container.runtime.as_deref(), docker_config) {
            Ok(detected) => engine_report(&detected, settings, &machine, probe),
            Err(error) => unusable(kind, &program, &error),
        }
    });
    DoctorReport::of(engines.collect())
}

fn unusable(kind: EngineKind, program: &Path, error: &EngineError) -> EngineReport {
    let help = match kind {
        EngineKind::Docker => {
            "Start dockerd, and see with \"docker version\" whether this user may reach it."
        }
        EngineKind::Podman => "See what \"podman info\" says.",
    };
    EngineReport {
        kind,
        program: escaped(&program.to_string_lossy()),
        facts: None,
        findings: vec![Finding::problem(FindingCode::EngineUnusable, error.to_string()).help(help)],
    }
}

fn engine_report(
    detected: &Detected,
    settings: &GlobalSettings,
    machine: &Machine,
    probe: Option<Probe<'_>>,
) -> EngineReport {
    let around = Surroundings::of(detected);
    let here = detected.is_on_this_machine();
    let wanted = Wanted {
        uid: wanted_uid(settings),
        no_network: settings.container.network.as_deref() == Some("none"),
        refusals: refusals::of_create(&detected.facts, settings),
    };
    let listeners = machine.listeners.as_deref().filter(|_| here).unwrap_or_default();
    let tried = probe.map(|probe| probe.try_ports(&detected.facts, listeners));
    let case = Case { detected, here, machine, around: &around, wanted: &wanted, tried: tried.as_ref() };
    EngineReport {
        kind: detected.facts.kind,
        program: escaped(&detected.facts.client.program),
        facts: Some(shown(&case)),
        findings: judge::findings(&case),
    }
}

/// The uid that the settings give workspaces, else the one they have where the image names no user.
fn wanted_uid(settings: &GlobalSettings) -> u32 {
    let user = settings.container.user.as_deref();
    user.and_then(|user| user.split(':').next()?.parse().ok()).unwrap_or(DEFAULT_USER_ID)
}

fn shown(case: &Case<'_>) -> ShownFacts {
    let facts = &case.detected.facts;
    let details = &case.detected.details;
    let runtimes = facts.runtimes.iter().chain(&case.around.other_runtimes);
    ShownFacts {
        version: facts.version.clone(),
        endpoint: facts.endpoint,
        on_this_machine: case.here,
        rootless: facts.rootless,
        user_namespace: facts.userns,
        cgroup_version: facts.cgroup_version,
        cpus: facts.cpus,
        memory_bytes: facts.memory_bytes,
        limits_discarded: LimitKind::ALL
            .iter()
            .copied()
            .filter(|kind| !facts.limits.contains(kind))
            .collect(),
        runtimes: runtimes.take(MOST_RUNTIMES).map(|name| escaped(name)).collect(),
        default_runtime: details.default_runtime.clone(),
        seccomp: details.seccomp,
        apparmor: facts.apparmor,
        selinux: facts.selinux,
        vulnerabilities: facts.vulnerabilities.clone(),
        data_places: case
            .around
            .spaces
            .iter()
            .map(|space| DataPlace { path: escaped(&space.place.to_string_lossy()), free_bytes: space.free })
            .collect(),
        bridge_gateway: case.around.gateway.map(|gateway| gateway.to_string()),
        reachable_listeners: case.machine.listeners.clone().filter(|_| case.here),
    }
}

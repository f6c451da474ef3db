//! The engine itself: how it is reached, what it enforces, what it has.

use orca_container_core::{Code, Endpoint, EngineKind, LimitKind, Template, template_size};

use super::{Case, listed};
use crate::doctor::report::{Finding, FindingCode};

pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = vec![endpoint(case), limits(case), init(case)];
    findings.extend(refused(case));
    findings.extend(templates(case));
    findings.extend(values(case));
    findings
}

fn endpoint(case: &Case<'_>) -> Finding {
    let kind = case.detected.facts.kind;
    let remote = |how: &str| {
        let message = format!(
            "{kind} runs on another machine and is reached by {how}: workspaces are made in volume mode only, and neither its disk nor the kernel's view of a container can be read."
        );
        Finding::cost(FindingCode::EndpointRemote, message)
            .help("Look after its disk there, or run this program on the engine's machine.")
    };
    match case.detected.facts.endpoint {
        Endpoint::Local if case.here => Finding::good(
            FindingCode::EndpointLocal,
            format!("{kind} runs on this machine and is reached without a network."),
        ),
        Endpoint::Local => Finding::cost(
            FindingCode::EngineElsewhere,
            format!(
                "{kind} is reached by a local socket, but runs on another machine than this program, as when one of the two is in a virtual machine or a container: neither its disk nor the kernel's view of a container can be read from here."
            ),
        )
        .help("Look after its disk there, or run this program where the engine runs."),
        Endpoint::Ssh => remote("ssh"),
        Endpoint::Tls => remote("TCP with TLS"),
        Endpoint::Plain => Finding::cost(
            FindingCode::EndpointPlain,
            format!(
                "{kind} is reached over TCP in the clear: whoever is on the way reads and changes every command. No variable's value is sent there; a create with start variables and a launch with values are refused."
            ),
        )
        .help("Reach the engine by a local socket, by ssh or with TLS."),
    }
}

/// What it discards, and whether a person accepted that.
fn limits(case: &Case<'_>) -> Finding {
    let facts = &case.detected.facts;
    let discarded: Vec<String> = LimitKind::ALL
        .iter()
        .filter(|kind| !facts.limits.contains(kind))
        .map(|kind| kind.as_str().to_owned())
        .collect();
    if discarded.is_empty() {
        let message = "Limits of memory, swap, CPU time and processes are enforced.";
        return Finding::good(FindingCode::LimitsEnforced, message);
    }
    let rootless = if facts.rootless { " without root" } else { "" };
    let cgroups = facts.cgroup_version.map(|version| format!(" on cgroup v{version}")).unwrap_or_default();
    let message = format!(
        "{}{rootless}{cgroups} discards limits of {}: a container can take all of that from the machine.",
        facts.kind,
        listed(&discarded)
    );
    let refused = case.wanted.refusals.iter().any(|refusal| refusal.code == Code::LimitsUnsupported);
    if refused {
        let help = "Use cgroup v2 with delegation, or an engine that runs as root; or accept containers without these limits by \"acceptAdvisoryLimits\": true under \"policy\" in the settings.";
        let mut finding = Finding::problem(FindingCode::LimitsDiscarded, message).help(help);
        finding.refusal = Some(Code::LimitsUnsupported);
        return finding;
    }
    Finding::cost(FindingCode::LimitsDiscarded, message)
        .help("Your settings accept that by \"acceptAdvisoryLimits\".")
}

/// What else the core refuses here: a runtime that is not there, values over a wire in the clear.
fn refused(case: &Case<'_>) -> Vec<Finding> {
    let others = case.wanted.refusals.iter().filter(|refusal| refusal.code != Code::LimitsUnsupported);
    let finding = |refusal: &orca_container_core::Diagnostic| Finding {
        help: refusal.help.clone(),
        refusal: Some(refusal.code),
        ..Finding::problem(FindingCode::CreateRefused, refusal.message.clone())
    };
    others.map(finding).collect()
}

fn init(case: &Case<'_>) -> Finding {
    let (kind, package) = match case.detected.facts.kind {
        EngineKind::Docker => ("docker", "docker-init (tini)"),
        EngineKind::Podman => ("podman", "catatonit"),
    };
    let missing = || {
        let message = format!(
            "{kind} has no init program, which every workspace starts first so that processes end when they are told to."
        );
        Finding::problem(FindingCode::NoInitProgram, message).help(format!("Install {package}."))
    };
    match (&case.detected.details.init, case.around.init_found) {
        (None, _) | (_, Some(false)) => missing(),
        (Some(init), _) => Finding::good(
            FindingCode::InitProgram,
            format!("Containers begin with the init program \"{init}\"."),
        ),
    }
}

fn templates(case: &Case<'_>) -> Option<Finding> {
    let facts = &case.detected.facts;
    if facts.memory_bytes == 0 {
        return None;
    }
    // A machine sold with 8 GB shows a little less.
    let gigabytes = facts.memory_bytes.saturating_add(1 << 29) >> 30;
    let size = format!("{} has {gigabytes} GB memory and {} CPUs", facts.kind, facts.cpus);
    let lacking = |fits: &dyn Fn(u64, u64) -> bool| -> Vec<String> {
        let sizes = Template::ALL.iter().map(|template| (template, template_size(*template)));
        let lacking = sizes.filter(|(_, (memory, cpus))| !fits(memory >> 30, *cpus));
        lacking
            .map(|(name, (memory, cpus))| format!("\"{name}\" ({} GB, {cpus} CPUs)", memory >> 30))
            .collect()
    };
    let memory = lacking(&|memory, _| memory <= gigabytes);
    let cpus = lacking(&|_, cpus| cpus <= u64::from(facts.cpus));
    let mut parts = Vec::new();
    if !memory.is_empty() {
        parts.push(format!(
            "there is less memory than {} may take, so the machine runs out before the limit does",
            listed(&memory)
        ));
    }
    if !cpus.is_empty() {
        parts.push(format!("{} gets fewer CPUs than it says", listed(&cpus)));
    }
    if parts.is_empty() {
        return Some(Finding::good(FindingCode::TemplatesFit, format!("{size}: every template fits.")));
    }
    let message = format!("{size}: {}.", parts.join("; "));
    let finding = Finding::cost(FindingCode::TemplatesDoNotFit, message);
    Some(finding.help("Choose a template that fits, or give the engine more."))
}

/// What engines do with the values that exec hands them. podman stores them, so values take another way there.
fn values(case: &Case<'_>) -> Option<Finding> {
    let facts = &case.detected.facts;
    if facts.kind != EngineKind::Podman {
        let message = "docker is in debug mode and writes every value that it is handed into its log: a launch with a secret, a variable of the host or a token is refused, other values end there.";
        let help = "Start dockerd without -D, or take \"debug\" out of its daemon.json and let it reload (systemctl reload docker).";
        return facts.debug.then(|| Finding::cost(FindingCode::DebugMode, message).help(help));
    }
    if facts.endpoint == Endpoint::Local {
        let message = "podman keeps every value that exec hands it in its database, so this program hands values over by a descriptor instead; programs that embed the core name it as \"helper\" in a launch.";
        return Some(Finding::good(FindingCode::ValuesByDescriptor, message));
    }
    let message = "podman keeps every value that exec hands it in its database, and no descriptor reaches another machine: a launch with values is refused.";
    let finding = Finding::cost(FindingCode::NoValues, message);
    Some(finding.help("Use podman on this machine, or docker over ssh."))
}

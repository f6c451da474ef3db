//! doctor's report for people: each engine with its facts, then what is wrong, what it costs, what is good.

use crate::doctor::{DoctorReport, EngineReport, Finding, FindingSeverity, ShownFacts};

use super::Look;
use super::page::{Mark, Page};

/// The report as text.
pub(crate) fn doctor(report: &DoctorReport, look: Look) -> String {
    let mut page = Page::new(look);
    for engine in &report.engines {
        one(&mut page, engine);
    }
    page.into_text()
}

fn one(page: &mut Page, engine: &EngineReport) {
    let version = engine.facts.as_ref().map(|facts| format!(" {}", facts.version)).unwrap_or_default();
    let (state, mark) = match (&engine.facts, engine.is_usable()) {
        (None, _) => ("does not answer", Mark::Refused),
        (_, false) => ("cannot make a workspace", Mark::Refused),
        (_, true) => ("can make workspaces", Mark::Heading),
    };
    page.title(&format!("{}{version} {state}", engine.kind), mark);
    page.lines("  ", "  ", &engine.program);
    if let Some(facts) = &engine.facts {
        summary(page, facts);
    }
    for severity in [FindingSeverity::Problem, FindingSeverity::Cost, FindingSeverity::Good] {
        let those: Vec<&Finding> = engine.findings.iter().filter(|f| f.severity == severity).collect();
        if those.is_empty() {
            continue;
        }
        page.part(match severity {
            FindingSeverity::Problem => "What stops a create",
            FindingSeverity::Cost => "What it costs",
            FindingSeverity::Good => "What is good",
        });
        for finding in those {
            page.lines("  - ", "    ", &finding.message);
            if let Some(help) = &finding.help {
                page.lines("    help: ", "    ", help);
            }
        }
    }
}

/// The facts that need no sentence.
fn summary(page: &mut Page, facts: &ShownFacts) {
    let root = if facts.rootless { "without root" } else { "as root" };
    let cgroup = facts.cgroup_version.map(|version| format!(", cgroup v{version}")).unwrap_or_default();
    let runtimes = facts.runtimes.join(", ");
    let text = format!("runs {root}{cgroup}; runtimes: {runtimes}");
    page.lines("  ", "  ", &text);
}

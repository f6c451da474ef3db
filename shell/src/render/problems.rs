//! Findings: what, where, and the way out.

use orca_container_core::{Diagnostic, PendingApproval, Severity, place};

use super::page::{Page, count};

/// Begins an entry of a list.
const ENTRY: &str = "  - ";
/// Continues one.
const MORE: &str = "    ";

/// One finding: its sentence, its place and its code, its help.
pub(super) fn one(page: &mut Page, problem: &Diagnostic) {
    entry(page, &problem.message, problem);
}

/// The same where findings of several severities stand in one list.
pub(super) fn one_of_many(page: &mut Page, problem: &Diagnostic) {
    entry(page, &format!("{}: {}", problem.severity, problem.message), problem);
}

fn entry(page: &mut Page, message: &str, problem: &Diagnostic) {
    page.lines(ENTRY, MORE, message);
    let mut at = format!("{} [{}", place(&problem.source), problem.code);
    for standard in &problem.standards {
        at.push_str(", ");
        at.push_str(standard);
    }
    page.lines(MORE, MORE, &(at + "]"));
    if let Some(help) = &problem.help {
        page.lines("    help: ", MORE, help);
    }
}

/// What waits for a person, and the flag that answers.
pub(super) fn asked(page: &mut Page, pending: &PendingApproval) {
    page.lines(ENTRY, MORE, &pending.message);
    let effect = if pending.blocking { "nothing is created" } else { "it is left out" };
    page.lines(MORE, MORE, &format!("{}; until you answer, {effect}", place(&pending.source)));
    page.raw(&format!("{MORE}--approve {}", pending.digest));
}

/// The findings of each severity under a title, in the order of severity.
pub(super) fn groups(page: &mut Page, problems: &[Diagnostic]) {
    for severity in Severity::ALL.iter().copied() {
        let those: Vec<&Diagnostic> = problems.iter().filter(|p| p.severity == severity).collect();
        if those.is_empty() {
            continue;
        }
        page.part(title(severity));
        for problem in those {
            one(page, problem);
        }
    }
}

fn title(severity: Severity) -> &'static str {
    match severity {
        Severity::Refused => "What was refused",
        Severity::Dropped => "What was left out",
        Severity::Asked => "What waits for you",
        Severity::Notice => "Good to know",
    }
}

/// "2 refused, 1 dropped", without what there is none of.
pub(super) fn tally(problems: &[&Diagnostic]) -> String {
    let parts: Vec<String> = Severity::ALL
        .iter()
        .filter_map(|severity| {
            let number = problems.iter().filter(|p| p.severity == *severity).count();
            let named = match severity {
                Severity::Notice => count(number, "notice"),
                other => format!("{number} {other}"),
            };
            (number > 0).then_some(named)
        })
        .collect();
    if parts.is_empty() { "no problems".into() } else { parts.join(", ") }
}

//! `check` as lines that editors and pipelines read: `file:line:column: severity: message [code]`.

use orca_container_core::{Diagnostic, place};

use super::problems::tally;

/// The problems, each on its line with its help below, and how many there are.
///
/// The lines are not wrapped: whoever searches them reads line by line.
pub(crate) fn check(problems: &[&Diagnostic]) -> String {
    let mut text = String::new();
    for problem in problems {
        let at = place(&problem.source);
        text.push_str(&format!("{at}: {}: {} [{}]\n", problem.severity, problem.message, problem.code));
        if let Some(help) = &problem.help {
            text.push_str(&format!("  help: {help}\n"));
        }
    }
    text.push_str(&format!("{}\n", tally(problems)));
    text
}

//! The effective environment: a table for terminals, one for bug reports, one variable's story.

use orca_container_core::{
    EffectiveEnvironment, EnvEntry, EnvState, Shadow, environment_table, escaped, place, why,
};

use super::Look;
use super::page::{Page, count};
use super::problems;

/// What nobody must believe otherwise.
const PLAINLY: &str = "Every process of the workspace, the agent included, can read each variable it gets; so can \
                       everything else that runs there.";

/// The table, then what waits, then what was found.
pub(crate) fn environment(report: &EffectiveEnvironment, look: Look) -> String {
    let mut page = Page::new(look);
    table(&mut page, &report.environment);
    if report.ok {
        page.blank();
        page.lines("", "", PLAINLY);
    }
    if !report.pending_approvals.is_empty() {
        page.part("What waits for you");
        for pending in &report.pending_approvals {
            problems::asked(&mut page, pending);
        }
    }
    problems::groups(&mut page, &report.problems);
    page.into_text()
}

/// How many there are and what becomes of them, then each.
pub(super) fn table(page: &mut Page, entries: &[EnvEntry]) {
    let states = EnvState::ALL.iter().filter_map(|state| {
        let number = entries.iter().filter(|entry| entry.state == *state).count();
        (number > 0).then(|| format!("{number} {state}"))
    });
    let states: Vec<String> = states.collect();
    if !states.is_empty() {
        page.lines("", "", &format!("{}: {}.", count(entries.len(), "variable"), states.join(", ")));
        page.blank();
    }
    let width = page.width();
    page.block(&environment_table(entries, width));
}

/// One variable's story, a sentence on a line.
pub(crate) fn story(name: &str, report: &EffectiveEnvironment, look: Look) -> String {
    let mut page = Page::new(look);
    for sentence in why(name, report) {
        page.lines("", "  ", &sentence);
    }
    page.into_text()
}

/// A table in Markdown, made to be pasted into a bug report.
pub(crate) fn markdown(report: &EffectiveEnvironment) -> String {
    let mut text =
        String::from("| Name | State | Layer | Said at | Shadows |\n| --- | --- | --- | --- | --- |\n");
    for entry in &report.environment {
        let shadows: Vec<String> = entry.shadows.iter().map(shadow).collect();
        text.push_str(&format!(
            "| {} | {} | {} | {} | {} |\n",
            code(&escaped(&entry.name)),
            entry.state,
            entry.layer,
            code(&place(&entry.source)),
            shadows.join("<br>")
        ));
    }
    if !report.problems.is_empty() {
        text.push('\n');
    }
    for problem in &report.problems {
        let at = code(&place(&problem.source));
        text.push_str(&format!(
            "- {} `{}` at {at}: {}\n",
            problem.severity,
            problem.code,
            code(&problem.message)
        ));
    }
    text
}

fn shadow(shadow: &Shadow) -> String {
    format!("{} {} ({})", shadow.layer, shadow.state, code(&place(&shadow.source)))
}

/// A code span: in it nothing is a link, a tag or an emphasis. A bar would end the table's cell.
fn code(text: &str) -> String {
    format!("`{}`", text.replace('`', "'").replace('|', "\\|"))
}

//! The effective environment: a table for terminals, one for bug reports, one variable's story.

use orca_container_core::{
    Drift, DriftKind, DriftPlace, EditCost, EffectiveEnvironment, EnvChange, EnvEntry, EnvState, Shadow,
    VariableChange, WorkspaceEnvironment, environment_table, escaped, place,
};

use super::Look;
use super::page::{Page, count};
use super::problems;

/// A launch gets all or is not made.
const REFUSED: &str = "No launch is made before what is refused below is mended.";

/// The table, then what waits, then what was found.
pub(crate) fn environment(report: &EffectiveEnvironment, look: Look) -> String {
    let mut page = Page::new(look);
    page.lines("", "", "What a create would give.");
    page.blank();
    effective(&mut page, report, |_| {});
    page.into_text()
}

/// The same for a workspace that is there: also what changed since its last launch and since it was made.
pub(crate) fn workspace_environment(report: &WorkspaceEnvironment, look: Look) -> String {
    let mut page = Page::new(look);
    page.lines("", "", if report.effective.ok { "What the next launch gets." } else { REFUSED });
    page.blank();
    effective(&mut page, &report.effective, |page| {
        since(page, report);
        drifted(page, &report.drift);
    });
    page.into_text()
}

fn effective(page: &mut Page, report: &EffectiveEnvironment, more: impl FnOnce(&mut Page)) {
    table(page, &report.environment);
    page.blank();
    for sentence in &report.readers {
        page.lines("", "", sentence);
    }
    if let Some(costs) = costs(report) {
        page.blank();
        page.lines("", "", &costs);
    }
    more(page);
    if !report.pending_approvals.is_empty() {
        page.part("What waits for you");
        for pending in &report.pending_approvals {
            problems::asked(page, pending);
        }
    }
    problems::groups(page, &report.problems);
}

/// What an edit takes, for the kinds of variables that are there.
fn costs(report: &EffectiveEnvironment) -> Option<String> {
    let kinds = EditCost::ALL.iter().filter(|cost| {
        report.environment.iter().any(|entry| entry.edit_cost == **cost && entry.state == EnvState::Active)
    });
    let kinds: Vec<&str> = kinds
        .filter_map(|cost| match cost {
            EditCost::NextLaunch => Some("of a launch variable is in the next launch"),
            EditCost::Recreate => Some("of a start variable takes a recreate"),
            EditCost::AdoptRepositoryConfig => {
                Some("of a line of the repository takes a recreate that adopts its files")
            }
            EditCost::Image => Some("of the image's takes another image, or the same name in a higher layer"),
            EditCost::Fixed => None,
        })
        .collect();
    (!kinds.is_empty()).then(|| format!("An edit {}.", kinds.join(", ")))
}

fn since(page: &mut Page, report: &WorkspaceEnvironment) {
    page.part("Since the last launch");
    let Some(last) = &report.last_launch else {
        page.lines("  ", "  ", "Nothing was launched yet.");
        changes(page, report);
        return;
    };
    page.lines("  ", "  ", &format!("It had {}.", count(last.len(), "variable")));
    changes(page, report);
}

fn changes(page: &mut Page, report: &WorkspaceEnvironment) {
    for changed in &report.changes {
        page.lines("  - ", "    ", &change(changed));
    }
    let recreate = report.changes.iter().any(|changed| changed.change == EnvChange::Recreate);
    if report.changes.iter().any(|changed| changed.change != EnvChange::Recreate) {
        page.lines("  ", "  ", "The next launch goes by it; running processes keep what they have.");
    }
    if recreate {
        page.lines("  ", "  ", "What is there from the start changes with a recreate.");
    }
}

/// A change in a few words.
fn change(changed: &VariableChange) -> String {
    let what = match changed.change {
        EnvChange::New => "is new",
        EnvChange::Gone => "is gone",
        EnvChange::Moved => "comes from another place",
        EnvChange::Edited => "was edited",
        EnvChange::Recreate => "takes a recreate: the container has it otherwise since its start",
    };
    format!("{} {what}", escaped(&changed.name))
}

fn drifted(page: &mut Page, drift: &[Drift]) {
    if drift.is_empty() {
        return;
    }
    page.part("Changed since the workspace was made, and not used");
    for one in drift {
        page.lines("  - ", "    ", &drift_line(one));
    }
    if drift.iter().any(|one| one.place == DriftPlace::Commit && one.kind != DriftKind::Unknown) {
        page.lines("  ", "  ", "recreate --adopt-repository-config takes what is committed on the host.");
    }
}

/// A changed file in a few words.
pub(crate) fn drift_line(drift: &Drift) -> String {
    let place = match drift.place {
        DriftPlace::Commit => "on the host's branch",
        DriftPlace::Worktree => "on the host, not committed",
        DriftPlace::Workspace => "in the workspace",
    };
    let kind = match drift.kind {
        DriftKind::Changed => "was changed",
        DriftKind::Added => "was added",
        DriftKind::Removed => "was removed",
        DriftKind::Unknown => "could not be looked at",
    };
    format!("{} {kind} {place}", escaped(&drift.file))
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
pub(crate) fn sentences(story: &[String], look: Look) -> String {
    let mut page = Page::new(look);
    for sentence in story {
        page.lines("", "  ", sentence);
    }
    page.into_text()
}

/// The report of a workspace in Markdown.
pub(crate) fn workspace_markdown(report: &WorkspaceEnvironment) -> String {
    let mut text = markdown(&report.effective);
    let last = report.last_launch.as_ref();
    let last = last.map_or("nothing was launched yet".into(), |last| {
        format!("it had {}", count(last.len(), "variable"))
    });
    text.push_str(&format!("\nSince the last launch ({last}):\n\n"));
    for changed in &report.changes {
        text.push_str(&format!("- {} {}\n", code(&escaped(&changed.name)), changed.change));
    }
    for drift in &report.drift {
        text.push_str(&format!("- {} {} in {}\n", code(&escaped(&drift.file)), drift.kind, drift.place));
    }
    text
}

/// A table in Markdown, made to be pasted into a bug report.
pub(crate) fn markdown(report: &EffectiveEnvironment) -> String {
    let mut text = String::from(
        "| Name | State | Delivery | Layer | Said at | Shadows | To change it |\n| --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for entry in &report.environment {
        let shadows: Vec<String> = entry.shadows.iter().map(shadow).collect();
        text.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} | {} |\n",
            code(&escaped(&entry.name)),
            entry.state,
            if entry.secret { format!("{}, secret", entry.delivery) } else { entry.delivery.to_string() },
            entry.layer,
            code(&place(&entry.source)),
            shadows.join("<br>"),
            entry.edit_cost
        ));
    }
    if !report.readers.is_empty() {
        text.push_str(&format!("\n{}\n", report.readers.join(" ")));
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

#[cfg(test)]
mod tests {
    use super::*;
    use orca_container_core::input::read_json;
    use orca_container_core::json::{self, WorkspaceEnvelope};
    use orca_container_core::why_in_workspace;
    use orca_container_testkit::golden::cases;
    use std::fmt::Write as _;

    const WIDE: Look = Look { width: 80, colour: false };
    const NARROW: Look = Look { width: 40, colour: false };

    /// Each workspace of the corpus as a person sees it: on a usual and on a narrow terminal, as JSON, in a bug report,
    /// and each variable's story.
    #[test]
    fn every_workspace_of_the_corpus_is_shown_as_expected() {
        let mut shown = 0;
        for case in cases() {
            let Some(envelope) = case.workspace(json::plan) else { continue };
            let report = read_json::<WorkspaceEnvelope>(&envelope).unwrap().report();
            case.check_file("table.txt", &workspace_environment(&report, WIDE));
            case.check_file("narrow.txt", &workspace_environment(&report, NARROW));
            case.check_file("report.md", &workspace_markdown(&report));
            let value: serde_json::Value =
                serde_json::from_str(&json::workspace_environment(&envelope).0).unwrap();
            case.check_file("report.json", &(serde_json::to_string_pretty(&value).unwrap() + "\n"));
            let mut stories = String::new();
            for entry in &report.effective.environment {
                let story = sentences(&why_in_workspace(&entry.name, &report), WIDE);
                writeln!(stories, "{story}").unwrap();
            }
            case.check_file("why.txt", &stories);
            shown += 1;
        }
        assert!(shown > 2, "{shown}");
    }

    /// Every state, every change and every kind of drift is in the corpus, so that none was ever left unseen.
    #[test]
    fn every_word_of_the_reports_is_in_the_corpus() {
        let reports: Vec<WorkspaceEnvironment> = cases()
            .iter()
            .filter_map(|case| case.workspace(json::plan))
            .map(|envelope| read_json::<WorkspaceEnvelope>(&envelope).unwrap().report())
            .collect();
        let entries = || reports.iter().flat_map(|report| &report.effective.environment);
        for state in EnvState::ALL {
            let main = entries().any(|entry| entry.state == *state);
            assert!(main || *state == EnvState::Shadowed, "{state}");
            let shadow = entries().flat_map(|entry| &entry.shadows).any(|shadow| shadow.state == *state);
            assert!(shadow || *state == EnvState::Active, "shadow {state}");
        }
        for change in EnvChange::ALL {
            assert!(reports.iter().flat_map(|r| &r.changes).any(|c| c.change == *change), "{change}");
        }
        for kind in DriftKind::ALL {
            assert!(reports.iter().flat_map(|r| &r.drift).any(|d| d.kind == *kind), "{kind}");
        }
        for place in DriftPlace::ALL {
            assert!(reports.iter().flat_map(|r| &r.drift).any(|d| d.place == *place), "{place}");
        }
        for cost in orca_container_core::EditCost::ALL {
            assert!(entries().any(|entry| entry.edit_cost == *cost), "{cost}");
        }
    }

    #[test]
    fn a_thousand_variables_fit_a_narrow_terminal_and_none_is_lost() {
        let many = |prefix: &str| -> serde_json::Map<String, serde_json::Value> {
            (0..250).map(|n| (format!("{prefix}_{n:03}"), "x".into())).collect()
        };
        let case = cases().into_iter().find(|case| case.name == "workspace/quiet").unwrap();
        let mut envelope: serde_json::Value =
            serde_json::from_str(&case.workspace(json::plan).unwrap()).unwrap();
        let request = &mut envelope["request"];
        request["globalSettings"]["container"]["env"] = many("GLOBAL").into();
        request["repoSettings"]["container"]["env"] = many("REPOSITORY").into();
        request["repoSettings"]["agentEnv"] = many("PROJECT").into();
        request["choices"]["env"] = many("WORKSPACE_WITH_A_LONG_NAME").into();
        let report = read_json::<WorkspaceEnvelope>(&envelope.to_string()).unwrap().report();
        assert!(report.effective.environment.len() >= 1000);
        let narrow = workspace_environment(&report, NARROW);
        for entry in &report.effective.environment {
            assert!(narrow.contains(&entry.name), "{}", entry.name);
        }
        let longest = narrow.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(longest <= 64, "{longest}: only what cannot be broken may stand over");
        assert_eq!(
            workspace_markdown(&report).lines().filter(|line| line.starts_with("| `")).count(),
            report.effective.environment.len()
        );
    }
}

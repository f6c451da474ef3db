//! One variable's whole story, in sentences.

use super::{
    environment::{EffectiveEnvironment, EnvEntry},
    table::place,
    workspace::WorkspaceEnvironment,
};
use crate::{
    text::{escaped, nearest, quoted},
    words::{Delivery, EditCost, EnvChange, EnvState, Layer},
};
use alloc::{format, string::String, vec::Vec};

/// What happened to a name, strongest claim first, then every finding about it. No value is said.
pub fn why(name: &str, report: &EffectiveEnvironment) -> Vec<String> {
    let Some(entry) = report.environment.iter().find(|entry| entry.name == name) else {
        return unknown(name, report);
    };
    let mut story = Vec::from([headline(entry)]);
    for shadow in &entry.shadows {
        let at = place(&shadow.source);
        story.push(match shadow.state {
            EnvState::Shadowed | EnvState::Active => {
                format!("Layer \"{}\" ({at}) sets it too and is shadowed.", shadow.layer)
            }
            EnvState::Pending => {
                format!("Layer \"{}\" ({at}) sets it too and waits for your approval.", shadow.layer)
            }
            EnvState::Refused => format!("Layer \"{}\" ({at}) sets it too and is refused.", shadow.layer),
            EnvState::Dropped => format!("Layer \"{}\" ({at}) sets it too and is left out.", shadow.layer),
            EnvState::Removed => format!("Layer \"{}\" ({at}) sets it too and is taken away.", shadow.layer),
        });
    }
    for finding in about(name, report) {
        story.push(finding);
    }
    if entry.state == EnvState::Active {
        story.push(cost(entry));
        story.push("Every process of the workspace, the agent included, can read it.".into());
    }
    story
}

/// The same for a workspace that is there: also what its last launch had, and which file changed since it was made.
pub fn why_in_workspace(name: &str, report: &WorkspaceEnvironment) -> Vec<String> {
    let mut story = why(name, &report.effective);
    let had = report.last_launch.as_ref().map(|last| last.iter().find(|variable| variable.name == name));
    match had {
        None => story.push("Nothing was launched in this workspace by exec or shell yet.".into()),
        Some(None) => story.push("The last launch did not have it.".into()),
        Some(Some(last)) if last.delivery == Delivery::Start => {
            story.push("The last launch had it from the container's start.".into());
        }
        Some(Some(last)) => {
            let place = place(&last.source);
            story.push(format!("The last launch had it from layer \"{}\" ({place}).", last.layer));
        }
    }
    story.extend(report.change(name).map(|change| changed(change).into()));
    let entry = report.effective.environment.iter().find(|entry| entry.name == name);
    let file = entry.and_then(|entry| entry.source.file.as_ref());
    if report.drift.iter().any(|drift| file == Some(&drift.file)) {
        story.push("That file changed since the workspace was made; this is what it said then.".into());
    }
    story
}

/// What became of a variable since the last launch, in a sentence.
pub(super) fn changed(change: EnvChange) -> &'static str {
    match change {
        EnvChange::New => "It is new since then: the next launch has it, running processes do not.",
        EnvChange::Gone => "It is gone since then: the next launch does not have it, running processes do.",
        EnvChange::Moved => "It comes from another place since then: the next launch has what is said there.",
        EnvChange::Edited => {
            "It was edited since then: the next launch has the new value, running processes the old."
        }
        EnvChange::Recreate => {
            "The container has it otherwise since its start than is said now: that takes a recreate."
        }
    }
}

fn headline(entry: &EnvEntry) -> String {
    let name = quoted(&entry.name);
    let layer = entry.layer;
    let at = place(&entry.source);
    match entry.state {
        EnvState::Active => {
            let value = match (layer, entry.secret) {
                (_, true) => "a secret that is filled in at launch",
                (Layer::Host, _) => "the host's value at launch",
                _ => "the value said there",
            };
            format!("{name} is set: layer \"{layer}\" ({at}) wins with {value}.")
        }
        EnvState::Pending => {
            format!("{name} is absent: layer \"{layer}\" ({at}) sets it and waits for your approval.")
        }
        EnvState::Refused => {
            format!("{name} is refused in layer \"{layer}\" ({at}), and with it the container.")
        }
        EnvState::Dropped => {
            format!("{name} is absent: layer \"{layer}\" ({at}) names it and it is left out.")
        }
        EnvState::Removed => {
            format!("{name} is absent: layer \"{layer}\" ({at}) has it and it is taken away.")
        }
        EnvState::Shadowed => format!("{name} is absent: every claim on it is shadowed."),
    }
}

/// What an edit of the variable costs.
fn cost(entry: &EnvEntry) -> String {
    match entry.edit_cost {
        EditCost::NextLaunch => "It is handed over at each launch: an edit reaches the next terminal, running ones keep theirs.",
        EditCost::Recreate => "It is there from the container's start: an edit needs a recreate, and the engine's inspect shows it.",
        EditCost::Fixed => "It is Orca's own, the same in each workspace; nobody edits it.",
        EditCost::Image => "It is part of the image: another image, or a variable of the same name in a higher layer, changes it.",
        EditCost::AdoptRepositoryConfig => "It stands in a file of the repository, which is frozen when the workspace is made: an edit there takes a recreate that adopts it; a variable of the same name of yours wins at the next launch.",
    }
    .into()
}

/// Findings whose sentence names the variable.
fn about(name: &str, report: &EffectiveEnvironment) -> Vec<String> {
    let named = quoted(name);
    let findings = report.problems.iter().filter(|p| p.message.contains(&named));
    let asked = report
        .pending_approvals
        .iter()
        .filter(|p| p.subject.get("name").and_then(|n| n.as_str()) == Some(name));
    let mut told: Vec<String> = findings
        .map(|p| match &p.help {
            Some(help) => format!("{} {help}", p.message),
            None => p.message.clone(),
        })
        .collect();
    told.extend(asked.map(|p| format!("{} Its digest is {}.", p.message, p.digest)));
    told
}

fn unknown(name: &str, report: &EffectiveEnvironment) -> Vec<String> {
    let mut story = Vec::from([format!("{} is in no layer, so no process gets it from here.", quoted(name))]);
    let names = report.environment.iter().map(|entry| entry.name.as_str());
    if let Some(meant) = nearest(name, names) {
        story.push(format!("Did you mean \"{}\"?", escaped(meant)));
    }
    story.extend(about(name, report));
    story
}

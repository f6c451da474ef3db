//! The effective environment as a table for a terminal; no value in it.

use super::environment::EnvEntry;
use crate::{
    source::Source,
    text::escaped,
    words::{Delivery, EnvState, Origin},
};
use alloc::{
    format,
    string::{String, ToString},
};

/// Narrowest width that a table is laid out for.
const NARROWEST: usize = 40;

/// Where something was said, in a few words: `orca.yaml:12:7`, `repo settings container.env.X`, `--container-env`.
pub fn place(source: &Source) -> String {
    if let (Some(file), Some(line), Some(column)) = (&source.file, source.line, source.column) {
        return format!("{}:{line}:{column}", escaped(file));
    }
    let path = source.path.as_deref().map(escaped).unwrap_or_default();
    let origin = match source.origin {
        Origin::Choices => return choice(&path),
        Origin::GlobalSettings => "settings",
        Origin::RepoSettings => "repo settings",
        Origin::Maximum => "operator's",
        Origin::Default => return "default".into(),
        other => other.as_str(),
    };
    if path.is_empty() { origin.into() } else { format!("{origin} {path}") }
}

/// The flag of the command line that says the same as a choice.
fn choice(path: &str) -> String {
    let option = path.split('.').next().unwrap_or("");
    let flag = match option {
        "enabled" | "mode" => "--container",
        "image" => "--container-image",
        "template" => "--container-template",
        "env" => "--container-env",
        "workspace" => "env set",
        "network" => "--network",
        "engine" => "--engine",
        "runtime" => "--runtime",
        "forwardHostEnv" => "--forward-host-env",
        "copyIgnoredFiles" => "--copy-ignored-files",
        _ => return format!("choices {path}"),
    };
    flag.into()
}

/// How a variable is delivered, or why it is not.
fn fate(entry: &EnvEntry) -> String {
    match (entry.state, entry.delivery) {
        (EnvState::Active, Delivery::Launch) => "launch".into(),
        (EnvState::Active, Delivery::Start) => "start".into(),
        (EnvState::Active, Delivery::Image) => "image".into(),
        (state, _) => state.to_string(),
    }
}

/// The table: name, fate, layer, place, and a line for what it shadows. At most `width` columns where names allow it.
pub fn environment_table(entries: &[EnvEntry], width: usize) -> String {
    if entries.is_empty() {
        return String::from("No variables.\n");
    }
    let width = width.max(NARROWEST);
    let longest = entries.iter().map(|entry| escaped(&entry.name).chars().count()).max().unwrap_or(0);
    let name_width = longest.clamp(4, (width / 3).max(12));
    let mut out = format!("{:name_width$}  {:<8}  {:<19}  {}\n", "NAME", "STATE", "LAYER", "SAID AT");
    for entry in entries {
        let name = escaped(&entry.name);
        let said_at = place(&entry.source);
        let secret = if entry.secret { " (secret)" } else { "" };
        let line = format!(
            "{name:name_width$}  {:<8}  {:<19}  {said_at}{secret}",
            fate(entry),
            entry.layer.as_str()
        );
        if line.chars().count() <= width {
            out.push_str(line.trim_end());
            out.push('\n');
        } else {
            // Too narrow for one line: the place goes below.
            let head = format!("{name:name_width$}  {:<8}  {}", fate(entry), entry.layer.as_str());
            out.push_str(head.trim_end());
            out.push_str(&format!("\n    {said_at}{secret}\n"));
        }
        for shadow in &entry.shadows {
            let state = if shadow.state == EnvState::Shadowed { "" } else { shadow.state.as_str() };
            let head = format!("    over {} {state}", shadow.layer);
            let (head, said_at) = (head.trim_end(), place(&shadow.source));
            let fits = head.chars().count().saturating_add(said_at.chars().count()) < width;
            let gap = if fits { " " } else { "\n        " };
            out.push_str(&format!("{head}{gap}{said_at}\n"));
        }
    }
    out
}

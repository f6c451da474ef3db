//! A plan: what will run and who said so, what waits, what was left out, the environment.

use orca_container_core::{
    ActionKind, Diagnostic, Need, OptionEntry, Planned, Severity, escaped, place, quoted,
};

use super::Look;
use super::page::{Mark, Page, count};
use super::{command, environment, problems};

/// Columns of a label and the blanks before and after it.
const LABEL: usize = 12;

/// The plan as text.
pub(crate) fn plan(name: &str, planned: &Planned, look: Look) -> String {
    let mut page = Page::new(look);
    heading(&mut page, name, planned);
    what_will_run(&mut page, planned);
    commands(&mut page, planned);
    waits(&mut page, planned);
    changed(&mut page, planned);
    page.part("Environment");
    environment::table(&mut page, &planned.environment);
    page.into_text()
}

fn heading(page: &mut Page, name: &str, planned: &Planned) {
    let plan = &planned.plan;
    let kind = if planned.needs.is_empty() { "Plan" } else { "Preview of a plan" };
    let heading = format!("{kind} for {} ({}, {} mode)", escaped(name), plan.engine.kind, plan.mode);
    page.title(&heading, Mark::Heading);
    if planned.needs.is_empty() {
        return;
    }
    let needs: Vec<String> = planned.needs.iter().map(need).collect();
    page.blank();
    page.lines("", "", &format!("Before anything is created this still needs {}.", listed(&needs)));
}

fn need(need: &Need) -> String {
    match need {
        Need::Engine => "a look at the engine".into(),
        Need::Dockerfile { path } => format!("the digest of {}", quoted(path)),
        Need::Image { reference, .. } => format!("a look at the image {}", quoted(reference)),
        Need::Approval { .. } => "your approval".into(),
        Need::Branch => "a branch that is checked out".into(),
    }
}

/// "a, b and c".
fn listed(things: &[String]) -> String {
    match things.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

fn what_will_run(page: &mut Page, planned: &Planned) {
    page.part("What will run");
    let plan = &planned.plan;
    let option = |name: &str| planned.options.get(name);
    line(page, "image", &escaped(&plan.image.reference), option("image"));
    user(page, planned);
    let limits = &plan.limits;
    let gigabytes = limits.memory_bytes / (1 << 30);
    let cpus = usize::try_from(limits.nano_cpus / 1_000_000_000).unwrap_or(usize::MAX);
    let cpus = count(cpus, "CPU");
    let size = format!("{}: {gigabytes} GB memory, {cpus}, {} processes", limits.template, limits.pids);
    line(page, "template", &size, option("template"));
    let network = match &plan.network.name {
        Some(name) => format!("{}, named {}", plan.network.mode, escaped(name)),
        None => plan.network.mode.to_string(),
    };
    line(page, "network", &network, option("network"));
    line(page, "mode", plan.mode.as_str(), option("mode"));
    line(page, "engine", plan.engine.kind.as_str(), option("engine"));
    if let Some(runtime) = &plan.runtime {
        line(page, "runtime", &escaped(runtime), option("runtime"));
    }
    places(page, planned);
}

fn user(page: &mut Page, planned: &Planned) {
    let user = &planned.plan.user;
    let assumed = if user.assumed { ", until the image says otherwise" } else { "" };
    let text = format!("{}:{}{assumed} ({})", user.uid, user.gid, place(&user.source));
    labelled(page, "user", &text);
    shadows(page, planned.options.get("user"));
}

/// What is mounted, cloned and published.
fn places(page: &mut Page, planned: &Planned) {
    let plan = &planned.plan;
    if let Some(clone) = &plan.clone {
        let base =
            clone.base.as_ref().map(|base| format!(" and its base {}", escaped(base))).unwrap_or_default();
        let branch = clone.branch.as_deref().map_or("the remote's own branch".into(), |branch| {
            format!("{}branch {}", if clone.new_branch { "a new " } else { "" }, escaped(branch))
        });
        let from = clone.remote.as_ref().filter(|_| !clone.from.is_host());
        let from = from.map(|url| format!(" of {}", escaped(url))).unwrap_or_default();
        let text = format!("{branch}{base}{from} into {}", escaped(&clone.target));
        labelled(page, "clone", &text);
    }
    for (index, mount) in plan.mounts.iter().enumerate() {
        let source = mount.source.as_deref().map(|source| format!(" {}", escaped(source)));
        let size = mount.size_bytes.map(|bytes| format!(" of {} MB", bytes / (1 << 20)));
        let what = source.or(size).unwrap_or_default();
        let read_only = if mount.read_only { ", read-only" } else { "" };
        let text = format!("{}{what} at {}{read_only}", mount.kind, escaped(&mount.target));
        labelled(page, if index == 0 { "mounts" } else { "" }, &text);
    }
    let ports: Vec<String> =
        plan.ports.iter().map(|port| format!("{} on {}", port.container, port.address)).collect();
    labelled(page, "ports", &if ports.is_empty() { "none".into() } else { listed(&ports) });
    for (index, command) in plan.devcontainer.iter().flat_map(|file| &file.commands).enumerate() {
        let text = format!("{} ({})", command.stage, place(&command.source));
        labelled(page, if index == 0 { "runs" } else { "" }, &text);
    }
    if !planned.copy.files.is_empty() {
        labelled(page, "copies", &count(planned.copy.files.len(), "ignored file"));
    }
}

/// A label, what it is, who said so, and below it who was not heard.
fn line(page: &mut Page, label: &str, text: &str, option: Option<&OptionEntry>) {
    let said = option.map(|option| format!(" ({})", place(&option.source))).unwrap_or_default();
    labelled(page, label, &format!("{text}{said}"));
    shadows(page, option);
}

fn shadows(page: &mut Page, option: Option<&OptionEntry>) {
    let hang = " ".repeat(LABEL.saturating_add(4));
    let first = format!("{}  ", " ".repeat(LABEL));
    for shadowed in option.iter().flat_map(|option| &option.shadows) {
        let text = format!("over {} ({})", escaped(&shadowed.value), place(&shadowed.source));
        page.lines(&first, &hang, &text);
    }
}

fn labelled(page: &mut Page, label: &str, text: &str) {
    let first = format!("{:LABEL$}", format!("  {label}"));
    page.lines(&first, &" ".repeat(LABEL), text);
}

fn commands(page: &mut Page, planned: &Planned) {
    let commands = &planned.commands;
    let create = commands.create.iter().find(|command| command.action == ActionKind::CreateContainer);
    let Some(create) = create else { return };
    page.part("The container is made by this command");
    command::lines(page, create);
    let run = |list: &[orca_container_core::Command]| list.iter().filter(|c| !c.argv.is_empty()).count();
    let others = count(run(&commands.create).saturating_sub(1), "other command");
    let remove = count(run(&commands.remove), "command");
    page.blank();
    let text = format!("{others} make the rest, {remove} remove all of it; --json shows them.");
    page.lines("  ", "  ", &text);
}

fn waits(page: &mut Page, planned: &Planned) {
    if planned.pending_approvals.is_empty() {
        return;
    }
    page.part("Waits for you");
    for pending in &planned.pending_approvals {
        problems::asked(page, pending);
    }
}

/// What waits for a person is told above, with its digest.
fn changed(page: &mut Page, planned: &Planned) {
    let those =
        |severity| planned.notices.iter().filter(move |problem: &&Diagnostic| problem.severity == severity);
    let told: Vec<&Diagnostic> = those(Severity::Dropped).chain(those(Severity::Notice)).collect();
    if told.is_empty() {
        return;
    }
    page.part("Dropped or changed");
    for problem in told {
        problems::one_of_many(page, problem);
    }
}

//! `recipe init`: the entry of orca.yaml that lets the Orca of today use these workspaces, and what the first run takes.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use clap::Args;
use orca_container_core::input::{PlanRequest, RepositoryFile};
use orca_container_core::{Code, Need, PlanAnswer, limits, plan, quoted};

use super::workspace::settings_of;
use super::{Ended, Failure, Io};
use crate::gather::request::{Words, gather};
use crate::gather::text_file::read_repository_text;
use crate::store::random_id;

/// The file that Orca reads recipes from, in the primary checkout.
const FILE: &str = "orca.yaml";

/// Show the entry of orca.yaml that Orca needs, check the repository, and say what the first run takes
#[derive(Debug, Args)]
pub(super) struct InitArgs {
    /// Folder in a git worktree; the current one by default
    path: Option<PathBuf>,
    /// Write the entry into orca.yaml
    #[arg(long)]
    write: bool,
    /// Image of the containers; without it that of your settings
    #[arg(long, value_name = "REFERENCE")]
    container_image: Option<String>,
    /// Network of the containers: none or bridge
    #[arg(long, value_name = "NETWORK")]
    network: Option<String>,
    /// Settings file
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
}

pub(super) fn init(args: &InitArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let settings = settings_of(args.settings.as_deref())?;
    let mut words = Words::default();
    words.choices.image.clone_from(&args.container_image);
    words.choices.network.clone_from(&args.network);
    let folder = args.path.as_deref().unwrap_or(Path::new("."));
    let gathered = gather(folder, &settings, words).map_err(|error| Failure::of(&error))?;
    let request = gathered.request;
    let checkout = PathBuf::from(&request.workspace.repo_path);
    let text = read_repository_text(&checkout, FILE, limits::ORCA_YAML_BYTES);
    let text = text.map_err(|error| Failure::of(&error))?;
    let entry = entry(args)?;
    let has_recipes =
        text.as_deref().is_some_and(|text| text.lines().any(|line| line.starts_with("environmentRecipes:")));
    if has_recipes {
        writeln!(io.stdout, "{FILE} has environmentRecipes; add this to the list:\n\n{}", item(&entry))?;
    } else if args.write {
        let whole = appended(text.as_deref().unwrap_or_default(), &entry);
        still_reads(&request, &whole)?;
        write(&checkout.join(FILE), &whole)?;
        writeln!(io.stdout, "Written into {}:\n\n{entry}", quoted(&checkout.join(FILE).to_string_lossy()))?;
    } else {
        writeln!(io.stdout, "Add this to {FILE} of the primary checkout (or say --write):\n\n{entry}")?;
    }
    if args.settings.is_some() {
        writeln!(
            io.stdout,
            "The settings file is yours and not the repository's, so it is in no command; recipe create reads the usual one.\n"
        )?;
    }
    explain(&request, io)?;
    Ok(Ended::ok(!(has_recipes && args.write)))
}

/// The entry, as Orca's documentation writes them.
fn entry(args: &InitArgs) -> Result<String, Failure> {
    let mut create = String::from("orca-container recipe create");
    for (flag, value) in [("--container-image", &args.container_image), ("--network", &args.network)] {
        let Some(value) = value else { continue };
        // Orca hands it to a shell, and YAML reads it before.
        if !value.bytes().all(|b| b.is_ascii_alphanumeric() || b"/.:@_-".contains(&b)) {
            return Err(Failure::Usage(format!("{} has letters that a reference has not.", quoted(value))));
        }
        create.push_str(&format!(" {flag} {value}"));
    }
    Ok(format!(
        "environmentRecipes:\n  - id: container\n    name: Hardened container\n    checkoutMode: provisioned-root\n    create: {create}\n    suspend: orca-container recipe suspend\n    resume: orca-container recipe resume\n    destroy: orca-container recipe destroy\n"
    ))
}

/// The entry without its key.
fn item(entry: &str) -> &str {
    entry.split_once('\n').map_or(entry, |(_, item)| item)
}

fn appended(text: &str, entry: &str) -> String {
    let lines_end_as_on_windows = text.contains("\r\n");
    let entry = if lines_end_as_on_windows { &entry.replace('\n', "\r\n") } else { entry };
    match text {
        "" => entry.into(),
        text if lines_end_as_on_windows => format!("{}\r\n\r\n{entry}", text.trim_end_matches("\r\n")),
        text if text.ends_with('\n') => format!("{text}\n{entry}"),
        text => format!("{text}\n\n{entry}"),
    }
}

/// A file that is in one line of braces, or that ends its document, takes no entry at its end.
fn still_reads(request: &PlanRequest, text: &str) -> Result<(), Failure> {
    let file = RepositoryFile { path: FILE.into(), text: text.to_owned().into() };
    let request = PlanRequest { orca_yaml: Some(file), ..request.clone() };
    let broken = |code: Code| code.as_str().starts_with("yaml_");
    match plan(&request) {
        PlanAnswer::Refused(refusal) if refusal.problems.iter().any(|problem| broken(problem.code)) => {
            Err(Failure::Failed(format!(
                "{FILE} would not be read any more; add the entry by hand. Nothing was written."
            )))
        }
        _ => Ok(()),
    }
}

/// In one step, and never through a link: the file is in a repository that others write to.
fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::Failed(format!("{FILE} could not be written: {error}."));
    // A name that nobody can have put something at.
    let unique = random_id().map_err(|error| Failure::of(&error))?;
    let beside = file.with_extension(format!("yaml.{unique}"));
    let mode = fs::metadata(file).map_or(0o644, |there| there.permissions().mode() & 0o777);
    let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(&beside);
    let written = opened.and_then(|mut opened| opened.write_all(text.as_bytes()));
    written.and_then(|()| fs::rename(&beside, file)).map_err(|error| {
        let _ = fs::remove_file(&beside);
        failed(error)
    })
}

/// What the first run takes, from the plan as it would be now.
fn explain(request: &PlanRequest, io: &mut Io<'_>) -> Result<(), Failure> {
    writeln!(io.stdout, "The first run:")?;
    writeln!(io.stdout, "  1. orca-container doctor says whether an engine is there, and what it costs.")?;
    match plan(request) {
        PlanAnswer::Refused(refusal) => {
            writeln!(
                io.stdout,
                "  2. A plan is refused now: {} (orca-container plan tells all of it)",
                refusal.message
            )?;
        }
        PlanAnswer::Planned(planned) => {
            let image = planned.needs.iter().find_map(|need| match need {
                Need::Image { reference, .. } => Some(reference.clone()),
                _ => None,
            });
            let image = image.unwrap_or_else(|| planned.plan.image.reference.clone());
            writeln!(
                io.stdout,
                "  2. The image {} needs sshd and sftp-server beside git (images/base has them).",
                quoted(&image)
            )?;
            match planned.pending_approvals.len() {
                0 => {}
                waiting => writeln!(
                    io.stdout,
                    "     {waiting} of what the repository asks wait(s) for you: orca-container approve shows and answers, since a recipe cannot ask."
                )?,
            }
        }
    }
    writeln!(
        io.stdout,
        "  3. Commit {FILE}, and choose the recipe \"Hardened container\" where Orca makes a workspace."
    )?;
    writeln!(io.stdout, "     Orca shows the commands of the recipe and asks once whether you trust them.")?;
    writeln!(
        io.stdout,
        "  4. orca vm recipe doctor container --provision tries it. It warns that the commands are no files of the repository."
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_stands_at_the_end_after_an_empty_line() {
        assert_eq!(appended("", "e:\n"), "e:\n");
        assert_eq!(appended("a: 1\n", "e:\n"), "a: 1\n\ne:\n");
        assert_eq!(appended("a: 1", "e:\n"), "a: 1\n\ne:\n");
        assert_eq!(appended("a: 1\r\n", "e:\n"), "a: 1\r\n\r\ne:\r\n");
        assert_eq!(item("environmentRecipes:\n  - id: x\n"), "  - id: x\n");
    }
}

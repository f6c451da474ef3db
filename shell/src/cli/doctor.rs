//! `doctor`: what engines are there, what each costs, what to do about it.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use orca_container_core::{EngineKind, json};

use super::{Ended, Failure, Io};
use crate::doctor::{DoctorReport, Probe, examine};
use crate::gather::settings_file::SettingsPlace;
use crate::render;
use crate::settings::Settings;
use crate::store::Store;

/// Say what engines are there, what each costs and what to do about it; makes and changes nothing
#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// Engine: docker or podman; without it, each whose client is on PATH
    #[arg(long, value_name = "ENGINE", value_parser = PossibleValuesParser::new(["docker", "podman"]).try_map(|word| EngineKind::parse(&word).ok_or("docker or podman")))]
    engine: Option<EngineKind>,
    /// Settings file; by default orca-container/settings.json in the folder for configuration
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// Image, there already, from inside of which this machine's ports are tried: a throwaway container of it, gone at the end
    #[arg(long, value_name = "REFERENCE")]
    image: Option<String>,
    /// Print the report as one line of JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &DoctorArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let chosen = args.engine;
    let settings = settings(args.settings.as_deref())?;
    let store = match args.image {
        Some(_) => Some(Store::of_process().map_err(|error| Failure::of(&error))?),
        None => None,
    };
    let probe = args.image.as_deref().zip(store.as_ref()).map(|(image, store)| Probe { image, store });
    let report = examine(chosen, &settings.document.global_settings, &docker_config(), probe);
    if args.json {
        writeln!(io.stdout, "{}", json::write(&report))?;
    } else if !report.engines.is_empty() {
        io.stdout.write_all(render::doctor(&report, io.look).as_bytes())?;
    }
    ended(&report, chosen)
}

/// As `create` would end: no engine that answers has an exit code of its own.
fn ended(report: &DoctorReport, chosen: Option<EngineKind>) -> Result<Ended, Failure> {
    if report.any_answers() {
        return Ok(Ended::ok(report.any_usable()));
    }
    let message = match (chosen, report.engines.is_empty()) {
        (Some(kind), true) => format!("The client of {kind} is not on PATH."),
        (None, true) => "Neither docker nor podman is on PATH; install one of them.".into(),
        (_, false) => "No engine answers.".into(),
    };
    Err(Failure::Engine(message))
}

/// The folder of docker's empty configuration. It is not made for a look: docker takes one that is not there for an
/// empty one.
fn docker_config() -> PathBuf {
    Store::of_process().map_or_else(|_| PathBuf::from("/nonexistent"), |store| store.root().join("docker"))
}

fn settings(written: Option<&Path>) -> Result<Settings, Failure> {
    let file = SettingsPlace::of_process(written).read().map_err(|error| Failure::of(&error))?;
    file.map_or_else(|| Ok(Settings::default()), |file| Settings::of(&file))
        .map_err(|error| Failure::of(&error))
}

//! `schema`: the boundary's JSON Schemas, made from its types.

use clap::Args;
use orca_container_core::input::PlanRequest;
use orca_container_core::json::{
    ChangesEnvelope, LaunchEnvelope, StandingAnswer, StandingEnvelope, WorkspaceEnvelope,
};
use orca_container_core::{Changes, EffectiveEnvironment, LaunchAnswer, PlanAnswer, WorkspaceEnvironment};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use super::{Ended, Failure, Io};
use crate::doctor::DoctorReport;
use crate::settings::SettingsDocument;

/// Print the JSON Schema of a document, or the names of all
#[derive(Debug, Args)]
pub(super) struct SchemaArgs {
    /// Whose schema to print
    #[arg(value_parser = SCHEMA_NAMES)]
    name: Option<String>,
}

/// Documents that have a schema.
pub const SCHEMA_NAMES: [&str; 13] = [
    "request",
    "settings",
    "launch",
    "plan-answer",
    "launch-answer",
    "environment",
    "workspace",
    "workspace-environment",
    "changes",
    "changes-answer",
    "standing",
    "standing-answer",
    "doctor",
];

pub(super) fn run(args: &SchemaArgs, io: &mut Io<'_>) -> Result<Ended, Failure> {
    let Some(name) = &args.name else {
        for name in SCHEMA_NAMES {
            writeln!(io.stdout, "{name}")?;
        }
        return Ok(Ended::Done);
    };
    let text = schema_text(name).ok_or_else(|| Failure::Usage("There is no schema of this name.".into()))?;
    io.stdout.write_all(text.as_bytes())?;
    Ok(Ended::Done)
}

/// The schema of a name from [`SCHEMA_NAMES`], as its file in `docs/schema` holds it.
pub fn schema_text(name: &str) -> Option<String> {
    let schema = match name {
        "request" => read::<PlanRequest>(),
        "settings" => read::<SettingsDocument>(),
        "launch" => read::<LaunchEnvelope>(),
        "plan-answer" => written::<PlanAnswer>(),
        "launch-answer" => written::<LaunchAnswer>(),
        "environment" => written::<EffectiveEnvironment>(),
        "workspace" => read::<WorkspaceEnvelope>(),
        "workspace-environment" => written::<WorkspaceEnvironment>(),
        "changes" => read::<ChangesEnvelope>(),
        "changes-answer" => written::<Changes>(),
        "standing" => read::<StandingEnvelope>(),
        "standing-answer" => written::<StandingAnswer>(),
        "doctor" => written::<DoctorReport>(),
        _ => return None,
    };
    serde_json::to_string_pretty(&schema).ok().map(|text| text + "\n")
}

/// What we take from others.
fn read<T: JsonSchema>() -> Schema {
    root::<T>(SchemaSettings::default().for_deserialize())
}

/// What we give to others.
fn written<T: JsonSchema>() -> Schema {
    root::<T>(SchemaSettings::default().for_serialize())
}

fn root<T: JsonSchema>(settings: SchemaSettings) -> Schema {
    settings.with_transform(RecursiveTransform(without_null)).into_generator().into_root_schema_for::<T>()
}

/// What may be absent is an `Option` to us, which the generator takes for null; but null is never written and
/// never accepted.
fn without_null(schema: &mut Schema) {
    let null = Value::from("null");
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|word| *word != null);
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type") != Some(&null));
    }
    if schema.get("default") == Some(&Value::Null) {
        schema.remove("default");
    }
}

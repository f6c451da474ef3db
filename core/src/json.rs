//! The boundary as text: JSON in, JSON out. Every caller that is not Rust comes through here.

use crate::{
    answer::{LaunchAnswer, PlanAnswer, Refusal},
    diagnostic::{Code, Diagnostic, Severity},
    engine::{Observed, Record},
    input::{LaunchRequest, PlanRequest, SCHEMA_VERSION, read_json},
    plan::ContainerPlan,
    report::{Drift, LaunchedVariable, Waiting, WorkspaceEnvironment, WorkspaceStanding},
    secret::Sensitive,
    source::Source,
    words::Origin,
};
use alloc::{format, string::String, vec::Vec};
use serde::{Deserialize, Serialize};

/// Reads a request. The error is the answer to give.
pub fn read_request(text: &str) -> Result<PlanRequest, Refusal> {
    read_json(text).map_err(|error| refusal(text, error.diagnostic()))
}

/// [`crate::plan`] on JSON text.
pub fn plan(request: &str) -> String {
    let answer = match read_request(request) {
        Ok(request) => crate::plan(&request),
        Err(refusal) => PlanAnswer::Refused(refusal),
    };
    write(&answer)
}

/// [`crate::devcontainer_findings`] on JSON text.
pub fn devcontainer_findings(request: &str) -> String {
    match read_request(request) {
        Ok(request) => write(&crate::devcontainer_findings(&request)),
        Err(refusal) => write(&PlanAnswer::Refused(refusal)),
    }
}

/// What [`launch`] reads.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LaunchEnvelope {
    /// The frozen plan.
    pub plan: ContainerPlan,
    /// The request of now, with the frozen texts.
    pub request: PlanRequest,
    /// The process.
    pub launch: LaunchRequest,
}

/// [`crate::launch`] on JSON text: the one output with values. The flag tells whether it is a launch.
pub fn launch(envelope: &str) -> (String, bool) {
    let answer: Result<LaunchAnswer, Refusal> = match read_json::<LaunchEnvelope>(envelope) {
        Ok(read) => crate::launch(&read.plan, &read.request, &read.launch),
        Err(error) => Err(refusal(envelope, error.diagnostic())),
    };
    match answer {
        Ok(answer) => (write(&answer), true),
        Err(refusal) => (write(&refusal), false),
    }
}

/// What [`workspace_environment`] reads.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorkspaceEnvelope {
    /// The frozen plan.
    pub plan: ContainerPlan,
    /// The request of now, with the frozen texts.
    pub request: PlanRequest,
    /// What the last launch had (an answer's `environment`, by its active names); absent before the first.
    #[serde(default, deserialize_with = "crate::input::options::present")]
    pub last_launch: Option<Vec<LaunchedVariable>>,
    /// Names that were edited since then.
    #[serde(default)]
    pub edited: Vec<String>,
    /// The container's configured environment, `NAME=value` each; absent where the engine did not tell. Holds values.
    #[serde(default, deserialize_with = "crate::input::options::present")]
    pub observed: Option<Vec<Sensitive>>,
    /// Files of the repository that changed since the workspace was made.
    #[serde(default)]
    pub drift: Vec<Drift>,
}

impl WorkspaceEnvelope {
    /// The report that it asks for.
    pub fn report(self) -> WorkspaceEnvironment {
        let observed = self.observed.as_deref();
        crate::workspace_environment(
            &self.plan,
            &self.request,
            self.last_launch,
            &self.edited,
            observed,
            self.drift,
        )
    }
}

/// [`crate::workspace_environment`] on JSON text. The flag tells whether a launch would be refused.
pub fn workspace_environment(envelope: &str) -> (String, bool) {
    match read_json::<WorkspaceEnvelope>(envelope) {
        Ok(read) => {
            let report = read.report();
            (write(&report), report.effective.ok)
        }
        Err(error) => (write(&refusal(envelope, error.diagnostic())), false),
    }
}

/// What [`changes`] reads.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChangesEnvelope {
    /// The frozen plan.
    pub plan: ContainerPlan,
    /// The request that it was made of, or that of the last launch by it.
    pub before: PlanRequest,
    /// The request of now.
    pub after: PlanRequest,
}

/// [`crate::changes`] on JSON text. The flag tells whether it is an answer and no refusal.
pub fn changes(envelope: &str) -> (String, bool) {
    let answer = match read_json::<ChangesEnvelope>(envelope) {
        Ok(read) => crate::changes(&read.plan, &read.before, &read.after),
        Err(error) => Err(refusal(envelope, error.diagnostic())),
    };
    match answer {
        Ok(changes) => (write(&changes), true),
        Err(refusal) => (write(&refusal), false),
    }
}

/// What [`standing`] reads.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StandingEnvelope {
    /// What the workspace is called by.
    pub name: String,
    /// The frozen plan.
    pub plan: ContainerPlan,
    /// How far it got, as its record has it.
    pub record: Record,
    /// What was observed of it on its engine.
    pub observed: Observed,
    /// What a recreate would be made of now, with the frozen texts and the facts of engine and image as they were; without
    /// it nothing is told of what waits for one.
    #[serde(default, deserialize_with = "crate::input::options::present")]
    pub request: Option<PlanRequest>,
    /// The container's configured environment, `NAME=value` each; absent where the engine did not tell. Holds values.
    #[serde(default, deserialize_with = "crate::input::options::present")]
    pub configured: Option<Vec<Sensitive>>,
    /// Files of the repository that changed since the workspace was made.
    #[serde(default)]
    pub drift: Vec<Drift>,
}

impl StandingEnvelope {
    /// The answer that it asks for.
    pub fn answer(self) -> Result<StandingAnswer, Refusal> {
        let waiting = match &self.request {
            Some(request) => {
                crate::report::is_comparable(&self.plan, request)?;
                crate::waiting(&self.plan, request, self.configured.as_deref())
            }
            None => Waiting::default(),
        };
        let standing =
            WorkspaceStanding::of(&self.name, &self.plan, &self.record, &self.observed, self.drift, waiting);
        Ok(StandingAnswer { ok: true, standing })
    }
}

/// What [`standing`] answers where it does not refuse.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StandingAnswer {
    /// Always true; a refusal has false.
    pub ok: bool,
    /// What became of the workspace.
    #[serde(flatten)]
    pub standing: WorkspaceStanding,
}

/// [`crate::standing`] and [`crate::waiting`] on JSON text. The flag tells whether it is an answer and no refusal.
pub fn standing(envelope: &str) -> (String, bool) {
    let answer = match read_json::<StandingEnvelope>(envelope) {
        Ok(read) => read.answer(),
        Err(error) => Err(refusal(envelope, error.diagnostic())),
    };
    match answer {
        Ok(answer) => (write(&answer), true),
        Err(refusal) => (write(&refusal), false),
    }
}

/// Any answer as one line of JSON.
pub fn write<T: Serialize>(answer: &T) -> String {
    serde_json::to_string(answer).unwrap_or_else(|_| {
        // INVARIANT: answers hold string keys only, so they serialize; the text keeps the contract if one ever does not.
        String::from("{\"ok\":false,\"code\":\"request_invalid\",\"message\":\"The answer cannot be written.\",\"problems\":[]}")
    })
}

/// A request of another version may well have other fields, so its version is the better answer.
fn refusal(text: &str, malformed: Diagnostic) -> Refusal {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Versioned {
        schema_version: u64,
    }
    let version = read_json::<Versioned>(text).ok().map(|versioned| versioned.schema_version);
    if version.is_some_and(|version| version != u64::from(SCHEMA_VERSION)) {
        let message = format!("This build reads requests of schema version {SCHEMA_VERSION}.");
        let source = Source::setting(Origin::Request, "schemaVersion");
        let finding = Diagnostic::new(Severity::Refused, Code::UnsupportedSchemaVersion, message, source);
        return Refusal::of(Vec::from([finding]));
    }
    Refusal::of(Vec::from([malformed]))
}

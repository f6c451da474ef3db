//! The answers of the boundary.

use crate::{
    diagnostic::{Code, Diagnostic},
    engine::CommandLists,
    plan::ContainerPlan,
    policy::approval::PendingApproval,
    report::{EnvEntry, OptionEntry},
    resolve::Copy,
};
use alloc::{collections::BTreeMap, string::String, vec::Vec};
use serde::Serialize;

/// The revision of the rules: the same request may be judged more strictly under a later one.
pub const POLICY_REVISION: u32 = 5;

/// The answer to a plan request. `ok` tells the two apart.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum PlanAnswer {
    /// There is a plan, or a preview of one.
    Planned(alloc::boxed::Box<Planned>),
    /// There is none.
    Refused(Refusal),
}

impl PlanAnswer {
    /// The plan, when there is one.
    pub fn planned(&self) -> Option<&Planned> {
        match self {
            Self::Planned(planned) => Some(planned),
            Self::Refused(_) => None,
        }
    }

    /// The refusal, when there is one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Planned(_) => None,
            Self::Refused(refusal) => Some(refusal),
        }
    }
}

/// A plan and everything around it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Planned {
    /// Always true.
    pub ok: bool,
    /// Shape of the answer.
    pub schema_version: u32,
    /// Revision of the rules.
    pub policy_revision: u32,
    /// The container.
    pub plan: ContainerPlan,
    /// The options by name, each with its origin and what it shadowed.
    pub options: BTreeMap<String, OptionEntry>,
    /// The environment by name.
    pub environment: Vec<EnvEntry>,
    /// Ignored files.
    pub copy: Copy,
    /// What would be run.
    pub commands: CommandLists,
    /// What waits for a person.
    pub pending_approvals: Vec<PendingApproval>,
    /// What is open; with any of it this is a preview.
    pub needs: Vec<Need>,
    /// What was dropped, asked or noticed.
    pub notices: Vec<Diagnostic>,
}

/// No plan, with every reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    /// Always false.
    pub ok: bool,
    /// The first refused rule in the order of the closed list. Only `container_not_requested` lets a caller
    /// use the host.
    pub code: Code,
    /// One sentence.
    pub message: String,
    /// What was refused, then what was dropped, asked or noticed.
    pub problems: Vec<Diagnostic>,
}

impl Refusal {
    /// A refusal from sorted findings, of which at least one refuses.
    pub fn of(problems: Vec<Diagnostic>) -> Self {
        let first = problems
            .iter()
            .filter(|p| p.severity == crate::diagnostic::Severity::Refused)
            .min_by_key(|p| p.code);
        let (code, message) = match first {
            Some(first) => (first.code, first.message.clone()),
            None => (Code::RequestInvalid, "The request cannot be judged.".into()),
        };
        Self { ok: false, code, message, problems }
    }
}

/// What a preview still needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Need {
    /// Facts of the engine.
    Engine,
    /// Facts of the image.
    Image {
        /// Its reference.
        reference: String,
        /// The user that a devcontainer.json asks for, to be looked up in the image as `askedUser`.
        #[serde(skip_serializing_if = "Option::is_none")]
        user: Option<String>,
    },
    /// The digest of the Dockerfile that a devcontainer.json builds from.
    Dockerfile {
        /// Its path in the repository.
        path: String,
    },
    /// An answer of a person.
    Approval {
        /// The approval's digest.
        digest: String,
    },
    /// A branch to clone.
    Branch,
}

/// What a build knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    /// Shape of requests and answers.
    pub schema_version: u32,
    /// Revision of the rules.
    pub policy_revision: u32,
    /// Words for `requires`.
    pub capabilities: Vec<String>,
}

/// A process to start: what node-pty's spawn or any child process takes.
///
/// The one answer that holds values, and only in `env`. Its `Debug` shows names.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LaunchAnswer {
    /// Always true.
    pub ok: bool,
    /// The program.
    pub file: String,
    /// Its arguments: names only.
    pub args: Vec<String>,
    /// Its complete environment, never merged with the parent's.
    pub env: BTreeMap<String, String>,
    /// Its working folder.
    pub cwd: String,
    /// Ends this launch inside the container.
    pub terminate: Terminate,
    /// Names that the process gets beside the image's.
    pub names: Vec<String>,
    /// What was dropped, asked or noticed.
    pub notices: Vec<Diagnostic>,
}

impl core::fmt::Debug for LaunchAnswer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let env_names: Vec<_> = self.env.keys().collect();
        f.debug_struct("LaunchAnswer")
            .field("file", &self.file)
            .field("args", &self.args)
            .field("env", &env_names)
            .finish_non_exhaustive()
    }
}

impl Drop for LaunchAnswer {
    fn drop(&mut self) {
        self.env.values_mut().for_each(zeroize::Zeroize::zeroize);
    }
}

/// The command that ends a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Terminate {
    /// The program.
    pub file: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its complete environment.
    pub env: BTreeMap<String, String>,
}

//! Carries out one command that the core rendered, exactly as it stands.

use std::collections::BTreeMap;
use std::time::Duration;

use orca_container_core::{Action, ActionKind, Arg, Command, ReferenceName, Sensitive, Stdin};

use super::bundle::{Bundle, LAST_WORDS, Made};
use super::client::{Client, ClientError, Output, Wanted};
use super::feed::{Input, NO_PROGRESS, Writer};

/// Outputs of earlier steps that later ones refer to.
#[derive(Clone, Debug, Default)]
pub struct CarryOut {
    /// By reference.
    pub captured: BTreeMap<ReferenceName, String>,
}

/// What a command reads that is in no command: values and files.
#[derive(Default)]
pub struct Supplies<'a> {
    /// The env-file text of the start variables.
    pub start_env: Option<&'a Sensitive>,
    /// What a clone from a remote is handed.
    pub clone_secret: Option<&'a Sensitive>,
    /// Writes the tar that is read: ignored files, or the context of a build.
    pub archive: Option<Writer<'a>>,
}

impl std::fmt::Debug for Supplies<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Supplies([hidden])")
    }
}

/// Why a command was not carried out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CarryOutError {
    /// The engine refused.
    #[error("The step {action} failed with exit code {code}: {complaint}.")]
    Failed {
        /// Which step.
        action: ActionKind,
        /// The exit code.
        code: i32,
        /// The engine's own words.
        complaint: String,
    },
    /// An earlier step gave nothing.
    #[error("The step {action} needs the output of a step that was not done.")]
    Reference {
        /// Which step.
        action: ActionKind,
    },
    /// Something to be read could not be made.
    #[error("What the step {action} reads could not be made: {complaint}.")]
    Input {
        /// Which step.
        action: ActionKind,
        /// Why.
        complaint: String,
    },
    /// The client could not be run.
    #[error("The step {action} was not done: {cause}")]
    Client {
        /// Which step.
        action: ActionKind,
        /// Why.
        cause: ClientError,
    },
}

impl CarryOut {
    /// Runs a command.
    pub fn run(
        &mut self,
        action: Action,
        command: &Command,
        supplies: Supplies<'_>,
    ) -> Result<Output, CarryOutError> {
        let kind = command.action;
        let words = self.words(command)?;
        let Some((program, args)) = words.split_first() else {
            return Ok(Output::default());
        };
        let client = Client { program: program.clone(), env: command.env.clone() };
        let deadline = Duration::from_secs(u64::from(command.deadline_s));
        let shown = matches!(action, Action::PullImage | Action::BuildImage);
        let wanted = if shown { Wanted::Shown } else { Wanted::Kept };
        let failed = |cause| CarryOutError::Client { action: kind, cause };
        let output = match &command.stdin {
            None => client.call(args, Input::None, wanted, deadline),
            Some(Stdin::IgnoredFiles | Stdin::Context { .. }) => {
                // An empty archive would report files as copied that are not.
                let files = supplies.archive.ok_or(CarryOutError::Reference { action: kind })?;
                client.call(args, Input::Written(files, NO_PROGRESS), wanted, deadline)
            }
            Some(Stdin::StartEnv { .. }) => {
                let text = supplies.start_env.map_or("", Sensitive::reveal);
                client.call(args, Input::Bytes(text.as_bytes()), wanted, deadline)
            }
            Some(Stdin::CloneSecret) => {
                let text = supplies.clone_secret.map_or("\n", Sensitive::reveal);
                client.call(args, Input::Bytes(text.as_bytes()), wanted, deadline)
            }
            Some(Stdin::Text { text }) => client.call(args, Input::Bytes(text.as_bytes()), wanted, deadline),
            Some(Stdin::Bundle { argv: git, env }) => {
                return self.bundle(command, &client, args, git, env, deadline);
            }
        }
        .map_err(failed)?;
        self.judge(command, output)
    }

    /// git's bundle flows into the container as it is made.
    fn bundle(
        &mut self,
        command: &Command,
        client: &Client,
        args: &[String],
        git: &[String],
        env: &BTreeMap<String, String>,
        deadline: Duration,
    ) -> Result<Output, CarryOutError> {
        let kind = command.action;
        let failed = |complaint: String| CarryOutError::Input { action: kind, complaint };
        let (mut bundle, input) = Bundle::start(git, env, NO_PROGRESS).map_err(failed)?;
        let output = client.call(args, input, Wanted::Kept, deadline).map_err(|cause| {
            bundle.kill();
            CarryOutError::Client { action: kind, cause }
        })?;
        let refused = !command.ok.contains(&output.code);
        // git first: when it fails, the container's complaint is only about a broken bundle. It fails as well when the
        // container did not read on, and then the container says why.
        match bundle.end(LAST_WORDS).map_err(|cause| failed(cause.to_string()))? {
            Made::Failed(complaint) if !(refused && output.unread) => {
                Err(failed(format!("git bundle: {complaint}")))
            }
            Made::Failed(_) | Made::Whole => self.judge(command, output),
        }
    }

    fn judge(&mut self, command: &Command, output: Output) -> Result<Output, CarryOutError> {
        if !command.ok.contains(&output.code) {
            return Err(CarryOutError::Failed {
                action: command.action,
                code: output.code,
                complaint: output.complaint(),
            });
        }
        if let Some(name) = command.captures {
            self.captured.insert(name, output.text());
        }
        Ok(output)
    }

    /// The words of a command, each reference replaced by what the earlier step printed.
    fn words(&self, command: &Command) -> Result<Vec<String>, CarryOutError> {
        command
            .argv
            .iter()
            .map(|arg| match arg {
                Arg::Text(text) => Ok(text.clone()),
                Arg::Reference { reference } => self
                    .captured
                    .get(reference)
                    .cloned()
                    .ok_or(CarryOutError::Reference { action: command.action }),
            })
            .collect()
    }
}

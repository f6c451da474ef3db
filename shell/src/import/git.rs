//! git for an import: in the person's repository, or in a quarantine of ours. The repository is named, never looked for;
//! nothing of its configuration starts a program; time, memory and output are bounded.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use orca_container_core::{HOST_GIT_ENV, HOST_GIT_FLAGS, limits};

use super::ImportError;
use crate::engine::{
    Bounds, ClientError, Input, OutBounds, Output, QUESTION_MEMORY, TakeOutError, Wanted, host_path,
    host_program, run_bounded, take_out,
};
use crate::fault;

/// How long a question may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a step may take that reads all that came.
const LONG: Duration = Duration::from_secs(limits::BUNDLE_DEADLINE_S as u64);

/// Bytes of data for a list, which git holds whole before it prints it.
const LIST_MEMORY: u64 = 512 << 20;

/// Whose repository it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// The person's, with what the person's own configuration says of it.
    Person,
    /// Ours: no other configuration than ours counts.
    Ours,
}

/// A repository by its git folder.
#[derive(Clone, Debug)]
pub(super) struct Git {
    folder: PathBuf,
    whose: Whose,
}

impl Git {
    /// The repository of a git folder.
    pub(super) fn of(folder: &Path, whose: Whose) -> Self {
        Self { folder: folder.into(), whose }
    }

    /// Its folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A short question.
    pub(super) fn ask(&self, args: &[&str]) -> Result<Output, ImportError> {
        self.run(args, Input::None, Wanted::Kept, PATIENCE)
    }

    /// A short question with something to read and a long answer.
    pub(super) fn ask_about(&self, args: &[&str], input: &[u8]) -> Result<Output, ImportError> {
        self.run(args, Input::Bytes(input), Wanted::List, PATIENCE)
    }

    /// A question that walks all that came.
    pub(super) fn walk(&self, args: &[&str]) -> Result<Output, ImportError> {
        self.run(args, Input::None, Wanted::Kept, LONG)
    }

    /// An answer that must be a success.
    pub(super) fn must(&self, what: &'static str, args: &[&str]) -> Result<Output, ImportError> {
        let answer = self.ask(args)?;
        if answer.code == 0 { Ok(answer) } else { Err(ImportError::git(what, &answer)) }
    }

    /// Gives a list to `sink` that ends at its bound.
    pub(super) fn list(
        &self,
        args: &[&str],
        sink: &mut dyn Write,
        most: u64,
    ) -> Result<Output, TakeOutError> {
        let mut command = self.command(args)?;
        command.stdin(Stdio::null());
        let memory = Some(LIST_MEMORY);
        let bounds = OutBounds { call: Bounds { deadline: PATIENCE, memory }, ..bounds(PATIENCE, most) };
        take_out(command, "git", sink, bounds)
    }

    /// Stores a pack that a file holds from where it is read next, and gives its name.
    pub(super) fn take_pack(&self, pack: File, more: &[&str]) -> Result<Result<String, Output>, ImportError> {
        let most = format!("--max-input-size={}", limits::BUNDLE_BYTES.saturating_mul(2));
        let args: Vec<&str> = ["index-pack", "--stdin", &most].iter().chain(more).copied().collect();
        let mut command = self.command(&args)?;
        command.stdin(pack);
        let mut said = Vec::new();
        // It says the pack's name and, of a broken one, objects that are missing.
        let take = || take_out(command, "git", &mut said, bounds(LONG, 1024 * 1024));
        let answer = fault::effect(|| Some("git index-pack".into()), take).map_err(ImportError::Steps)?;
        let text = String::from_utf8_lossy(&said);
        let name = text.lines().find_map(|line| line.split_once('\t')).map(|(_, name)| name.to_owned());
        Ok(match name.filter(|name| answer.code == 0 && orca_container_core::is_object_id(name)) {
            Some(name) => Ok(name),
            None => Err(answer),
        })
    }

    fn run(
        &self,
        args: &[&str],
        input: Input<'_>,
        wanted: Wanted,
        deadline: Duration,
    ) -> Result<Output, ImportError> {
        let bounds = Bounds { deadline, memory: Some(QUESTION_MEMORY) };
        let command = self.command(args)?;
        let changes = || args.contains(&"update-ref").then(|| "git update-ref".into());
        Ok(fault::effect(changes, || run_bounded(command, "git", input, wanted, bounds))?)
    }

    fn command(&self, args: &[&str]) -> Result<Command, ClientError> {
        let program = host_program("git").ok_or_else(|| ClientError::Missing { program: "git".into() })?;
        let mut command = Command::new(program);
        command.args(HOST_GIT_FLAGS).args(["--no-pager", "-c", "core.bigFileThreshold=32m"]);
        command.env_clear().envs(HOST_GIT_ENV).env("LC_ALL", "C").env("PATH", host_path());
        match self.whose {
            Whose::Person => {
                command.args(["-c", "gc.auto=0", "-c", "maintenance.auto=false"]);
                // safe.directory is the user's own word about whose repositories are trusted.
                command.envs(std::env::var_os("HOME").map(|home| ("HOME", home)));
            }
            Whose::Ours => {
                command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("HOME", "/nonexistent");
            }
        }
        let mut folder = std::ffi::OsString::from("--git-dir=");
        folder.push(&self.folder);
        command.arg(folder).args(args).current_dir("/");
        Ok(command)
    }
}

fn bounds(deadline: Duration, most: u64) -> OutBounds {
    // git is silent while it judges: its deadline is its only bound of time.
    OutBounds { call: Bounds { deadline, memory: Some(QUESTION_MEMORY) }, no_progress: deadline, most }
}

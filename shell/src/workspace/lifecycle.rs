//! Commands of the repository's devcontainer.json that a person allowed: inside the container, as its user, without
//! secrets, within a deadline, their output shown as it comes.

use std::process::Command;
use std::time::Duration;

use orca_container_core::input::LaunchCommand;
use orca_container_core::{LaunchAnswer, LifecycleStage, limits};

use super::launch::{LaunchOptions, launch_answer};
use super::{Ui, WorkspaceError};
use crate::engine::{Bounds, ClientError, Input, Wanted, run_bounded};
use crate::fault;
use crate::secrets::Handed;
use crate::settings::Settings;
use crate::store::{RanCommand, Store, WorkspaceRecord};

/// The stages that run once, after a create; what a create was interrupted in is continued by the next start.
pub const OF_CREATE: [LifecycleStage; 3] =
    [LifecycleStage::OnCreate, LifecycleStage::UpdateContent, LifecycleStage::PostCreate];

/// The stages that follow a create or a start.
pub const AFTER_START: [LifecycleStage; 4] = [
    LifecycleStage::OnCreate,
    LifecycleStage::UpdateContent,
    LifecycleStage::PostCreate,
    LifecycleStage::PostStart,
];

/// The stage that comes before a person's shell.
pub const BEFORE_SHELL: [LifecycleStage; 1] = [LifecycleStage::PostAttach];

/// How long another command's hold on the record is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// How commands ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Code(i32),
    Deadline,
}

/// Runs the stages that the plan has, in their order. One that fails keeps the later ones from running, then and at every
/// later start, as in the specification; the workspace stands all the same, and the record says what became of each.
pub fn run_stages(
    stages: &[LifecycleStage],
    record: &mut WorkspaceRecord,
    store: &Store,
    settings: &Settings,
    ui: &mut dyn Ui,
) -> Result<(), WorkspaceError> {
    for stage in stages {
        let planned = record.plan.devcontainer.iter().flat_map(|file| &file.commands);
        let planned = planned.into_iter().any(|command| command.stage == *stage);
        let failed = record.commands.iter().find(|ran| ran.stage < *stage && ran.code != 0);
        let once = *stage < LifecycleStage::PostStart;
        if !planned || (once && record.commands.iter().any(|ran| ran.stage == *stage)) {
            continue;
        }
        if let Some(failed) = failed {
            ui.progress(&format!("{stage} is not run, since {} ended with {}", failed.stage, failed.code));
            continue;
        }
        ui.progress(&format!("Running {stage}"));
        let ended = run(*stage, record, store, settings)?;
        // What `timeout` ends with.
        let code = if let Ended::Code(code) = ended { code } else { 124 };
        record.commands.retain(|ran| ran.stage != *stage);
        record.commands.push(RanCommand { stage: *stage, code });
        keep(record, store)?;
        if code != 0 {
            let timed_out = ended == Ended::Deadline;
            return Err(WorkspaceError::CommandFailed { stage: *stage, code, timed_out });
        }
    }
    Ok(())
}

/// Into the record as it is now: a stop or a removal meanwhile has changed it, and one that is gone stays so.
fn keep(record: &WorkspaceRecord, store: &Store) -> Result<(), WorkspaceError> {
    let name = record.file_name();
    let _lock = store.lock_patiently(name, PATIENCE)?;
    if let Some(mut now) = store.record(name)? {
        now.commands.clone_from(&record.commands);
        store.write_record(&now)?;
    }
    Ok(())
}

fn run(
    stage: LifecycleStage,
    record: &WorkspaceRecord,
    store: &Store,
    settings: &Settings,
) -> Result<Ended, WorkspaceError> {
    let options = LaunchOptions {
        command: LaunchCommand::Lifecycle(stage),
        tty: false,
        workdir: None,
        secrets: Handed::Nothing,
    };
    let answer = launch_answer(record, store, settings, options)?.answer;
    Ok(within(&answer, Duration::from_secs(u64::from(limits::LIFECYCLE_DEADLINE_S)))?)
}

/// How it ended; where it does not end in time, what it started is ended as well.
fn within(answer: &LaunchAnswer, deadline: Duration) -> Result<Ended, ClientError> {
    match call(answer, deadline) {
        Err(ClientError::Deadline { .. }) => {
            terminate(answer);
            Ok(Ended::Deadline)
        }
        other => other.map(Ended::Code),
    }
}

fn call(answer: &LaunchAnswer, deadline: Duration) -> Result<i32, ClientError> {
    let mut command = Command::new(&answer.file);
    command.args(&answer.args).env_clear().envs(&answer.env).current_dir(&answer.cwd);
    let run = || run_bounded(command, &answer.file, Input::None, Wanted::Shown, Bounds::time(deadline));
    Ok(fault::effect(|| Some("engine exec of the repository".into()), run)?.code)
}

/// The client is gone; what it started is not.
fn terminate(answer: &LaunchAnswer) {
    let mut command = Command::new(&answer.terminate.file);
    command.args(&answer.terminate.args).env_clear().envs(&answer.terminate.env).current_dir("/");
    let _ = run_bounded(
        command,
        &answer.terminate.file,
        Input::None,
        Wanted::Kept,
        Bounds::time(Duration::from_secs(60)),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use orca_container_core::Terminate;
    use std::collections::BTreeMap;

    /// A launch whose client is a shell and whose end writes a file.
    fn answer(script: &str, ended: &std::path::Path) -> LaunchAnswer {
        let sh = |script: String| (String::from("/bin/sh"), vec![String::from("-c"), script]);
        let (file, args) = sh(script.into());
        let (end, end_args) = sh(format!("echo ended > '{}'", ended.display()));
        LaunchAnswer {
            ok: true,
            file,
            args,
            env: BTreeMap::new(),
            cwd: "/".into(),
            terminate: Terminate { file: end, args: end_args, env: BTreeMap::new() },
            names: Vec::new(),
            notices: Vec::new(),
        }
    }

    #[test]
    fn what_does_not_end_in_time_is_ended_inside_as_well() {
        let folder = tempfile::tempdir().unwrap();
        let ended = folder.path().join("ended");
        let quick = answer("exit 3", &ended);
        assert_eq!(within(&quick, Duration::from_secs(20)).unwrap(), Ended::Code(3));
        assert!(!ended.exists());
        let stuck = answer("sleep 60", &ended);
        assert_eq!(within(&stuck, Duration::from_millis(200)).unwrap(), Ended::Deadline);
        assert!(ended.exists());
    }
}

//! Commands of the repository's devcontainer.json that a person allowed: inside the container, as its user, without
//! secrets, within a deadline, their output shown as it comes.

use std::process::Command;
use std::time::Duration;

use orca_container_core::input::LaunchCommand;
use orca_container_core::{LaunchAnswer, LifecycleStage, limits};

use super::launch::{LaunchOptions, launch_answer};
use super::{Ui, WorkspaceError};
use crate::engine::{Bounds, ClientError, Input, Wanted, run_bounded};
use crate::settings::Settings;
use crate::store::{RanCommand, Store, WorkspaceRecord};

/// The stages that follow a create, and those that follow a start.
pub const AFTER_CREATE: [LifecycleStage; 4] = [
    LifecycleStage::OnCreate,
    LifecycleStage::UpdateContent,
    LifecycleStage::PostCreate,
    LifecycleStage::PostStart,
];

/// The stage that follows a start.
pub const AFTER_START: [LifecycleStage; 1] = [LifecycleStage::PostStart];

/// The stage that comes before a person's launch.
pub const BEFORE_LAUNCH: [LifecycleStage; 1] = [LifecycleStage::PostAttach];

/// Exit code of `timeout`, which a command that is ended at its deadline has as well.
const TIMED_OUT: i32 = 124;

/// Runs the stages that the plan has, in their order. One that fails keeps the later ones from running, as in the
/// specification; the workspace stands all the same, and the record says what became of each.
pub fn run_stages(
    stages: &[LifecycleStage],
    record: &mut WorkspaceRecord,
    store: &Store,
    settings: &Settings,
    ui: &mut dyn Ui,
) -> Result<(), WorkspaceError> {
    for stage in stages {
        let planned = record.plan.devcontainer.iter().flat_map(|file| &file.commands);
        if !planned.into_iter().any(|command| command.stage == *stage) {
            continue;
        }
        ui.progress(&format!("Running {stage}"));
        let code = run(*stage, record, store, settings)?;
        record.commands.retain(|ran| ran.stage != *stage);
        record.commands.push(RanCommand { stage: *stage, code });
        keep(record, store)?;
        if code != 0 {
            return Err(WorkspaceError::CommandFailed { stage: *stage, code, timed_out: code == TIMED_OUT });
        }
    }
    Ok(())
}

/// A workspace that was removed meanwhile leaves no record behind.
fn keep(record: &WorkspaceRecord, store: &Store) -> Result<(), WorkspaceError> {
    let _lock = store.lock(record.file_name())?;
    if store.has_record(record.file_name()) {
        store.write_record(record)?;
    }
    Ok(())
}

fn run(
    stage: LifecycleStage,
    record: &WorkspaceRecord,
    store: &Store,
    settings: &Settings,
) -> Result<i32, WorkspaceError> {
    let options = LaunchOptions {
        command: LaunchCommand::Lifecycle(stage),
        tty: false,
        workdir: None,
        secrets_fd: None,
    };
    let answer = launch_answer(record, store, settings, options)?;
    Ok(within(&answer, Duration::from_secs(u64::from(limits::LIFECYCLE_DEADLINE_S)))?)
}

/// Its exit code; where it does not end in time, what it started is ended as well.
fn within(answer: &LaunchAnswer, deadline: Duration) -> Result<i32, ClientError> {
    match call(answer, deadline) {
        Err(ClientError::Deadline { .. }) => {
            terminate(answer);
            Ok(TIMED_OUT)
        }
        other => other,
    }
}

fn call(answer: &LaunchAnswer, deadline: Duration) -> Result<i32, ClientError> {
    let mut command = Command::new(&answer.file);
    command.args(&answer.args).env_clear().envs(&answer.env).current_dir(&answer.cwd);
    Ok(run_bounded(command, &answer.file, Input::None, Wanted::Shown, Bounds::time(deadline))?.code)
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
        assert_eq!(within(&quick, Duration::from_secs(20)).unwrap(), 3);
        assert!(!ended.exists());
        let stuck = answer("sleep 60", &ended);
        assert_eq!(within(&stuck, Duration::from_millis(200)).unwrap(), TIMED_OUT);
        assert!(ended.exists());
    }
}

//! Whether something can be started in a workspace now. Its engine is asked while the files are looked at that changed, so
//! that a launch waits for the slower of the two.

use std::thread;

use orca_container_core::{Drift, Resource, Waiting, WorkspaceStatus};

use super::launch::require_whole;
use super::{WorkspaceError, drift, status};
use crate::engine::{Client, Inspector};
use crate::store::WorkspaceRecord;

/// What changed of the repository's files; fails where the container surely does not run, with what `status` says of it. Where
/// the engine does not tell, the launch itself does.
pub fn ready(record: &WorkspaceRecord) -> Result<Vec<Drift>, WorkspaceError> {
    require_whole(record)?;
    let (runs, drift) = thread::scope(|scope| {
        let asked = scope.spawn(|| may_run(record));
        let drift = drift(record);
        (asked.join().unwrap_or(true), drift)
    });
    if runs { Ok(drift) } else { is_running(record).map(|()| drift) }
}

/// Whether nothing speaks against it: one question about the recorded container.
fn may_run(record: &WorkspaceRecord) -> bool {
    let client = Client { program: record.engine.program.clone(), env: record.engine.env.clone() };
    let inspector = Inspector { client: &client, plan: &record.plan };
    match inspector.container(record.container_id.as_deref()) {
        Resource::Present(facts) => facts.running,
        Resource::Absent => false,
        Resource::Unknown { .. } => true,
    }
}

/// The whole look, for the words of a status; somebody may have started it meanwhile.
fn is_running(record: &WorkspaceRecord) -> Result<(), WorkspaceError> {
    let standing = status(record, Vec::new(), Ok(Waiting::default())).of.standing;
    if matches!(standing.status, WorkspaceStatus::Running | WorkspaceStatus::Unverifiable) {
        return Ok(());
    }
    Err(WorkspaceError::NotRunning {
        name: orca_container_core::quoted(&record.workspace.name),
        reason: standing.reason,
        help: standing.help.unwrap_or_default(),
    })
}

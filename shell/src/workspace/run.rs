//! The loop over the core's sequencer: observe once, then do what may be done until the goal is reached.

use std::time::Duration;

use orca_container_core::input::ImageFacts;
use orca_container_core::{
    Action, Command, ContainerFacts, Goal, Phase, ReferenceName, RenderContext, Resource, Sensitive,
    VolumeRef, World, is_sealed, next_actions, render,
};

use super::helper::remove_stray_networks;
use super::{Ui, WorkspaceError};
use crate::engine::{CarryOut, Client, Inspector, Supplies};
use crate::store::{Store, WorkspaceRecord};

mod again;
mod checks;
mod contents;

pub use contents::{Again, Copying};

/// How long the installation's lock is waited for; its holder makes or removes one network.
const NETWORK_PATIENCE: Duration = Duration::from_secs(60);

/// Works on one workspace. The caller holds its lock.
pub struct Runner<'a> {
    /// The store.
    pub store: &'a Store,
    /// The record; written at each step.
    pub record: WorkspaceRecord,
    /// Env-file text of the start variables, for a create.
    pub start_env: Option<Sensitive>,
    /// What a person hands over for a clone from a remote.
    pub clone_secret: Option<Sensitive>,
    /// Ignored files, for a create.
    pub copy: Option<Copying>,
    /// Whether missing kernel evidence is a failure.
    pub strict: bool,
    client: Client,
    image: Option<ImageFacts>,
    world: World,
    carry: CarryOut,
    /// Whether the record is on disk.
    recorded: bool,
    /// Whether it is being removed.
    removing: bool,
}

impl std::fmt::Debug for Runner<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runner").field("record", &self.record).finish_non_exhaustive()
    }
}

impl<'a> Runner<'a> {
    /// A runner for a record; `recorded` tells whether it is on disk already.
    pub fn new(store: &'a Store, record: WorkspaceRecord, recorded: bool) -> Self {
        let client = Client { program: record.engine.program.clone(), env: record.engine.env.clone() };
        let world = World { record: None, observed: orca_container_core::Observed::nothing() };
        Self {
            store,
            record,
            start_env: None,
            clone_secret: None,
            copy: None,
            strict: false,
            client,
            image: None,
            world,
            carry: CarryOut::default(),
            recorded,
            removing: false,
        }
    }

    /// The container, as it was observed last and changed since.
    pub fn observed_container(&self) -> &Resource<ContainerFacts> {
        &self.world.observed.container
    }

    /// Whether the engine has no agent volume of it.
    pub fn agent_volume_is_gone(&self) -> bool {
        self.world.observed.agent_volume == Resource::Absent
    }

    /// Whether the recorded container is there and runs.
    pub fn is_running(&self) -> bool {
        matches!(self.observed_container(), Resource::Present(facts) if facts.ours && facts.running)
    }

    /// Fails where the container is gone, or where the engine does not say.
    pub fn require_container(&self) -> Result<(), WorkspaceError> {
        match self.observed_container() {
            Resource::Present(_) => Ok(()),
            Resource::Absent => {
                Err(WorkspaceError::NoContainer(orca_container_core::quoted(&self.record.workspace.name)))
            }
            Resource::Unknown { why } => {
                let why = format!("The engine does not say what became of the container ({why}).");
                Err(WorkspaceError::Blocked(vec![why]))
            }
        }
    }

    fn inspector(&self) -> Inspector<'_> {
        Inspector { client: &self.client, plan: &self.record.plan }
    }

    /// Looks at the engine anew.
    pub fn observe(&mut self) {
        let known = self.record.container_id.clone();
        self.world.observed = self.inspector().observe(known.as_deref());
        self.world.record = self.recorded.then(|| self.record.progress.clone());
        if self.record.container_id.is_none() {
            // A create that was interrupted before it wrote the id down.
            self.record.container_id = self.inspector().container_id();
        }
        if let Some(id) = &self.record.container_id {
            self.carry.captured.insert(ReferenceName::ContainerId, id.clone());
        }
    }

    /// Does what may be done until the goal is reached.
    pub fn reach(&mut self, goal: Goal, ui: &mut dyn Ui) -> Result<(), WorkspaceError> {
        if goal != Goal::Remove && !is_sealed(&self.record.plan) {
            return Err(WorkspaceError::Blocked(vec![
                "The recorded plan was changed since it was made.".into(),
            ]));
        }
        self.removing = goal == Goal::Remove;
        if self.removing || goal == Goal::Recreate {
            self.remove_left_init();
        }
        let reached = self.step_by_step(goal, ui);
        if reached.is_err() && self.removing && self.record.progress.phase == Phase::CleanupPending {
            // So that a status tells more than that it takes long; a store that cannot be written says so itself.
            let _ = self.write(Phase::CleanupFailed);
        }
        reached
    }

    fn step_by_step(&mut self, goal: Goal, ui: &mut dyn Ui) -> Result<(), WorkspaceError> {
        loop {
            let next =
                next_actions(goal, Some(&self.record.plan), self.world.record.as_ref(), &self.world.observed);
            if next.actions.is_empty() {
                let why =
                    |blocked: &orca_container_core::Blocked| format!("{}: {}", blocked.resource, blocked.why);
                return match next.blocked.as_slice() {
                    [] => {
                        if self.removing {
                            remove_stray_networks(self.store, &self.client);
                        }
                        Ok(())
                    }
                    blocked => Err(WorkspaceError::Blocked(blocked.iter().map(why).collect())),
                };
            }
            for action in next.actions {
                self.perform(action, ui)?;
                self.world.apply(action, self.record.progress.copy);
                self.remember(action)?;
            }
        }
    }

    /// Its volumes cannot go before it. What fails here is told by the step that needs it.
    fn remove_left_init(&self) {
        if let Some(id) = self.inspector().left_init() {
            let _ = self.client.ask(&["rm", "-f", "-v", "--", &id], Duration::from_secs(60));
        }
    }

    /// What a done step changes in the record.
    fn remember(&mut self, action: Action) -> Result<(), WorkspaceError> {
        match action {
            Action::InitVolumes => self.record.progress.volumes_initialized = true,
            Action::CreateVolume(volume) => {
                let progress = &mut self.record.progress;
                let before = (progress.volumes_initialized, progress.reset_agent);
                progress.volumes_initialized = false;
                progress.reset_agent &= volume != VolumeRef::Agent;
                if before == (progress.volumes_initialized, progress.reset_agent) {
                    return Ok(());
                }
            }
            Action::Clone => self.record.progress.cloned = true,
            Action::SetRemote => self.record.progress.remote_set = true,
            Action::CopyIgnoredFiles => self.record.progress.copied = true,
            Action::CreateContainer => {
                self.record.container_id = self.carry.captured.get(&ReferenceName::ContainerId).cloned()
            }
            Action::RemoveContainer => self.record.container_id = None,
            _ => return Ok(()),
        }
        self.save()
    }

    fn perform(&mut self, action: Action, ui: &mut dyn Ui) -> Result<(), WorkspaceError> {
        if let Some(line) = progress(action) {
            ui.progress(line);
        }
        match action {
            Action::WriteRecord(phase) => self.write(phase),
            Action::RemoveRecord => {
                self.remove_former_volumes()?;
                // As long as a record names them: whatever ends a removal that dies here finds them.
                crate::import::forget(&self.record, self.store);
                self.store.remove_record(&self.record)?;
                self.recorded = false;
                Ok(())
            }
            Action::CheckVolume(volume) => self.check_volume(volume),
            Action::CheckContainer => self.check_container(),
            Action::CheckProcess if self.record.progress.anew => {
                self.check_process(ui)?;
                self.check_tools()?;
                self.check_writable()
            }
            Action::CheckProcess => self.check_process(ui),
            Action::Clone => {
                self.check_tools()?;
                self.check_writable()?;
                self.clone_repository()
            }
            Action::CopyIgnoredFiles => self.copy_ignored_files(ui),
            Action::CreateNetwork | Action::RemoveNetwork => self.on_network(action),
            _ => self.carry_out(action),
        }
    }

    /// What plans of before had, by name and labels: the record that names them goes next.
    fn remove_former_volumes(&self) -> Result<(), WorkspaceError> {
        for volume in &self.record.former_volumes {
            match self.inspector().former_volume(volume) {
                Resource::Present(facts) if facts.ours => {
                    let answer = self.client.ask(&["volume", "rm", "--", &volume.name], NETWORK_PATIENCE)?;
                    if answer.code != 0 {
                        return Err(answer.unusable(&self.client.program).into());
                    }
                }
                Resource::Unknown { why } => return Err(WorkspaceError::Blocked(vec![why])),
                Resource::Present(_) | Resource::Absent => {}
            }
        }
        Ok(())
    }

    /// A docker network serves the whole installation, so it is looked at again under the installation's lock:
    /// another workspace may have made it, or may have begun to use it, since it was observed.
    fn on_network(&mut self, action: Action) -> Result<(), WorkspaceError> {
        let lock = self.store.lock_patiently("install", NETWORK_PATIENCE)?;
        let now = self.inspector().network(self.record.container_id.as_deref());
        let making = action == Action::CreateNetwork;
        let done = match &now {
            Resource::Present(network) if making => network.ours,
            Resource::Present(network) => network.in_use || !network.ours,
            Resource::Absent => !making,
            Resource::Unknown { .. } => false,
        };
        let result = if done { Ok(()) } else { self.carry_out(action) };
        lock.remove();
        result
    }

    fn write(&mut self, phase: Phase) -> Result<(), WorkspaceError> {
        self.record.progress.phase = phase;
        self.record.progress.anew &= phase != Phase::Running;
        self.save()?;
        self.recorded = true;
        Ok(())
    }

    /// A full disk stops no removal: the record that is there names everything that goes, and removing it again
    /// harms nothing.
    fn save(&self) -> Result<(), WorkspaceError> {
        match self.store.write_record(&self.record) {
            Err(_) if self.removing && self.store.has_record(self.record.file_name()) => Ok(()),
            other => Ok(other?),
        }
    }

    fn command(&self, action: Action) -> Command {
        let client = self.record.engine.client();
        let workspace = &self.record.workspace;
        let (repo_path, commit) = (workspace.repo_path.as_str(), workspace.commit.as_deref());
        render(action, &self.record.plan, &RenderContext { client: Some(&client), repo_path, commit })
    }

    fn carry_out(&mut self, action: Action) -> Result<(), WorkspaceError> {
        let command = self.command(action);
        let supplies = Supplies { start_env: self.start_env.as_ref(), ..Supplies::default() };
        self.carry.run(action, &command, supplies)?;
        Ok(())
    }

    fn container_id(&self) -> String {
        self.carry.captured.get(&ReferenceName::ContainerId).cloned().unwrap_or_default()
    }
}

/// What a person is told before a step.
fn progress(action: Action) -> Option<&'static str> {
    Some(match action {
        Action::CreateNetwork => "Making the network",
        Action::CreateVolume(_) => "Making a volume",
        Action::InitVolumes => "Giving the volumes to the workspace's user",
        Action::CreateContainer => "Making the container",
        Action::CheckContainer => "Comparing it with the plan",
        Action::StartContainer => "Starting it",
        Action::Clone => "Cloning the repository into it",
        Action::CopyIgnoredFiles => "Copying ignored files into it",
        Action::StopContainer => "Stopping the container",
        Action::RemoveContainer => "Removing the container",
        Action::RemoveVolume(_) => "Removing a volume",
        Action::RemoveNetwork => "Removing the network, unless others use it",
        _ => return None,
    })
}

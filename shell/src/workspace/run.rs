//! The loop over the core's sequencer: observe once, then do what may be done until the goal is reached.

use std::path::{Path, PathBuf};
use std::time::Duration;

use orca_container_core::input::ImageFacts;
use orca_container_core::{
    Action, ActionKind, Command, Goal, MISSING_TOOLS, NOT_WRITABLE, Phase, ReferenceName, RenderContext,
    RepositoryPath, Resource, Sensitive, World, differences, is_sealed, next_actions, render,
};

use super::{Ui, WorkspaceError};
use crate::copy::{Budget, Collected, collect, write_archive};
use crate::engine::{
    CarryOut, CarryOutError, Client, Input, Inspector, Supplies, Wanted, Writer, check_room,
    image_configuration,
};
use crate::gather::ignored::{is_ignored, tracked};
use crate::gather::own_objects::OwnObjects;
use crate::store::{Store, WorkspaceRecord};

/// How long the installation's lock is waited for; its holder makes or removes one network.
const NETWORK_PATIENCE: Duration = Duration::from_secs(60);

/// What [`MISSING_TOOLS`] asks for.
const TOOLS: [&str; 9] = ["git", "tar", "mkdir", "mv", "rm", "cat", "sleep", "grep", "/usr/bin/env"];

/// Which ignored files are copied, and from where.
#[derive(Debug)]
pub struct Copying {
    /// The checkout that has them.
    pub checkout: PathBuf,
    /// The commit that is cloned: what is in it is not written over.
    pub commit: String,
    /// What the plan says is copied.
    pub files: Vec<RepositoryPath>,
}

/// Works on one workspace. The caller holds its lock.
pub struct Runner<'a> {
    /// The store.
    pub store: &'a Store,
    /// The record; written at each step.
    pub record: WorkspaceRecord,
    /// Env-file text of the start variables, for a create.
    pub start_env: Option<Sensitive>,
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
        if self.removing {
            self.remove_left_init();
        }
        loop {
            let next =
                next_actions(goal, Some(&self.record.plan), self.world.record.as_ref(), &self.world.observed);
            if next.actions.is_empty() {
                let why =
                    |blocked: &orca_container_core::Blocked| format!("{}: {}", blocked.resource, blocked.why);
                return match next.blocked.as_slice() {
                    [] => Ok(()),
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
            let args = ["rm", "-f", "-v", "--", &id].map(String::from);
            let _ = self.client.call(&args, Input::None, Wanted::Kept, Duration::from_secs(60));
        }
    }

    /// What a done step changes in the record.
    fn remember(&mut self, action: Action) -> Result<(), WorkspaceError> {
        match action {
            Action::InitVolumes => self.record.progress.volumes_initialized = true,
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
                self.store.remove_record(&self.record)?;
                self.recorded = false;
                Ok(())
            }
            Action::CheckVolume(role) => all_match(differences(&self.inspector().check_volume(role))),
            Action::CheckContainer => self.check_container(),
            Action::CheckProcess => self.check_process(ui),
            Action::Clone => {
                self.check_tools()?;
                self.check_writable()?;
                self.clone(action)
            }
            Action::CopyIgnoredFiles => self.copy_ignored_files(ui),
            Action::CreateNetwork | Action::RemoveNetwork => self.on_network(action),
            _ => self.carry_out(action),
        }
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
        let client = self.record.engine.facts().client;
        let workspace = &self.record.workspace;
        let (repo_path, commit) = (workspace.repo_path.as_str(), workspace.commit.as_deref());
        render(action, &self.record.plan, &RenderContext { client: Some(&client), repo_path, commit })
    }

    /// What is cloned lies in the repository itself, right before the bundle and still after it.
    fn clone(&mut self, action: Action) -> Result<(), WorkspaceError> {
        let own = OwnObjects::check(Path::new(&self.record.workspace.repo_path))?;
        self.carry_out(action)?;
        Ok(own.still()?)
    }

    fn carry_out(&mut self, action: Action) -> Result<(), WorkspaceError> {
        let command = self.command(action);
        let supplies = Supplies { start_env: self.start_env.as_ref(), archive: None };
        self.carry.run(action, &command, supplies)?;
        Ok(())
    }

    /// Measured before a byte is written; what is left out is told and kept in the record.
    fn copy_ignored_files(&mut self, ui: &mut dyn Ui) -> Result<(), WorkspaceError> {
        let missing = || WorkspaceError::NotFound("the list of ignored files".into());
        let Copying { checkout, commit, files } = self.copy.take().ok_or_else(missing)?;
        let tracked = tracked(&checkout, &commit, &files)?;
        let ignores = |path: &[u8]| is_ignored(&checkout, path).unwrap_or(false);
        let found =
            collect(&checkout, &files, &tracked, Budget::ORCA, &ignores).map_err(WorkspaceError::Checkout)?;
        let Collected { items, mut report } = found;
        self.leaves_room_for(report.bytes)?;
        let command = self.command(Action::CopyIgnoredFiles);
        let files: Writer<'_> = Box::new(|output| write_archive(&checkout, &items, &mut report, output));
        let supplies = Supplies { start_env: None, archive: Some(files) };
        self.carry.run(Action::CopyIgnoredFiles, &command, supplies)?;
        report.lines().iter().for_each(|line| ui.progress(line));
        self.record.copied = Some(report);
        Ok(())
    }

    /// The floor holds after the copy as well: what is copied is known before a byte of it is written.
    fn leaves_room_for(&self, bytes: u64) -> Result<(), WorkspaceError> {
        check_room(self.record.engine.kind, &self.record.engine.data_places, bytes)?;
        Ok(())
    }

    fn container_id(&self) -> String {
        self.carry.captured.get(&ReferenceName::ContainerId).cloned().unwrap_or_default()
    }

    /// The image as it is now, by the id that the plan froze.
    fn image(&mut self) -> Result<ImageFacts, WorkspaceError> {
        if self.image.is_none() {
            self.image = Some(image_configuration(&self.client, &self.record.image.id)?);
        }
        self.image.clone().ok_or_else(|| WorkspaceError::NotFound("the image".into()))
    }

    /// Before it starts: nothing of the image or the repository has run yet.
    fn check_container(&mut self) -> Result<(), WorkspaceError> {
        let image = self.image()?;
        let id = self.container_id();
        let mut found = differences(&self.inspector().check_network());
        found.extend(differences(&self.inspector().check_container(&id, &image)));
        all_match(found)
    }

    fn check_process(&mut self, ui: &mut dyn Ui) -> Result<(), WorkspaceError> {
        let found = self.inspector().check_process(&self.container_id());
        if let Some(found) = &found {
            all_match(differences(&found.checks))?;
        }
        match found {
            Some(found) if found.complete => Ok(()),
            _ if self.strict => Err(WorkspaceError::NoKernelEvidence),
            _ => {
                ui.progress(
                    "The kernel's view of the container cannot be read whole here (kernel_evidence_unavailable).",
                );
                Ok(())
            }
        }
    }

    fn check_tools(&mut self) -> Result<(), WorkspaceError> {
        let mut missing = self.lines_of(&["-c", MISSING_TOOLS])?;
        // What else an image's shell prints is no answer.
        missing.retain(|word| TOOLS.contains(&word.as_str()));
        if missing.is_empty() { Ok(()) } else { Err(WorkspaceError::MissingTools(missing)) }
    }

    /// A volume that its user cannot write to is said as such, and not as whatever fails in it first.
    fn check_writable(&mut self) -> Result<(), WorkspaceError> {
        let targets: Vec<String> = self
            .record
            .plan
            .mounts
            .iter()
            .filter(|mount| !mount.read_only)
            .map(|mount| mount.target.clone())
            .collect();
        let mut words = vec!["-c", NOT_WRITABLE, "sh"];
        words.extend(targets.iter().map(String::as_str));
        let mut folders = self.lines_of(&words)?;
        folders.retain(|folder| targets.contains(folder));
        let user = &self.record.plan.user;
        let user = format!("{}:{}", user.uid, user.gid);
        if folders.is_empty() { Ok(()) } else { Err(WorkspaceError::NotWritable { user, folders }) }
    }

    /// What a shell of the container prints, word by word, escaped.
    fn lines_of(&self, words: &[&str]) -> Result<Vec<String>, WorkspaceError> {
        let id = self.container_id();
        let args: Vec<String> = ["exec", "--workdir=/", "--", &id, "/bin/sh"]
            .iter()
            .chain(words)
            .map(|word| (*word).into())
            .collect();
        let answer = self.client.call(&args, Input::None, Wanted::Kept, Duration::from_secs(60))?;
        if answer.code != 0 {
            let complaint = answer.complaint();
            return Err(
                CarryOutError::Failed { action: ActionKind::Clone, code: answer.code, complaint }.into()
            );
        }
        Ok(answer.text().split_whitespace().map(orca_container_core::escaped).collect())
    }
}

fn all_match(differences: Vec<String>) -> Result<(), WorkspaceError> {
    if differences.is_empty() { Ok(()) } else { Err(WorkspaceError::Difference(differences)) }
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

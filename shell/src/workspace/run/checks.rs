//! What must hold before a step: the engine's and the kernel's word against the plan, and what the image has and its user
//! may do.

use std::time::Duration;

use orca_container_core::input::ImageFacts;
use orca_container_core::{ActionKind, MISSING_TOOLS, NOT_WRITABLE, VolumeRef, differences};

use super::super::{Ui, WorkspaceError};
use super::Runner;
use crate::engine::{CarryOutError, image_configuration};

/// How long the container's shell may take to look around.
const PATIENCE: Duration = Duration::from_secs(60);

/// What [`MISSING_TOOLS`] asks for.
const TOOLS: [&str; 9] = ["git", "tar", "mkdir", "mv", "rm", "cat", "sleep", "grep", "/usr/bin/env"];

impl Runner<'_> {
    pub(super) fn check_volume(&self, volume: VolumeRef) -> Result<(), WorkspaceError> {
        all_match(differences(&self.inspector().check_volume(volume)))
    }

    /// The image as it is now, by the id that the plan froze.
    pub(super) fn image(&mut self) -> Result<ImageFacts, WorkspaceError> {
        if self.image.is_none() {
            self.image = Some(image_configuration(&self.client, &self.record.image.id)?);
        }
        self.image.clone().ok_or_else(|| WorkspaceError::NotFound("the image".into()))
    }

    /// Before it starts: nothing of the image or the repository has run yet.
    pub(super) fn check_container(&mut self) -> Result<(), WorkspaceError> {
        let image = self.image()?;
        let id = self.container_id();
        let mut found = differences(&self.inspector().check_network());
        found.extend(differences(&self.inspector().check_container(&id, &image)));
        all_match(found)
    }

    pub(super) fn check_process(&mut self, ui: &mut dyn Ui) -> Result<(), WorkspaceError> {
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

    pub(super) fn check_tools(&mut self) -> Result<(), WorkspaceError> {
        let mut missing = self.lines_of(&["-c", MISSING_TOOLS])?;
        // What else an image's shell prints is no answer.
        missing.retain(|word| TOOLS.contains(&word.as_str()));
        if missing.is_empty() { Ok(()) } else { Err(WorkspaceError::MissingTools(missing)) }
    }

    /// A volume that its user cannot write to is said as such, and not as whatever fails in it first.
    pub(super) fn check_writable(&mut self) -> Result<(), WorkspaceError> {
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
        let args = [&["exec", "--workdir=/", "--", &id, "/bin/sh"], words].concat();
        let answer = self.client.ask(&args, PATIENCE)?;
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

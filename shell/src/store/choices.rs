//! What a person chose when a workspace was made, for when its container is made anew. No variable: those are in
//! `values/`, where they can be edited.

use orca_container_core::ContainerPlan;
use orca_container_core::input::ContainerOptions;
use serde::{Deserialize, Serialize};

/// The choices of a create's command line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RecordedChoices {
    /// Where the code lives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// The network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// The runtime.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// The user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Start variables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_env: Option<Vec<String>>,
    /// Published ports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ports: Option<Vec<u16>>,
    /// Whether ignored files are copied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy_ignored_files: Option<bool>,
    /// The devcontainer.json that was chosen among several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub devcontainer: Option<String>,
}

impl RecordedChoices {
    /// What is kept of a person's words.
    pub fn of(options: &ContainerOptions, devcontainer: Option<&str>) -> Self {
        Self {
            mode: options.mode.clone(),
            image: options.image.clone(),
            template: options.template.clone(),
            network: options.network.clone(),
            runtime: options.runtime.clone(),
            user: options.user.clone(),
            start_env: options.start_env.clone(),
            ports: options.ports.clone(),
            copy_ignored_files: options.copy_ignored_files,
            devcontainer: devcontainer.map(String::from),
        }
    }

    /// What a workspace of before, whose record has none, is made anew with: what its plan came to.
    pub fn of_plan(plan: &ContainerPlan) -> Self {
        let image = if plan.devcontainer.is_some() { "devcontainer" } else { plan.image.reference.as_str() };
        Self {
            image: Some(image.into()),
            template: Some(plan.limits.template.to_string()),
            network: Some(plan.network.mode.to_string()),
            runtime: plan.runtime.clone(),
            ..Self::default()
        }
    }

    /// Takes what is chosen otherwise.
    pub fn take(&mut self, options: &ContainerOptions, devcontainer: Option<&str>) {
        let new = Self::of(options, devcontainer);
        let either = |new: Option<String>, old: &mut Option<String>| *old = new.or(old.take());
        either(new.mode, &mut self.mode);
        either(new.image, &mut self.image);
        either(new.template, &mut self.template);
        either(new.network, &mut self.network);
        either(new.runtime, &mut self.runtime);
        either(new.user, &mut self.user);
        either(new.devcontainer, &mut self.devcontainer);
        self.start_env = new.start_env.or(self.start_env.take());
        self.ports = new.ports.or(self.ports.take());
        self.copy_ignored_files = new.copy_ignored_files.or(self.copy_ignored_files);
    }

    /// The options, without variables.
    pub fn options(&self) -> ContainerOptions {
        ContainerOptions {
            enabled: Some(true),
            mode: self.mode.clone(),
            image: self.image.clone(),
            template: self.template.clone(),
            network: self.network.clone(),
            runtime: self.runtime.clone(),
            user: self.user.clone(),
            start_env: self.start_env.clone(),
            ports: self.ports.clone(),
            copy_ignored_files: self.copy_ignored_files,
            ..ContainerOptions::default()
        }
    }
}

//! The record of a workspace: what it is, what was decided, how far it got. Written before the first effect.

use std::collections::BTreeMap;

use orca_container_core::input::{
    AskedUser, DevcontainerFile, EngineClient, EngineFacts, ImageFacts, RepositoryFile, Workspace,
    WorktreeIncludeFile,
};
use orca_container_core::{
    CloneFrom, ContainerPlan, DEVCONTAINER_LABEL, Endpoint, EngineKind, LifecycleStage, LimitKind, Record,
    Sensitive, VolumePlan, template_size,
};
use serde::{Deserialize, Serialize};

use super::choices::RecordedChoices;
use crate::copy::CopyReport;

/// A workspace, as it is kept.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceRecord {
    /// Shape of the file.
    pub schema_version: u32,
    /// The installation that made it.
    pub install_id: String,
    /// The workspace.
    pub workspace: RecordedWorkspace,
    /// The engine it is on.
    pub engine: RecordedEngine,
    /// The image it is made from.
    pub image: RecordedImage,
    /// How far it got.
    pub progress: Record,
    /// The container's full id, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container_id: Option<String>,
    /// What became of the repository's commands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<RanCommand>,
    /// What became of the copy of ignored files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copied: Option<CopyReport>,
    /// The frozen plan.
    pub plan: ContainerPlan,
    /// The agent it was made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What the person chose when it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choices: Option<RecordedChoices>,
    /// Volumes that plans of before had: kept until the workspace is removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former_volumes: Vec<VolumePlan>,
    /// Host variables that the person forwards into this workspace.
    #[serde(default)]
    pub forward_host_env: Vec<String>,
    /// The repository's texts as they were at create.
    pub texts: FrozenTexts,
    /// Whether it was cloned from a remote, and what its files say was not looked at yet: nobody is let in until then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub texts_due: bool,
    /// Fields of later versions, kept.
    #[serde(flatten)]
    pub more: serde_json::Map<String, serde_json::Value>,
}

impl std::fmt::Debug for WorkspaceRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkspaceRecord")
            .field("name", &self.file_name())
            .field("progress", &self.progress)
            .finish_non_exhaustive()
    }
}

impl WorkspaceRecord {
    /// Name of its files: the container's.
    pub fn file_name(&self) -> &str {
        &self.plan.names.container
    }

    /// Facts of the engine enough for a launch and for a plan as it was made, without asking it again.
    pub fn engine_facts(&self) -> EngineFacts {
        let engine = &self.engine;
        let capacity = engine.capacity.clone().unwrap_or_else(|| RecordedCapacity::of_plan(&self.plan));
        EngineFacts {
            kind: engine.kind,
            version: engine.version.clone(),
            endpoint: engine.endpoint,
            rootless: false,
            userns: false,
            cpus: capacity.cpus,
            memory_bytes: 0,
            limits: capacity.limits,
            cgroup_version: None,
            runtimes: capacity.runtimes,
            nproc_needed: capacity.nproc_needed,
            selinux: false,
            apparmor: false,
            debug: false,
            vulnerabilities: Vec::new(),
            client: engine.client(),
        }
    }
}

/// A repository's commands that were run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RanCommand {
    /// Of which stage.
    pub stage: LifecycleStage,
    /// How they ended; 0 is well.
    pub code: i32,
}

/// A workspace's ids and places.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedWorkspace {
    /// Its id.
    pub id: String,
    /// Its instance.
    pub instance_id: String,
    /// Its repository.
    pub repository_id: String,
    /// Its name.
    pub name: String,
    /// Its branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit that was judged and cloned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The branch it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Whether the branch began in the workspace.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub new_branch: bool,
    /// Where the clone came from.
    #[serde(default = "CloneFrom::host", skip_serializing_if = "CloneFrom::is_host")]
    pub clone_from: CloneFrom,
    /// The repository on the host.
    pub repo_path: String,
    /// The worktree on the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_path: Option<String>,
    /// The common git folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_common_dir: Option<String>,
}

impl RecordedWorkspace {
    /// What is kept of a request's workspace: no remote, whose URL may hold a password.
    pub fn of(workspace: &Workspace) -> Self {
        Self {
            id: workspace.id.clone(),
            instance_id: workspace.instance_id.clone(),
            repository_id: workspace.repository_id.clone(),
            name: workspace.name.clone(),
            branch: workspace.branch.clone(),
            commit: workspace.commit.clone(),
            base: workspace.base.clone(),
            new_branch: workspace.new_branch,
            clone_from: workspace.clone_from,
            repo_path: workspace.repo_path.clone(),
            worktree_path: workspace.worktree_path.clone(),
            git_common_dir: workspace.git_common_dir.clone(),
        }
    }

    /// The workspace of a later request.
    pub fn workspace(&self) -> Workspace {
        Workspace {
            id: self.id.clone(),
            instance_id: self.instance_id.clone(),
            repository_id: self.repository_id.clone(),
            name: self.name.clone(),
            branch: self.branch.clone(),
            commit: self.commit.clone(),
            base: self.base.clone(),
            new_branch: self.new_branch,
            clone_from: self.clone_from,
            repo_path: self.repo_path.clone(),
            worktree_path: self.worktree_path.clone(),
            git_common_dir: self.git_common_dir.clone(),
            // What it was cloned from is what its folder is called by; it holds nothing secret.
            remote_url: (!self.clone_from.is_host()).then(|| Sensitive::new(&self.repository_id)),
            owner_uid: None,
            owner_gid: None,
        }
    }
}

/// How the engine is reached.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedEngine {
    /// docker or podman.
    pub kind: EngineKind,
    /// Its version at create.
    pub version: String,
    /// How it is reached.
    pub endpoint: Endpoint,
    /// The client's program.
    pub program: String,
    /// The client's environment.
    pub env: BTreeMap<String, String>,
    /// Folders of this machine where the engine keeps its data; none where they could not be measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data_places: Vec<String>,
    /// What a plan took of the engine; absent in records of before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<RecordedCapacity>,
}

/// What a plan takes of an engine beside its kind: kept so that the settings of now can be planned without asking it again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedCapacity {
    /// Its CPUs.
    pub cpus: u32,
    /// Limits it enforces.
    pub limits: Vec<LimitKind>,
    /// Runtimes it knows by name.
    pub runtimes: Vec<String>,
    /// Processes of a user, where a start fails without saying it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nproc_needed: Option<u64>,
}

impl RecordedCapacity {
    fn of(facts: &EngineFacts) -> Self {
        Self {
            cpus: facts.cpus,
            limits: facts.limits.clone(),
            runtimes: facts.runtimes.clone(),
            nproc_needed: facts.nproc_needed,
        }
    }

    /// As much as a plan tells of the engine that it was made for; what it does not tell is taken for enough.
    fn of_plan(plan: &ContainerPlan) -> Self {
        let whole = template_size(plan.limits.template).1;
        let had = plan.limits.nano_cpus.div_ceil(1_000_000_000);
        Self {
            cpus: u32::try_from(had).ok().filter(|_| had < whole).unwrap_or(u32::MAX),
            limits: LimitKind::ALL
                .iter()
                .copied()
                .filter(|kind| !plan.limits.advisory.contains(kind))
                .collect(),
            runtimes: plan.runtime.iter().cloned().collect(),
            nproc_needed: plan.limits.nproc,
        }
    }
}

impl RecordedEngine {
    /// What is kept of an engine's facts.
    pub fn of(facts: &EngineFacts) -> Self {
        Self {
            kind: facts.kind,
            version: facts.version.clone(),
            endpoint: facts.endpoint,
            program: facts.client.program.clone(),
            env: facts.client.env.clone(),
            data_places: Vec::new(),
            capacity: Some(RecordedCapacity::of(facts)),
        }
    }

    /// How its client is run.
    pub fn client(&self) -> EngineClient {
        EngineClient { program: self.program.clone(), env: self.env.clone(), pull_docker_config: None }
    }
}

/// What is kept of an image: names of its variables, never their values.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedImage {
    /// Its id.
    pub id: String,
    /// Its user as written.
    pub user: String,
    /// uid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// gid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gid: Option<u32>,
    /// Home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// The user that the devcontainer.json asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_user: Option<RecordedUser>,
    /// Names in its ENV.
    pub env_names: Vec<String>,
}

/// A user that was looked up in an image.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedUser {
    /// As it was asked for.
    pub said: String,
    /// uid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<u32>,
    /// gid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gid: Option<u32>,
    /// Home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
}

impl RecordedImage {
    /// What is kept of an image's facts.
    pub fn of(facts: &ImageFacts) -> Self {
        let name = |entry: &Sensitive| entry.reveal().split('=').next().unwrap_or("").to_owned();
        Self {
            id: facts.id.clone(),
            user: facts.user.clone(),
            uid: facts.uid,
            gid: facts.gid,
            home: facts.home.clone(),
            asked_user: facts.asked_user.as_ref().map(|user| RecordedUser {
                said: user.said.clone(),
                uid: user.uid,
                gid: user.gid,
                home: user.home.clone(),
            }),
            env_names: facts.env.iter().map(name).collect(),
        }
    }

    /// Facts enough for a launch and for a plan as it was made: the variables' names are there, their values empty.
    pub fn facts(&self) -> ImageFacts {
        // A user was looked up for a devcontainer.json or for the image's label. Where it was for the file, the label says
        // nothing more by naming the same.
        let label = |user: &RecordedUser| {
            let text = serde_json::json!([{ "remoteUser": user.said }]).to_string();
            (DEVCONTAINER_LABEL.to_owned(), text)
        };
        ImageFacts {
            id: self.id.clone(),
            repo_digests: Vec::new(),
            env: self.env_names.iter().map(|name| Sensitive::new(&format!("{name}="))).collect(),
            user: self.user.clone(),
            uid: self.uid,
            gid: self.gid,
            home: self.home.clone(),
            asked_user: self.asked_user.clone().map(|user| AskedUser {
                said: user.said,
                uid: user.uid,
                gid: user.gid,
                home: user.home,
            }),
            labels: self.asked_user.iter().map(label).collect(),
            entrypoint: Vec::new(),
            volumes: Vec::new(),
            healthcheck: false,
        }
    }
}

/// A frozen text.
#[derive(Clone, Serialize, Deserialize)]
pub struct FrozenText {
    /// Its path in the repository.
    pub path: String,
    /// The text.
    pub text: String,
}

/// The repository's texts.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrozenTexts {
    /// orca.yaml.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orca_yaml: Option<FrozenText>,
    /// devcontainer.json.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devcontainer: Option<FrozenText>,
    /// .worktreeinclude.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_include: Option<String>,
    /// The commit that they are of, where it is not the one that was cloned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

impl FrozenTexts {
    /// The texts of a request.
    pub fn of(request: &orca_container_core::input::PlanRequest) -> Self {
        let frozen =
            |path: &str, text: &Sensitive| FrozenText { path: path.into(), text: text.reveal().into() };
        Self {
            orca_yaml: request.orca_yaml.as_ref().map(|file| frozen(&file.path, &file.text)),
            devcontainer: request.devcontainer.as_ref().map(|file| frozen(&file.path, &file.text)),
            worktree_include: request.worktree_include.as_ref().map(|file| file.text.reveal().into()),
            commit: request.workspace.commit.clone(),
        }
    }

    /// orca.yaml, as the core takes it.
    pub fn orca_yaml(&self) -> Option<RepositoryFile> {
        self.orca_yaml
            .as_ref()
            .map(|file| RepositoryFile { path: file.path.clone(), text: Sensitive::new(&file.text) })
    }

    /// devcontainer.json, as the core takes it.
    pub fn devcontainer(&self) -> Option<DevcontainerFile> {
        let file = self.devcontainer.as_ref()?;
        Some(DevcontainerFile { path: file.path.clone(), text: Sensitive::new(&file.text), dockerfile: None })
    }

    /// .worktreeinclude, as the core takes it.
    pub fn worktree_include(&self) -> Option<WorktreeIncludeFile> {
        let text = self.worktree_include.as_ref()?;
        Some(WorktreeIncludeFile { text: Sensitive::new(text), ignored: Vec::new() })
    }
}

impl std::fmt::Debug for FrozenTexts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FrozenTexts([hidden])")
    }
}

impl std::fmt::Debug for FrozenText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FrozenText").field("path", &self.path).finish_non_exhaustive()
    }
}

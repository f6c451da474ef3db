//! The closed vocabularies of the boundary: every enum word that crosses it, spelled once.
//!
//! The lists are extended in order and a word is never used again for something else.

/// Declares an enum whose variants are exactly the words of one closed list.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])+ $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name { $($(#[$doc])+ #[serde(rename = $word)] $variant,)+ }

        impl $name {
            /// Every word of the list, in its order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The word as it stands in JSON.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// The variant of exactly this word; letter case counts.
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result { f.write_str(self.as_str()) }
        }
    };
}
pub(crate) use words;

words! {
    /// Where something was said.
    Origin {
        /// The user's or operator's settings for all repositories.
        GlobalSettings = "global_settings",
        /// The user's settings for one repository.
        RepoSettings = "repo_settings",
        /// The dialog or the command line.
        Choices = "choices",
        /// A file of variables that a person named.
        EnvFile = "env_file",
        /// The repository's orca.yaml.
        OrcaYaml = "orca_yaml",
        /// The repository's devcontainer.json.
        Devcontainer = "devcontainer",
        /// The repository's .worktreeinclude.
        WorktreeInclude = "worktree_include",
        /// The image's own configuration.
        Image = "image",
        /// The host's environment.
        Host = "host",
        /// Orca itself.
        Orca = "orca",
        /// The GitHub account bound to the repository.
        GhAccount = "gh_account",
        /// The user's secret store.
        Secret = "secret",
        /// The operator's maximum.
        Maximum = "maximum",
        /// What the engine said of itself.
        Engine = "engine",
        /// Nobody said anything.
        Default = "default",
        /// The request itself.
        Request = "request",
    }
}

words! {
    /// The layers of the environment; the order of declaration **is** the precedence, lowest first.
    Layer {
        /// The image's ENV, then devcontainer.json.
        Image = "image",
        /// The launched agent's default environment.
        Agent = "agent",
        /// The project's agent environment and its GitHub account.
        Project = "project",
        /// Copied files; they carry no variables.
        Files = "files",
        /// Host variables that were allowed by name.
        Host = "host",
        /// Secrets by name.
        Secret = "secret",
        /// Container-only variables of the project: orca.yaml, then repo settings.
        ContainerProject = "container_project",
        /// Container-only variables of the workspace: env file, then dialog or command line.
        ContainerWorkspace = "container_workspace",
        /// Orca's own variables; above all others.
        Orca = "orca",
    }
}

words! {
    /// What became of a workspace.
    WorkspaceStatus {
        /// It is being made, or its container is made anew.
        Provisioning = "provisioning",
        /// Its container runs.
        Running = "running",
        /// Its container is stopped.
        Stopped = "stopped",
        /// The engine has no container of it.
        Missing = "missing",
        /// It is being removed.
        Removing = "removing",
        /// The engine did not say, or what it has is not the recorded one.
        Unverifiable = "unverifiable",
    }
}

words! {
    /// Whether something of a workspace runs.
    Verdict {
        /// It runs.
        Live = "live",
        /// Nobody could tell.
        Unverifiable = "unverifiable",
        /// Nothing runs.
        Exited = "exited",
    }
}

words! {
    /// How a badge stands out.
    Tone {
        /// All is well.
        Good = "good",
        /// Nothing runs, and nothing is wrong.
        Idle = "idle",
        /// Somebody should look.
        Attention = "attention",
        /// Something is lost or failed.
        Problem = "problem",
    }
}

words! {
    /// What a person does with a workspace; each is a command.
    WorkspaceAction {
        /// Make it.
        Create = "create",
        /// Start its container.
        Start = "start",
        /// Stop its container.
        Stop = "stop",
        /// Stop and start its container.
        Restart = "restart",
        /// Make its container anew.
        Recreate = "recreate",
        /// Remove it.
        Remove = "rm",
    }
}

words! {
    /// Why a change waits for a container that is made anew.
    RecreateReason {
        /// The container has it from when it is made.
        Container = "container",
        /// The variable is there from the container's start.
        StartVariable = "start_variable",
        /// The repository's files count as they were frozen, until a person adopts others.
        RepositoryFile = "repository_file",
    }
}

words! {
    /// Where the clone in the workspace volume comes from.
    CloneFrom {
        /// The repository on this computer, as a bundle.
        Host = "host",
        /// The remote, fetched by git in the container.
        Remote = "remote",
    }
}

impl CloneFrom {
    /// Where nothing else is said.
    pub fn host() -> Self {
        Self::Host
    }

    /// Whether it is the repository on this computer.
    pub fn is_host(&self) -> bool {
        *self == Self::Host
    }
}

words! {
    /// What became of a variable.
    EnvState {
        /// It is what the process gets.
        Active = "active",
        /// A stronger layer won.
        Shadowed = "shadowed",
        /// It waits for a person's approval and is absent until then.
        Pending = "pending",
        /// It was refused, and with it the plan.
        Refused = "refused",
        /// It was left out.
        Dropped = "dropped",
        /// The image has it and the container will not.
        Removed = "removed",
    }
}

words! {
    /// How a variable gets into a process.
    Delivery {
        /// It is in the image.
        Image = "image",
        /// It is handed over at each launch.
        Launch = "launch",
        /// It is there from the container's start; an edit needs a recreate.
        Start = "start",
    }
}

words! {
    /// What it takes until an edit of a variable reaches a process.
    EditCost {
        /// The next launch has it; running processes keep theirs.
        NextLaunch = "next_launch",
        /// The container is made anew, its volumes are kept.
        Recreate = "recreate",
        /// The repository's texts are frozen: a recreate adopts the changed ones.
        AdoptRepositoryConfig = "adopt_repository_config",
        /// It is the image's; a stronger layer can set it for the next launch.
        Image = "image",
        /// It is Orca's own, and nobody edits it.
        Fixed = "fixed",
    }
}

words! {
    /// What became of a variable since the last launch of a workspace.
    EnvChange {
        /// The last launch did not have it.
        New = "new",
        /// The last launch had it, the next one will not.
        Gone = "gone",
        /// Another layer or place gives it.
        Moved = "moved",
        /// A person edited it for this workspace.
        Edited = "edited",
        /// A start variable that has another value now, or one that became or ceased to be one: that takes a recreate.
        Recreate = "recreate",
    }
}

words! {
    /// Where a file of the repository is not what it was when the workspace was made.
    DriftPlace {
        /// In the commit that the recorded branch is at on the host; what a recreate adopts.
        Commit = "commit",
        /// In the worktree on the host, not committed.
        Worktree = "worktree",
        /// In the clone inside the container, where the agent works.
        Workspace = "workspace",
    }
}

words! {
    /// How a file of the repository differs from the frozen one.
    DriftKind {
        /// Its text is another.
        Changed = "changed",
        /// It was not there.
        Added = "added",
        /// It is not there any more.
        Removed = "removed",
        /// It could not be looked at.
        Unknown = "unknown",
    }
}

words! {
    /// Where the code lives.
    Mode {
        /// A clone inside a named volume; nothing of the host is mounted.
        Volume = "volume",
        /// The host's worktree at the same path.
        Mounted = "mounted",
    }
}

words! {
    /// What a container reaches, narrow to wide.
    Network {
        /// Loopback only.
        None = "none",
        /// Named hosts only.
        Allowlist = "allowlist",
        /// A network of its own with a way out.
        Bridge = "bridge",
    }
}

words! {
    /// Sizes of a container, small to large.
    Template {
        /// 2 GB, 1 CPU.
        Small = "small",
        /// 4 GB, 2 CPUs.
        Medium = "medium",
        /// 8 GB, 4 CPUs.
        Large = "large",
    }
}

words! {
    /// The engines we speak to.
    EngineKind {
        /// Docker Engine through its own client.
        Docker = "docker",
        /// Podman.
        Podman = "podman",
    }
}

words! {
    /// How the engine is reached.
    Endpoint {
        /// A socket of this machine.
        Local = "local",
        /// SSH.
        Ssh = "ssh",
        /// TCP with TLS.
        Tls = "tls",
        /// TCP in the clear; carries no value.
        Plain = "plain",
    }
}

words! {
    /// A limit that an engine may or may not be able to enforce.
    LimitKind {
        /// Memory.
        Memory = "memory",
        /// Memory and swap together.
        Swap = "swap",
        /// CPU time.
        Cpu = "cpu",
        /// Number of processes.
        Pids = "pids",
    }
}

words! {
    /// Who named the image.
    Said {
        /// A person, in settings, dialog or command line.
        Person = "person",
        /// A file of the repository.
        Repository = "repository",
    }
}

words! {
    /// What a person can approve.
    ApprovalKind {
        /// A host variable asked for by the repository.
        ForwardHostEnv = "forward_host_env",
        /// Copying ignored files into the volume.
        CopyIgnoredFiles = "copy_ignored_files",
        /// Mounting the host's worktree.
        MountedMode = "mounted_mode",
        /// A wider network than a person set.
        Network = "network",
        /// Published ports.
        Ports = "ports",
        /// An image that the repository names.
        Image = "image",
        /// A build that the repository describes.
        Build = "build",
        /// A variable that decides where credentials go.
        RedirectingVariable = "redirecting_variable",
        /// A command that the repository wants to run.
        LifecycleCommand = "lifecycle_command",
    }
}

words! {
    /// When a command of devcontainer.json runs, in the order of the specification; the words are its properties.
    LifecycleStage {
        /// Once, after the clone.
        OnCreate = "onCreateCommand",
        /// Once, after it.
        UpdateContent = "updateContentCommand",
        /// Once, last.
        PostCreate = "postCreateCommand",
        /// After every start.
        PostStart = "postStartCommand",
        /// Before every launch of a person.
        PostAttach = "postAttachCommand",
    }
}

words! {
    /// Kinds of mounts.
    MountKind {
        /// A named volume.
        Volume = "volume",
        /// A host path.
        Bind = "bind",
        /// Memory.
        Tmpfs = "tmpfs",
    }
}

words! {
    /// What a mount is for.
    MountRole {
        /// The clone.
        Workspace = "workspace",
        /// The agents' settings and logins.
        Agent = "agent",
        /// The host's git directory, read-only.
        Git = "git",
        /// The host's worktree.
        Worktree = "worktree",
        /// Asked for by devcontainer.json.
        Devcontainer = "devcontainer",
    }
}

words! {
    /// Where a fact about a running container comes from, weakest last.
    Evidence {
        /// The engine's inspect.
        Engine = "engine",
        /// The host kernel's view of the process.
        Kernel = "kernel",
        /// The container's own tools; never enough for security.
        Claim = "claim",
    }
}

words! {
    /// Who runs a file on the host, or what it is.
    HostFileKind {
        /// git itself reads it.
        Git = "git",
        /// A hook, or what says which hooks run.
        Hook = "hook",
        /// A pipeline.
        Ci = "ci",
        /// An editor's tasks and settings.
        Editor = "editor",
        /// A coding agent's instructions, settings and servers.
        Agent = "agent",
        /// A shell that enters the folder.
        Shell = "shell",
        /// What containers are built and made from.
        Container = "container",
        /// A package manager, with its scripts.
        Packages = "packages",
        /// A build, or a tool's configuration that is code.
        Build = "build",
        /// A script, or a file that is executable.
        Script = "script",
        /// A link that leads out of the repository.
        Link = "link",
    }
}

words! {
    /// What is wanted.
    Goal {
        /// A running workspace.
        Create = "create",
        /// A stopped one running again.
        Start = "start",
        /// A running one stopped.
        Stop = "stop",
        /// A new container on the same volumes.
        Recreate = "recreate",
        /// Nothing left.
        Remove = "remove",
    }
}

words! {
    /// Phases of a record, in Orca's words.
    Phase {
        /// Being made.
        Provisioning = "provisioning",
        /// Made and running.
        Running = "running",
        /// Stopped on purpose.
        Suspended = "suspended",
        /// A step failed.
        Failed = "failed",
        /// Being removed.
        CleanupPending = "cleanup_pending",
        /// Removal failed.
        CleanupFailed = "cleanup_failed",
        /// Removed.
        Cleaned = "cleaned",
    }
}

impl Phase {
    /// Whether making or removing began and did not end: nothing may be launched, and `rm` or a new create goes on.
    pub fn is_unfinished(self) -> bool {
        matches!(self, Self::Provisioning | Self::Failed | Self::CleanupPending | Self::CleanupFailed)
    }
}

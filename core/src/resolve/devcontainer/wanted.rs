//! What a devcontainer.json gets, in types: from these alone, and from nothing of its text, a plan is made.

use crate::{
    parse::image_reference::ImageReference,
    plan::BuildPlan,
    policy::devcontainer::{mounts::MountAsk, substitution::Part},
    source::Source,
    text::{quoted_whole, whole_list},
    words::{EnvState, LifecycleStage, Network},
};
use alloc::{collections::BTreeSet, format, string::String, vec::Vec};

/// Everything that a plan takes from a devcontainer.json. What waits for a person is not in it.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    /// The image.
    pub(crate) image: Option<(ImageReference, Source)>,
    /// The build.
    pub(crate) build: Option<Build>,
    /// The user as written, by name or number.
    pub(crate) user: Option<(String, Source)>,
    /// A network that is narrower than a person's.
    pub(crate) network: Option<(Network, Source)>,
    /// Variables, weakest first: those of flags, containerEnv, remoteEnv.
    pub(crate) variables: Vec<WantedVariable>,
    /// Ports of the container.
    pub(crate) ports: BTreeSet<u16>,
    /// Volumes and memory.
    pub(crate) mounts: Vec<MountAsk>,
    /// Limits.
    pub(crate) limits: WantedLimits,
    /// The host name.
    pub(crate) hostname: Option<String>,
    /// What the image is pulled for.
    pub(crate) platform: Option<String>,
    /// Commands that run inside the container.
    pub(crate) commands: Vec<WantedCommand>,
}

/// Limits that are asked for; each counts where it is lower than the plan's own, `/dev/shm` within its cap.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WantedLimits {
    /// Bytes of /dev/shm.
    pub(crate) shm_bytes: Option<u64>,
    /// Bytes of memory.
    pub(crate) memory_bytes: Option<u64>,
    /// Billionths of a CPU.
    pub(crate) nano_cpus: Option<u64>,
    /// Processes.
    pub(crate) pids: Option<u32>,
    /// Open files, soft and hard.
    pub(crate) nofile: Option<(u64, u64)>,
}

/// A variable and what became of it.
#[derive(Clone, Debug)]
pub(crate) struct WantedVariable {
    /// Its name.
    pub(crate) name: String,
    /// Where it stands.
    pub(crate) source: Source,
    /// `Active`, `Pending`, `Dropped`, or `Removed` for one that is taken away.
    pub(crate) state: EnvState,
    /// Its value.
    pub(crate) parts: Vec<Part>,
}

/// Commands of one property, allowed by a person.
#[derive(Clone, Debug)]
pub(crate) struct WantedCommand {
    /// When they run.
    pub(crate) stage: LifecycleStage,
    /// Each with its name, where the property is an object; they run side by side.
    pub(crate) commands: Vec<(Option<String>, Words)>,
    /// Where they stand.
    pub(crate) source: Source,
}

/// One command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Words {
    /// For a shell.
    Shell(String),
    /// A program and its arguments.
    Program(Vec<String>),
}

/// A build and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Build {
    /// What is built.
    pub(crate) plan: BuildPlan,
    /// The place of its Dockerfile's name.
    pub(crate) source: Source,
}

impl Build {
    /// What a person is asked before anything is built: all that decides it, whole.
    pub(crate) fn question(&self) -> String {
        let plan = &self.plan;
        let target = plan.target.iter().map(|target| format!("the target {}", quoted_whole(target)));
        let arguments = plan.arguments.iter().map(|(name, value)| format!("{name}={}", quoted_whole(value)));
        let more: Vec<String> = target.chain(arguments).chain(plan.options.iter().cloned()).collect();
        let bases = if plan.bases.is_empty() {
            String::new()
        } else {
            format!(" of {}", whole_list(plan.bases.iter().map(String::as_str)))
        };
        let with = if more.is_empty() { String::new() } else { format!(" and {}", more.join(", ")) };
        format!(
            "The repository wants an image built{bases} by {} with what the folder {} holds then{with}; nothing is built until you approve, and a build is not hardened.",
            quoted_whole(&plan.dockerfile),
            quoted_whole(&plan.context)
        )
    }
}

/// What a person is asked before anything of an image is pulled.
pub(crate) fn image_question(image: &ImageReference) -> String {
    format!(
        "The repository wants the image {}; nothing of it is pulled until you approve.",
        quoted_whole(image.as_str())
    )
}

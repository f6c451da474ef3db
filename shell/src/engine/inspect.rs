//! What the engine has of a workspace: each resource absent, present, or unknown with the reason.

use std::time::Duration;

use orca_container_core::input::ImageFacts;
use orca_container_core::{
    CONFINEMENT_FIELDS, COVERED_PATHS, Check, ContainerFacts, ContainerPlan, IdMaps, ImageKnown,
    NetworkFacts, Observed, Resource, Scope, Sensitive, VolumeFacts, VolumePlan, VolumeRef, attest,
    observe_confinement, observe_container, observe_network, observe_process, observe_volume,
};
use serde_json::Value;

use super::client::{Client, ClientError, Output};

const PATIENCE: Duration = Duration::from_secs(30);

/// Reads a workspace's resources for its plan.
#[derive(Debug)]
pub struct Inspector<'a> {
    /// The engine.
    pub client: &'a Client,
    /// The plan.
    pub plan: &'a ContainerPlan,
}

/// What one `inspect` said.
enum Answer {
    There(Value, String),
    Absent,
    Unknown(String),
}

impl Inspector<'_> {
    fn call(&self, args: &[&str]) -> Result<Output, ClientError> {
        self.client.ask(args, PATIENCE)
    }

    /// Absent only where the engine itself says that there is no such thing; any other failure is unknown.
    fn ask(&self, args: &[&str]) -> Answer {
        let output = match self.call(args) {
            Ok(output) => output,
            Err(error) => return Answer::Unknown(error.to_string()),
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.code == 0 {
            return match serde_json::from_str::<Vec<Value>>(&text) {
                Ok(mut documents) if documents.len() == 1 => match documents.pop() {
                    Some(document) => Answer::There(document, text),
                    None => Answer::Absent,
                },
                _ => Answer::Unknown("its answer cannot be read".into()),
            };
        }
        let complaint = String::from_utf8_lossy(&output.stderr).to_ascii_lowercase();
        if says_absent(&complaint) && self.answers() {
            Answer::Absent
        } else {
            Answer::Unknown(output.complaint())
        }
    }

    /// Whether the engine can be reached: a client that cannot reach it complains in words of its own choice, and
    /// some of them ("no such host") sound like an absent thing.
    fn answers(&self) -> bool {
        self.call(&["volume", "ls", "--quiet", "--filter", "name=orca-no-such-volume"])
            .is_ok_and(|output| output.code == 0)
    }

    /// Whether a container that is not this workspace's belongs to a network, running or not; `None` where the engine
    /// does not tell. Ours is known by its id, or by its name as long as nobody knows its id.
    fn has_others(&self, network: &str, known_id: Option<&str>) -> Option<bool> {
        let filter = format!("network={network}");
        let format = "--format={{.ID}} {{.Names}}";
        let output =
            self.call(&["container", "ls", "--all", "--no-trunc", "--filter", &filter, format]).ok()?;
        let is_ours = |line: &str| match line.split_once(' ') {
            Some((id, name)) => known_id == Some(id) || name == self.plan.names.container,
            None => false,
        };
        (output.code == 0).then(|| !output.text().lines().all(is_ours))
    }

    /// The container's id, by its name or id.
    fn container_document(&self, container: &str) -> Answer {
        self.ask(&["container", "inspect", "--", container])
    }

    /// Everything, once. `known_id` is the container that the record names; without one its name is looked for.
    pub fn observe(&self, known_id: Option<&str>) -> Observed {
        Observed {
            image: Resource::Present(ImageKnown { inspected: true }),
            network: self.network(known_id),
            workspace_volume: self.volume(VolumeRef::Workspace),
            agent_volume: self.volume(VolumeRef::Agent),
            repository_volumes: self.repository_volumes(),
            container: self.container(known_id),
        }
    }

    fn label(&self, name: &str) -> &str {
        self.plan.labels.get(name).map_or("", String::as_str)
    }

    fn labels_are_ours(&self, labels: &Value, names: &[&str]) -> bool {
        names.iter().all(|name| labels.get(name).and_then(Value::as_str) == Some(self.label(name)))
    }

    /// A volume that a plan of before had.
    pub fn former_volume(&self, volume: &VolumePlan) -> Resource<VolumeFacts> {
        self.volume_named(&volume.name)
    }

    fn volume(&self, volume: VolumeRef) -> Resource<VolumeFacts> {
        self.volume_named(self.volume_name(volume))
    }

    fn volume_named(&self, name: &str) -> Resource<VolumeFacts> {
        match self.ask(&["volume", "inspect", "--", name]) {
            Answer::Absent => Resource::Absent,
            Answer::Unknown(why) => Resource::Unknown { why },
            // podman answers for a name that begins so (measured on 4.3).
            Answer::There(document, _) if document.get("Name").and_then(Value::as_str) != Some(name) => {
                Resource::Absent
            }
            Answer::There(document, _) => {
                let labels = document.get("Labels").cloned().unwrap_or_default();
                let ours = self.labels_are_ours(&labels, &["orca.install", "orca.instance"]);
                Resource::Present(VolumeFacts { ours, checked: false })
            }
        }
    }

    fn repository_volumes(&self) -> Vec<Resource<VolumeFacts>> {
        let of_repository = |reference: &VolumeRef| matches!(reference, VolumeRef::Repository(_));
        let all = VolumeRef::all(self.plan).map(|(reference, _)| reference);
        all.filter(of_repository).map(|reference| self.volume(reference)).collect()
    }

    fn volume_name(&self, volume: VolumeRef) -> &str {
        volume.of(self.plan).map_or("", |volume| &volume.name)
    }

    /// The network, and whether a container that is not this workspace's uses it.
    pub fn network(&self, known_id: Option<&str>) -> Resource<NetworkFacts> {
        let Some(name) = &self.plan.network.name else { return Resource::Absent };
        match self.ask(&["network", "inspect", "--", name]) {
            Answer::Absent => Resource::Absent,
            Answer::Unknown(why) => Resource::Unknown { why },
            Answer::There(document, _) => {
                let either = |upper: &str, lower: &str| {
                    document.get(upper).or(document.get(lower)).cloned().unwrap_or_default()
                };
                let ours = self.labels_are_ours(&either("Labels", "labels"), &["orca.install"]);
                // The network's own answer lists running containers only; one that is stopped needs it as well.
                let Some(in_use) = self.has_others(name, known_id) else {
                    return Resource::Unknown { why: "its containers could not be listed".into() };
                };
                Resource::Present(NetworkFacts { ours, in_use })
            }
        }
    }

    /// The container, by its recorded id or else by its name.
    pub fn container(&self, known_id: Option<&str>) -> Resource<ContainerFacts> {
        match self.container_document(known_id.unwrap_or(&self.plan.names.container)) {
            Answer::Absent => Resource::Absent,
            Answer::Unknown(why) => Resource::Unknown { why },
            Answer::There(document, _) => {
                let labels = document.pointer("/Config/Labels").cloned().unwrap_or_default();
                let id = document.get("Id").and_then(Value::as_str).unwrap_or("");
                let name = document.get("Name").and_then(Value::as_str).unwrap_or("").trim_start_matches('/');
                // Somebody may have renamed it: where the id is known, the id says that it is ours.
                let same = known_id.map_or(name == self.plan.names.container, |known| known == id);
                let ours = same && self.labels_are_ours(&labels, &["orca.install", "orca.instance"]);
                let running = document.pointer("/State/Running").and_then(Value::as_bool).unwrap_or(false);
                Resource::Present(ContainerFacts { ours, checked: false, running, process_checked: false })
            }
        }
    }

    /// The container's configured environment, `NAME=value` each; `None` where the engine does not tell.
    pub fn environment(&self, id: &str) -> Option<Vec<Sensitive>> {
        let Answer::There(document, _) = self.container_document(id) else { return None };
        let entries = document.pointer("/Config/Env")?.as_array()?;
        Some(entries.iter().filter_map(Value::as_str).map(Sensitive::new).collect())
    }

    /// The full id of the container of the plan's name.
    pub fn container_id(&self) -> Option<String> {
        match self.container_document(&self.plan.names.container) {
            Answer::There(document, _) => document.get("Id").and_then(Value::as_str).map(String::from),
            Answer::Absent | Answer::Unknown(_) => None,
        }
    }

    /// The id of the container that gives the volumes to their user, where one is left: it runs the image's own
    /// program as root, and that need not end.
    pub fn left_init(&self) -> Option<String> {
        self.own_container(&format!("{}-init", self.plan.names.container))
    }

    /// The workspace's volume.
    pub fn workspace_volume(&self) -> Resource<VolumeFacts> {
        self.volume(VolumeRef::Workspace)
    }

    /// The id of the container of a name, where it carries this workspace's labels.
    pub fn own_container(&self, name: &str) -> Option<String> {
        let Answer::There(document, _) = self.container_document(name) else { return None };
        let labels = document.pointer("/Config/Labels").cloned().unwrap_or_default();
        let ours = self.labels_are_ours(&labels, &["orca.install", "orca.instance"]);
        document.get("Id").and_then(Value::as_str).filter(|_| ours).map(String::from)
    }

    /// A volume and, with it, the network, against the plan.
    pub fn check_volume(&self, volume: VolumeRef) -> Vec<Check> {
        let observed = match self.ask(&["volume", "inspect", "--", self.volume_name(volume)]) {
            Answer::There(_, text) => observe_volume(volume, &text).unwrap_or_default(),
            Answer::Absent | Answer::Unknown(_) => orca_container_core::Observation::default(),
        };
        attest(self.plan, Scope::Volume(volume), &observed)
    }

    /// The network against the plan; nothing to compare where none is made.
    pub fn check_network(&self) -> Vec<Check> {
        let Some(name) = &self.plan.network.name else { return Vec::new() };
        let observed = match self.ask(&["network", "inspect", "--", name]) {
            Answer::There(_, text) => observe_network(self.plan.engine.kind, &text).unwrap_or_default(),
            Answer::Absent | Answer::Unknown(_) => orca_container_core::Observation::default(),
        };
        attest(self.plan, Scope::Network, &observed)
    }

    /// The container against the plan. A container that was never started is in no network yet on podman, so
    /// its network is compared by name where the engine tells it.
    pub fn check_container(&self, id: &str, image: &ImageFacts) -> Vec<Check> {
        let observed = match self.container_document(id) {
            Answer::There(_, text) => observe_container(self.plan, image, &text).unwrap_or_default(),
            Answer::Absent | Answer::Unknown(_) => orca_container_core::Observation::default(),
        };
        attest(self.plan, Scope::Container, &observed)
    }

    /// The container's first process by the host's kernel: `None` where this machine's kernel does not have it.
    pub fn check_process(&self, id: &str) -> Option<KernelChecks> {
        let Answer::There(document, _) = self.container_document(id) else { return None };
        let pid = document.pointer("/State/Pid").and_then(Value::as_u64).filter(|pid| *pid > 0)?;
        // A process that does not say it belongs to this container is somebody else's: its number was used again,
        // or the engine runs on another machine.
        let of_process = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).ok();
        let begun = start_time(pid)?;
        let status = of_process("status")?;
        if !of_process("cgroup")?.contains(id) && !is_monitored(&document, &status, id) {
            return None;
        }
        let (uid, gid) = (of_process("uid_map")?, of_process("gid_map")?);
        let confinement = confinement(self.plan, id, pid);
        if start_time(pid)? != begun {
            return None;
        }
        let complete = confinement.is_some();
        let observed =
            observe_process(&status, &IdMaps { uid: &uid, gid: &gid }).and(confinement.unwrap_or_default());
        let mut checks = attest(self.plan, Scope::Process, &observed);
        if !complete {
            checks.retain(|check| !CONFINEMENT_FIELDS.contains(&check.field.as_str()));
        }
        Some(KernelChecks { checks, complete })
    }
}

/// What the kernel says of a container's process.
#[derive(Debug)]
pub struct KernelChecks {
    /// The rows that could be read.
    pub checks: Vec<Check>,
    /// Whether these are all: who may not trace a process does not see its namespaces and mounts.
    pub complete: bool,
}

/// Namespaces and mounts of a process, where they may be read.
fn confinement(plan: &ContainerPlan, id: &str, pid: u64) -> Option<orca_container_core::Observation> {
    let link = |process: &str, name: &str| {
        let path = std::fs::read_link(format!("/proc/{process}/ns/{name}")).ok()?;
        Some(path.to_string_lossy().into_owned())
    };
    let process = pid.to_string();
    let mut namespaces = Vec::new();
    for name in ["ipc", "mnt", "net", "pid", "uts"] {
        namespaces.push((name, link(&process, name)?, link("self", name)?));
    }
    let pairs: Vec<(&str, &str, &str)> =
        namespaces.iter().map(|(name, its, host)| (*name, its.as_str(), host.as_str())).collect();
    let mounts = std::fs::read_to_string(format!("/proc/{pid}/mountinfo")).ok()?;
    let existing: Vec<&str> =
        COVERED_PATHS.into_iter().filter(|place| std::path::Path::new(place).exists()).collect();
    Some(observe_confinement(plan, id, &pairs, &mounts, &existing))
}

/// The engines' own words for a thing that is not there.
fn says_absent(complaint: &str) -> bool {
    let kinds = ["container", "volume", "network", "object"];
    kinds.iter().any(|kind| complaint.contains(&format!("no such {kind}")))
        || (complaint.contains("network") && complaint.contains("not found"))
        // podman looks for names that begin so where none is the name itself (measured on 4.3).
        || (complaint.contains("volume") && complaint.contains("more than one result"))
        || ["no container with", "no volume with", "unable to find network"]
            .iter()
            .any(|words| complaint.contains(words))
}

/// Whether a process is the child of podman's monitor of this container, which has its id as an argument: without root
/// on cgroup v1 no cgroup names the container (measured on 4.3).
fn is_monitored(document: &Value, status: &str, id: &str) -> bool {
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse::<u64>().ok());
    let monitor = document.pointer("/State/ConmonPid").and_then(Value::as_u64).filter(|pid| *pid > 1);
    let Some(monitor) = monitor.filter(|monitor| Some(*monitor) == parent) else { return false };
    let arguments = std::fs::read(format!("/proc/{monitor}/cmdline")).unwrap_or_default();
    arguments.split(|byte| *byte == 0).any(|argument| argument == id.as_bytes())
}

/// Field 22 of `/proc/PID/stat`: when the process began. The command's name, in brackets, may hold blanks.
fn start_time(pid: u64) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(19).map(String::from)
}

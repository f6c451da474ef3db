//! What must be true of the container, in words that both engines' answers are translated to.
//!
//! Each row is compared before the container is started (`engine`) or read from the host's kernel after it
//! (`kernel`). Field names are neutral: the shell maps an engine's inspect onto them.

use super::{
    model::{ContainerPlan, Expectation, Operator},
    volume_ref::VolumeRef,
};
use crate::words::{Evidence, Network};
use alloc::{format, string::String, vec::Vec};
use serde_json::{Value, json};

struct Rows(Vec<Expectation>);

impl Rows {
    fn add(&mut self, evidence: Evidence, field: impl Into<String>, op: Operator, value: Value) {
        self.0.push(Expectation { field: field.into(), op, value, evidence });
    }
    fn equals(&mut self, field: &str, value: impl Into<Value>) {
        self.add(Evidence::Engine, field, Operator::Equals, value.into());
    }
    fn set(&mut self, field: &str, value: Value) {
        self.add(Evidence::Engine, field, Operator::SetEquals, value);
    }
    fn kernel(&mut self, field: &str, value: impl Into<Value>) {
        self.add(Evidence::Kernel, field, Operator::Equals, value.into());
    }
}

/// All rows of a plan.
pub(super) fn expectations(plan: &ContainerPlan) -> Vec<Expectation> {
    // A few more than a usual plan has.
    let mut rows = Rows(Vec::with_capacity(64));
    identity(plan, &mut rows);
    privileges(&mut rows);
    resources(plan, &mut rows);
    surroundings(plan, &mut rows);
    volumes(plan, &mut rows);
    kernel(plan, &mut rows);
    rows.0
}

fn identity(plan: &ContainerPlan, rows: &mut Rows) {
    rows.equals("container.name", plan.names.container.as_str());
    if let Some(id) = &plan.image.id {
        rows.equals("container.imageId", id.as_str());
    }
    rows.equals("container.hostname", plan.names.hostname.as_str());
    rows.equals("container.user", format!("{}:{}", plan.user.uid, plan.user.gid));
    rows.equals("container.workdir", "/");
    rows.equals("container.entrypoint", json!([super::SHELL]));
    rows.equals("container.command", json!(["-c", super::KEEP_ALIVE]));
    for (name, value) in &plan.labels {
        rows.equals(&format!("container.labels.{name}"), value.as_str());
    }
    for name in &plan.removed_env {
        rows.add(Evidence::Engine, format!("container.env.{name}"), Operator::Absent, Value::Null);
    }
    rows.set("container.startEnvNames", json!(plan.start_env));
}

/// Exact sets, since engines list contradicting options side by side (measured).
fn privileges(rows: &mut Rows) {
    rows.equals("container.privileged", false);
    rows.set("container.boundingCapabilities", json!([]));
    rows.set("container.securityOptions", json!(["no-new-privileges"]));
    rows.set("container.devices", json!([]));
    rows.set("container.deviceCgroupRules", json!([]));
    rows.set("container.groups", json!([]));
    rows.set("container.extras", json!([]));
    // podman prints its default "shareable" for a private one (measured).
    rows.add(Evidence::Engine, "container.ipcMode", Operator::OneOf, json!(["private", "shareable"]));
    for field in ["container.pidMode", "container.utsMode"] {
        rows.add(Evidence::Engine, field, Operator::OneOf, json!(["", "private"]));
    }
    rows.add(Evidence::Engine, "container.usernsMode", Operator::OneOf, json!(["", "private"]));
}

fn resources(plan: &ContainerPlan, rows: &mut Rows) {
    let limits = &plan.limits;
    let enforced = |kind| !limits.advisory.contains(&kind);
    use crate::words::LimitKind::{Cpu, Memory, Pids, Swap};
    if enforced(Memory) {
        rows.equals("container.memoryBytes", limits.memory_bytes);
    }
    if enforced(Swap) {
        rows.equals("container.memorySwapBytes", limits.memory_bytes);
    }
    if enforced(Cpu) {
        rows.equals("container.nanoCpus", limits.nano_cpus);
    }
    if enforced(Pids) {
        rows.equals("container.pidsLimit", limits.pids);
    }
    let mut ulimits = Vec::from([
        String::from("core=0:0"),
        format!("nofile={}:{}", limits.nofile_soft.unwrap_or(limits.nofile), limits.nofile),
    ]);
    ulimits.extend(limits.nproc.map(|nproc| format!("nproc={nproc}:{nproc}")));
    rows.set("container.ulimits", json!(ulimits));
    if let Some(bytes) = limits.shm_bytes {
        rows.equals("container.shmBytes", bytes);
    }
    rows.equals("container.oomKillDisabled", false);
    rows.equals("container.init", true);
    rows.add(Evidence::Engine, "container.restartPolicy", Operator::OneOf, json!(["", "no"]));
    rows.equals("container.logDriver", "none");
    rows.equals("container.autoRemove", false);
    rows.add(Evidence::Engine, "container.healthcheck", Operator::Absent, Value::Null);
    if let Some(runtime) = &plan.runtime {
        rows.equals("container.runtime", runtime.as_str());
    }
}

fn surroundings(plan: &ContainerPlan, rows: &mut Rows) {
    let network = plan.network.name.as_deref().unwrap_or(plan.network.mode.as_str());
    rows.set("container.networks", json!([network]));
    let mounts: Vec<Value> = plan
        .mounts
        .iter()
        .map(|m| {
            let mut row =
                json!({"kind": m.kind, "source": m.source, "target": m.target, "readOnly": m.read_only});
            if let (Some(bytes), Some(row)) = (m.size_bytes, row.as_object_mut()) {
                row.insert("sizeBytes".into(), json!(bytes));
            }
            row
        })
        .collect();
    rows.set("container.mounts", json!(mounts));
    let ports: Vec<Value> =
        plan.ports.iter().map(|p| json!({"container": p.container, "address": p.address})).collect();
    rows.set("container.ports", json!(ports));
    rows.equals("container.publishAllPorts", false);
    if let (Network::Bridge, Some(name)) = (plan.network.mode, &plan.network.name) {
        rows.equals("network.name", name.as_str());
        rows.equals("network.driver", "bridge");
        rows.equals("network.peersIsolated", plan.network.peers_isolated);
    }
}

/// docker silently adopts a volume that is already there, with whatever options it has (measured).
fn volumes(plan: &ContainerPlan, rows: &mut Rows) {
    for (volume, planned) in VolumeRef::all(plan) {
        let field = |name: &str| format!("volumes.{volume}.{name}");
        rows.equals(&field("name"), planned.name.as_str());
        rows.equals(&field("driver"), "local");
        rows.add(Evidence::Engine, field("options"), Operator::SetEquals, json!([]));
        rows.equals(&field("labels"), json!(planned.labels));
    }
}

/// Read from the host's /proc and cgroups of the container's process. gVisor shows no NoNewPrivs and no
/// Seccomp (measured), and its own namespaces and mounts are inside the sandbox, so these are not asked of another
/// runtime.
fn kernel(plan: &ContainerPlan, rows: &mut Rows) {
    for set in ["capInh", "capPrm", "capEff", "capBnd", "capAmb"] {
        rows.kernel(&format!("process.{set}"), "0000000000000000");
    }
    rows.kernel("process.uid", plan.user.uid);
    rows.kernel("process.gid", plan.user.gid);
    let native = plan.runtime.as_deref().is_none_or(|runtime| matches!(runtime, "runc" | "crun"));
    if native {
        rows.kernel("process.noNewPrivs", 1);
        rows.kernel("process.seccomp", 2);
        rows.add(
            Evidence::Kernel,
            "process.namespaces",
            Operator::SetEquals,
            json!(["ipc", "mnt", "net", "pid", "uts"]),
        );
        rows.add(Evidence::Kernel, "process.uncoveredPaths", Operator::SetEquals, json!([]));
        rows.kernel("process.sysctlsReadOnly", true);
        rows.add(Evidence::Kernel, "process.unplannedMounts", Operator::SetEquals, json!([]));
    }
}

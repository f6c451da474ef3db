//! What the targets share: requests, and what holds of every plan.

use orca_container_core::{ApprovalKind, MountKind, MountRole, Said, ceiling, json, plan, template_size};
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Flags of every `create`, whatever was asked for.
const HARDENING: [&str; 10] = [
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--init",
    "--ipc=private",
    "--restart=no",
    "--pull=never",
    "--log-driver=none",
    "--no-healthcheck",
    "--workdir=/",
    "--ulimit=core=0:0",
];

/// Words that would undo it.
const NEVER: [&str; 7] =
    ["--privileged", "--cap-add", "seccomp=", "apparmor=", "--pid=", "--device", "--network=host"];

/// Holds a plan against the hardening and the ceiling.
pub fn judge(request: &str, answer: &Value) {
    for command in answer["commands"]["create"].as_array().expect("commands") {
        if command["action"] != "create_container" {
            continue;
        }
        let argv = command["argv"].as_array().expect("argv");
        for flag in HARDENING {
            assert!(argv.iter().any(|word| word == flag), "{flag} is missing");
        }
        let flags = argv.iter().take_while(|word| *word != "--").filter_map(Value::as_str);
        for flag in flags.filter(|flag| !flag.starts_with("--label=")) {
            assert!(!NEVER.iter().any(|never| flag.contains(never)), "{flag}");
        }
    }
    let request = json::read_request(request).expect("what was planned can be read");
    let ceiling = ceiling(&request);
    let answer = plan(&request);
    let plan = &answer.planned().expect("planned").plan;
    let approved = |kind| ceiling.approvals.iter().any(|approval| approval.kind == kind);
    let (memory, cpus) = template_size(plan.limits.template);
    assert!(plan.user.uid > 0 && plan.user.gid > 0);
    assert!(plan.limits.memory_bytes <= memory && plan.limits.nano_cpus <= cpus * 1_000_000_000);
    assert!(plan.limits.pids <= 512 && plan.limits.nofile <= 16_384);
    assert!(plan.limits.shm_bytes.is_none_or(|bytes| bytes <= 1 << 30));
    for mount in plan.mounts.iter().filter(|mount| mount.role == MountRole::Devcontainer) {
        let prefix = format!("{}-v-", plan.names.workspace_volume);
        match mount.kind {
            MountKind::Volume => assert!(mount.source.as_ref().is_some_and(|name| name.starts_with(&prefix))),
            MountKind::Tmpfs => assert!(mount.size_bytes.is_some_and(|bytes| bytes <= 1 << 30)),
            MountKind::Bind => panic!("a folder of the host is mounted"),
        }
        for place in ["/workspace", "/orca", "/proc", "/sys", "/dev"] {
            let rest = mount.target.strip_prefix(place);
            assert!(!rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')), "{}", mount.target);
        }
    }
    if let Some(file) = &plan.devcontainer {
        let allowed = ceiling.repository_commands || approved(ApprovalKind::LifecycleCommand);
        assert!(file.commands.is_empty() || allowed);
        assert!(file.workspace_folder.starts_with("/workspace/acme"), "{}", file.workspace_folder);
    }
    assert!(ceiling.modes.contains(&plan.mode));
    assert!(plan.limits.template <= ceiling.template);
    assert!(plan.network.mode <= ceiling.network || approved(ApprovalKind::Network));
    let ports = approved(ApprovalKind::Ports);
    assert!(plan.ports.iter().all(|port| ceiling.ports.contains(&port.container) || ports));
    assert!(plan.ports.iter().all(|port| port.address == "127.0.0.1"));
    match plan.image.said {
        Said::Person => assert!(ceiling.images.contains(&plan.image.reference)),
        Said::Repository => {
            let kind = if plan.image.build.is_some() { ApprovalKind::Build } else { ApprovalKind::Image };
            assert!(plan.digest.is_none() || approved(kind));
        }
    }
}

/// Twelve letters that no input of this hash holds.
pub fn marker(input: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    input.hash(&mut hasher);
    let mut hash = hasher.finish();
    std::iter::repeat_with(|| {
        let letter = char::from(b'A' + (hash % 26) as u8);
        hash /= 26;
        letter
    })
    .take(12)
    .collect()
}

/// A complete request: a plan, when orca.yaml asks for nothing that stops it.
pub fn request(engine: &str, orca_yaml: &str, marker: &str) -> Value {
    let mut request = preview(orca_yaml, marker);
    request["engine"] = json!({
        "kind": engine, "version": "28.2.2", "endpoint": "local", "cpus": 8, "memoryBytes": 16_000_000_000_u64,
        "limits": ["memory", "swap", "cpu", "pids"], "runtimes": ["runc", "runsc"],
        "client": {"program": format!("/usr/bin/{engine}"), "env": {"PATH": "/usr/bin:/bin", "HOME": "/home/u"}}
    });
    request["imageFacts"] = json!({
        "id": format!("sha256:{}", "a".repeat(64)), "env": ["PATH=/usr/bin:/bin"], "user": "node", "uid": 1000,
        "gid": 1000, "home": "/home/node"
    });
    request
}

/// The same before anything was measured.
pub fn preview(orca_yaml: &str, marker: &str) -> Value {
    json!({
        "schemaVersion": 1,
        "install": {"id": "install-1"},
        "workspace": {
            "id": "repo1::/home/u/wt/feature", "instanceId": "instance-1", "repositoryId": "/home/u/acme/.git",
            "name": "feature", "branch": "feature", "base": "main", "repoPath": "/home/u/acme",
            "worktreePath": "/home/u/wt/feature", "gitCommonDir": "/home/u/acme/.git"
        },
        "agent": "claude",
        "choices": {"enabled": true, "env": {"TOKEN": marker, "NODE_ENV": marker}},
        "repoSettings": {"commandSourcePolicy": "run-both", "agentEnv": {"PROJECT": marker}},
        "globalSettings": {
            "experimentalContainerWorkspaces": true, "container": {"image": "acme/base:1", "network": "none"}
        },
        "orcaYaml": {"path": "orca.yaml", "text": orca_yaml},
        "host": {"platform": "linux", "envNames": ["GRADLE_OPTS", "HOME"]},
        "secrets": [{"name": "NPM_TOKEN"}]
    })
}

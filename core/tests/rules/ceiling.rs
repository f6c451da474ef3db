//! The ceiling: whatever a repository says, the plan lies within what persons said, raised by exactly what
//! they approved.

use crate::{
    arbitrary::{joined, persons, repository},
    support::{answer, parse, set, words},
};
use orca_container_core::{
    ActionKind, ApprovalKind, Ceiling, EnvState, Layer, MountKind, MountRole, Origin, PlanAnswer, Planned,
    Said, ceiling, template_size,
};
use proptest::{prelude::*, strategy::ValueTree};
use serde_json::{Value, json};

/// Every dimension of a plan against the ceiling. Nothing of the core's own judgement is used.
fn lies_within(planned: &Planned, ceiling: &Ceiling) -> Result<(), TestCaseError> {
    let plan = &planned.plan;
    let approved = !ceiling.approvals.is_empty();
    prop_assert!(ceiling.modes.contains(&plan.mode));
    prop_assert!(plan.limits.template <= ceiling.template);
    prop_assert!(
        plan.network.mode <= ceiling.network || approved,
        "{:?} above {:?}",
        plan.network,
        ceiling.network
    );
    prop_assert!(plan.ports.iter().all(|port| ceiling.ports.contains(&port.container) || approved));
    prop_assert!(plan.ports.iter().all(|port| port.address == "127.0.0.1"));
    container_lies_within(planned)?;
    if let Some(file) = &plan.devcontainer {
        prop_assert!(file.commands.is_empty() || ceiling.repository_commands || approved);
    }
    match plan.image.said {
        Said::Person => prop_assert!(ceiling.images.contains(&plan.image.reference)),
        // An image of the repository is planned as a preview until it is approved.
        Said::Repository => prop_assert!(plan.digest.is_none() || approved),
    }
    if !planned.copy.files.is_empty() {
        prop_assert!(ceiling.copy_ignored_files || approved);
    }
    for entry in planned.environment.iter().filter(|entry| entry.state == EnvState::Active) {
        if entry.layer == Layer::Host {
            prop_assert!(ceiling.host_env.contains(&entry.name) || approved, "{}", entry.name);
        }
        prop_assert!(entry.host_names.iter().all(|name| ceiling.host_env.contains(name) || approved));
        if matches!(entry.source.origin, Origin::OrcaYaml | Origin::Devcontainer) {
            let redirecting = [
                "ANTHROPIC_BASE_URL",
                "HTTPS_PROXY",
                "LD_PRELOAD",
                "PATH",
                "DOCKER_HOST",
                "GIT_SSH_COMMAND",
                "HOME",
            ];
            prop_assert!(!redirecting.contains(&entry.name.as_str()) || approved, "{}", entry.name);
            let reserved = ["ORCA_X", "ANTHROPIC_API_KEY", "CODEX_HOME"];
            prop_assert!(!reserved.contains(&entry.name.as_str()), "{}", entry.name);
        }
    }
    Ok(())
}

/// What no word of a repository and no approval ever changes.
fn container_lies_within(planned: &Planned) -> Result<(), TestCaseError> {
    const GIB: u64 = 1 << 30;
    let plan = &planned.plan;
    prop_assert!(plan.user.uid > 0 && plan.user.gid > 0);
    let (memory, cpus) = template_size(plan.limits.template);
    prop_assert!(plan.limits.memory_bytes <= memory && plan.limits.nano_cpus <= cpus * 1_000_000_000);
    prop_assert!(plan.limits.pids <= 512 && plan.limits.nofile <= 16_384);
    prop_assert!(plan.limits.shm_bytes.is_none_or(|bytes| bytes <= GIB));
    for mount in plan.mounts.iter().filter(|mount| mount.role == MountRole::Devcontainer) {
        let own = |name: &String| name.starts_with(&format!("{}-v-", plan.names.workspace_volume));
        prop_assert!(mount.source.as_ref().is_none_or(own), "{:?}", mount);
        match mount.kind {
            MountKind::Volume => prop_assert!(mount.source.is_some()),
            MountKind::Tmpfs => prop_assert!(mount.size_bytes.is_some_and(|bytes| bytes <= GIB)),
            MountKind::Bind => prop_assert!(false, "{:?}", mount),
        }
        for place in ["/workspace", "/orca", "/proc", "/sys", "/dev"] {
            let below =
                mount.target.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            prop_assert!(!below && mount.target != "/", "{:?}", mount);
        }
    }
    let create = planned.commands.create.iter().find(|c| c.action == ActionKind::CreateContainer).unwrap();
    let words = words(create);
    let flags = words.iter().take_while(|word| *word != "--").filter(|word| !word.starts_with("--label="));
    for flag in flags {
        for never in [
            "--privileged",
            "--cap-add",
            "seccomp=",
            "apparmor=",
            "--pid=",
            "--device",
            "--network=host",
            "type=bind",
            "--volume",
        ] {
            prop_assert!(!flag.contains(never), "{}", flag);
        }
    }
    Ok(())
}

/// Everything that was granted between the two answers was pending in the first.
fn raised_by_exactly(before: &Planned, after: &Planned, ceiling: &Ceiling) -> Result<(), TestCaseError> {
    for entry in after.environment.iter().filter(|entry| entry.state == EnvState::Active) {
        let earlier = before.environment.iter().find(|e| e.name == entry.name).unwrap();
        let was_pending = before.pending_approvals.iter().any(|p| p.subject["name"] == json!(entry.name));
        let same = earlier.state == EnvState::Active && earlier.source == entry.source;
        let part_was_pending = before
            .pending_approvals
            .iter()
            .any(|p| entry.host_names.iter().any(|name| p.subject["name"] == json!(name)));
        prop_assert!(same || was_pending || part_was_pending, "{}", entry.name);
    }
    let asked_ports = |port: u16| {
        let lists = before.pending_approvals.iter().filter_map(|p| p.subject["ports"].as_array());
        lists.flatten().any(|asked| *asked == json!(port))
    };
    for port in after.plan.ports.iter().filter(|port| !before.plan.ports.contains(port)) {
        // A person's own port waits for a network only.
        prop_assert!(asked_ports(port.container) || ceiling.ports.contains(&port.container), "{:?}", port);
    }
    let commands =
        |planned: &Planned| planned.plan.devcontainer.clone().map(|file| file.commands).unwrap_or_default();
    let earlier = commands(before);
    for command in commands(after).into_iter().filter(|command| !earlier.contains(command)) {
        let asked = before.pending_approvals.iter().any(|p| p.subject["property"] == json!(command.stage));
        prop_assert!(asked, "{:?}", command);
    }
    if after.plan.digest.is_some() && after.plan.image.said == Said::Repository {
        let image = &after.plan.image;
        let asked = before.pending_approvals.iter().any(|p| match (&image.build, p.kind) {
            (Some(build), ApprovalKind::Build) => p.subject["build"] == json!(build),
            (None, ApprovalKind::Image) => p.subject["reference"] == json!(image.reference),
            _ => false,
        });
        prop_assert!(asked, "{:?}", image);
    }
    if after.plan.image.said == Said::Person {
        prop_assert!(
            after.plan.image.build.is_none() && ceiling.images.contains(&after.plan.image.reference)
        );
    }
    let network_asked =
        before.pending_approvals.iter().any(|p| p.subject["network"] == json!(after.plan.network.mode));
    prop_assert!(before.plan.network.mode == after.plan.network.mode || network_asked);
    prop_assert_eq!(&before.plan.limits, &after.plan.limits);
    prop_assert_eq!(&before.plan.hardening, &after.plan.hardening);
    prop_assert_eq!(&before.plan.mounts, &after.plan.mounts);
    Ok(())
}

fn with_approvals(mut request: Value, planned: &Planned) -> Value {
    let approvals: Vec<Value> =
        planned.pending_approvals.iter().map(|p| json!({"kind": p.kind, "digest": p.digest})).collect();
    set(&mut request, "approvals", json!(approvals));
    request
}

proptest! {
    #![proptest_config(crate::support::cases(160))]

    #[test]
    fn a_plan_lies_within_the_ceiling_and_approvals_raise_it_by_exactly_themselves(persons in persons(), repository in repository()) {
        let request = joined(&persons, &repository);
        let ceiling_before = ceiling(&parse(&request));
        let PlanAnswer::Planned(before) = answer(&request) else { return Ok(()) };
        lies_within(&before, &ceiling_before)?;
        let approved = with_approvals(request, &before);
        let PlanAnswer::Planned(after) = answer(&approved) else { return Ok(()) };
        lies_within(&after, &ceiling(&parse(&approved)))?;
        raised_by_exactly(&before, &after, &ceiling_before)?;
    }

    #[test]
    fn the_ceiling_does_not_read_the_repository(persons in persons(), one in repository(), two in repository()) {
        prop_assert_eq!(ceiling(&parse(&joined(&persons, &one))), ceiling(&parse(&joined(&persons, &two))));
    }

    #[test]
    fn any_request_gives_an_answer_and_always_the_same_bytes(persons in persons(), repository in repository()) {
        let text = joined(&persons, &repository).to_string();
        prop_assert_eq!(orca_container_core::json::plan(&text), orca_container_core::json::plan(&text));
    }
}

/// A property over requests that are all refused would say nothing: enough of them are planned, and each thing that is
/// asked for is asked for.
#[test]
fn arbitrary_requests_are_planned_often_and_ask_for_everything() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut planned = 0;
    let mut asked = std::collections::BTreeSet::new();
    let mut given = std::collections::BTreeSet::new();
    for _ in 0..800 {
        let tree = (persons(), repository()).new_tree(&mut runner).unwrap();
        let (persons, repository) = tree.current();
        let request = joined(&persons, &repository);
        let PlanAnswer::Planned(before) = answer(&request) else { continue };
        planned += 1;
        asked.extend(before.pending_approvals.iter().map(|pending| pending.kind.as_str()));
        let PlanAnswer::Planned(after) = answer(&with_approvals(request, &before)) else { continue };
        let plan = &after.plan;
        let things = [
            ("commands", plan.devcontainer.as_ref().is_some_and(|file| !file.commands.is_empty())),
            ("ports", !plan.ports.is_empty()),
            ("volumes", plan.volumes.len() > 2),
            ("memory", plan.mounts.iter().any(|mount| mount.kind == MountKind::Tmpfs)),
            ("shm", plan.limits.shm_bytes.is_some()),
            (
                "host parts",
                after.environment.iter().any(|e| e.state == EnvState::Active && !e.host_names.is_empty()),
            ),
            ("build", plan.image.build.is_some()),
        ];
        given.extend(things.into_iter().filter(|(_, there)| *there).map(|(what, _)| what));
    }
    assert!(planned > 250, "{planned} of 800");
    let kinds = [
        "build",
        "copy_ignored_files",
        "forward_host_env",
        "image",
        "lifecycle_command",
        "network",
        "ports",
        "redirecting_variable",
    ];
    assert!(kinds.iter().all(|kind| asked.contains(kind)), "{asked:?}");
    assert_eq!(given.len(), 7, "{given:?}");
}

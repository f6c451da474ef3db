//! The ceiling: whatever a repository says, the plan lies within what persons said, raised by exactly what
//! they approved.

use crate::{
    arbitrary::{joined, persons, repository},
    support::{answer, parse, set},
};
use orca_container_core::{Ceiling, EnvState, Layer, Origin, PlanAnswer, Planned, Said, ceiling};
use proptest::prelude::*;
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
    prop_assert!(plan.ports.iter().all(|port| ceiling.ports.contains(&port.container)));
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
        if entry.source.origin == Origin::OrcaYaml {
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

/// Everything that was granted between the two answers was pending in the first.
fn raised_by_exactly(before: &Planned, after: &Planned) -> Result<(), TestCaseError> {
    for entry in after.environment.iter().filter(|entry| entry.state == EnvState::Active) {
        let earlier = before.environment.iter().find(|e| e.name == entry.name).unwrap();
        let was_pending = before.pending_approvals.iter().any(|p| p.subject["name"] == json!(entry.name));
        let same = earlier.state == EnvState::Active && earlier.source == entry.source;
        prop_assert!(same || was_pending, "{}", entry.name);
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
        raised_by_exactly(&before, &after)?;
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

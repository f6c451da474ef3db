//! The boundary: what comes back can be stored and read again, digests mean what they say, the report speaks.

use crate::{
    arbitrary::{joined, persons, repository},
    support::{answer, parse, planned, request, sealed, set, with},
};
use orca_container_core::{
    ContainerPlan, EngineKind, PlanAnswer, capabilities, effective_environment, environment_table,
    input::read_json, plan_digest, why,
};
use proptest::prelude::*;
use serde_json::{Value, json};

proptest! {
    #![proptest_config(crate::support::cases(100))]

    #[test]
    fn a_stored_plan_reads_back_as_itself(persons in persons(), repository in repository()) {
        let PlanAnswer::Planned(planned) = answer(&joined(&persons, &repository)) else { return Ok(()) };
        let text = serde_json::to_string(&planned.plan).unwrap();
        let again: ContainerPlan = read_json(&text).unwrap();
        prop_assert_eq!(&again, &planned.plan);
        prop_assert_eq!(serde_json::to_string(&again).unwrap(), text);
        if planned.plan.digest.is_some() {
            prop_assert_eq!(plan_digest(&again), planned.plan.digest);
        }
    }

    #[test]
    fn the_table_fits_a_narrow_terminal_where_names_do(persons in persons(), repository in repository()) {
        let report = effective_environment(&parse(&joined(&persons, &repository)));
        for line in environment_table(&report.environment, 80).lines() {
            let unbreakable = line.split_whitespace().any(|word| word.chars().count() > 40);
            prop_assert!(line.chars().count() <= 80 || unbreakable, "{}", line);
        }
    }
}

#[test]
fn the_digest_stays_where_the_container_stays() {
    let digest = |changes: &[(&str, Value)]| sealed(&with("docker", changes)).digest;
    let base = digest(&[]);
    for same in [
        ("agent", json!("codex")),
        ("engine.version", json!("29.0.0")),
        ("choices.env", json!({"A": "1"})),
        ("repoSettings.agentEnv", json!({"A": "1"})),
        ("secrets", json!([])),
        ("host.envNames", json!(["X"])),
        ("approvals", json!([{"kind": "image", "digest": "00"}])),
    ] {
        assert_eq!(digest(std::slice::from_ref(&same)), base, "{same:?}");
    }
    for other in [
        ("choices.template", json!("large")),
        ("choices.network", json!("none")),
        ("choices.user", json!("1001:1001")),
        ("imageFacts.id", json!(format!("sha256:{}", "b".repeat(64)))),
        ("workspace.instanceId", json!("another")),
        ("workspace.branch", json!("another")),
        ("orcaYaml", json!({"path": "orca.yaml", "text": "# a comment"})),
    ] {
        assert_ne!(digest(std::slice::from_ref(&other)), base, "{other:?}");
    }
}

#[test]
fn the_digest_is_in_the_label_and_the_label_not_in_the_digest() {
    let plan = sealed(&request("docker"));
    assert_eq!(plan.labels.get("orca.plan"), plan.digest.as_ref());
    assert!(plan.digest.as_ref().unwrap().starts_with("v1:"));
}

#[test]
fn planning_needs_no_engine_and_says_what_it_needs() {
    let mut value = request("docker");
    let object = value.as_object_mut().unwrap();
    object.remove("engine");
    object.remove("imageFacts");
    let preview = planned(&value);
    assert!(preview.plan.digest.is_none() && preview.plan.user.assumed);
    assert_eq!(
        serde_json::to_value(&preview.needs).unwrap(),
        json!([{"kind": "engine"}, {"kind": "image", "reference": "acme/base:1"}])
    );
    set(&mut value, "choices.engine", json!("podman"));
    assert_eq!(planned(&value).plan.engine.kind, EngineKind::Podman);
}

#[test]
fn a_program_called_docker_can_be_podman() {
    let mut value = request("podman");
    set(&mut value, "choices.engine", json!("docker"));
    set(&mut value, "engine.client.program", json!("/usr/bin/docker"));
    assert_eq!(planned(&value).plan.engine.kind, EngineKind::Podman);
}

#[test]
fn a_build_says_what_it_knows() {
    assert_eq!(
        capabilities().capabilities,
        [
            "changes-v1",
            "clone-url-v1",
            "container-worktrees-v1",
            "copy-ignored-files-v1",
            "devcontainer-v1",
            "new-branch-v1",
            "policy-revision-v1",
            "standing-v1",
            "workspace-environment-v1"
        ]
    );
}

#[test]
fn why_tells_one_variables_whole_story() {
    let mut value = with("docker", &[("repoSettings.agentEnv", json!({"NODE_ENV": "test"}))]);
    set(
        &mut value,
        "orcaYaml",
        crate::support::orca_yaml("    env:\n      NODE_ENV: development\n      HTTPS_PROXY: http://x\n"),
    );
    let report = effective_environment(&parse(&value));
    let story = why("NODE_ENV", &report).join("\n");
    insta::assert_snapshot!(story);
    insta::assert_snapshot!(why("HTTPS_PROXY", &report).join("\n"));
    insta::assert_snapshot!(why("NODE_ENW", &report).join("\n"));
}

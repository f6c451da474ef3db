//! An approval grants exactly the thing that was asked, and nothing after anything around it changed.

use crate::support::{approve_all, orca_yaml, planned, set, with};
use orca_container_core::{ApprovalKind, EnvState, Planned};
use serde_json::{Value, json};

fn request(yaml: &str) -> Value {
    with("docker", &[("orcaYaml", orca_yaml(yaml)), ("host.envNames", json!(["GRADLE_OPTS"]))])
}

fn state(planned: &Planned, name: &str) -> EnvState {
    planned.environment.iter().find(|entry| entry.name == name).unwrap().state
}

fn with_yaml(mut request: Value, yaml: &str) -> Value {
    set(&mut request, "orcaYaml", orca_yaml(yaml));
    request
}

const REDIRECTING: &str = "    env:\n      ANTHROPIC_BASE_URL: https://one\n";

#[test]
fn what_is_approved_is_granted() {
    let approved =
        planned(&approve_all(request(&format!("    forwardHostEnv: [GRADLE_OPTS]\n{REDIRECTING}"))));
    assert_eq!(approved.pending_approvals, []);
    assert_eq!(state(&approved, "GRADLE_OPTS"), EnvState::Active);
    assert_eq!(state(&approved, "ANTHROPIC_BASE_URL"), EnvState::Active);
}

#[test]
fn another_image_asks_again_and_the_old_one_is_granted_again() {
    let approved = approve_all(request(REDIRECTING));
    let mut changed = approved.clone();
    set(&mut changed, "globalSettings.container.image", json!("acme/base:2"));
    assert_eq!(state(&planned(&changed), "ANTHROPIC_BASE_URL"), EnvState::Pending);
    assert_eq!(state(&planned(&approved), "ANTHROPIC_BASE_URL"), EnvState::Active);
}

#[test]
fn the_same_image_named_by_the_repository_asks_again() {
    let approved = approve_all(request(REDIRECTING));
    let changed = with_yaml(approved, &format!("    image: acme/base:1\n{REDIRECTING}"));
    let planned = planned(&changed);
    assert_eq!(state(&planned, "ANTHROPIC_BASE_URL"), EnvState::Pending);
    assert!(planned.pending_approvals.iter().any(|p| p.kind == ApprovalKind::Image && p.blocking));
}

#[test]
fn another_value_asks_again() {
    let approved = approve_all(request(REDIRECTING));
    let changed = with_yaml(approved, "    env:\n      ANTHROPIC_BASE_URL: https://two\n");
    assert_eq!(state(&planned(&changed), "ANTHROPIC_BASE_URL"), EnvState::Pending);
}

#[test]
fn another_name_with_the_same_value_asks_again() {
    let approved = approve_all(request(REDIRECTING));
    let changed = with_yaml(approved, "    env:\n      OPENAI_BASE_URL: https://one\n");
    assert_eq!(state(&planned(&changed), "OPENAI_BASE_URL"), EnvState::Pending);
}

#[test]
fn another_repository_asks_again() {
    let mut changed = approve_all(request(REDIRECTING));
    set(&mut changed, "workspace.repositoryId", json!("/home/u/other/.git"));
    assert_eq!(state(&planned(&changed), "ANTHROPIC_BASE_URL"), EnvState::Pending);
}

#[test]
fn another_network_asks_again() {
    let mut changed = approve_all(request(REDIRECTING));
    set(&mut changed, "choices.network", json!("none"));
    assert_eq!(state(&planned(&changed), "ANTHROPIC_BASE_URL"), EnvState::Pending);
}

#[test]
fn a_digest_under_another_kind_grants_nothing() {
    let mut changed = approve_all(request(REDIRECTING));
    let digest = changed["approvals"][0]["digest"].clone();
    let others = json!([{"kind": "image", "digest": digest}, {"kind": "forward_host_env", "digest": digest}]);
    set(&mut changed, "approvals", others);
    assert_eq!(state(&planned(&changed), "ANTHROPIC_BASE_URL"), EnvState::Pending);
}

#[test]
fn an_approved_image_is_no_preview_any_more() {
    let asked = request("    image: ghcr.io/acme/base:1\n");
    assert!(planned(&asked).plan.digest.is_none());
    let approved = planned(&approve_all(asked));
    assert!(approved.plan.digest.is_some() && approved.needs.is_empty());
}

#[test]
fn an_approved_network_is_used() {
    let mut asked = request("    network: bridge\n");
    set(&mut asked, "globalSettings.container.network", json!("none"));
    assert_eq!(planned(&asked).plan.network.mode, orca_container_core::Network::None);
    assert_eq!(planned(&approve_all(asked)).plan.network.mode, orca_container_core::Network::Bridge);
}

#[test]
fn the_maximum_outranks_an_approval() {
    let mut approved = approve_all(request("    forwardHostEnv: [GRADLE_OPTS]\n"));
    assert_eq!(state(&planned(&approved), "GRADLE_OPTS"), EnvState::Active);
    set(&mut approved, "globalSettings.maximum", json!({"hostEnv": []}));
    assert_eq!(state(&planned(&approved), "GRADLE_OPTS"), EnvState::Dropped);
}

#[test]
fn a_pending_approval_shows_its_subject_without_the_value() {
    let planned = planned(&request(REDIRECTING));
    assert_eq!(planned.pending_approvals[0].subject, json!({"name": "ANTHROPIC_BASE_URL"}));
    let source = &planned.pending_approvals[0].source;
    assert_eq!((source.line, source.column), (Some(4), Some(7)));
}

#[test]
fn an_approval_that_adds_nothing_to_the_container_leaves_its_digest() {
    let asked = request(REDIRECTING);
    assert_eq!(planned(&asked).plan.digest, planned(&approve_all(asked)).plan.digest);
}

//! What waits for a recreate: nothing where nothing changed, and the same by every door.

use orca_container_core::{PlanAnswer, Severity, Waiting, changes, json, plan, waiting};
use orca_container_testkit::golden::cases;
use serde_json::{Value, json};

use crate::support::{parse, planned, with};

/// Every case of the corpus that gives a plan or a preview, once more by the same request.
#[test]
fn nothing_waits_where_nothing_changed() {
    let mut count = 0;
    for case in cases() {
        let Ok(request) = json::read_request(&case.request) else { continue };
        let PlanAnswer::Planned(planned) = plan(&request) else { continue };
        count += 1;
        let found = waiting(&planned.plan, &request, None);
        assert_eq!(found, Waiting::default(), "{}", case.name);
    }
    assert!(count > 100, "{count}");
}

/// The fields that wait are those that `changes` tells for the same settings.
#[test]
fn what_waits_is_what_changes_tells() {
    let mut told = 0;
    for case in cases() {
        let Some(envelope) = case.changes(json::plan) else { continue };
        let envelope: json::ChangesEnvelope =
            orca_container_core::input::read_json(&envelope).unwrap_or_else(|error| panic!("{error}"));
        let (frozen, before, mut after) = (envelope.plan, envelope.before, envelope.after);
        let Ok(changes) = changes(&frozen, &before, &after) else { continue };
        after.orca_yaml.clone_from(&before.orca_yaml);
        after.engine = after.engine.or(before.engine);
        after.image_facts = after.image_facts.or(before.image_facts);
        let is_of_settings = |why: orca_container_core::RecreateReason| why.as_str() == "container";
        let expected: Vec<_> = changes
            .recreate
            .into_iter()
            .filter(|one| is_of_settings(one.why))
            .filter_map(|one| one.plan)
            .collect();
        told += expected.len();
        assert_eq!(waiting(&frozen, &after, None).waiting_fields, expected, "{}", case.name);
    }
    assert!(told > 5, "{told}");
}

#[test]
fn settings_of_now_name_the_fields_that_wait() {
    for engine in ["docker", "podman"] {
        let frozen = planned(&with(engine, &[])).plan;
        let now = with(engine, &[("globalSettings.container.template", json!("large"))]);
        let found = waiting(&frozen, &parse(&now), None);
        let fields: Vec<&str> = found.waiting_fields.iter().map(|change| change.field.as_str()).collect();
        assert_eq!(fields, ["limits.memoryBytes", "limits.nanoCpus", "limits.template"]);
        assert!(found.start_variables.is_empty() && found.not_plannable.is_empty());
    }
}

/// A new start variable is told by its name, and not once more as the list that it is in.
#[test]
fn a_start_variable_is_told_by_its_name() {
    let env = ("globalSettings.container.env", json!({"START": "1"}));
    let frozen = planned(&with("docker", core::slice::from_ref(&env))).plan;
    let now = with("docker", &[env, ("globalSettings.container.startEnv", json!(["START"]))]);
    let found = waiting(&frozen, &parse(&now), None);
    assert_eq!(found.start_variables, ["START"]);
    assert_eq!(found.waiting_fields, []);
}

#[test]
fn settings_without_a_plan_are_answered_with_every_reason_that_refuses() {
    let frozen = planned(&with("docker", &[])).plan;
    let none = Value::Null;
    let mut now = with("docker", &[("globalSettings.container.template", json!("huge"))]);
    now["globalSettings"]["container"].as_object_mut().unwrap().remove("image");
    assert_eq!(now["globalSettings"]["container"]["image"], none);
    let found = waiting(&frozen, &parse(&now), None);
    assert_eq!(found.waiting_fields, []);
    let codes: Vec<&str> = found.not_plannable.iter().map(|problem| problem.code.as_str()).collect();
    assert_eq!(codes, ["image_required", "template_invalid"]);
    assert!(found.not_plannable.iter().all(|problem| problem.severity == Severity::Refused));
}

/// Which files git ignores is asked for a copy, and a recreate copies nothing: a list that is not there refuses nothing.
#[test]
fn a_strict_policy_does_not_stumble_over_files_that_nobody_listed() {
    let changes = [
        ("repoSettings.policy", json!({"strict": true})),
        ("repoSettings.container", json!({"copyIgnoredFiles": true})),
        ("worktreeInclude", json!({"text": ".env\n", "ignored": [".env"]})),
    ];
    let mut value = with("docker", &changes);
    let frozen = planned(&value).plan;
    value["worktreeInclude"]["ignored"] = json!([]);
    assert_eq!(waiting(&frozen, &parse(&value), None), Waiting::default());
}

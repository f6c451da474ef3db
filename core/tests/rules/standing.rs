//! What is said of a workspace: no contact is never proof of death, and nothing is offered that would be refused.

use orca_container_core::{
    ContainerFacts, ContainerPlan, Goal, NetworkFacts, Observed, Phase, Record, Resource, Tone, Verdict,
    VolumeFacts, Waits, WorkspaceAction, WorkspaceStatus, World, json, next_actions, standing,
};
use serde_json::{Value, json};

fn plan() -> ContainerPlan {
    let bridge = serde_json::json!("bridge");
    crate::support::planned(&crate::support::with("docker", &[("choices.network", bridge)])).plan
}

/// Every record of a whole or broken workspace beside everything that its container can be.
fn worlds() -> Vec<(Record, Observed)> {
    let facts = |ours, running| {
        Resource::Present(ContainerFacts { ours, checked: false, running, process_checked: false })
    };
    let containers = [
        Resource::Absent,
        Resource::Unknown { why: "no answer".into() },
        facts(true, true),
        facts(true, false),
        facts(false, true),
    ];
    let mut worlds = Vec::new();
    for phase in Phase::ALL {
        for anew in [false, true] {
            for container in &containers {
                let whole = !matches!(phase, Phase::Provisioning | Phase::Failed);
                let record = Record { phase: *phase, cloned: whole, anew, ..Record::new(false) };
                for (network, volume) in [(false, false), (false, true), (true, true)] {
                    let facts = VolumeFacts { ours: true, checked: false };
                    let volume = if volume { Resource::Present(facts) } else { Resource::Absent };
                    let facts = NetworkFacts { ours: true, in_use: false };
                    let observed = Observed {
                        network: if network { Resource::Present(facts) } else { Resource::Absent },
                        container: container.clone(),
                        agent_volume: volume.clone(),
                        workspace_volume: volume,
                        ..Observed::nothing()
                    };
                    worlds.push((record.clone(), observed));
                }
            }
        }
    }
    worlds
}

#[test]
fn no_contact_is_never_proof_of_death() {
    let plan = plan();
    for (record, observed) in worlds() {
        let said = standing("acme", &plan, &record, &observed, Waits::default());
        match &observed.container {
            Resource::Unknown { .. } => {
                assert_eq!(said.status, WorkspaceStatus::Unverifiable);
                assert_eq!(said.verdict, Verdict::Unverifiable);
                assert!(said.badge.actions.is_empty());
            }
            Resource::Present(facts) if !facts.ours => assert_eq!(said.verdict, Verdict::Unverifiable),
            Resource::Present(facts) if facts.running => assert_eq!(said.verdict, Verdict::Live),
            Resource::Present(_) | Resource::Absent => assert_eq!(said.verdict, Verdict::Exited),
        }
        assert!(said.status != WorkspaceStatus::Missing || said.badge.tone == Tone::Problem);
    }
}

/// Each thing that is offered is done to its end, over an engine that does what it is told.
#[test]
fn nothing_is_offered_that_the_sequencer_refuses() {
    let plan = plan();
    for (record, observed) in worlds() {
        let said = standing("acme", &plan, &record, &observed, Waits::default());
        for action in &said.badge.actions {
            let goals: &[Goal] = match action {
                WorkspaceAction::Start => &[Goal::Start],
                WorkspaceAction::Stop => &[Goal::Stop],
                WorkspaceAction::Restart => &[Goal::Stop, Goal::Start],
                WorkspaceAction::Recreate | WorkspaceAction::Adopt => &[Goal::Recreate, Goal::Recreate],
                // A new create removes what is left and begins anew.
                WorkspaceAction::Remove | WorkspaceAction::Create => &[Goal::Remove],
            };
            let mut world = World { record: Some(record.clone()), observed: observed.clone() };
            let half =
                |world: &mut World, anew| world.record.iter_mut().for_each(|record| record.anew = anew);
            for (step, goal) in goals.iter().enumerate() {
                // A recreate is written down between its halves.
                if *goal == Goal::Recreate {
                    half(&mut world, step > 0);
                }
                world.reach(*goal, &plan, false);
                let next = next_actions(*goal, Some(&plan), world.record.as_ref(), &world.observed);
                assert!(next.reached(), "{action:?} {record:?} {observed:?}: {:?}", next.blocked);
            }
        }
    }
}

#[test]
fn what_waits_for_a_recreate_stands_out_where_it_runs() {
    let plan = plan();
    for (record, observed) in worlds() {
        let of = |recreate, adopt| {
            standing("acme", &plan, &record, &observed, Waits { recreate, adopt, refused: false })
        };
        let calm = of(false, false);
        let runs = calm.status == WorkspaceStatus::Running;
        for (waiting, first) in [
            (of(true, false), WorkspaceAction::Recreate),
            (of(false, true), WorkspaceAction::Adopt),
            (of(true, true), WorkspaceAction::Adopt),
        ] {
            assert_eq!(calm.badge != waiting.badge, runs);
            let is_whole = observed.workspace_volume != Resource::Absent;
            assert!(!runs || !is_whole || waiting.badge.actions.first() == Some(&first));
        }
    }
}

/// Settings that give no plan stop no workspace, and what would fail by them is not offered.
#[test]
fn settings_that_are_refused_are_said_and_a_recreate_is_not_offered() {
    let plan = plan();
    for (record, observed) in worlds() {
        let of = |refused| standing("acme", &plan, &record, &observed, Waits { refused, ..Waits::default() });
        let (calm, refused) = (of(false), of(true));
        assert_eq!((calm.status, calm.verdict), (refused.status, refused.verdict));
        let is_settled = matches!(
            calm.status,
            WorkspaceStatus::Running | WorkspaceStatus::Stopped | WorkspaceStatus::Missing
        );
        let says =
            refused.help.as_ref().is_some_and(|help| help.contains("The settings of now give no plan"));
        assert_eq!(says, is_settled, "{:?}", refused.status);
        assert!(!is_settled || !refused.badge.actions.contains(&WorkspaceAction::Recreate));
    }
}

/// What a program writes is read strictly, also where a thing is only said to be absent.
#[test]
fn a_word_that_nobody_knows_is_refused_wherever_it_stands() {
    let facts = json!({"state": "present", "ours": true, "checked": false});
    let observed = json!({
        "image": {"state": "absent"}, "network": {"state": "absent"}, "workspaceVolume": facts, "agentVolume": facts,
        "container": {"state": "unknown", "why": "no answer"}
    });
    let record = serde_json::to_value(Record::new(false)).unwrap();
    let envelope = json!({"name": "acme", "plan": plan(), "record": record, "observed": observed});
    assert!(json::standing(&envelope.to_string()).1);
    for place in
        ["", "/record", "/observed", "/observed/image", "/observed/agentVolume", "/observed/container"]
    {
        let mut odd = envelope.clone();
        odd.pointer_mut(place).unwrap()["odd"] = json!(1);
        let (answer, ok) = json::standing(&odd.to_string());
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert!(!ok, "{place}");
        assert_eq!(answer["code"], "request_invalid", "{place}");
    }
}

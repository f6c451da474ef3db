//! What is said of a workspace: no contact is never proof of death, and nothing is offered that would be refused.

use orca_container_core::{
    ContainerFacts, Goal, Observed, Phase, Record, Resource, Tone, Verdict, WorkspaceAction, WorkspaceStatus,
    next_actions, standing,
};

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
                worlds.push((record, Observed { container: container.clone(), ..Observed::nothing() }));
            }
        }
    }
    worlds
}

#[test]
fn no_contact_is_never_proof_of_death() {
    for (record, observed) in worlds() {
        let said = standing("acme", &record, &observed, false);
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

#[test]
fn nothing_is_offered_that_the_sequencer_refuses() {
    let plan = crate::support::planned(&crate::support::with("docker", &[])).plan;
    for (record, observed) in worlds() {
        let said = standing("acme", &record, &observed, false);
        for action in &said.badge.actions {
            let goal = match action {
                WorkspaceAction::Start => Goal::Start,
                WorkspaceAction::Stop | WorkspaceAction::Restart => Goal::Stop,
                WorkspaceAction::Recreate => Goal::Recreate,
                // A new create removes what is left and begins anew.
                WorkspaceAction::Remove | WorkspaceAction::Create => Goal::Remove,
            };
            // The first half of a recreate goes by the record of before.
            let record = Record { anew: record.anew && goal != Goal::Recreate, ..record.clone() };
            let next = next_actions(goal, Some(&plan), Some(&record), &observed);
            assert!(next.blocked.is_empty(), "{action:?} {record:?} {observed:?}: {:?}", next.blocked);
        }
    }
}

#[test]
fn what_waits_for_a_recreate_stands_out_where_it_runs() {
    for (record, observed) in worlds() {
        let (calm, waiting) =
            (standing("acme", &record, &observed, false), standing("acme", &record, &observed, true));
        let runs = calm.status == WorkspaceStatus::Running;
        assert_eq!(calm.badge != waiting.badge, runs);
        assert!(!runs || waiting.badge.actions.first() == Some(&WorkspaceAction::Recreate));
    }
}

//! The sequencer: creation and removal converge from every interrupted prefix, and nothing unknown or
//! foreign is ever touched.

use crate::support::{approve_all, request, sealed, with_devcontainer};
use orca_container_core::{
    Action, ContainerFacts, ContainerPlan, Goal, NetworkFacts, Observed, Phase, Record, Resource,
    VolumeFacts, VolumeRef, World, next_actions,
};
use proptest::prelude::*;
use std::sync::LazyLock;

/// Planned once: a property asks for them in every case.
pub fn plans() -> Vec<ContainerPlan> {
    static PLANS: LazyLock<Vec<ContainerPlan>> = LazyLock::new(planned);
    PLANS.clone()
}

fn planned() -> Vec<ContainerPlan> {
    let volumes = r#"{"image": "a:1", "mounts": ["source=one,target=/a", "source=two,target=/b", "type=tmpfs,target=/c"]}"#;
    let with_volumes = |engine| sealed(&approve_all(with_devcontainer(engine, volumes)));
    let engines = ["docker", "podman"];
    let with_volumes = engines.map(with_volumes);
    assert!(with_volumes.iter().all(|plan| plan.volumes.len() == 4));
    engines.map(|engine| sealed(&request(engine))).into_iter().chain(with_volumes).collect()
}

/// A record that survived says what was done; the engine forgets what was checked in an earlier run.
pub fn after_a_crash(mut world: World) -> World {
    let unchecked = |volume: &mut Resource<VolumeFacts>| {
        if let Resource::Present(facts) = volume {
            facts.checked = false;
        }
    };
    unchecked(&mut world.observed.workspace_volume);
    unchecked(&mut world.observed.agent_volume);
    world.observed.repository_volumes.iter_mut().for_each(unchecked);
    if let Resource::Present(facts) = &mut world.observed.container {
        (facts.checked, facts.process_checked) = (false, false);
    }
    world
}

pub fn is_running(world: &World) -> bool {
    let running = matches!(&world.observed.container, Resource::Present(facts) if facts.running && facts.checked && facts.process_checked);
    running && world.record.as_ref().is_some_and(|record| record.phase == Phase::Running && record.cloned)
}

pub fn is_empty(world: &World) -> bool {
    let Observed { network, workspace_volume, agent_volume, repository_volumes, container, image: _ } =
        &world.observed;
    world.record.is_none()
        && repository_volumes.iter().all(|volume| *volume == Resource::Absent)
        && *network == Resource::Absent
        && *workspace_volume == Resource::Absent
        && *agent_volume == Resource::Absent
        && *container == Resource::Absent
}

/// The worlds after each prefix of what the sequencer does.
fn prefixes(goal: Goal, from: &World, plan: &ContainerPlan) -> Vec<World> {
    let steps = from.clone().reach(goal, plan, true);
    let mut worlds = vec![from.clone()];
    let mut world = from.clone();
    for step in steps {
        world.apply(step, true);
        worlds.push(world.clone());
    }
    worlds
}

#[test]
fn create_and_remove_converge_from_every_prefix_of_create_and_of_remove() {
    for plan in plans() {
        let created = prefixes(Goal::Create, &World::empty(), &plan);
        let running = created.last().unwrap().clone();
        assert!(is_running(&running));
        let removed = prefixes(Goal::Remove, &running, &plan);
        assert!(is_empty(removed.last().unwrap()));
        for world in &created {
            let mut again = after_a_crash(world.clone());
            again.reach(Goal::Create, &plan, true);
            assert!(is_running(&again), "{world:?}");
        }
        for world in created.iter().chain(&removed) {
            let mut gone = after_a_crash(world.clone());
            gone.reach(Goal::Remove, &plan, true);
            assert!(is_empty(&gone), "{world:?} became {gone:?}");
        }
    }
}

#[test]
fn a_record_comes_before_the_first_effect_and_after_the_last() {
    for plan in plans() {
        let steps = World::empty().reach(Goal::Create, &plan, false);
        assert_eq!(steps.first(), Some(&Action::WriteRecord(Phase::Provisioning)));
        assert_eq!(steps.last(), Some(&Action::WriteRecord(Phase::Running)));
    }
}

#[test]
fn nothing_starts_before_it_was_compared_with_the_plan() {
    for plan in plans() {
        let steps = World::empty().reach(Goal::Create, &plan, true);
        let at = |wanted: Action| steps.iter().position(|step| *step == wanted).unwrap();
        assert!(at(Action::CheckContainer) < at(Action::StartContainer));
        assert!(at(Action::StartContainer) < at(Action::CheckProcess));
        assert!(at(Action::CheckProcess) < at(Action::Clone));
        let checks = steps.iter().filter(|step| matches!(step, Action::CheckVolume(_))).count();
        assert_eq!(checks, plan.volumes.len());
    }
}

/// A phase "running" or "suspended" says that the clone is whole; starting or stopping cannot make it so.
#[test]
fn what_is_not_whole_is_never_called_running_or_suspended_by_start_or_stop() {
    for plan in plans() {
        for world in prefixes(Goal::Create, &World::empty(), &plan).iter().chain(&removals(&plan)) {
            let unfinished = world.record.as_ref().is_some_and(|record| record.phase.is_unfinished());
            for goal in [Goal::Start, Goal::Stop] {
                let next = next_actions(goal, Some(&plan), world.record.as_ref(), &world.observed);
                let writes = next.actions.iter().any(|action| matches!(action, Action::WriteRecord(_)));
                assert!(!(unfinished && writes), "{goal:?} {world:?}: {next:?}");
                let starts = next.actions.contains(&Action::StartContainer);
                assert!(!(unfinished && starts), "{world:?}");
            }
        }
    }
}

fn removals(plan: &ContainerPlan) -> Vec<World> {
    let created = prefixes(Goal::Create, &World::empty(), plan);
    prefixes(Goal::Remove, created.last().unwrap(), plan)
}

#[test]
fn a_whole_workspace_stops_and_starts_again() {
    for plan in plans() {
        let mut world = prefixes(Goal::Create, &World::empty(), &plan).pop().unwrap();
        for (goal, phase) in [(Goal::Stop, Phase::Suspended), (Goal::Start, Phase::Running)] {
            world.reach(goal, &plan, true);
            assert_eq!(world.record.as_ref().unwrap().phase, phase);
        }
        assert!(is_running(&world));
    }
}

/// What a recreate does: the container goes, the new plan is written down, the container is made.
fn recreate(world: &mut World, plan: &ContainerPlan) -> Vec<Action> {
    world.record.as_mut().unwrap().anew = false;
    let mut steps = world.reach(Goal::Recreate, plan, true);
    assert_eq!(world.observed.container, Resource::Absent);
    world.record.as_mut().unwrap().anew = true;
    steps.extend(world.reach(Goal::Recreate, plan, true));
    world.record.as_mut().unwrap().anew = false;
    steps
}

#[test]
fn a_recreate_makes_the_container_anew_and_no_volume() {
    for plan in plans() {
        let mut world = prefixes(Goal::Create, &World::empty(), &plan).pop().unwrap();
        let volumes = |world: &World| {
            let observed = &world.observed;
            (
                observed.workspace_volume.clone(),
                observed.agent_volume.clone(),
                observed.repository_volumes.clone(),
            )
        };
        let before = volumes(&world);
        let steps = recreate(&mut world, &plan);
        assert!(is_running(&world));
        assert_eq!(volumes(&world), before);
        let never = |action: &Action| {
            matches!(
                action,
                Action::CreateVolume(_)
                    | Action::RemoveVolume(_)
                    | Action::Clone
                    | Action::CopyIgnoredFiles
                    | Action::RemoveRecord
            )
        };
        assert!(!steps.iter().any(never), "{steps:?}");
        let at = |wanted: Action| steps.iter().position(|step| *step == wanted).unwrap();
        assert!(at(Action::StopContainer) < at(Action::RemoveContainer));
        assert!(at(Action::CheckContainer) < at(Action::StartContainer));
    }
}

/// Whatever a recreate was interrupted in, the same command ends it, `rm` removes all of it, and no other one takes it
/// for whole.
#[test]
fn a_recreate_converges_from_every_prefix() {
    for plan in plans() {
        let running = prefixes(Goal::Create, &World::empty(), &plan).pop().unwrap();
        let mut worlds = prefixes(Goal::Recreate, &running, &plan);
        let mut anew = worlds.last().unwrap().clone();
        anew.record.as_mut().unwrap().anew = true;
        let second = prefixes(Goal::Recreate, &anew, &plan);
        for world in &second[..second.len() - 1] {
            let record = world.record.as_ref().unwrap();
            assert!(record.is_unfinished(), "{world:?}");
            for goal in [Goal::Start, Goal::Create] {
                let next = next_actions(goal, Some(&plan), Some(record), &world.observed);
                assert!(next.actions.is_empty() && !next.blocked.is_empty(), "{goal:?} {world:?}");
            }
        }
        worlds.extend(second);
        for world in worlds {
            let mut again = after_a_crash(world.clone());
            recreate(&mut again, &plan);
            assert!(is_running(&again), "{world:?}");
            let mut gone = after_a_crash(world.clone());
            gone.reach(Goal::Remove, &plan, true);
            assert!(is_empty(&gone), "{world:?} became {gone:?}");
        }
    }
}

/// Only the agent volume is exchanged, once, and whatever the exchange was interrupted in, the same command ends it.
#[test]
fn a_recreate_that_resets_the_agent_exchanges_its_volume_and_no_other() {
    let of_volumes = |steps: &[Action]| -> Vec<Action> {
        let is = |step: &&Action| matches!(step, Action::CreateVolume(_) | Action::RemoveVolume(_));
        steps.iter().filter(is).copied().collect()
    };
    let agent = VolumeRef::Agent;
    for plan in plans() {
        let mut world = prefixes(Goal::Create, &World::empty(), &plan).pop().unwrap();
        world.reach(Goal::Recreate, &plan, true);
        let record = world.record.as_mut().unwrap();
        (record.anew, record.reset_agent) = (true, true);
        let steps = world.clone().reach(Goal::Recreate, &plan, true);
        assert_eq!(of_volumes(&steps), [Action::RemoveVolume(agent), Action::CreateVolume(agent)]);
        for world in prefixes(Goal::Recreate, &world, &plan) {
            let mut again = after_a_crash(world.clone());
            recreate(&mut again, &plan);
            assert!(is_running(&again), "{world:?}");
            assert!(!again.record.as_ref().unwrap().reset_agent);
        }
    }
}

#[test]
fn a_volume_that_is_gone_is_not_made_again_by_a_recreate() {
    for plan in plans() {
        let mut world = prefixes(Goal::Create, &World::empty(), &plan).pop().unwrap();
        world.reach(Goal::Recreate, &plan, true);
        world.record.as_mut().unwrap().anew = true;
        world.observed.workspace_volume = Resource::Absent;
        let steps = world.reach(Goal::Recreate, &plan, true);
        assert!(!steps.contains(&Action::CreateVolume(VolumeRef::Workspace)), "{steps:?}");
        assert_eq!(world.observed.container, Resource::Absent);
    }
}

fn resource<T: Clone + std::fmt::Debug>(
    facts: impl Strategy<Value = T>,
) -> impl Strategy<Value = Resource<T>> {
    prop_oneof![
        Just(Resource::Absent),
        facts.prop_map(Resource::Present),
        Just(Resource::Unknown { why: "no answer".into() })
    ]
}

fn observed() -> impl Strategy<Value = Observed> {
    let volume = || (any::<bool>(), any::<bool>()).prop_map(|(ours, checked)| VolumeFacts { ours, checked });
    let network = (any::<bool>(), any::<bool>()).prop_map(|(ours, in_use)| NetworkFacts { ours, in_use });
    let container = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(ours, checked, running, process_checked)| ContainerFacts {
            ours,
            checked,
            running,
            process_checked,
        },
    );
    let repository = prop::collection::vec(resource(volume()), 0..3);
    (resource(network), resource(volume()), resource(volume()), repository, resource(container)).prop_map(
        |(network, workspace_volume, agent_volume, repository_volumes, container)| Observed {
            image: Resource::Absent,
            network,
            workspace_volume,
            agent_volume,
            repository_volumes,
            container,
        },
    )
}

fn record() -> impl Strategy<Value = Option<Record>> {
    let phase = prop::sample::select(Phase::ALL);
    prop::option::of((phase, any::<[bool; 7]>()).prop_map(
        |(phase, [copy, volumes_initialized, cloned, remote_set, copied, anew, reset_agent])| Record {
            phase,
            copy,
            volumes_initialized,
            cloned,
            remote_set,
            copied,
            anew,
            reset_agent,
        },
    ))
}

proptest! {
    #![proptest_config(crate::support::cases(96))]

    #[test]
    fn what_is_unknown_or_foreign_is_never_removed_or_built_upon(observed in observed(), record in record()) {
        for plan in plans() {
            for goal in Goal::ALL {
                let next = next_actions(*goal, Some(&plan), record.as_ref(), &observed);
                for action in &next.actions {
                    let touched_volume = |facts: &Resource<VolumeFacts>| matches!(facts, Resource::Present(f) if f.ours);
                    match action {
                        Action::RemoveContainer | Action::StopContainer | Action::StartContainer => {
                            prop_assert!(matches!(&observed.container, Resource::Present(facts) if facts.ours));
                        }
                        Action::RemoveVolume(volume) => {
                            let facts = match volume {
                                VolumeRef::Workspace => &observed.workspace_volume,
                                VolumeRef::Agent => &observed.agent_volume,
                                VolumeRef::Repository(index) => &observed.repository_volumes[*index],
                            };
                            prop_assert!(touched_volume(facts));
                            prop_assert_eq!(&observed.container, &Resource::Absent);
                        }
                        Action::RemoveNetwork => prop_assert!(matches!(&observed.network, Resource::Present(f) if f.ours && !f.in_use)),
                        Action::RemoveRecord => {
                            prop_assert_eq!(&observed.container, &Resource::Absent);
                            prop_assert_eq!(&observed.workspace_volume, &Resource::Absent);
                            prop_assert_eq!(&observed.agent_volume, &Resource::Absent);
                            prop_assert!(observed.repository_volumes.iter().all(|volume| *volume == Resource::Absent));
                        }
                        _ => {}
                    }
                    if record.is_none() {
                        prop_assert_eq!(*action, Action::WriteRecord(Phase::Provisioning));
                    }
                }
            }
        }
    }

    #[test]
    fn a_goal_is_reached_or_blocked_with_a_reason_from_any_state(observed in observed(), record in record()) {
        for plan in plans() {
            for goal in Goal::ALL {
                let mut world = World { record: record.clone(), observed: observed.clone() };
                let steps = world.reach(*goal, &plan, true).len();
                prop_assert!(steps < 40, "it goes round in circles");
                let next = next_actions(*goal, Some(&plan), world.record.as_ref(), &world.observed);
                prop_assert!(next.actions.is_empty());
                prop_assert!(next.blocked.iter().all(|blocked| !blocked.why.is_empty()));
            }
        }
    }
}

//! Two operators at once, and crashes: whatever the order of their steps and however old what each has seen, the engine
//! loses no volume but by a removal, nothing foreign is touched, and one command afterwards converges.
//!
//! The shell has a lock against this. The sequencer is tried without it: a lock on another machine, or one that somebody
//! removed, must not cost anybody's work.

use crate::sequencer::{after_a_crash, is_empty, is_running, plans};
use orca_container_core::{
    Action, ContainerPlan, Goal, Observed, Phase, Resource, VolumeFacts, VolumeRef, World, next_actions,
};
use proptest::prelude::*;

/// One who works towards a goal, by what was seen at some time, as the shell's runner does.
struct Operator {
    goal: Goal,
    view: World,
    /// A recreate is in its first half until its caller wrote the new plan down.
    second_half: bool,
    /// Whether it began where no record was, as the shell's create always does.
    made_record: bool,
    undoing: bool,
    ended: bool,
}

impl Operator {
    fn new(goal: Goal, truth: &World) -> Self {
        let mut view = after_a_crash(truth.clone());
        if goal == Goal::Recreate
            && let Some(record) = &mut view.record
        {
            record.anew = false;
        }
        let made_record = view.record.is_none();
        Self { goal, view, second_half: false, made_record, undoing: false, ended: false }
    }

    /// Looks at the engine again; the record is the one in hand.
    fn look(&mut self, truth: &World) {
        self.view.observed = after_a_crash(truth.clone()).observed;
    }

    /// Does the next thing. Gives the action that was carried out.
    fn step(&mut self, truth: &mut World, plan: &ContainerPlan) -> Option<Action> {
        if self.ended {
            return None;
        }
        let next = next_actions(self.goal, Some(plan), self.view.record.as_ref(), &self.view.observed);
        let Some(action) = next.actions.first().copied() else {
            let first_half = self.goal == Goal::Recreate && !self.second_half && !self.undoing;
            match next.blocked.is_empty() {
                true if first_half => self.write_new_plan(truth),
                true if self.goal == Goal::Recreate && self.undoing => self.put_record_back(truth),
                true => self.ended = true,
                false => self.failed(truth),
            }
            return None;
        };
        if !carried_out(truth, action) {
            self.failed(truth);
            return None;
        }
        self.view.apply(action, false);
        self.record(action, truth);
        Some(action)
    }

    /// What the shell writes after an action: its whole record, as it has it.
    fn record(&self, action: Action, truth: &mut World) {
        match action {
            Action::RemoveRecord => truth.record = None,
            Action::WriteRecord(_)
            | Action::InitVolumes
            | Action::Clone
            | Action::SetRemote
            | Action::CopyIgnoredFiles
            | Action::CreateContainer
            | Action::RemoveContainer => truth.record.clone_from(&self.view.record),
            _ => {}
        }
        if let (Action::WriteRecord(Phase::Running), Some(record)) = (action, &mut truth.record) {
            record.anew = false;
        }
    }

    fn write_new_plan(&mut self, truth: &mut World) {
        self.second_half = true;
        self.mark_anew(true);
        truth.record.clone_from(&self.view.record);
        self.look(truth);
    }

    fn put_record_back(&mut self, truth: &mut World) {
        self.ended = true;
        truth.record.clone_from(&self.view.record);
    }

    fn mark_anew(&mut self, anew: bool) {
        if let Some(record) = &mut self.view.record {
            record.anew = anew;
        }
    }

    /// A create undoes what it made; a recreate takes the new container away.
    fn failed(&mut self, truth: &World) {
        match self.goal {
            Goal::Create if self.made_record && !self.undoing => self.goal = Goal::Remove,
            Goal::Recreate if self.second_half && !self.undoing => self.mark_anew(false),
            _ => self.ended = true,
        }
        self.undoing = true;
        self.look(truth);
    }
}

/// What an engine does with an action: nothing, where it is not possible any more.
fn carried_out(truth: &mut World, action: Action) -> bool {
    let observed = &truth.observed;
    let absent = observed.container == Resource::Absent;
    let ours = matches!(&observed.container, Resource::Present(facts) if facts.ours);
    let runs = matches!(&observed.container, Resource::Present(facts) if facts.ours && facts.running);
    let volume_is_ours =
        |volume| matches!(volume_of(&truth.observed, volume), Resource::Present(facts) if facts.ours);
    let possible = match action {
        Action::CreateContainer => absent,
        Action::CreateNetwork => observed.network == Resource::Absent,
        // One that is there is taken over, and found by the comparison.
        Action::CreateVolume(volume) if *volume_of(observed, volume) != Resource::Absent => return true,
        Action::CheckVolume(volume) => volume_is_ours(volume),
        Action::RemoveVolume(volume) => absent && *volume_of(observed, volume) != Resource::Absent,
        Action::RemoveNetwork => absent && observed.network != Resource::Absent,
        Action::CheckContainer => ours,
        // The engine does not ask whose it is.
        Action::StartContainer | Action::StopContainer | Action::RemoveContainer => !absent,
        // A clone writes over no other one.
        Action::Clone => runs && truth.record.as_ref().is_none_or(|record| !record.cloned),
        Action::CheckProcess | Action::SetRemote | Action::CopyIgnoredFiles => runs,
        _ => true,
    };
    if possible {
        let record = truth.record.take();
        truth.apply(action, false);
        truth.record = record;
    }
    possible
}

fn volume_of(observed: &Observed, volume: VolumeRef) -> &Resource<VolumeFacts> {
    match volume {
        VolumeRef::Workspace => &observed.workspace_volume,
        VolumeRef::Agent => &observed.agent_volume,
        VolumeRef::Repository(index) => observed.repository_volumes.get(index).unwrap_or(&Resource::Absent),
    }
}

fn volumes(world: &World) -> Vec<(bool, bool)> {
    let observed = &world.observed;
    let all =
        [&observed.workspace_volume, &observed.agent_volume].into_iter().chain(&observed.repository_volumes);
    // Whether it is there, and ours.
    all.map(|volume| match volume {
        Resource::Present(facts) => (true, facts.ours),
        Resource::Absent | Resource::Unknown { .. } => (false, false),
    })
    .collect()
}

/// A workspace that stands, or that a command was interrupted in.
fn worlds(plan: &ContainerPlan, goal: Goal, steps: usize) -> World {
    let mut world = World::empty();
    world.reach(Goal::Create, plan, false);
    command(&mut world, plan, goal, steps);
    world
}

/// A command that ends after so many steps, however far it came; gives its actions.
fn command(truth: &mut World, plan: &ContainerPlan, goal: Goal, steps: usize) -> Vec<Action> {
    let mut operator = Operator::new(goal, truth);
    let mut done = Vec::new();
    for _ in 0..steps {
        done.extend(operator.step(truth, plan));
    }
    done
}

/// More steps than any command has.
const ALL: usize = 80;

/// The command that the status of a world tells a person.
fn following(truth: &World) -> Goal {
    match &truth.record {
        None => Goal::Create,
        Some(record) => match record.phase {
            Phase::Provisioning | Phase::Failed => Goal::Create,
            Phase::CleanupPending | Phase::CleanupFailed | Phase::Cleaned => Goal::Remove,
            Phase::Running | Phase::Suspended if record.anew => Goal::Recreate,
            Phase::Running | Phase::Suspended if truth.observed.container == Resource::Absent => {
                Goal::Recreate
            }
            Phase::Running | Phase::Suspended => Goal::Start,
        },
    }
}

fn goal() -> impl Strategy<Value = Goal> {
    prop::sample::select(Goal::ALL)
}

proptest! {
    #![proptest_config(crate::support::cases(512))]

    /// Whatever commands were interrupted wherever, the one that the status tells reaches its goal, and what was cloned was
    /// lost to nothing but a removal.
    #[test]
    fn any_prefixes_of_any_commands_are_ended_by_the_following_one(
        commands in prop::collection::vec((goal(), 0..24_usize), 1..6)
    ) {
        for plan in plans() {
            let mut world = World::empty();
            for (goal, steps) in &commands {
                let before = (world.record.clone(), volumes(&world));
                command(&mut world, &plan, *goal, *steps);
                let cloned = before.0.is_some_and(|record| record.cloned);
                if cloned && *goal != Goal::Remove && *goal != Goal::Create {
                    prop_assert_eq!(before.1, volumes(&world), "{:?} {}", goal, steps);
                }
            }
            let mut gone = world.clone();
            command(&mut gone, &plan, Goal::Remove, ALL);
            prop_assert!(is_empty(&gone), "{:?} became {:?}", world, gone);
            let goal = following(&world);
            let before = world.clone();
            command(&mut world, &plan, goal, ALL);
            if goal == Goal::Remove {
                prop_assert!(is_empty(&world), "{:?} became {:?}", before, world);
            } else {
                prop_assert!(is_running(&world), "{:?} {:?} became {:?}", goal, before, world);
            }
        }
    }

    #[test]
    fn two_operators_in_any_order_lose_nothing_and_touch_nothing_foreign(
        begun in (goal(), 0..24_usize),
        goals in (goal(), goal()),
        // Who steps, and whether that one looks again first.
        order in prop::collection::vec((any::<bool>(), prop::bool::weighted(0.1)), 0..80),
        not_ours in any::<[bool; 3]>(),
        crash in any::<bool>(),
    ) {
        for plan in plans() {
            let mut truth = worlds(&plan, begun.0, begun.1);
            make_foreign(&mut truth, not_ours);
            let (start, mut removed) = (truth.clone(), false);
            let mut operators = [Operator::new(goals.0, &truth), Operator::new(goals.1, &truth)];
            let rest = (0..2 * ALL).map(|number| (number % 2 == 0, false));
            for (which, looks) in order.iter().copied().chain(rest.filter(|_| !crash)) {
                let operator = &mut operators[usize::from(which)];
                if looks {
                    operator.look(&truth);
                }
                removed |= operator.step(&mut truth, &plan) == Some(Action::RemoveRecord);
                prop_assert_eq!(foreign(&start), foreign(&truth));
            }
            let removes = goals.0 == Goal::Remove || goals.1 == Goal::Remove;
            let whole = start.record.as_ref().is_some_and(|record| !record.phase.is_unfinished());
            if whole && !removes {
                prop_assert_eq!(volumes(&start), volumes(&truth), "{:?}", goals);
            }
            if !foreign(&start).is_empty() {
                continue;
            }
            let before = truth.clone();
            command(&mut truth, &plan, Goal::Remove, ALL);
            if before.record.is_some() || !removed {
                prop_assert!(is_empty(&truth), "{:?} of {:?} became {:?}", goals, before, truth);
            } else {
                // A removal took the record from under the other's hands, which the lock is for: what that one made after
                // is told by a sweep, and nobody touches it.
                prop_assert_eq!(before, truth, "{:?}", goals);
            }
        }
    }
}

/// Somebody else's things in place of ours.
fn make_foreign(world: &mut World, which: [bool; 3]) {
    let observed = &mut world.observed;
    if let (true, Resource::Present(facts)) = (which[0], &mut observed.container) {
        facts.ours = false;
    }
    if let (true, Resource::Present(facts)) = (which[1], &mut observed.workspace_volume) {
        facts.ours = false;
    }
    if let (true, Resource::Present(facts)) = (which[2], &mut observed.network) {
        facts.ours = false;
    }
}

/// What is there and not ours, as it is.
fn foreign(world: &World) -> Vec<String> {
    let observed = &world.observed;
    let mut all = Vec::new();
    if let Resource::Present(facts) = observed.container
        && !facts.ours
    {
        all.push(format!("{facts:?}"));
    }
    if let Resource::Present(facts) = observed.network
        && !facts.ours
    {
        all.push(format!("{facts:?}"));
    }
    all.extend(
        volumes(world).iter().filter(|facts| **facts == (true, false)).map(|facts| format!("{facts:?}")),
    );
    all
}

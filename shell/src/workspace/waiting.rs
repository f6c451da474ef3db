//! What of a workspace waits for a recreate, as a recreate would find it now: no engine is asked but for the values of start
//! variables that a container has.

use orca_container_core::{Waiting, waiting as waiting_by, waiting_for_recreate};

use super::WorkspaceError;
use super::environment::configured;
use super::launch::launch_request;
use super::recreate::{read_dockerfile, request_of};
use crate::settings::Settings;
use crate::store::{Store, WorkspaceRecord};

/// What waits. The error is why it is not known.
pub fn waiting(
    record: &WorkspaceRecord,
    store: &Store,
    settings: &Settings,
) -> Result<Waiting, WorkspaceError> {
    // Before its first container is there nothing waits, and after its last one neither.
    if record.progress.phase.is_unfinished() {
        return Ok(Waiting::default());
    }
    let observed = configured(record);
    if record.choices.is_none() {
        // A record of before does not say what was chosen for it, so what would differ is not told.
        let request = launch_request(record, store, settings)?;
        let start_variables = waiting_for_recreate(&record.plan, &request, observed.as_deref());
        return Ok(Waiting { start_variables, ..Waiting::default() });
    }
    let mut request = request_of(record, store, settings)?;
    read_dockerfile(&mut request, record)?;
    Ok(waiting_by(&record.plan, &request, observed.as_deref()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::create::record_of;
    use orca_container_core::input::PlanRequest;
    use orca_container_core::{PlanAnswer, Planned, json, plan};
    use orca_container_testkit::golden::cases;

    /// Every request of the corpus that gives a plan, or a preview of an image that was looked at.
    fn planned() -> Vec<(String, PlanRequest, Box<Planned>)> {
        let of = |case: orca_container_testkit::golden::Case| {
            let request = json::read_request(&case.request).ok()?;
            match plan(&request) {
                PlanAnswer::Planned(planned) if request.engine.is_some() && request.image_facts.is_some() => {
                    Some((case.name, request, planned))
                }
                _ => None,
            }
        };
        cases().into_iter().filter_map(of).collect()
    }

    /// A record keeps less than was found out for a create, and yet all that its plan was made of.
    #[test]
    fn nothing_waits_where_nothing_changed_by_what_a_record_keeps() {
        let planned = planned();
        assert!(planned.len() > 100, "{}", planned.len());
        for (name, request, planned) in planned {
            let mut record = record_of(&request, &planned).unwrap();
            for keeps_capacity in [true, false] {
                if !keeps_capacity {
                    record.engine.capacity = None;
                }
                let now = PlanRequest {
                    engine: Some(record.engine_facts()),
                    image_facts: Some(record.image.facts()),
                    ..request.clone()
                };
                let waiting = waiting_by(&record.plan, &now, None);
                assert_eq!(waiting, Waiting::default(), "{name}, capacity kept: {keeps_capacity}");
            }
        }
    }
}

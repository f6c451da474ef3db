//! The golden corpus through the command: the same bytes as through the core's own door.

use crate::runs::Repository;
use orca_container_core::json;
use orca_container_testkit::golden::cases;

#[test]
fn every_golden_case_gives_through_the_command_what_the_core_gives() {
    let repository = Repository::new();
    for case in cases() {
        let run = repository.run_with_input(&["plan", "--request", "-"], &case.request);
        let answer = json::plan(&case.request);
        let ok = answer.starts_with("{\"ok\":true,");
        assert_eq!((run.code, run.stderr.as_str()), (i32::from(!ok), ""), "{}", case.name);
        assert_eq!(run.stdout.strip_suffix('\n'), Some(answer.as_str()), "{}", case.name);
        case.check(&answer);
    }
}

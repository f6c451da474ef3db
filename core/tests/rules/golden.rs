//! The golden corpus through the core's JSON door.

use orca_container_core::json;
use orca_container_testkit::golden::{Case, cases};

#[test]
fn every_golden_case_gives_its_expected_answer() {
    for case in cases() {
        case.check(&json::plan(&case.request));
    }
}

#[test]
fn every_devcontainer_of_the_corpus_has_its_expected_findings() {
    let cases: Vec<_> = cases().into_iter().filter(Case::has_devcontainer).collect();
    assert!(cases.len() > 20, "{} cases", cases.len());
    for case in cases {
        case.check_devcontainer(&json::devcontainer_findings(&case.request));
    }
}

#[test]
fn the_same_request_gives_the_same_bytes() {
    for case in cases() {
        assert_eq!(json::plan(&case.request), json::plan(&case.request), "{}", case.name);
    }
}

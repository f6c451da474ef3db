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

/// What public files ask for by habit: one case for each property, each flag and each form of a mount. A policy that refuses
/// the habits of templates refuses half of the world.
#[test]
fn no_habit_is_refused_but_compose() {
    let habits: Vec<_> = cases().into_iter().filter(|case| case.name.starts_with("habits/")).collect();
    assert!(habits.len() > 100, "{}", habits.len());
    for case in habits {
        let compose =
            ["dockerComposeFile", "service", "runServices"].iter().any(|key| case.name.ends_with(key));
        let answer: serde_json::Value = serde_json::from_str(&json::plan(&case.request)).unwrap();
        assert_eq!(answer["ok"], !compose, "{}: {}", case.name, answer["message"]);
        let mut strict: serde_json::Value = serde_json::from_str(&case.request).unwrap();
        strict["repoSettings"]["policy"]["strict"] = true.into();
        let dropped =
            answer["notices"].as_array().is_some_and(|all| all.iter().any(|n| n["severity"] == "dropped"));
        let answer: serde_json::Value = serde_json::from_str(&json::plan(&strict.to_string())).unwrap();
        assert_eq!(answer["ok"], !compose && !dropped, "{}", case.name);
    }
}

/// Every property of the specification has a habit.
#[test]
fn every_property_has_a_case() {
    let names: Vec<String> = cases().into_iter().map(|case| case.name).collect();
    let page = orca_container_core::devcontainer_keys_page();
    let properties = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let mut count = 0;
    for property in properties {
        count += 1;
        let case = format!("habits/property-{}", property.trim_start_matches('$'));
        assert!(names.contains(&case), "{property}");
    }
    assert!(count > 40, "{count}");
}

/// When a change counts, and why. Together the cases have every reason, and one where nothing waits.
#[test]
fn every_change_counts_when_it_is_expected_to() {
    let mut seen = std::collections::BTreeSet::new();
    for case in cases() {
        let Some(envelope) = case.changes(json::plan) else { continue };
        let (answer, _) = json::changes(&envelope);
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        let waiting = answer["recreate"].as_array();
        seen.extend(waiting.into_iter().flatten().map(|change| change["why"].as_str().unwrap().to_owned()));
        if answer["ok"] == false {
            seen.insert("refused".into());
        } else if waiting.is_some_and(Vec::is_empty) {
            seen.insert("nothing".into());
        }
        case.check_file("changes.json", &(serde_json::to_string_pretty(&answer).unwrap() + "\n"));
    }
    let reasons = orca_container_core::RecreateReason::ALL.iter().map(|why| why.as_str().to_owned());
    let expected: std::collections::BTreeSet<String> =
        reasons.chain(["refused".into(), "nothing".into()]).collect();
    assert_eq!(seen, expected);
}

/// What became of a workspace, by what is recorded and observed. Together the cases have every status and every verdict.
#[test]
fn every_standing_is_the_expected_one() {
    let mut seen = std::collections::BTreeSet::new();
    for case in cases() {
        let Some(envelope) = case.standing(json::plan) else { continue };
        let (answer, ok) = json::standing(&envelope);
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["ok"], ok, "{}", case.name);
        let words = ["status", "verdict", "code"].map(|field| answer[field].as_str().map(String::from));
        seen.extend(words.into_iter().flatten());
        case.check_file("standing.json", &(serde_json::to_string_pretty(&answer).unwrap() + "\n"));
    }
    let statuses = orca_container_core::WorkspaceStatus::ALL.iter().map(|word| word.as_str());
    let verdicts = orca_container_core::Verdict::ALL.iter().map(|word| word.as_str());
    for word in statuses.chain(verdicts).chain(["plan_mismatch", "request_invalid"]) {
        assert!(seen.contains(word), "{word}");
    }
}

#[test]
fn the_same_request_gives_the_same_bytes() {
    for case in cases() {
        assert_eq!(json::plan(&case.request), json::plan(&case.request), "{}", case.name);
    }
}

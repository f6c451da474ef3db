//! orca.yaml at its bounds: exact, fast, and without any value in a message.

use crate::support::{answer, orca_yaml, with};
use orca_container_core::{Code, PlanAnswer};
use orca_container_testkit::{Canary, floods};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn with_text(text: &str) -> Value {
    with("docker", &[("orcaYaml", json!({"path": "orca.yaml", "text": text}))])
}

fn code(text: &str) -> Option<Code> {
    answer(&with_text(text)).refusal().map(|refusal| refusal.code)
}

#[test]
fn the_byte_bound_is_exact() {
    let head = "# ";
    let fill = |bytes: usize| format!("{head}{}", "x".repeat(bytes - head.len()));
    assert_eq!(code(&fill(256 * 1024)), None);
    assert_eq!(code(&fill(256 * 1024 + 1)), Some(Code::YamlTooLarge));
}

#[test]
fn collections_of_the_block_have_at_most_256_entries() {
    let env = |n: usize| (0..n).map(|i| format!("      V{i}: x\n")).collect::<String>();
    let names = |n: usize| (0..n).map(|i| format!("H{i}")).collect::<Vec<_>>().join(", ");
    let block = |body: String| orca_yaml(&body)["text"].as_str().unwrap().to_owned();
    assert_eq!(code(&block(format!("    env:\n{}", env(256)))), None);
    assert_eq!(code(&block(format!("    env:\n{}", env(257)))), Some(Code::TooManyEntries));
    assert_eq!(code(&block(format!("    forwardHostEnv: [{}]\n", names(256)))), None);
    assert_eq!(code(&block(format!("    forwardHostEnv: [{}]\n", names(257)))), Some(Code::TooManyEntries));
}

#[test]
fn an_anchor_has_at_most_a_hundred_uses() {
    let uses = |n: usize| format!("a: &a x\nb: [{}]\n", vec!["*a"; n].join(", "));
    assert_eq!(code(&uses(100)), None);
    assert_eq!(code(&uses(101)), Some(Code::YamlUnsupportedConstruct));
}

#[test]
fn nesting_ends_at_64() {
    let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    assert_eq!(code(&format!("a: {}", nested(60))), None);
    assert_eq!(code(&format!("a: {}", nested(65))), Some(Code::YamlTooDeep));
}

/// The bound itself (50 ms in a release build) is measured by `core/benches`; here it is only caught when it
/// grows with the square of the size, which takes minutes.
#[test]
fn no_construct_of_200_kb_hangs_or_panics_even_on_a_small_stack() {
    let requests: Vec<(&str, Value)> =
        floods().into_iter().map(|(name, text)| (name, with_text(&text))).collect();
    let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(move || {
        for (name, request) in requests {
            let begun = Instant::now();
            let _ = answer(&request);
            assert!(begun.elapsed() < Duration::from_secs(20), "{name}");
        }
    });
    thread.unwrap().join().unwrap();
}

#[test]
fn a_fault_names_its_place_and_no_value() {
    let canary = Canary::new("yaml fault");
    let marker = canary.marker();
    for (text, line, column) in [
        (format!("a: \"{marker}\nb: [\n"), None, None),
        (format!("worktree:\n  container:\n    env:\n      A: {marker}: {marker}\n"), Some(4), None),
        (format!("worktree:\n  container:\n    env:\n      A: !{marker} {marker}\n"), Some(4), None),
        (
            format!("worktree:\n  container:\n    env:\n      A: &x {marker}\n      B: {marker}\n"),
            Some(4),
            None,
        ),
        (format!("worktree:\n  container:\n    env:\n      A: [{marker}]\n"), Some(4), Some(10)),
        (format!("worktree:\n  container:\n    copyIgnoredFiles: {marker}\n"), Some(3), Some(23)),
        (format!("worktree:\n  container:\n\t  x: {marker}\n"), Some(3), None),
        (format!("a: {marker}\n---\nb: {marker}\n"), Some(2), Some(1)),
        (format!("a: {marker}\na: {marker}\n"), Some(2), Some(1)),
    ] {
        let PlanAnswer::Refused(refusal) = answer(&with_text(&text)) else { panic!("{text}") };
        let source = &refusal.problems[0].source;
        assert!(
            source.line.is_some() && source.column.is_some() && source.file.as_deref() == Some("orca.yaml")
        );
        if line.is_some() {
            assert_eq!(source.line, line, "{text}");
        }
        if column.is_some() {
            assert_eq!(source.column, column, "{text}");
        }
        canary.assert_absent("the refusal", orca_container_core::json::write(&refusal).as_bytes());
        canary.assert_absent("its Debug", format!("{refusal:?}").as_bytes());
    }
}

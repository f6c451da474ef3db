//! `check` as SARIF 2.1.0 (OASIS), for code-scanning services and editors.

use std::collections::BTreeMap;

use orca_container_core::{Diagnostic, Severity};
use serde_json::{Value, json};

/// One run with a rule for each code that was found.
pub(crate) fn sarif(problems: &[&Diagnostic]) -> Value {
    let mut rules: BTreeMap<String, usize> = BTreeMap::new();
    for problem in problems {
        let next = rules.len();
        rules.entry(problem.code.to_string()).or_insert(next);
    }
    let mut listed: Vec<(&String, &usize)> = rules.iter().collect();
    listed.sort_by_key(|(_, index)| **index);
    let descriptions: Vec<Value> = listed.iter().map(|(code, _)| json!({"id": code})).collect();
    let results: Vec<Value> = problems.iter().map(|problem| result(problem, &rules)).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "orca-container",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": descriptions
            }},
            "columnKind": "unicodeCodePoints",
            "results": results
        }]
    })
}

fn result(problem: &Diagnostic, rules: &BTreeMap<String, usize>) -> Value {
    let code = problem.code.to_string();
    let level = match problem.severity {
        Severity::Refused => "error",
        Severity::Dropped => "warning",
        Severity::Asked | Severity::Notice => "note",
    };
    let mut text = problem.message.clone();
    if let Some(help) = &problem.help {
        text.push_str(&format!(" {help}"));
    }
    let mut result = json!({
        "ruleId": code,
        "ruleIndex": rules.get(&code),
        "level": level,
        "message": {"text": text},
        "properties": {"severity": problem.severity, "standards": problem.standards}
    });
    let source = &problem.source;
    if let (Some(file), Some(object)) = (&source.file, result.as_object_mut()) {
        let mut place = json!({"artifactLocation": {"uri": uri(file)}});
        if let (Some(line), Some(object)) = (source.line, place.as_object_mut()) {
            object.insert(
                "region".into(),
                json!({"startLine": line, "startColumn": source.column.unwrap_or(1)}),
            );
        }
        object.insert("locations".into(), json!([{"physicalLocation": place}]));
    }
    result
}

/// A relative path as a URI reference (RFC 3986): everything but plain characters as `%XX`.
fn uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let shown = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    path.bytes().map(shown).collect()
}

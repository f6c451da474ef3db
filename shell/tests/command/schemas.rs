//! The committed schemas are those of the types. `ORCA_UPDATE_SCHEMAS=1 cargo test` writes them anew.

use crate::runs::{Repository, project};
use orca_container::cli::{SCHEMA_NAMES, schema_text};
use serde_json::Value;
use std::fs;

#[test]
fn committed_schemas_are_fresh() {
    let folder = project("docs/schema");
    for name in SCHEMA_NAMES {
        let path = folder.join(format!("{name}.json"));
        let text = schema_text(name).unwrap();
        if std::env::var_os("ORCA_UPDATE_SCHEMAS").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        // Not assert_eq: it would print both whole.
        assert!(committed == text, "{name}: run ORCA_UPDATE_SCHEMAS=1 cargo test and look at the difference");
    }
    let files = fs::read_dir(folder).unwrap().count();
    assert_eq!(files, SCHEMA_NAMES.len(), "docs/schema holds a file that is no schema");
}

#[test]
fn the_page_of_devcontainer_properties_is_fresh() {
    let path = project("docs/devcontainer-keys.md");
    let page = orca_container_core::devcontainer_keys_page();
    if std::env::var_os("ORCA_UPDATE_SCHEMAS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == page, "run ORCA_UPDATE_SCHEMAS=1 cargo test and look at the difference");
}

#[test]
fn the_command_prints_them() {
    let repository = Repository::new();
    assert_eq!(repository.ends(0, &["schema"]).stdout.lines().collect::<Vec<_>>(), SCHEMA_NAMES);
    for name in SCHEMA_NAMES {
        assert_eq!(Some(repository.ends(0, &["schema", name]).stdout), schema_text(name));
    }
}

#[test]
fn a_schema_allows_no_null_since_readers_refuse_it() {
    fn nulls(value: &Value) -> bool {
        match value {
            Value::Object(map) => {
                map.get("type").is_some_and(|word| word.to_string().contains("\"null\""))
                    || map.values().any(nulls)
            }
            Value::Array(list) => list.iter().any(nulls),
            other => other.is_null(),
        }
    }
    for name in SCHEMA_NAMES {
        let schema: Value = serde_json::from_str(&schema_text(name).unwrap()).unwrap();
        assert!(!nulls(&schema), "{name}");
    }
}

//! The label `devcontainer.metadata` of an image: JSON of parts of a devcontainer.json. Of all of it the user alone is read,
//! since anything else would be an image's word on its own container.

use alloc::string::{String, ToString};
use serde_json::Value;

/// The label of an image for devcontainers, JSON of parts of a devcontainer.json; of all of it the user alone is read.
pub const LABEL: &str = "devcontainer.metadata";

/// Bytes of a label that is read; real ones have some kilobytes.
const MOST: usize = 64 * 1024;

/// The user who works in the image: of a list the last one that is named, `remoteUser` before `containerUser`.
pub(crate) fn user(label: &str) -> Option<String> {
    if label.len() > MOST {
        return None;
    }
    let read: Value = serde_json::from_str(label).ok()?;
    let parts = match &read {
        Value::Array(parts) => parts.as_slice(),
        part => core::slice::from_ref(part),
    };
    let named =
        |name: &str| parts.iter().rev().find_map(|part| part.get(name)?.as_str()).map(ToString::to_string);
    named("remoteUser").or_else(|| named("containerUser"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_named_user_counts_and_nothing_else() {
        let label = r#"[{"id": "x"}, {"remoteUser": "a", "privileged": true}, {"remoteUser": "vscode"}, {"containerUser": "c"}]"#;
        assert_eq!(user(label).unwrap(), "vscode");
        assert_eq!(user(r#"{"containerUser": "c"}"#).unwrap(), "c");
        for none in ["", "[]", "7", "[{\"remoteUser\": 7}]", "[[[[", "{\"remoteUser\": null}"] {
            assert_eq!(user(none), None, "{none}");
        }
    }
}

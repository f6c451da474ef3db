//! Paths inside a repository as git keeps them: bytes, since a file's name need not be text.

use alloc::{borrow::Cow, string::String, vec::Vec};
use data_encoding::BASE64;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// A path inside a repository, its parts parted by `/`. In JSON a string, or `{"bytes": base64}` where it is not
/// UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepositoryPath(Vec<u8>);

impl RepositoryPath {
    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// As a text; what is not UTF-8 shows as U+FFFD.
    pub fn lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.0)
    }

    /// Whether git named a folder, by a slash at the end.
    pub(crate) fn is_folder(&self) -> bool {
        self.0.ends_with(b"/")
    }

    /// Without the slash that says "a folder".
    pub(crate) fn without_slash(&self) -> Self {
        let end = self.0.iter().rposition(|byte| *byte != b'/').map_or(0, |last| last.saturating_add(1));
        Self(self.0.get(..end).unwrap_or_default().into())
    }

    /// The folders above it, nearest first.
    pub(crate) fn parents(&self) -> impl Iterator<Item = &[u8]> {
        let slashes = self.0.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/');
        slashes.filter_map(|(at, _)| self.0.get(..at))
    }
}

impl core::borrow::Borrow<[u8]> for RepositoryPath {
    fn borrow(&self) -> &[u8] {
        &self.0
    }
}

impl From<&str> for RepositoryPath {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().into())
    }
}

impl From<Vec<u8>> for RepositoryPath {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bytes {
    bytes: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Said {
    Text(String),
    Bytes(Bytes),
}

impl Serialize for RepositoryPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match core::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => Bytes { bytes: BASE64.encode(&self.0) }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for RepositoryPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Said::deserialize(deserializer)? {
            Said::Text(text) => Ok(Self(text.into_bytes())),
            Said::Bytes(said) => BASE64
                .decode(said.bytes.as_bytes())
                .map(Self)
                .map_err(|_| D::Error::custom("\"bytes\" is base64 with padding")),
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for RepositoryPath {
    fn schema_name() -> Cow<'static, str> {
        "RepositoryPath".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A path inside the repository: a string, or its bytes as base64 where it is not UTF-8.",
            "anyOf": [
                { "type": "string" },
                {
                    "type": "object",
                    "properties": { "bytes": { "type": "string" } },
                    "required": ["bytes"],
                    "additionalProperties": false
                }
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(path: &[u8]) -> String {
        serde_json::to_string(&RepositoryPath::from(path.to_vec())).unwrap()
    }

    #[test]
    fn text_stays_text_and_other_bytes_are_base64() {
        assert_eq!(json(b"a/b\n"), r#""a/b\n""#);
        assert_eq!(json(b"a/\xff"), r#"{"bytes":"YS//"}"#);
    }

    #[test]
    fn both_forms_are_read_back_and_nothing_else() {
        for path in [&b"a/b"[..], b"\xff\xfe", b""] {
            assert_eq!(
                serde_json::from_str::<RepositoryPath>(&json(path)).unwrap(),
                RepositoryPath::from(path.to_vec())
            );
        }
        for wrong in [r#"{"bytes":"*"}"#, r#"{"bytes":"YQ==","x":1}"#, "7", "null"] {
            assert!(serde_json::from_str::<RepositoryPath>(wrong).is_err(), "{wrong}");
        }
    }
}

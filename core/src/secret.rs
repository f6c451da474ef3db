//! Text that may hold a variable's value: readable on purpose only, never printed.

use alloc::string::String;
use core::fmt;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer};

/// Text that may hold a value: a variable, a file with variables in it, a URL with a password.
///
/// It has no `Display`, no `Serialize`, its `Debug` shows nothing, and it is wiped when dropped.
/// [`reveal`](Self::reveal) is the only way in, so every use can be found by name.
#[derive(Clone)]
pub struct Sensitive(SecretString);

impl Sensitive {
    /// Takes the text over. The copy is made at its exact size, so that no unwiped rest is left behind.
    pub fn new(text: &str) -> Self {
        Self(SecretString::from(text))
    }

    /// The text itself.
    pub fn reveal(&self) -> &str {
        self.0.expose_secret()
    }
}

impl From<String> for Sensitive {
    fn from(mut text: String) -> Self {
        let held = Self::new(&text);
        zeroize::Zeroize::zeroize(&mut text);
        held
    }
}

impl fmt::Debug for Sensitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[hidden]")
    }
}

impl<'de> Deserialize<'de> for Sensitive {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Sensitive {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "Sensitive".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "writeOnly": true})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_nothing_not_even_the_length() {
        let shown = alloc::format!("{:?} {:?}", Sensitive::new("a"), Sensitive::new("hunter2hunter2"));
        assert_eq!(shown, "[hidden] [hidden]");
    }
}

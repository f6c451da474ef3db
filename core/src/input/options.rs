//! `ContainerOptions`: the one type for what a person says of a container, in all three places.

use crate::secret::Sensitive;
use alloc::{collections::BTreeMap, format, string::String, vec::Vec};
use core::{fmt, marker::PhantomData};
use indexmap::map::IndexMap;
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor},
};

/// A field that may be absent but, where it is written, holds a value: null is an error, never a default.
pub(crate) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(d: D) -> Result<Option<T>, D::Error> {
    T::deserialize(d).map(Some)
}

/// A map by name in which no name stands twice.
pub(crate) fn unique<'de, D: Deserializer<'de>>(d: D) -> Result<BTreeMap<String, String>, D::Error> {
    UniqueMap::<String>::deserialize(d).map(|map| map.0.into_iter().collect())
}

/// What a person says of a container in settings, repo settings, dialog or command line.
///
/// Enumerated words are kept as written: the resolver judges them, so that every mistake is
/// reported with its place and all at once. Letter case counts.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ContainerOptions {
    /// Whether the workspace runs in a container.
    #[serde(deserialize_with = "present")]
    pub enabled: Option<bool>,
    /// `volume` or `mounted`.
    #[serde(deserialize_with = "present")]
    pub mode: Option<String>,
    /// `auto`, `docker` or `podman`.
    #[serde(deserialize_with = "present")]
    pub engine: Option<String>,
    /// An OCI image reference, or `devcontainer`.
    #[serde(deserialize_with = "present")]
    pub image: Option<String>,
    /// `small`, `medium` or `large`.
    #[serde(deserialize_with = "present")]
    pub template: Option<String>,
    /// `none`, `bridge` or `allowlist`.
    #[serde(deserialize_with = "present")]
    pub network: Option<String>,
    /// An OCI runtime that the engine knows by name.
    #[serde(deserialize_with = "present")]
    pub runtime: Option<String>,
    /// `UID`, `UID:GID`, or the image's own user by name.
    #[serde(deserialize_with = "present")]
    pub user: Option<String>,
    /// Container-only variables.
    #[serde(deserialize_with = "present")]
    pub env: Option<UniqueMap<EnvSetting>>,
    /// A file of variables in docker's dialect.
    #[serde(deserialize_with = "present")]
    pub env_file: Option<EnvFile>,
    /// Names of variables that must be there from the container's start.
    #[serde(deserialize_with = "present")]
    pub start_env: Option<Vec<String>>,
    /// Names of host variables to forward.
    #[serde(deserialize_with = "present")]
    pub forward_host_env: Option<Vec<String>>,
    /// Whether ignored files listed in .worktreeinclude are copied into the volume.
    #[serde(deserialize_with = "present")]
    pub copy_ignored_files: Option<bool>,
    /// Container ports to publish on 127.0.0.1.
    #[serde(deserialize_with = "present")]
    pub ports: Option<Vec<u16>>,
}

/// A file of variables, read by the caller.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EnvFile {
    /// The file's name, for messages.
    pub name: String,
    /// Its text.
    pub text: Sensitive,
}

/// A variable's value as a person writes it: text, or the name of a secret.
#[derive(Clone, Debug)]
pub enum EnvSetting {
    /// The value itself.
    Value(Sensitive),
    /// The value of a declared secret, filled in at launch.
    Secret(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretReference {
    secret: String,
}

impl<'de> Deserialize<'de> for EnvSetting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SettingVisitor;
        impl<'de> Visitor<'de> for SettingVisitor {
            type Value = EnvSetting;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text in quotes or {\"secret\": \"NAME\"}")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<EnvSetting, E> {
                Ok(EnvSetting::Value(Sensitive::new(text)))
            }
            fn visit_string<E: Error>(self, text: String) -> Result<EnvSetting, E> {
                Ok(EnvSetting::Value(Sensitive::from(text)))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<EnvSetting, A::Error> {
                let reference =
                    SecretReference::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                Ok(EnvSetting::Secret(reference.secret))
            }
        }
        deserializer.deserialize_any(SettingVisitor)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for EnvSetting {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "EnvSetting".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A variable's value: text, or a declared secret by name.",
            "oneOf": [
                {"type": "string", "writeOnly": true},
                {"type": "object", "properties": {"secret": {"type": "string"}},
                 "required": ["secret"], "additionalProperties": false}
            ]
        })
    }
}

/// A map by name in the order it was written; the same name twice is an error, not last-wins.
#[derive(Clone, Debug)]
pub struct UniqueMap<V>(IndexMap<String, V, BuildFnv>);

impl<V> UniqueMap<V> {
    /// The entries in the order they were written.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &V)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entry of a name.
    pub fn get(&self, name: &str) -> Option<&V> {
        self.0.get(name)
    }

    /// Adds an entry; a name that is there already keeps its place and gets the new value.
    pub fn insert(&mut self, name: impl Into<String>, value: V) {
        self.0.insert(name.into(), value);
    }
}

impl<V> Default for UniqueMap<V> {
    fn default() -> Self {
        Self(IndexMap::default())
    }
}

impl<V, N: Into<String>> FromIterator<(N, V)> for UniqueMap<V> {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(entries: I) -> Self {
        Self(entries.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for UniqueMap<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MapVisitor<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for MapVisitor<V> {
            type Value = UniqueMap<V>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<UniqueMap<V>, A::Error> {
                let mut map = UniqueMap::default();
                while let Some(name) = access.next_key::<String>()? {
                    if map.0.contains_key(&name) {
                        return Err(A::Error::custom(format!("duplicate field `{}`", name.escape_debug())));
                    }
                    let value = access.next_value()?;
                    map.0.insert(name, value);
                }
                Ok(map)
            }
        }
        deserializer.deserialize_map(MapVisitor(PhantomData))
    }
}

#[cfg(feature = "schema")]
impl<V: schemars::JsonSchema> schemars::JsonSchema for UniqueMap<V> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        format!("MapOf{}", V::schema_name()).into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let value = generator.subschema_for::<V>();
        schemars::json_schema!({"type": "object", "additionalProperties": value})
    }
}

/// A fixed hash for maps whose order is that of insertion: no random state, so nothing can leak into the
/// answer. Its weakness to chosen keys costs little at 256 entries.
#[derive(Clone, Copy, Debug, Default)]
struct BuildFnv;

impl core::hash::BuildHasher for BuildFnv {
    type Hasher = Fnv;
    fn build_hasher(&self) -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

/// FNV-1a, 64 bits.
#[derive(Debug)]
struct Fnv(u64);

impl core::hash::Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

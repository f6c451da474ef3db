//! The options as data: value, origin, shadowed words.

use crate::{
    resolve::{Judgement, Resolved},
    source::{Source, Sources},
};
use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};
use serde::Serialize;

/// An option, who said it, and who lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OptionEntry {
    /// The value.
    pub value: String,
    /// Where it was said.
    pub source: Source,
    /// Weaker words, strongest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shadows: Vec<ShadowedOption>,
}

/// A word that lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ShadowedOption {
    /// The word as written.
    pub value: String,
    /// Where it was said.
    pub source: Source,
}

fn entry<T>(option: &Resolved<T>, value: String, sources: &Sources) -> OptionEntry {
    let shadows = option
        .shadowed
        .iter()
        .map(|(value, source)| ShadowedOption { value: value.clone(), source: sources.get(*source) })
        .collect();
    OptionEntry { value, source: sources.get(option.source), shadows }
}

/// All options by name.
pub(crate) fn option_entries(judgement: &Judgement<'_>) -> BTreeMap<String, OptionEntry> {
    let options = &judgement.options;
    let sources = &judgement.sources;
    let mut entries = BTreeMap::new();
    let mut add = |name: &str, entry: OptionEntry| {
        entries.insert(String::from(name), entry);
    };
    add("enabled", entry(&options.enabled, options.enabled.value.to_string(), sources));
    add("mode", entry(&options.mode, options.mode.value.to_string(), sources));
    add("engine", entry(&options.engine, options.engine.value.to_string(), sources));
    add("template", entry(&options.template, options.template.value.to_string(), sources));
    add("network", entry(&options.network, options.network.value.to_string(), sources));
    if let Some(image) = &options.image {
        add("image", entry(image, image.value.as_str().into(), sources));
    }
    for (name, option) in [("runtime", &options.runtime), ("user", &options.user)] {
        if let Some(option) = option {
            add(name, entry(option, option.value.clone(), sources));
        }
    }
    entries
}

//! The host layer: which host variables a person forwards, and which a repository asks for.

use super::persons::Persons;
use crate::{limits, parse::orca_yaml::ContainerBlock, source::Source, words::Origin};
use alloc::{collections::BTreeSet, string::String, vec::Vec};

/// A host variable that somebody named.
#[derive(Debug)]
pub(super) struct NamedHost {
    /// Its name, not judged yet.
    pub(super) name: String,
    /// Where it was named.
    pub(super) source: Source,
    /// Whether a person named it.
    pub(super) by_person: bool,
}

/// Lists of several persons are united; the repository's names come after them, each name once a side.
pub(super) fn named(
    persons: &Persons<'_>,
    block: Option<&ContainerBlock>,
    file: Option<&str>,
) -> Vec<NamedHost> {
    let mut seen = BTreeSet::new();
    let mut list = Vec::new();
    for person in persons.ascending().rev() {
        let names = person.options.forward_host_env.iter().flatten().take(limits::COLLECTION_ENTRIES);
        for name in names {
            if seen.insert(name.clone()) {
                list.push(NamedHost {
                    name: name.clone(),
                    source: person.source("forwardHostEnv"),
                    by_person: true,
                });
            }
        }
    }
    for name in block.iter().flat_map(|block| &block.forward_host_env) {
        if seen.insert(name.value.clone()) {
            let source = Source::file(Origin::OrcaYaml, file.unwrap_or("orca.yaml"), name.at)
                .at_path("worktree.container.forwardHostEnv");
            list.push(NamedHost { name: name.value.clone(), source, by_person: false });
        }
    }
    list
}

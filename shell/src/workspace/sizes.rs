//! How much disk workspaces take, asked of each engine once.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::engine::{Client, Usage, usage};
use crate::store::WorkspaceRecord;

/// What a workspace takes, in bytes as the engine rounds them. What the engine did not tell is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Size {
    /// The clone and what else lies in its volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_bytes: Option<u64>,
    /// Settings and logins of agents, and volumes of the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_volumes_bytes: Option<u64>,
    /// What was written outside of volumes, which goes with the container.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_bytes: Option<u64>,
}

impl Size {
    /// All of it.
    pub fn total(&self) -> u64 {
        let parts = [self.workspace_bytes, self.other_volumes_bytes, self.container_bytes];
        parts.into_iter().flatten().fold(0, u64::saturating_add)
    }

    fn of(record: &WorkspaceRecord, usage: &Usage) -> Self {
        let names = record.plan.volumes.iter().chain(&record.former_volumes).map(|volume| &volume.name);
        let (own, others): (Vec<_>, Vec<_>) =
            names.partition(|name| *name == &record.plan.names.workspace_volume);
        let sum = |names: Vec<&String>| {
            let found: Vec<u64> = names.iter().filter_map(|name| usage.volumes.get(*name).copied()).collect();
            (!found.is_empty()).then(|| found.into_iter().fold(0, u64::saturating_add))
        };
        let container_bytes = usage.containers.get(&record.plan.names.container).copied();
        Self { workspace_bytes: sum(own), other_volumes_bytes: sum(others), container_bytes }
    }
}

/// By the names of the records' files. An engine that does not answer is told, and its workspaces have no size.
pub fn sizes(records: &[WorkspaceRecord], say: &mut dyn Write) -> io::Result<BTreeMap<String, Size>> {
    let mut asked: Vec<(Client, Option<Usage>)> = Vec::new();
    let mut sizes = BTreeMap::new();
    for record in records {
        let client = Client { program: record.engine.program.clone(), env: record.engine.env.clone() };
        let same =
            |(other, _): &(Client, Option<Usage>)| other.program == client.program && other.env == client.env;
        if !asked.iter().any(&same) {
            let answer = usage(&client, record.engine.kind);
            if let Err(error) = &answer {
                writeln!(
                    say,
                    "warning: How much disk is taken on {} is not known: {error}",
                    record.engine.kind
                )?;
            }
            asked.push((client.clone(), answer.ok()));
        }
        if let Some((_, Some(usage))) = asked.iter().find(|one| same(one)) {
            sizes.insert(record.file_name().to_owned(), Size::of(record, usage));
        }
    }
    Ok(sizes)
}

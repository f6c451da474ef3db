//! A workspace by what people call it: a path, the workspace id, its name, or its container's name.

use std::path::Path;

use super::WorkspaceError;
use crate::store::{Store, WorkspaceRecord};

/// The one record that is meant. A record that cannot be read is an error: it might be the one.
pub fn find(store: &Store, written: &str) -> Result<WorkspaceRecord, WorkspaceError> {
    let (records, mut broken) = store.records()?;
    let path = Path::new(written).canonicalize().ok();
    let path = path.as_deref().and_then(Path::to_str);
    let exact = |record: &WorkspaceRecord| {
        record.workspace.id == written
            || record.file_name() == written
            || path == Some(record.workspace.id.as_str())
    };
    let mut found: Vec<WorkspaceRecord> = records.iter().filter(|record| exact(record)).cloned().collect();
    if found.is_empty() {
        found = records.into_iter().filter(|record| record.workspace.name == written).collect();
    }
    match found.len() {
        0 => Err(broken
            .pop()
            .map_or_else(|| WorkspaceError::NotFound(orca_container_core::quoted(written)), Into::into)),
        1 => {
            let record =
                found.pop().ok_or_else(|| WorkspaceError::NotFound(orca_container_core::quoted(written)))?;
            // One that was copied here from another store names what belongs to that one.
            if store.install_id()?.as_ref() != Some(&record.install_id) {
                return Err(WorkspaceError::Foreign(orca_container_core::quoted(&record.workspace.name)));
            }
            Ok(record)
        }
        _ => {
            let which =
                found.iter().map(|record| orca_container_core::quoted(&record.workspace.id)).collect();
            Err(WorkspaceError::Ambiguous { name: orca_container_core::quoted(written), which })
        }
    }
}

//! Where something was said: one table of sources, and indexes into it.

use crate::words::Origin;
use alloc::{string::String, vec::Vec};
use serde::{Deserialize, Serialize};

/// A place in what people, the repository or programs said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// Who or what said it.
    pub origin: Origin,
    /// The file, as the caller named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line in the file, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column in the line, in characters, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// Path of keys inside the document or settings, joined by dots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl Source {
    /// Its place in its file; the beginning, where it has none.
    pub(crate) fn position(&self) -> Position {
        Position { line: self.line.unwrap_or(1), column: self.column.unwrap_or(1) }
    }

    /// A source without a file.
    pub fn origin(origin: Origin) -> Self {
        Self { origin, file: None, line: None, column: None, path: None }
    }

    /// A setting, named by its path of keys.
    pub fn setting(origin: Origin, path: impl Into<String>) -> Self {
        Self { path: Some(path.into()), ..Self::origin(origin) }
    }

    /// A place in a file.
    pub fn file(origin: Origin, file: &str, at: Position) -> Self {
        Self { file: Some(file.into()), line: Some(at.line), column: Some(at.column), ..Self::origin(origin) }
    }

    /// The same source with a path of keys.
    #[must_use]
    pub fn at_path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }
}

/// A position in a text: line and column from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl Position {
    /// The first character of a text.
    pub const START: Self = Self { line: 1, column: 1 };
}

/// Index of a source in the one table of a judgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceId(u32);

/// The table of sources of one judgement.
#[derive(Clone, Debug, Default)]
pub struct Sources(Vec<Source>);

impl Sources {
    /// Notes a source and gives its index.
    pub fn add(&mut self, source: Source) -> SourceId {
        let id = SourceId(u32::try_from(self.0.len()).unwrap_or(u32::MAX));
        self.0.push(source);
        id
    }

    /// The source of an index of this table.
    pub fn get(&self, id: SourceId) -> Source {
        let index = usize::try_from(id.0).unwrap_or(usize::MAX);
        self.0.get(index).cloned().unwrap_or_else(|| Source::origin(Origin::Request))
    }
}

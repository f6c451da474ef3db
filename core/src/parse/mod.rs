//! Untrusted text into documents with positions. Nothing is judged here but form.

pub(crate) mod bundle_header;
pub(crate) mod dockerfile;
pub(crate) mod env_file;
pub(crate) mod env_name;
pub(crate) mod image_reference;
pub(crate) mod include_rules;
pub(crate) mod jsonc;
pub(crate) mod metadata_label;
pub(crate) mod mount_text;
pub(crate) mod orca_yaml;
pub(crate) mod quantity;
pub(crate) mod raw_diff;
pub(crate) mod run_args;
pub(crate) mod substitution;
pub(crate) mod worktree_include;
mod yaml;

use crate::source::Position;

/// Something with the place where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Located<T> {
    /// The thing.
    pub(crate) value: T,
    /// Its first character.
    pub(crate) at: Position,
}

//! What becomes of each thing that a devcontainer.json can say. The file is the repository's word: it may ask.

pub(crate) mod document;
pub(crate) mod keys;
pub(crate) mod substitution;

//! What becomes of each thing that a devcontainer.json can say: the tables and the verdicts. The file is the repository's
//! word: it may ask.

pub(crate) mod dockerfile;
pub(crate) mod document;
pub(crate) mod engine_flags;
pub(crate) mod keys;
pub(crate) mod mounts;
pub(crate) mod run_args;
pub(crate) mod substitution;

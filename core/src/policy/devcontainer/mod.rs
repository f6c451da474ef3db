//! What a repository's devcontainer.json may have: the tables and the verdicts.

pub(crate) mod engine_flags;

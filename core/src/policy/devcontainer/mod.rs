//! What a repository's devcontainer.json may have: the tables and the verdicts.

pub(crate) mod engine_flags;
pub(crate) mod mounts;
pub(crate) mod run_args;

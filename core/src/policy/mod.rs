//! The rules: which names are special, what a person can grant, how far a repository can reach.

pub(crate) mod approval;
pub(crate) mod devcontainer;
pub(crate) mod env_names;
pub(crate) mod gh_account;
pub(crate) mod host_files;
pub(crate) mod maximum;
pub(crate) mod orca_env;

/// Whose word something is (design 2). The agent inside has no authority at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Authority {
    /// A person: settings, dialog, command line, secrets, approvals.
    User,
    /// Orca itself.
    Orca,
    /// A file of the repository, or the image.
    Repository,
}

//! Terminals over ssh: keys of each workspace, and the connection that ssh's ProxyCommand runs.
//!
//! No port, no daemon, no network: a connection is an `exec` into the attested container. Each session in it gets the
//! variables of now by a launch like any other.

mod connection;
mod keys;
mod login;
mod persons;
mod sessions;

pub use connection::connect;
pub use keys::{Keys, keys};
pub use login::{LoginError, login};
pub use persons::{keeps_to_itself, make_known};
pub use sessions::SettingsNow;

use crate::engine::ClientError;
use crate::store::StoreError;
use crate::workspace::WorkspaceError;

/// Why there is no connection. No text in it holds a value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SshError {
    /// Keys could not be made.
    #[error("The keys of the workspace could not be made: {0}")]
    KeyGen(ClientError),
    /// ssh-keygen refused.
    #[error("ssh-keygen did not make the keys of the workspace: {0}.")]
    KeyGenRefused(String),
    /// The person's ssh would hand something of this computer to the workspace.
    #[error(
        "Your ssh configuration hands a workspace something of this computer: {0}. Put this at the top of ~/.ssh/config: \"Host orca-ws-*\", and below it \"ForwardAgent no\", \"ForwardX11 no\", \"Tunnel no\" and \"ClearAllForwardings yes\"."
    )]
    Offers(String),
    /// The person's ssh could not be run.
    #[error("The person's ssh could not be asked for its configuration: {0}")]
    NoSsh(ClientError),
    /// It could not read its configuration.
    #[error("The person's ssh does not tell its configuration (ssh -G): {0}.")]
    NoSshConfiguration(String),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The workspace cannot be entered.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The engine's client could not be run.
    #[error("The engine's client cannot be run: {0}.")]
    Client(#[from] std::io::Error),
}

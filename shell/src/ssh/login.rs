//! Who logs in to a workspace over ssh, as its container tells it.

use std::time::Duration;

use orca_container_core::{SshLogin, SshLoginError, ssh_login, ssh_login_argv};

use crate::engine::{Client, ClientError};
use crate::store::WorkspaceRecord;

/// How long the container may take to say who its user is.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why nobody can log in, or why that is not known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// The image or its user.
    #[error(transparent)]
    Image(#[from] SshLoginError),
    /// The engine did not answer.
    #[error(transparent)]
    Client(#[from] ClientError),
}

/// The login of a workspace that runs.
pub fn login(record: &WorkspaceRecord) -> Result<SshLogin, LoginError> {
    let client = Client { program: record.engine.program.clone(), env: record.engine.env.clone() };
    let words = ssh_login_argv(record.container_id.as_deref().unwrap_or_default());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let answer = client.ask(&words, PATIENCE)?;
    if answer.code == 0 {
        return Ok(ssh_login(&answer.text())?);
    }
    Err(answer.unusable("The container's shell").into())
}

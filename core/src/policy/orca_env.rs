//! Orca's own variables: which may cross into a container, and how (`facts` orca 3.5 and 3.6).

/// What happens to one of Orca's variables on its way in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Translation {
    /// It crosses unchanged.
    AsIs,
    /// It is a host path: it crosses only where the same path exists inside (mounted mode).
    Path,
    /// It is a path that is only right when it already names something inside the guest.
    GuestPath,
    /// It drives or authorizes the host's Orca, so it never crosses.
    Never,
}
use Translation::{AsIs, GuestPath, Never, Path};

/// The table. A name that begins with ORCA_ and is not here is left out with `orca_env_unknown`.
const TABLE: &[(&str, Translation)] = &[
    ("ORCA_AGENT_HOOK_ENDPOINT", Path),
    ("ORCA_AGENT_HOOK_ENV", AsIs),
    ("ORCA_AGENT_HOOK_PORT", AsIs),
    ("ORCA_AGENT_HOOK_TOKEN", AsIs),
    ("ORCA_AGENT_HOOK_TRANSPORT", AsIs),
    ("ORCA_AGENT_HOOK_VERSION", AsIs),
    ("ORCA_AGENT_LAUNCH", AsIs),
    ("ORCA_AGENT_LAUNCH_TOKEN", AsIs),
    ("ORCA_AGENT_PANE", AsIs),
    ("ORCA_CLI_COMMAND", AsIs),
    ("ORCA_CODEX_ISOLATE", AsIs),
    ("ORCA_CODEX_LAUNCH_PREFLIGHT", Path),
    ("ORCA_ENVIRONMENT", Never),
    ("ORCA_OMP_FRESH_CONFIG", Path),
    ("ORCA_OMP_SOURCE_AGENT_DIR", Path),
    ("ORCA_OMP_STATUS_EXTENSION", Path),
    ("ORCA_OPENCODE_AGENT", AsIs),
    ("ORCA_OPENCODE_CONFIG_DIR", GuestPath),
    ("ORCA_ORCHESTRATION_COMPATIBILITY_HOST_ID", AsIs),
    ("ORCA_ORCHESTRATION_COMPATIBILITY_HOST_INCARNATION", AsIs),
    ("ORCA_ORCHESTRATION_COMPATIBILITY_HOST_KIND", AsIs),
    ("ORCA_PAIRING_ADDRESS", Never),
    ("ORCA_PAIRING_CODE", Never),
    ("ORCA_PANE_KEY", AsIs),
    ("ORCA_PI_SOURCE_AGENT_DIR", GuestPath),
    ("ORCA_ROOT_PATH", Path),
    ("ORCA_SEQUENCED_SETUP_SCRIPT", AsIs),
    ("ORCA_SEQUENCED_STARTUP_COMMAND", AsIs),
    ("ORCA_SEQUENCED_STARTUP_SCRIPT", AsIs),
    ("ORCA_SHELL_READY_ROOT", Path),
    ("ORCA_TAB_ID", AsIs),
    ("ORCA_TERMINAL_HANDLE", AsIs),
    ("ORCA_USER_DATA", Never),
    ("ORCA_USER_DATA_PATH", Never),
    ("ORCA_WORKSPACE_NAME", AsIs),
    ("ORCA_WORKTREE_ID", AsIs),
    ("ORCA_WORKTREE_PATH", Path),
    ("CONDUCTOR_ROOT_PATH", Path),
    ("GHOSTX_ROOT_PATH", Path),
];

/// Names that enter in volume mode. The in-container orcad sets its own, so there are none yet.
pub(crate) const ORCAD_LAUNCH_ENV: &[&str] = &[];

/// What the table says of a name; `None` when it does not know it.
pub(crate) fn translation(name: &str) -> Option<Translation> {
    TABLE.iter().find(|(known, _)| *known == name).map(|(_, translation)| *translation)
}

/// Folder of the agent volume inside the container.
pub(crate) const AGENT_ROOT: &str = "/orca/agent";

/// Ours to set in layer 2, all on the agent volume, so that logins survive a recreate and never reach the host.
pub(crate) const OWN: &[(&str, &str)] =
    &[("CLAUDE_CONFIG_DIR", "/orca/agent/claude"), ("CODEX_HOME", "/orca/agent/codex")];

/// Home of a user that has no writable one.
pub(crate) const FALLBACK_HOME: &str = "/orca/agent/home";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_drives_the_hosts_orca_never_crosses() {
        for name in ["ORCA_ENVIRONMENT", "ORCA_PAIRING_CODE", "ORCA_USER_DATA_PATH"] {
            assert_eq!(translation(name), Some(Never));
        }
        assert_eq!(translation("ORCA_MADE_UP"), None);
    }

    #[test]
    fn our_own_folders_lie_on_the_agent_volume() {
        assert!(
            OWN.iter().all(|(_, path)| path.starts_with(AGENT_ROOT)) && FALLBACK_HOME.starts_with(AGENT_ROOT)
        );
    }
}

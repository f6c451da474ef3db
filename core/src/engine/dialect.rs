//! What engines say differently, as data: one value per engine.

use alloc::{string::String, vec::Vec};

/// The differences of one engine's command line (measured on docker 20.10 and podman 4.3).
pub(super) struct Dialect {
    /// Flags of `network create`.
    pub(super) network_create: &'static [&'static str],
    /// Whether the network's labels name the installation only, since it serves all its workspaces.
    pub(super) network_per_install: bool,
    /// Exit codes of `network rm`; among them that of a network that is in use.
    pub(super) network_rm_ok: &'static [i32],
    /// Flags of `create` that only this engine needs.
    pub(super) create: &'static [&'static str],
    /// What follows in a `--mount` of a volume.
    pub(super) volume_mount: &'static str,
    /// Whether a runtime is a flag of the program, not of `create`.
    pub(super) runtime_is_global: bool,
    /// Flags of `create` that take a variable of the image away.
    pub(super) remove_env: fn(&str) -> Vec<String>,
    /// What `build` calls a network with a way out.
    pub(super) build_network: &'static str,
    /// Flags of `build` that only this engine needs.
    pub(super) build: &'static [&'static str],
    /// Flags of `rm`.
    pub(super) rm: &'static [&'static str],
}

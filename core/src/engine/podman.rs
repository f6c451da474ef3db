//! podman's dialect.

use super::dialect::Dialect;
use alloc::{format, vec::Vec};

/// Podman 4.3 and later.
pub(super) const PODMAN: Dialect = Dialect {
    // Parts this network from every other isolated one; peers of one bridge are not parted, hence one each.
    network_create: &["--driver=bridge", "--opt=isolate=true"],
    network_per_install: false,
    network_rm_ok: &[0, 1, 2],
    // podman hands the host's proxies, passwords included, to containers unless told not to.
    create: &["--http-proxy=false", "--systemd=false"],
    volume_mount: "",
    runtime_is_global: true,
    remove_env: |name| Vec::from([format!("--unsetenv={name}")]),
    // A network namespace of the step's own; "default" is no network here (measured on 4.3).
    build_network: "private",
    // The format that knows SHELL and HEALTHCHECK, as docker's own.
    build: &["--http-proxy=false", "--format=docker", "--pull=never", "--rm", "--force-rm"],
    rm: &["-f", "-v", "-t", "0"],
};

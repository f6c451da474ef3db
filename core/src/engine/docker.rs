//! docker's dialect.

use super::dialect::Dialect;
use alloc::vec::Vec;

/// Docker Engine 20.10 and later through its own client.
pub(super) const DOCKER: Dialect = Dialect {
    // Peers on this bridge cannot reach each other.
    network_create: &["--driver=bridge", "--opt=com.docker.network.bridge.enable_icc=false"],
    network_per_install: true,
    network_rm_ok: &[0, 1],
    create: &[],
    // The image's own files do not go into a fresh volume.
    volume_mount: ",volume-nocopy",
    runtime_is_global: false,
    // A bare name that the client's environment lacks is taken out of the image's ENV.
    remove_env: |name| Vec::from(["-e".into(), name.into()]),
    build_network: "default",
    // Of a builder that is not BuildKit: nothing of a failed build is left.
    build: &["--rm", "--force-rm"],
    rm: &["-f", "-v"],
};

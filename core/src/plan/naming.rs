//! Names and labels of what is made: derived from install and instance id alone, so that two Orcas on one
//! engine, or two workspaces with like names, never meet (design 7).

use super::model::Names;
use crate::{
    canonical::sha256_hex,
    input::PlanRequest,
    words::{EngineKind, Network},
};
use alloc::{collections::BTreeMap, format, string::String};
use sha2::{Digest, Sha256};

/// Characters of a hash in a name: 130 bits.
const KEY_LENGTH: usize = 26;

/// The first 26 characters of the lower-case RFC 4648 base32 of a text's SHA-256.
fn key(text: &str) -> String {
    const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut out = String::new();
    let mut bits: u32 = 0;
    let mut held: u32 = 0;
    for byte in Sha256::digest(text.as_bytes()) {
        bits = (bits << 8) | u32::from(byte);
        held = held.saturating_add(8);
        while held >= 5 {
            held = held.saturating_sub(5);
            let index = usize::try_from((bits >> held) & 31).unwrap_or(0);
            out.push(char::from(ALPHABET.get(index).copied().unwrap_or(b'a')));
        }
        // At most four bits are kept, so no shift overflows.
        bits &= 0b1111;
    }
    out.truncate(KEY_LENGTH);
    out
}

/// The names of a workspace.
pub(super) fn names(request: &PlanRequest, engine: EngineKind, network: Network) -> Names {
    let workspace =
        format!("orca-ws-{}", key(&format!("{}\0{}", request.install.id, request.workspace.instance_id)));
    let network = match (network, engine) {
        (Network::None | Network::Allowlist, _) => None,
        // One docker network per installation (the 31st fails), one podman network per workspace.
        (Network::Bridge, EngineKind::Docker) => Some(format!("orca-net-{}", key(&request.install.id))),
        (Network::Bridge, EngineKind::Podman) => Some(workspace.clone()),
    };
    Names {
        container: workspace.clone(),
        workspace_volume: workspace.clone(),
        agent_volume: format!("{workspace}-agent"),
        network,
        hostname: workspace,
    }
}

/// The name of an image that is built: by installation and by what is built, in a namespace that no registry serves.
pub(crate) fn build_reference(install: &str, digest: &str) -> String {
    format!("localhost/orca-build-{}:{digest}", key(install))
}

/// Labels of volumes and of podman networks; containers get `orca.plan` as well.
pub(super) fn labels(request: &PlanRequest) -> BTreeMap<String, String> {
    let schema = format!("{}", crate::input::SCHEMA_VERSION);
    [
        ("orca.workspace", request.workspace.id.clone()),
        ("orca.instance", request.workspace.instance_id.clone()),
        ("orca.install", request.install.id.clone()),
        ("orca.schema", schema),
    ]
    .into_iter()
    .map(|(name, value)| (name.into(), value))
    .collect()
}

/// The folder of the clone: the repository's own name, as its path or its URL ends.
pub(crate) fn clone_target(request: &PlanRequest) -> String {
    let workspace = &request.workspace;
    match workspace.remote_url.as_ref().filter(|_| !workspace.clone_from.is_host()) {
        Some(url) => {
            let url = url.reveal().trim_end_matches('/');
            target_of("linux", url.rsplit(['/', ':']).next().unwrap_or(""))
        }
        None => target_of(&request.host.platform, &workspace.repo_path),
    }
}

fn target_of(platform: &str, repo_path: &str) -> String {
    let is_separator = |c: char| c == '/' || (platform == "win32" && c == '\\');
    let name = repo_path.trim_end_matches(is_separator).rsplit(is_separator).next().unwrap_or("");
    let name = name.strip_suffix(".git").unwrap_or(name);
    // Beginnings of ours are for what lies beside the clone.
    let ours = name.starts_with(".orca-");
    let usable = !matches!(name, "" | "." | "..") && name.len() <= 200 && !name.ends_with(':') && !ours;
    let name = if usable {
        String::from(name)
    } else {
        format!("repo-{}", sha256_hex(repo_path.as_bytes()).get(..8).unwrap_or(""))
    };
    format!("{}/{name}", super::model::WORKSPACE_ROOT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_start_of_the_base32_of_the_sha256() {
        // printf abc | sha256sum | xxd -r -p | base32 | head -c 26 | tr A-Z a-z
        assert_eq!(key("abc"), "xj4bnp4pahh6uqkbidpf3lrceo");
    }

    #[test]
    fn the_clone_is_called_like_the_repository() {
        assert_eq!(target_of("linux", "/home/u/acme"), "/workspace/acme");
        assert_eq!(target_of("linux", "/home/u/acme.git/"), "/workspace/acme");
        assert_eq!(target_of("win32", "C:\\work\\My Repo"), "/workspace/My Repo");
        assert_eq!(target_of("linux", "/a\\b"), "/workspace/a\\b");
        assert!(target_of("linux", "/").starts_with("/workspace/repo-"));
        assert!(target_of("linux", "/x/.git").starts_with("/workspace/repo-"));
        assert!(target_of("linux", "/x/.orca-clone").starts_with("/workspace/repo-"));
        assert!(target_of("win32", "C:\\").starts_with("/workspace/repo-"));
    }
}

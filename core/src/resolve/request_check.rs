//! The request's own form: version, ids, names, paths, facts. What is wrong here is a program's fault.

use crate::{
    diagnostic::{Code, Findings},
    input::{CLIENT_ENV_NAMES, PlanRequest, SCHEMA_VERSION},
    limits,
    source::Source,
    text::{is_deceptive, quoted},
    words::{EngineKind, Mode, Network, Origin, Template},
};
use alloc::{format, string::String};
use typed_path::{Utf8UnixPath, Utf8WindowsPath};

/// What a build of this version knows, for `requires` and `capabilities()`.
pub(crate) const CAPABILITIES: &[&str] = &[
    "changes-v1",
    "clone-url-v1",
    "container-worktrees-v1",
    "copy-ignored-files-v1",
    "devcontainer-v1",
    "new-branch-v1",
    "policy-revision-v1",
    "standing-v1",
    "workspace-environment-v1",
];

fn at(path: &str) -> Source {
    Source::setting(Origin::Request, path)
}

/// Judges everything that is not a person's or a repository's word.
pub(super) fn check(request: &PlanRequest, findings: &mut Findings) {
    if request.schema_version != SCHEMA_VERSION {
        let message = format!("This build reads requests of schema version {SCHEMA_VERSION}.");
        findings.refuse(Code::UnsupportedSchemaVersion, at("schemaVersion"), message);
    }
    for required in request.requires.iter().filter(|r| !CAPABILITIES.contains(&r.as_str())) {
        let message = format!("This build does not know the capability {}.", quoted(required));
        findings.refuse(Code::RequiresUnsupported, at("requires"), message);
    }
    if !matches!(request.host.platform.as_str(), "linux" | "darwin" | "win32") {
        let message = "A host's platform is \"linux\", \"darwin\" or \"win32\".";
        findings.refuse(Code::RequestInvalid, at("host.platform"), message);
    }
    ids(request, findings);
    paths(request, findings);
    branches(request, findings);
    engine(request, findings);
    image(request, findings);
    maximum(request, findings);
    sizes(request, findings);
}

/// Judges what only a plan looks at: container options of now do not count at launch.
pub(super) fn check_options(request: &PlanRequest, findings: &mut Findings) {
    engine_choice(request, findings);
    option_sizes(request, findings);
}

fn ids(request: &PlanRequest, findings: &mut Findings) {
    let workspace = &request.workspace;
    let id = &workspace.id;
    if id.is_empty() || id.len() > limits::WORKSPACE_ID_BYTES || id.chars().any(is_deceptive) {
        let message = format!(
            "A workspace id has 1 to {} bytes without control or invisible characters.",
            limits::WORKSPACE_ID_BYTES
        );
        findings.refuse(Code::WorkspaceIdInvalid, at("workspace.id"), message);
    }
    let ids = [
        ("install.id", &request.install.id),
        ("workspace.instanceId", &workspace.instance_id),
        ("workspace.repositoryId", &workspace.repository_id),
    ];
    for (path, id) in ids {
        if id.is_empty() || id.len() > limits::PATH_BYTES || id.chars().any(is_deceptive) {
            let message = format!(
                "An id has 1 to {} bytes without control or invisible characters.",
                limits::PATH_BYTES
            );
            findings.refuse(Code::RequestInvalid, at(path), message);
        }
    }
    if workspace.name.len() > limits::ID_BYTES || workspace.name.chars().any(is_deceptive) {
        let message = format!(
            "A workspace's name has at most {} bytes without control or invisible characters.",
            limits::ID_BYTES
        );
        findings.refuse(Code::NameInvalid, at("workspace.name"), message);
    }
}

fn paths(request: &PlanRequest, findings: &mut Findings) {
    let workspace = &request.workspace;
    let from_host = workspace.clone_from.is_host();
    let paths = [
        // A remote has none here.
        ("workspace.repoPath", Some(&workspace.repo_path).filter(|path| from_host || !path.is_empty())),
        ("workspace.worktreePath", workspace.worktree_path.as_ref()),
        ("workspace.gitCommonDir", workspace.git_common_dir.as_ref()),
    ];
    for (field, path) in paths {
        if let Some(path) = path
            && !is_host_path(&request.host.platform, path)
        {
            let message = format!(
                "A host path is absolute, has at most {} bytes and no control or invisible characters.",
                limits::PATH_BYTES
            );
            findings.refuse(Code::PathInvalid, at(field), message);
        }
    }
}

/// Absolute by the rules of the platform: `/…`, and on Windows also a drive or a share.
fn is_host_path(platform: &str, path: &str) -> bool {
    let absolute = match platform {
        "win32" => {
            let rooted = path.starts_with("\\\\") || path.starts_with("//");
            rooted || (Utf8WindowsPath::new(path).is_absolute() && path.as_bytes().get(1) == Some(&b':'))
        }
        _ => Utf8UnixPath::new(path).is_absolute(),
    };
    absolute && path.len() <= limits::PATH_BYTES && !path.chars().any(is_deceptive)
}

/// git's own rules for a branch (`git check-ref-format --branch`).
fn is_branch(name: &str) -> bool {
    let component = |part: &str| {
        let lock = part.as_bytes().strip_suffix(b".lock").is_some();
        !part.is_empty() && !part.starts_with('.') && !lock
    };
    !name.starts_with('-')
        && name != "@"
        && name != "HEAD"
        && name.len() <= limits::ID_BYTES
        && !name.ends_with('.')
        && !name.contains("..")
        && !name.contains("@{")
        && !name
            .chars()
            .any(|c| is_deceptive(c) || matches!(c, ' ' | '~' | '^' | ':' | '?' | '*' | '[' | '\\'))
        && name.split('/').all(component)
}

fn branches(request: &PlanRequest, findings: &mut Findings) {
    let branches =
        [("workspace.branch", &request.workspace.branch), ("workspace.base", &request.workspace.base)];
    for (field, branch) in branches {
        if let Some(branch) = branch
            && !is_branch(branch)
        {
            let message = format!(
                "A branch's name follows git's rules and does not begin with \"-\"; {} does not.",
                quoted(branch)
            );
            findings.refuse(Code::NameInvalid, at(field), message);
        }
    }
    let workspace = &request.workspace;
    if workspace.new_branch
        && workspace.base.as_ref().is_none_or(|base| Some(base) == workspace.branch.as_ref())
    {
        let message = "A branch that begins in the workspace has another one as the base that it begins at.";
        findings.refuse(Code::RequestInvalid, at("workspace.newBranch"), message);
    }
    if !workspace.clone_from.is_host() && (workspace.new_branch || workspace.base.is_some()) {
        let message = "A clone from a remote takes a branch that the remote has.";
        findings.refuse(Code::RequestInvalid, at("workspace.cloneFrom"), message);
    }
    let is_commit = |text: &str| matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit());
    if request.workspace.commit.as_deref().is_some_and(|commit| !is_commit(commit)) {
        let message = "A commit is named by its whole id of 40 or 64 hex digits.";
        findings.refuse(Code::RequestInvalid, at("workspace.commit"), message);
    }
}

fn engine(request: &PlanRequest, findings: &mut Findings) {
    let Some(engine) = &request.engine else { return };
    if engine.cpus == 0 {
        findings.refuse(Code::RequestInvalid, at("engine.cpus"), "An engine has at least one CPU.");
    }
    let program = &engine.client.program;
    if program.is_empty()
        || program.chars().any(char::is_control)
        || !is_host_path(&request.host.platform, program)
    {
        let message = "The engine's client is given by its absolute path.";
        findings.refuse(Code::PathInvalid, at("engine.client.program"), message);
    }
    for name in engine.client.env.keys().filter(|name| !CLIENT_ENV_NAMES.contains(&name.as_str())) {
        let message = format!(
            "The client's environment holds only {}; {} is another.",
            CLIENT_ENV_NAMES.join(", "),
            quoted(name)
        );
        findings.refuse(Code::RequestInvalid, at("engine.client.env"), message);
    }
    if engine.client.env.values().any(|value| value.contains('\0')) {
        findings.refuse(
            Code::RequestInvalid,
            at("engine.client.env"),
            "An environment holds no NUL character.",
        );
    }
}

/// Facts of one engine do not answer for another.
fn engine_choice(request: &PlanRequest, findings: &mut Findings) {
    let Some(engine) = &request.engine else { return };
    let chosen = crate::resolve::Persons::of(request)
        .strongest(|options| options.engine.as_deref())
        .map(|(_, word)| word);
    if chosen == Some("podman") && engine.kind == EngineKind::Docker {
        let message = "The facts are docker's, but podman was chosen.";
        findings.refuse(Code::RequestInvalid, at("engine.kind"), message);
    }
}

fn image(request: &PlanRequest, findings: &mut Findings) {
    let Some(image) = &request.image_facts else { return };
    let hex = image.id.strip_prefix("sha256:").unwrap_or("");
    if hex.len() != 64 || !hex.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)) {
        let message = "An image's id is \"sha256:\" and 64 lower-case hex digits.";
        findings.refuse(Code::RequestInvalid, at("imageFacts.id"), message);
    }
}

fn maximum(request: &PlanRequest, findings: &mut Findings) {
    let Some(maximum) = &request.global_settings.maximum else { return };
    let at = |field: &str| Source::setting(Origin::Maximum, format!("maximum.{field}"));
    if maximum.modes.iter().flatten().any(|mode| Mode::parse(mode).is_none()) {
        findings.refuse(Code::ModeInvalid, at("modes"), "A mode is \"volume\" or \"mounted\".");
    }
    if maximum.images.iter().flatten().any(String::is_empty) {
        findings.refuse(Code::RequestInvalid, at("images"), "A prefix of images is not empty.");
    }
    if maximum.template.as_ref().is_some_and(|word| Template::parse(word).is_none()) {
        findings.refuse(
            Code::TemplateInvalid,
            at("template"),
            "A template is \"small\", \"medium\" or \"large\".",
        );
    }
    if maximum.network.as_ref().is_some_and(|word| Network::parse(word).is_none()) {
        findings.refuse(
            Code::NetworkInvalid,
            at("network"),
            "A network is \"none\", \"allowlist\" or \"bridge\".",
        );
    }
}

fn sizes(request: &PlanRequest, findings: &mut Findings) {
    let bounded = [
        ("orcaEnv", request.orca_env.len()),
        ("secrets", request.secrets.len()),
        ("approvals", request.approvals.len()),
        ("repoSettings.agentEnv", request.repo_settings.agent_env.len()),
        ("globalSettings.agentDefaultEnv", request.global_settings.agent_default_env.len()),
    ];
    for (path, length) in bounded {
        if length > limits::COLLECTION_ENTRIES {
            let message = format!("{} has at most {} entries.", quoted(path), limits::COLLECTION_ENTRIES);
            findings.refuse(Code::TooManyEntries, at(path), message);
        }
    }
    for (agent, env) in request.global_settings.agent_default_env.iter() {
        if env.len() > limits::COLLECTION_ENTRIES {
            let path = format!("agentDefaultEnv.{}", crate::text::escaped(agent));
            let message = format!("{} has at most {} entries.", quoted(&path), limits::COLLECTION_ENTRIES);
            findings.refuse(Code::TooManyEntries, Source::setting(Origin::GlobalSettings, path), message);
        }
    }
}

fn option_sizes(request: &PlanRequest, findings: &mut Findings) {
    let persons = crate::resolve::Persons::of(request);
    for person in persons.ascending() {
        let options = person.options;
        let lists = [
            ("env", options.env.as_ref().map(super::super::input::UniqueMap::len)),
            ("startEnv", options.start_env.as_ref().map(alloc::vec::Vec::len)),
            ("forwardHostEnv", options.forward_host_env.as_ref().map(alloc::vec::Vec::len)),
            ("ports", options.ports.as_ref().map(alloc::vec::Vec::len)),
        ];
        for (field, length) in lists {
            if length.is_some_and(|length| length > limits::COLLECTION_ENTRIES) {
                let message =
                    format!("{} has at most {} entries.", quoted(field), limits::COLLECTION_ENTRIES);
                findings.refuse(Code::TooManyEntries, person.source(field), message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_absolute_by_their_platforms_rules() {
        for (platform, path) in [
            ("linux", "/home/u/My Repo"),
            ("darwin", "/Users/u/a,b\"c:d"),
            ("linux", "/-x"),
            ("win32", "C:\\work\\acme"),
            ("win32", "\\\\server\\share"),
            ("win32", "//server/share"),
            ("win32", "C:/work"),
        ] {
            assert!(is_host_path(platform, path), "{platform} {path}");
        }
        for (platform, path) in [
            ("linux", ""),
            ("linux", "a/b"),
            ("linux", "-x"),
            ("linux", "C:\\x"),
            ("linux", "/a\nb"),
            ("linux", "/a\0b"),
            ("linux", "/a\u{202e}b"),
            ("win32", "work"),
            ("win32", "\\work"),
            ("win32", "C:work"),
        ] {
            assert!(!is_host_path(platform, path), "{platform} {path:?}");
        }
        assert!(!is_host_path("linux", &format!("/{}", "a".repeat(5000))));
    }

    #[test]
    fn branches_follow_gits_rules() {
        for good in ["main", "feature/x", "a-b", "é", "fix#1", "a,b\"c"] {
            assert!(is_branch(good), "{good}");
        }
        for bad in [
            "",
            "-x",
            "--upload-pack=x",
            "a..b",
            "a b",
            "a:b",
            "a\n",
            "a.lock",
            "a/",
            "/a",
            ".a",
            "a.",
            "@",
            "HEAD",
            "a@{1}",
            "a\u{202e}",
        ] {
            assert!(!is_branch(bad), "{bad:?}");
        }
    }
}

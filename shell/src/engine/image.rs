//! What is in an image: its configuration, and its user looked up in its own files. Nothing of it is run.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

use orca_container_core::input::{AskedUser, ImageFacts};
use orca_container_core::{EngineKind, Sensitive, label_user, quoted, resolve_user};
use serde_json::Value;

use super::client::{Client, ClientError};

const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes of a passwd or group file that are read.
const FILE_CAP: u64 = 1024 * 1024;

/// Why there are no facts.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The engine has no such image.
    #[error("The engine has no image {}.", quoted(reference))]
    Missing {
        /// The reference.
        reference: String,
    },
    /// The engine's answer is not one.
    #[error("The engine's answer about the image {} cannot be read.", quoted(reference))]
    Unreadable {
        /// The reference.
        reference: String,
    },
    /// The client failed.
    #[error(transparent)]
    Client(#[from] ClientError),
}

/// The configuration of an image that the engine has already, its user not looked up; `Missing` when it has not.
pub fn image_configuration(client: &Client, reference: &str) -> Result<ImageFacts, ImageError> {
    let answer = client.ask(&["image", "inspect", "--", reference], PATIENCE)?;
    if answer.code != 0 {
        let said = String::from_utf8_lossy(&answer.stderr).to_lowercase();
        // The words of docker and podman; whatever else an engine complains of is no word on the image.
        let absent = ["no such image", "no such object", "image not known", "unable to find a name"];
        return Err(if absent.iter().any(|words| said.contains(words)) {
            ImageError::Missing { reference: reference.into() }
        } else {
            answer.unusable("image inspect").into()
        });
    }
    let unreadable = || ImageError::Unreadable { reference: reference.into() };
    let documents: Vec<Value> = serde_json::from_slice(&answer.stdout).map_err(|_| unreadable())?;
    let [document] = documents.as_slice() else { return Err(unreadable()) };
    configuration(document).ok_or_else(unreadable)
}

/// Whether an image has steps of its own (ONBUILD) that a build on it runs first, and that nobody has seen.
pub fn has_triggers(client: &Client, engine: EngineKind, reference: &str) -> Result<bool, ImageError> {
    let configuration = match engine {
        EngineKind::Docker => {
            let answer =
                client.ask(&["image", "inspect", "--format={{json .Config}}", "--", reference], PATIENCE)?;
            serde_json::from_slice(&answer.stdout).ok()
        }
        EngineKind::Podman => saved_configuration(client, reference),
    };
    let unreadable = || ImageError::Unreadable { reference: reference.into() };
    let configuration: Value = configuration.ok_or_else(unreadable)?;
    Ok(configuration.get("OnBuild").and_then(Value::as_array).is_some_and(|steps| !steps.is_empty()))
}

/// podman's inspect does not tell these steps, and its history is the image's own word (measured on 4.3): the
/// configuration is read out of the image as it is saved, everything else of which is passed over.
fn saved_configuration(client: &Client, reference: &str) -> Option<Value> {
    let mut command = Command::new(&client.program);
    command.args(["image", "save", "--format=docker-archive", "--", reference]).env_clear().envs(&client.env);
    command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let mut found = None;
    let mut archive = tar::Archive::new(child.stdout.take()?);
    for entry in archive.entries().ok()?.flatten().filter(|entry| entry.size() <= FILE_CAP) {
        let mut text = String::new();
        if entry.take(FILE_CAP).read_to_string(&mut text).is_ok()
            && let Ok(document) = serde_json::from_str::<Value>(&text)
            && document.get("rootfs").is_some()
        {
            // One that has no configuration at all has no steps either.
            found = Some(document.get("config").cloned().unwrap_or_default());
        }
    }
    drop(archive);
    let _ = child.kill();
    let _ = child.wait();
    found
}

/// The same with its user, and one that a devcontainer.json asks for, looked up in its own files, through a container
/// called `helper` that never runs.
pub fn image_facts(
    client: &Client,
    reference: &str,
    asked: Option<&str>,
    helper: &str,
    labels: &[String],
) -> Result<ImageFacts, ImageError> {
    let mut facts = image_configuration(client, reference)?;
    let asked = asked.map(String::from).or_else(|| label_user(&facts.labels));
    if facts.user.is_empty() {
        (facts.uid, facts.gid) = (Some(0), Some(0));
        if asked.is_none() {
            return Ok(facts);
        }
    }
    let files = user_files(client, &facts.id, helper, labels)?;
    facts.asked_user = asked.map(|said| {
        let found = resolve_user(&said, &files.0, &files.1);
        AskedUser {
            said,
            uid: found.as_ref().map(|user| user.uid),
            gid: found.as_ref().map(|user| user.gid),
            home: found.and_then(|user| user.home),
        }
    });
    if let Some(user) = resolve_user(&facts.user, &files.0, &files.1) {
        (facts.uid, facts.gid, facts.home) = (Some(user.uid), Some(user.gid), user.home);
    }
    Ok(facts)
}

/// Removes a helper; one that is not there is removed already.
pub fn remove_helper(client: &Client, helper: &str) -> Result<bool, ClientError> {
    Ok(client.ask(&["rm", "-f", "-v", "--", helper], PATIENCE)?.code == 0)
}

fn configuration(document: &Value) -> Option<ImageFacts> {
    let config = document.get("Config")?;
    let id = document.get("Id")?.as_str()?;
    let id = if id.starts_with("sha256:") { id.to_owned() } else { format!("sha256:{id}") };
    let texts = |value: Option<&Value>| -> Vec<String> {
        match value {
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(String::from).collect(),
            Some(Value::String(text)) => vec![text.clone()],
            _ => Vec::new(),
        }
    };
    let objects = |value: Option<&Value>| value.and_then(Value::as_object).cloned().unwrap_or_default();
    let healthcheck =
        [config.get("Healthcheck"), document.get("HealthCheck")].into_iter().flatten().any(|h| !h.is_null());
    Some(ImageFacts {
        id,
        repo_digests: texts(document.get("RepoDigests")),
        env: texts(config.get("Env")).into_iter().map(Sensitive::from).collect(),
        user: config.get("User").and_then(Value::as_str).unwrap_or("").to_owned(),
        uid: None,
        gid: None,
        home: None,
        asked_user: None,
        labels: objects(config.get("Labels"))
            .into_iter()
            .filter_map(|(n, v)| Some((n, v.as_str()?.to_owned())))
            .collect(),
        entrypoint: texts(config.get("Entrypoint")),
        volumes: objects(config.get("Volumes")).into_iter().map(|(path, _)| path).collect(),
        healthcheck,
    })
}

/// The texts of passwd and group, copied out of a container that is never started and removed at once.
fn user_files(
    client: &Client,
    image: &str,
    helper: &str,
    labels: &[String],
) -> Result<(String, String), ClientError> {
    let mut args = vec![
        "create",
        "--network=none",
        "--pull=never",
        "--cap-drop=ALL",
        "--security-opt=no-new-privileges",
        "--no-healthcheck",
    ];
    let name = format!("--name={helper}");
    args.push(&name);
    args.extend(labels.iter().map(String::as_str));
    // docker refuses to create a container without a command; this one is never run.
    args.extend(["--entrypoint=/never-run", "--", image, "never-run"]);
    let created = client.ask(&args, PATIENCE)?;
    let id = created.text();
    if created.code != 0 || id.is_empty() {
        // It may be there all the same: an engine that died had no time to say so.
        must_go(client, helper)?;
        return Ok((String::new(), String::new()));
    }
    let passwd = file_of(client, &id, "/etc/passwd");
    let group = file_of(client, &id, "/etc/group");
    must_go(client, &id)?;
    Ok((passwd?, group?))
}

/// An error keeps the helper's lock, by which the next command finds it.
fn must_go(client: &Client, helper: &str) -> Result<(), ClientError> {
    let answer = client.ask(&["rm", "-f", "-v", "--", helper], PATIENCE)?;
    if answer.code == 0 { Ok(()) } else { Err(answer.unusable(&client.program)) }
}

/// A regular file out of a container, as the one entry of a tar stream; a link or anything else counts as empty.
fn file_of(client: &Client, container: &str, path: &str) -> Result<String, ClientError> {
    let answer = client.ask(&["cp", &format!("{container}:{path}"), "-"], PATIENCE)?;
    let mut archive = tar::Archive::new(answer.stdout.as_slice());
    let mut text = String::new();
    if let Ok(entries) = archive.entries() {
        for entry in entries.flatten().filter(|entry| entry.header().entry_type().is_file()) {
            // Text that is not UTF-8 names nobody we can look up.
            let _ = entry.take(FILE_CAP).read_to_string(&mut text);
        }
    }
    Ok(text)
}

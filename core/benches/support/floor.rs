//! The floor: what every planner does, however little it judges. It reads the request into the same types, reads
//! orca.yaml once with the YAML crate's own deserializer and positions, merges the variables by name, and prints
//! an answer of the real one's size with a digest over a part of the real one's. It decides nothing.

use super::requests;
use orca_container_core::{
    input::{PlanRequest, UniqueMap, read_json},
    json,
};
use serde::{Deserialize, Serialize};
use serde_yaml::Spanned;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct OrcaYaml {
    worktree: Worktree,
}

#[derive(Deserialize)]
struct Worktree {
    container: Container,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Container {
    mode: Spanned<String>,
    template: Spanned<String>,
    network: Spanned<String>,
    env: BTreeMap<String, Spanned<String>>,
    forward_host_env: Vec<Spanned<String>>,
    copy_ignored_files: Spanned<bool>,
}

#[derive(Serialize)]
struct Answer<'a> {
    ok: bool,
    digest: String,
    plan: &'a Plan<'a>,
    environment: Vec<Variable<'a>>,
    commands: Vec<Command>,
}

/// What the digest is over.
#[derive(Serialize)]
struct Plan<'a> {
    mode: &'a str,
    template: &'a str,
    network: &'a str,
    copy: bool,
    image: &'a str,
    expectations: Vec<String>,
}

#[derive(Serialize)]
struct Variable<'a> {
    name: &'a str,
    layer: &'static str,
    state: &'static str,
    line: Option<u64>,
    column: Option<u64>,
}

#[derive(Serialize)]
struct Command {
    argv: Vec<String>,
    env: BTreeMap<String, String>,
}

/// Sizes of the real answer to the typical request, held by [`check`].
const EXPECTATIONS: usize = 120;
const COMMANDS: usize = 22;
const WORDS: usize = 17;

/// Fails when the floor's answer is not of the real answer's size.
pub fn check() {
    let request = requests::typical();
    let (floor, real) = (answer(&request, &requests::typical_orca_yaml()), json::plan(&request));
    assert!(real.starts_with("{\"ok\":true"), "{real}");
    let (floor, real) = (floor.len(), real.len());
    println!(
        "request {} B, orca.yaml {} B, answer {real} B, floor's answer {floor} B",
        request.len(),
        requests::typical_orca_yaml().len()
    );
    assert!(floor.abs_diff(real) < real / 10, "the floor prints {floor} bytes, a plan {real}");
}

/// The floor's answer.
pub fn answer(request: &str, orca_yaml: &str) -> String {
    let request: PlanRequest = read_json(request).expect("a request");
    let options = serde_yaml::options! { with_snippet: false };
    let read: OrcaYaml = serde_yaml::from_str_with_options(orca_yaml, options).expect("orca.yaml");
    let container = read.worktree.container;
    let environment = merged(&request, &container);
    let plan = Plan {
        mode: &container.mode.value,
        template: &container.template.value,
        network: &container.network.value,
        copy: container.copy_ignored_files.value,
        image: request.global_settings.container.image.as_deref().unwrap_or_default(),
        expectations: (0..EXPECTATIONS)
            .map(|n| format!("HostConfig.SomeFieldOfTheEngine{n} equals some value or other"))
            .collect(),
    };
    let canonical = json::write(&plan);
    let digest = Sha256::digest(canonical.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let client = &request.engine.as_ref().expect("an engine").client;
    let command = |n: usize| Command {
        argv: (0..WORDS).map(|word| format!("--some-flag-of-{n}=and-its-value-{word}")).collect(),
        env: client.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
    };
    let commands = (0..COMMANDS).map(command).collect();
    json::write(&Answer { ok: true, digest, plan: &plan, environment, commands })
}

/// The variables by name; the last layer wins.
fn merged<'a>(request: &'a PlanRequest, container: &'a Container) -> Vec<Variable<'a>> {
    let plain = |name, layer| Variable { name, layer, state: "active", line: None, column: None };
    let image = request.image_facts.iter().flat_map(|facts| &facts.env);
    let image =
        image.filter_map(|entry| entry.reveal().split_once('=')).map(|(name, _)| plain(name, "image"));
    let settings = &request.global_settings;
    let agent = request.agent.as_deref().and_then(|agent| settings.agent_default_env.get(agent));
    let agent = agent.into_iter().flat_map(UniqueMap::iter).map(|(name, _)| plain(name, "agent"));
    let project = request.repo_settings.agent_env.iter().map(|(name, _)| plain(name, "project"));
    let file = request.choices.env_file.iter().flat_map(|file| file.text.reveal().lines().zip(1..));
    let file = file.filter_map(|(line, number)| line.split_once('=').map(|(name, _)| (name, number)));
    let file = file.map(|(name, line)| Variable { line: Some(line), ..plain(name, "files") });
    let host = container.forward_host_env.iter().map(|name| plain(name.value.as_str(), "host"));
    let secrets = request.secrets.iter().map(|secret| plain(secret.name.as_str(), "secret"));
    let orca_yaml = container.env.iter().map(|(name, value)| {
        let (line, column) = (Some(value.referenced.line()), Some(value.referenced.column()));
        Variable { line, column, ..plain(name, "container_project") }
    });
    let repository = request.repo_settings.container.as_ref();
    let persons = [Some(&settings.container), repository, Some(&request.choices)];
    let persons = persons.into_iter().flatten().flat_map(|options| &options.env).flat_map(UniqueMap::iter);
    let persons = persons.map(|(name, _)| plain(name, "container_workspace"));
    let layers = image.chain(agent).chain(project).chain(file).chain(host).chain(secrets).chain(orca_yaml);
    let names: BTreeMap<&str, Variable<'_>> = layers.chain(persons).map(|v| (v.name, v)).collect();
    names.into_values().collect()
}

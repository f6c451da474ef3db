//! What a launch hands over: each name with its value of now, and for a repository's commands less of it.

use super::at;
use crate::{
    canonical::sha256_hex,
    diagnostic::{Code, Findings},
    engine::route::Route,
    input::{LaunchCommand, LaunchRequest, LaunchValues, PlanRequest},
    limits,
    plan::ContainerPlan,
    policy::{devcontainer::substitution::Part, env_names},
    resolve::{Claim, Given, LaunchJudgement, environment::value_fault, lifecycle_script},
    text::{quoted, quoted_name},
    words::{Delivery, Layer, LifecycleStage},
};
use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
};
use zeroize::Zeroizing;

/// Under this name the text of a repository's commands travels: no text of a repository is ever an argument.
pub(super) const LIFECYCLE_NAME: &str = "ORCA_LIFECYCLE";

/// The commands of a stage as they were allowed when the container was made.
pub(super) fn allowed_script(
    frozen: &ContainerPlan,
    request: &PlanRequest,
    stage: LifecycleStage,
) -> Option<String> {
    let script = lifecycle_script(request, frozen.engine.kind, stage)?;
    let digest = sha256_hex(script.as_bytes());
    let allowed = frozen.devcontainer.iter().flat_map(|file| &file.commands);
    let mut allowed = allowed.filter(|command| command.stage == stage);
    allowed.any(|command| command.digest == digest).then_some(script)
}

/// Whether a command of the repository may see it: what a person wrote as a plain value, and what is ours.
fn is_for_repository(name: &str, claim: &Claim<'_>) -> bool {
    let plain = match &claim.given {
        Given::Text(_) | Given::Read(_) | Given::Constant(_) => true,
        Given::Parts(_)
        | Given::GhHost(_)
        | Given::Host
        | Given::Orca
        | Given::Secret(_)
        | Given::GhToken
        | Given::Image => false,
    };
    plain && (claim.layer == Layer::Orca || env_names::reserved(name).is_none())
}

pub(super) type Values = BTreeMap<String, Zeroizing<String>>;

/// The value of every variable that this launch hands over, by name.
pub(super) fn values(
    judgement: &LaunchJudgement<'_>,
    launch: &LaunchRequest,
    route: Route,
    findings: &mut Findings,
) -> Values {
    let mut values = Values::new();
    let terminal = [
        ("TERM", launch.terminal.term.as_ref()),
        ("COLORTERM", launch.terminal.colorterm.as_ref()),
        ("LANG", launch.terminal.lang.as_ref()),
    ];
    for (name, value) in terminal {
        // Nobody asks for these, so they refuse nothing: where no value may go, the engine's own TERM does.
        if let Some(value) = value.filter(|_| route.carries()) {
            values.insert(name.into(), Zeroizing::new(value.clone()));
        }
    }
    let given = &launch.values;
    for (name, claim) in judgement.environment.active() {
        if matches!(claim.given, Given::Image) || claim.delivery == Delivery::Start {
            values.remove(name);
            continue;
        }
        if matches!(launch.command, LaunchCommand::Lifecycle(_)) && !is_for_repository(name, claim) {
            continue;
        }
        let source = || judgement.sources.get(claim.source);
        let value = match &claim.given {
            Given::Host => given.host.get(name),
            Given::Orca => given.orca.get(name),
            Given::GhToken => {
                if given.gh_token.is_none() {
                    let message = "The GitHub account bound to this repository has no token at hand.";
                    findings.refuse(Code::GhBoundAccountUnavailable, source(), message);
                    findings.help("Log in with gh auth login for that account, or unbind it.");
                }
                given.gh_token.as_ref()
            }
            Given::Secret(secret) => {
                let value = given.secrets.get(secret);
                if value.is_none() {
                    let message = format!(
                        "The secret {} of layer \"{}\" has no value.",
                        quoted_name(secret),
                        claim.layer
                    );
                    findings.refuse(Code::SecretMissing, source(), message);
                }
                value
            }
            Given::Parts(parts) => {
                match put_together(parts, given) {
                    Ok(value) => {
                        values.insert(name.into(), value);
                    }
                    Err(missing) => {
                        let message = format!(
                            "The host variable {} is allowed but not set on this host; {} is left out.",
                            quoted_name(missing),
                            quoted_name(name)
                        );
                        findings.notice(Code::HostEnvMissing, source(), message);
                    }
                }
                continue;
            }
            Given::Text(_) | Given::Read(_) | Given::Constant(_) | Given::GhHost(_) | Given::Image => {
                if let Some(text) = claim.given.text() {
                    values.insert(name.into(), Zeroizing::new(text.into()));
                }
                continue;
            }
        };
        match value {
            Some(value) => {
                values.insert(name.into(), Zeroizing::new(value.reveal().to_string()));
            }
            None if matches!(claim.given, Given::Host) => {
                let message =
                    format!("The host variable {} is allowed but not set on this host.", quoted_name(name));
                findings.notice(Code::HostEnvMissing, source(), message);
            }
            None => {}
        }
    }
    values
}

/// Text and host variables in their order; nothing of what is put in is read again. The error names the variable that
/// is not set and has no default.
fn put_together<'p>(parts: &'p [Part], given: &LaunchValues) -> Result<Zeroizing<String>, &'p str> {
    let mut value = Zeroizing::new(String::new());
    for part in parts {
        value.push_str(match part {
            Part::Text(text) => text,
            Part::Host { name, default } => match (given.host.get(name), default) {
                (Some(host), _) => host.reveal(),
                (None, Some(default)) => default,
                (None, None) => return Err(name),
            },
            // Put in where the layers are resolved.
            Part::Container { default, .. } => default.as_deref().unwrap_or_default(),
        });
    }
    Ok(value)
}

pub(super) fn check_values(values: &Values, windows: bool, findings: &mut Findings) {
    let mut folded = BTreeMap::new();
    for name in values.keys().filter(|_| windows) {
        if let Some(other) = folded.insert(name.to_ascii_uppercase(), name) {
            let message = format!(
                "Windows folds the names {} and {} into one, so each would get the other's value.",
                quoted(other),
                quoted_name(name)
            );
            findings.refuse(Code::NameInvalid, at("launch.values"), message);
        }
    }
    for (name, value) in values {
        if let Some((code, message)) = value_fault(name, value) {
            findings.refuse(code, at("launch.values"), message);
        }
    }
    let total: usize = values.values().map(|value| value.len()).sum();
    if total > limits::ENV_TOTAL_BYTES {
        let message =
            format!("All values of a launch have at most {} bytes together.", limits::ENV_TOTAL_BYTES);
        findings.refuse(Code::ValueTooLarge, at("launch.values"), message);
    }
}

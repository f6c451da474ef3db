//! What a person should know of a plan that stands: nothing of it is refused or left out.

use crate::{
    diagnostic::{Code, Findings},
    input::EngineFacts,
    resolve::Judgement,
    source::Source,
    text::{name_list, quoted},
    words::{Endpoint, EngineKind, Network, Origin},
};
use alloc::{format, string::String};

/// What people should know of this plan.
pub(super) fn notices(judgement: &mut Judgement<'_>, engine: EngineKind, network: Network) {
    let findings = &mut judgement.findings;
    let of_file = judgement.devcontainer.as_ref();
    if let Some(build) = of_file.and_then(|file| file.wanted.build.as_ref()) {
        let message = "The image is built by the repository's Dockerfile; its steps run as root in a container of the engine's own making.";
        findings.notice(Code::BuildNotHardened, build.source.clone(), message);
    } else if let Some(image) = &judgement.options.image
        && !image.value.is_pinned()
    {
        let message = format!(
            "The image {} is named by a tag, which can move; a digest cannot.",
            quoted(image.value.as_str())
        );
        findings.notice(Code::ImageNotPinned, judgement.sources.get(image.source), message);
    }
    if judgement.request.image_facts.as_ref().is_some_and(|image| !image.entrypoint.is_empty()) {
        let message = "The image's own entrypoint is not run; the container runs our keep-alive.";
        findings.notice(Code::ImageEntrypointNotRun, Source::origin(Origin::Image), message);
    }
    if let Some(image) = judgement.request.image_facts.as_ref().filter(|image| !image.volumes.is_empty()) {
        let message = format!(
            "The image declares volumes of its own at {}; what is in them goes with the container.",
            name_list(image.volumes.iter().map(String::as_str))
        );
        findings.notice(Code::ImageVolumes, Source::origin(Origin::Image), message);
    }
    if network == Network::Bridge {
        let message = "A bridge network reaches listeners on the host, the local network and cloud metadata.";
        findings.notice(
            Code::NetworkReachesHost,
            judgement.sources.get(judgement.options.network.source),
            message,
        );
        findings.help("Set \"network\" to \"none\" where the agent needs no network.");
    }
    let message = format!("{engine} sets no limit on disk space; the agent can fill the engine's disk.");
    findings.notice(Code::DiskNotLimited, Source::origin(Origin::Engine), message);
    for hole in judgement.request.engine.iter().flat_map(|engine| &engine.vulnerabilities) {
        let message = format!("This version of the engine has the known hole {}.", quoted(hole));
        findings.notice(
            Code::EngineKnownVulnerable,
            Source::setting(Origin::Engine, "engine.vulnerabilities"),
            message,
        );
    }
    findings_of_the_way(judgement.request.engine.as_ref(), findings);
    if judgement.policy.strict {
        findings.refuse_dropped();
    }
}

/// What a workspace on this engine goes without, because of the way to it.
fn findings_of_the_way(engine: Option<&EngineFacts>, findings: &mut Findings) {
    let Some(engine) = engine else { return };
    if engine.debug {
        let message = "docker is in debug mode and writes the value of every variable that it is handed into its log; it gets no secret, no variable of the host and no token.";
        findings.notice(Code::EngineDebug, Source::setting(Origin::Engine, "engine.debug"), message);
        findings
            .help("Start dockerd without -D, or take \"debug\" out of its daemon.json and let it reload.");
    }
    if engine.endpoint != Endpoint::Plain {
        return;
    }
    let message = format!(
        "{} is reached over TCP in the clear: whoever is on the way reads the repository and changes every command. No variable's value, no ignored file and no registry's password goes there.",
        engine.kind
    );
    findings.notice(Code::EndpointPlain, Source::setting(Origin::Engine, "engine.endpoint"), message);
    findings.help("Reach the engine by a local socket, by ssh or with TLS.");
}

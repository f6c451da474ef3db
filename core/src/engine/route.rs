//! The way of a launch's values to the engine, and the engines that get none.

use crate::{
    diagnostic::{Code, Findings},
    input::{LaunchRequest, PlanRequest},
    plan::ContainerPlan,
    source::Source,
    words::{Endpoint, EngineKind, Origin},
};

fn at(path: &str) -> Source {
    Source::setting(Origin::Request, path)
}

/// How values reach the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// In the client's environment, under our prefix.
    Environment,
    /// By a descriptor, since podman stores what exec hands it.
    Descriptor,
    /// Not at all: in the clear anyone could read them. Constants of ours, which are in every build, go as with docker.
    Clear,
    /// Not at all: a podman elsewhere would store them, and no descriptor reaches it. Constants as above.
    RemotePodman,
}

impl Route {
    /// The route of a launch.
    pub(super) fn of(frozen: &ContainerPlan, request: &PlanRequest) -> Self {
        let endpoint = request.engine.as_ref().map_or(Endpoint::Local, |engine| engine.endpoint);
        match (frozen.engine.kind, endpoint) {
            (_, Endpoint::Plain) => Self::Clear,
            (EngineKind::Docker, _) => Self::Environment,
            (EngineKind::Podman, Endpoint::Local) => Self::Descriptor,
            (EngineKind::Podman, _) => Self::RemotePodman,
        }
    }

    /// Whether values can go there.
    pub(super) fn carries(self) -> bool {
        matches!(self, Self::Environment | Self::Descriptor)
    }

    /// Whether values can reach this engine without being stored or read on the way.
    pub(super) fn check(
        self,
        request: &PlanRequest,
        launch: &LaunchRequest,
        load: &Load,
        findings: &mut Findings,
    ) {
        let Some(engine) = &request.engine else {
            findings.refuse(Code::RequestInvalid, at("engine"), "A launch needs the facts of the engine.");
            return;
        };
        let helper = launch.helper.as_deref().unwrap_or("");
        match self {
            Self::Clear if load.said => {
                let message = "The engine is reached over TCP in the clear, where every value could be read; it carries none.";
                findings.refuse(Code::EndpointPlainWithValues, at("engine.endpoint"), message);
                findings.help("Reach the engine by a local socket, by ssh or with TLS.");
            }
            Self::RemotePodman if load.said => {
                let message = "A remote podman stores every value that exec hands it, and no descriptor reaches it; it gets none.";
                findings.refuse(Code::PodmanRemoteValues, at("engine.endpoint"), message);
            }
            Self::Descriptor if load.any && (!helper.starts_with('/') || helper.contains('\0')) => {
                let message = "podman stores every value that exec hands it, so values go by descriptor; that needs the absolute path of orca-container.";
                findings.refuse(Code::PodmanNeedsHelper, at("launch.helper"), message);
            }
            Self::Environment if load.kept_nowhere && engine.debug => {
                let message = "docker is in debug mode and writes every value that exec hands it into its log; secrets, variables of the host and tokens are kept nowhere, so it gets none.";
                findings.refuse(Code::EngineDebugWithSecrets, at("engine.debug"), message);
                findings.help("Start dockerd without -D, or take \"debug\" out of its daemon.json and let it reload (systemctl reload docker).");
            }
            _ => {}
        }
    }
}

/// What a launch hands over.
pub(super) struct Load {
    /// Anything at all.
    pub(super) any: bool,
    /// Something that somebody said, and not only our own constants.
    pub(super) said: bool,
    /// Something that is kept nowhere: a secret, a variable of the host, an account's token.
    pub(super) kept_nowhere: bool,
}

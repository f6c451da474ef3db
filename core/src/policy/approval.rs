//! Approvals: a person's answer, bound to exactly the thing that was asked.
//!
//! The digest covers the kind, the repository, the subject with its value, the image and who named it, and
//! the network: the same digest grants nothing after any of them changed (design 2).

use crate::{
    canonical::digest_hex,
    input::Approval,
    plan::BuildPlan,
    secret::Sensitive,
    source::Source,
    words::{ApprovalKind, LifecycleStage, Network, Said},
};
use alloc::{format, string::String, vec::Vec};
use serde::Serialize;
use serde_json::{Value, json};

/// Something that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PendingApproval {
    /// What kind of thing is asked.
    pub kind: ApprovalKind,
    /// SHA-256, lower-case hex; hand it back in `approvals` to grant the thing.
    pub digest: String,
    /// Whether nothing can be created before it is answered.
    pub blocking: bool,
    /// What is asked, without any value.
    pub subject: Value,
    /// The line that asks.
    pub source: Source,
    /// One sentence.
    pub message: String,
}

/// What an approval is about.
#[derive(Debug)]
pub(crate) enum Subject<'a> {
    /// A host variable.
    ForwardHostEnv { name: &'a str },
    /// The patterns of .worktreeinclude.
    CopyIgnoredFiles { patterns: &'a [String] },
    /// A network.
    Network { network: Network },
    /// An image.
    Image { reference: &'a str },
    /// A variable and its value.
    RedirectingVariable { name: &'a str, value: &'a Sensitive },
    /// Ports to publish.
    Ports { ports: &'a [u16] },
    /// The commands of a property, as they stand in it.
    LifecycleCommand { stage: LifecycleStage, command: &'a Value },
    /// A build: its Dockerfile by digest, and everything that the file says of it.
    Build { build: &'a BuildPlan },
}

impl Subject<'_> {
    /// Its kind.
    pub(crate) fn kind(&self) -> ApprovalKind {
        match self {
            Self::ForwardHostEnv { .. } => ApprovalKind::ForwardHostEnv,
            Self::CopyIgnoredFiles { .. } => ApprovalKind::CopyIgnoredFiles,
            Self::Network { .. } => ApprovalKind::Network,
            Self::Image { .. } => ApprovalKind::Image,
            Self::RedirectingVariable { .. } => ApprovalKind::RedirectingVariable,
            Self::Ports { .. } => ApprovalKind::Ports,
            Self::LifecycleCommand { .. } => ApprovalKind::LifecycleCommand,
            Self::Build { .. } => ApprovalKind::Build,
        }
    }

    /// Whether nothing is created before it is answered: nothing of a repository is pulled or built unasked.
    pub(crate) fn blocking(&self) -> bool {
        matches!(self, Self::Image { .. } | Self::Build { .. })
    }

    /// What a person sees: everything but a value.
    pub(crate) fn shown(&self) -> Value {
        match self {
            Self::ForwardHostEnv { name } | Self::RedirectingVariable { name, .. } => json!({ "name": name }),
            Self::CopyIgnoredFiles { patterns } => json!({ "patterns": patterns }),
            Self::Network { network } => json!({ "network": network }),
            Self::Image { reference } => json!({ "reference": reference }),
            Self::Ports { ports } => json!({ "ports": ports }),
            Self::LifecycleCommand { stage, command } => json!({ "property": stage, "command": command }),
            Self::Build { build } => {
                json!({ "dockerfileDigest": build.dockerfile_digest, "build": build })
            }
        }
    }

    /// What is hashed: everything.
    fn whole(&self) -> Value {
        match self {
            Self::RedirectingVariable { name, value } => json!({ "name": name, "value": value.reveal() }),
            other => other.shown(),
        }
    }
}

/// What stands for the image of a build: what is built, not the name that an installation gives it.
pub(crate) fn build_binding(build: &BuildPlan) -> String {
    format!("build:{}", build.digest())
}

/// What every digest of one judgement is bound to.
#[derive(Clone, Debug)]
pub(crate) struct Binding<'a> {
    /// The repository.
    pub(crate) repository_id: &'a str,
    /// The image as written, and who wrote it.
    pub(crate) image: Option<(String, Said)>,
    /// The resolved network; for an approval of a network the one that is asked for.
    pub(crate) network: Network,
}

impl Binding<'_> {
    /// The digest of a subject under this binding.
    pub(crate) fn digest(&self, subject: &Subject<'_>) -> String {
        let image =
            self.image.as_ref().map(|(reference, said)| json!({ "reference": reference, "said": said }));
        digest_hex(&json!({
            "kind": subject.kind(),
            "repositoryId": self.repository_id,
            "subject": subject.whole(),
            "image": image,
            "network": self.network,
        }))
    }
}

/// The approvals of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Granted<'a>(pub(crate) &'a [Approval]);

impl Granted<'_> {
    /// Whether exactly this was approved.
    pub(crate) fn has(self, kind: ApprovalKind, digest: &str) -> bool {
        self.0.iter().any(|approval| approval.kind == kind && approval.digest == digest)
    }
}

/// Judges subjects: approved ones pass, others are noted as pending.
#[derive(Debug)]
pub(crate) struct Desk<'a> {
    /// What was approved.
    pub(crate) granted: Granted<'a>,
    /// What everything is bound to.
    pub(crate) binding: Binding<'a>,
    /// What waits.
    pub(crate) pending: Vec<PendingApproval>,
}

impl Desk<'_> {
    /// Whether the subject is approved; if not, it is pending from now on.
    pub(crate) fn ask(&mut self, subject: &Subject<'_>, source: Source, message: String) -> bool {
        let digest = self.binding.digest(subject);
        let kind = subject.kind();
        if self.granted.has(kind, &digest) {
            return true;
        }
        let blocking = subject.blocking();
        if self.pending.iter().any(|asked| asked.kind == kind && asked.digest == digest) {
            // One answer answers it wherever it was asked.
            return false;
        }
        self.pending.push(PendingApproval {
            kind,
            digest,
            blocking,
            subject: subject.shown(),
            source,
            message,
        });
        false
    }
}

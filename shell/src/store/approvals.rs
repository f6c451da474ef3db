//! What a person approved, by digest and repository; without any value.

use orca_container_core::ApprovalKind;
use orca_container_core::input::Approval;
use serde::{Deserialize, Serialize};

/// An approval as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredApproval {
    /// Its kind.
    pub kind: ApprovalKind,
    /// Its digest.
    pub digest: String,
    /// The repository it was given for; the digest is bound to it as well.
    pub repository_id: String,
    /// What was approved, without its value.
    pub subject: serde_json::Value,
}

/// All approvals.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredApprovals {
    /// Shape of the file.
    #[serde(default)]
    pub schema_version: u32,
    /// The approvals.
    #[serde(default)]
    pub approvals: Vec<StoredApproval>,
    /// Fields of later versions, kept.
    #[serde(flatten)]
    more: serde_json::Map<String, serde_json::Value>,
}

impl StoredApprovals {
    /// The approvals of a repository, as the core takes them.
    pub fn of_repository(&self, repository_id: &str) -> Vec<Approval> {
        let ours = self.approvals.iter().filter(|approval| approval.repository_id == repository_id);
        ours.map(|approval| Approval { kind: approval.kind, digest: approval.digest.clone() }).collect()
    }

    pub(super) fn add(&mut self, new: Vec<StoredApproval>) {
        self.schema_version = self.schema_version.max(1);
        for approval in new {
            if !self.approvals.contains(&approval) {
                self.approvals.push(approval);
            }
        }
    }
}

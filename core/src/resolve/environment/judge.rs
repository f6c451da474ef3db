//! The verdict on one claim: may this word of this layer be a variable of the process?

use super::{
    Given,
    layers::{Gathering, Proposal},
};
use crate::{
    diagnostic::Code,
    limits,
    parse::env_name::{ENV_NAME_RULE, is_env_name},
    policy::{
        Authority,
        approval::Subject,
        env_names::{self, Reserved},
        maximum,
    },
    secret::Sensitive,
    text::quoted_name,
    words::{EnvState, Layer},
};
use alloc::{format, string::String};

impl<'r> Gathering<'_, '_, 'r, '_> {
    fn refuse(&mut self, code: Code, proposal: &Proposal<'r>, message: String) -> EnvState {
        self.scene.findings.refuse(code, proposal.source.clone(), message);
        EnvState::Refused
    }

    /// The verdict on a claim of any layer but the image's, Orca's own and the host's.
    pub(super) fn judge(&mut self, proposal: &Proposal<'r>) -> EnvState {
        let name = proposal.name.as_str();
        if !is_env_name(name) {
            return self.refuse(
                Code::NameInvalid,
                proposal,
                format!("{ENV_NAME_RULE}; {} is not one.", quoted_name(name)),
            );
        }
        if let Some(reserved) = env_names::reserved(name)
            && let Some(state) = self.judge_reserved(reserved, proposal)
        {
            return state;
        }
        if env_names::is_shell_owned(name) {
            let message = format!(
                "A shell sets {} itself, so no value of it arrives; it is left out.",
                quoted_name(name)
            );
            self.scene.findings.drop(Code::ShellOwnedName, proposal.source.clone(), message);
            return EnvState::Dropped;
        }
        if let Some(state) = self.judge_value(proposal) {
            return state;
        }
        if proposal.authority == Authority::Repository
            && env_names::is_redirecting(name)
            && let Given::Read(value) = &proposal.given
        {
            return self.ask_redirecting(proposal, value);
        }
        EnvState::Active
    }

    fn ask_redirecting(&mut self, proposal: &Proposal<'r>, value: &Sensitive) -> EnvState {
        let name = proposal.name.as_str();
        let message = format!(
            "The repository sets {}, which decides where credentials go or what runs first; it is absent until you approve.",
            quoted_name(name)
        );
        let subject = Subject::RedirectingVariable { name, value };
        if self.desk.ask(&subject, proposal.source.clone(), message) {
            EnvState::Active
        } else {
            EnvState::Pending
        }
    }

    /// `None` when the key is admitted after all.
    fn judge_reserved(&mut self, reserved: Reserved, proposal: &Proposal<'r>) -> Option<EnvState> {
        let name = quoted_name(&proposal.name);
        let account = reserved == Reserved::Account;
        let blank = proposal.given.text() == Some("");
        if account && blank && proposal.layer == Layer::Agent {
            let message = format!(
                "An empty {name} blanks the variable on the host; in a container there is nothing to blank."
            );
            self.scene.findings.drop(Code::ReservedKeyBlank, proposal.source.clone(), message);
            return Some(EnvState::Dropped);
        }
        if account && proposal.authority == Authority::User && self.scene.policy.allow_account_keys {
            return None;
        }
        let owner = if account { "belongs to the accounts that Orca manages" } else { "is Orca's own" };
        let message = format!("The variable {name} {owner} and is not set in layer \"{}\".", proposal.layer);
        let state = self.refuse(Code::ReservedKey, proposal, message);
        if account && proposal.authority == Authority::User {
            self.scene
                .findings
                .help("Set policy.allowAccountKeys in your settings to admit it from your own layers.");
        } else {
            self.scene.findings.help("Remove it here.");
        }
        Some(state)
    }

    /// What no process can carry.
    fn judge_value(&mut self, proposal: &Proposal<'r>) -> Option<EnvState> {
        let fault = value_fault(&proposal.name, proposal.given.text()?)?;
        Some(self.refuse(fault.0, proposal, fault.1))
    }

    /// The verdict on a host variable that somebody named.
    pub(super) fn judge_host(&mut self, proposal: &Proposal<'r>) -> EnvState {
        let name = proposal.name.as_str();
        let by_person = proposal.authority == Authority::User;
        if is_env_name(name) && env_names::is_never_from_host(name) {
            let message = format!(
                "The host's {} means nothing, or too much, inside a container; it is never forwarded.",
                quoted_name(name)
            );
            let source = proposal.source.clone();
            return if by_person {
                self.scene.findings.refuse(Code::HostEnvNeverForwarded, source, message);
                EnvState::Refused
            } else {
                self.scene.findings.drop(Code::RepositoryHostEnvNever, source, message);
                EnvState::Dropped
            };
        }
        let judged = self.judge(proposal);
        if judged != EnvState::Active {
            return judged;
        }
        if !maximum::host_env_is_within(self.scene.request, name) {
            let message =
                format!("The operator's maximum does not allow the host variable {}.", quoted_name(name));
            let source = proposal.source.clone();
            return if by_person {
                self.scene.findings.refuse(Code::ExceedsMaximum, source, message);
                EnvState::Refused
            } else {
                self.scene.findings.drop(Code::ExceedsMaximumDropped, source, message);
                EnvState::Dropped
            };
        }
        if by_person {
            return EnvState::Active;
        }
        let message = format!(
            "The repository wants your host variable {}; it is absent until you approve.",
            quoted_name(name)
        );
        let subject = Subject::ForwardHostEnv { name };
        if self.desk.ask(&subject, proposal.source.clone(), message) {
            EnvState::Active
        } else {
            EnvState::Pending
        }
    }
}

/// What makes a value one that no process can get; the sentence names the variable only.
pub(crate) fn value_fault(name: &str, value: &str) -> Option<(Code, String)> {
    if value.contains('\0') {
        return Some((
            Code::ValueInvalid,
            format!("A value holds no NUL character; that of {} does.", quoted_name(name)),
        ));
    }
    let size = name.len().saturating_add(value.len()).saturating_add(limits::ENV_STRING_OVERHEAD);
    (size > limits::ENV_STRING_BYTES).then(|| {
        let message = format!(
            "Name and value of a variable fit into {} bytes; those of {} do not.",
            limits::ENV_STRING_BYTES.saturating_sub(limits::ENV_STRING_OVERHEAD),
            quoted_name(name)
        );
        (Code::ValueTooLarge, message)
    })
}

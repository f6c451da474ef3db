//! Diagnostics: what was refused, dropped, asked or worth knowing, with its place and the way out.

use crate::{source::Source, words::words};
use alloc::{string::String, vec::Vec};
use serde::Serialize;

words! {
    /// What a diagnostic does to the plan.
    Severity {
        /// There is no plan.
        Refused = "refused",
        /// The thing was left out; the plan stands.
        Dropped = "dropped",
        /// The thing is left out until a person approves it.
        Asked = "asked",
        /// Nothing changed; a person should know.
        Notice = "notice",
    }
}

words! {
    /// Stable names of the rules. The order decides which refusal names the whole answer.
    Code {
        /// The request does not have the shape of its schema.
        RequestInvalid = "request_invalid",
        /// The request is of another schema version.
        UnsupportedSchemaVersion = "unsupported_schema_version",
        /// The caller requires what this build does not know.
        RequiresUnsupported = "requires_unsupported",
        /// Nobody asked for a container.
        ContainerNotRequested = "container_not_requested",
        /// A container was asked for while the experimental flag is off.
        ExperimentalOff = "experimental_off",
        /// No image was named anywhere.
        ImageRequired = "image_required",
        /// A URL that nothing is cloned from.
        CloneUrlRefused = "clone_url_refused",
        /// A clone from a remote, and no network to reach it by.
        CloneNeedsNetwork = "clone_needs_network",
        /// An image reference breaks the OCI grammar.
        ImageReferenceInvalid = "image_reference_invalid",
        /// Not a mode.
        ModeInvalid = "mode_invalid",
        /// Not a template.
        TemplateInvalid = "template_invalid",
        /// Not a network.
        NetworkInvalid = "network_invalid",
        /// The workspace id cannot be a label.
        WorkspaceIdInvalid = "workspace_id_invalid",
        /// A path is not absolute, or holds control characters.
        PathInvalid = "path_invalid",
        /// A name breaks its rule.
        NameInvalid = "name_invalid",
        /// A value holds what no process can get.
        ValueInvalid = "value_invalid",
        /// A value is too large.
        ValueTooLarge = "value_too_large",
        /// A collection has too many entries.
        TooManyEntries = "too_many_entries",
        /// A reserved variable.
        ReservedKey = "reserved_key",
        /// A host variable that is never forwarded.
        HostEnvNeverForwarded = "host_env_never_forwarded",
        /// A file of variables breaks docker's dialect.
        EnvFileInvalid = "env_file_invalid",
        /// A variable that may not be there from the container's start.
        StartEnvNotAllowed = "start_env_not_allowed",
        /// A start variable whose value an env file cannot carry.
        StartValueNewline = "start_value_newline",
        /// A value refers to a secret that is not declared.
        SecretUndeclared = "secret_undeclared",
        /// A person asked for more than the operator's maximum.
        ExceedsMaximum = "exceeds_maximum",
        /// The engine cannot enforce the limits.
        LimitsUnsupported = "limits_unsupported",
        /// The engine does not have the runtime.
        RuntimeUnavailable = "runtime_unavailable",
        /// The user is root.
        UserIsRoot = "user_is_root",
        /// The engine is reached in the clear and values would travel there.
        EndpointPlainWithValues = "endpoint_plain_with_values",
        /// The docker daemon is in debug mode, in which its log holds what exec is handed.
        EngineDebugWithSecrets = "engine_debug_with_secrets",
        /// Shared-folder mode is not there yet.
        MountedNotSupportedYet = "mounted_not_supported_yet",
        /// The image is that of devcontainer.json, and there is none.
        DevcontainerMissing = "devcontainer_missing",
        /// devcontainer.json is no strict JSON with comments.
        DevcontainerSyntax = "devcontainer_syntax",
        /// devcontainer.json has more bytes, depth or values than are read.
        DevcontainerTooLarge = "devcontainer_too_large",
        /// A property of devcontainer.json stands twice.
        DevcontainerDuplicateKey = "devcontainer_duplicate_key",
        /// Several devcontainer.json are there and none was chosen.
        DevcontainerAmbiguous = "devcontainer_ambiguous",
        /// devcontainer.json names more than one of image, build and compose.
        DevcontainerVariants = "devcontainer_variants",
        /// A Dockerfile asks the builder itself for something, outside of the steps' containers.
        DockerfileRefused = "dockerfile_refused",
        /// devcontainer.json names a compose file.
        ComposeNotSupported = "compose_not_supported",
        /// The allowlist network is not there yet.
        NetworkAllowlistNotSupportedYet = "network_allowlist_not_supported_yet",
        /// The YAML text is broken.
        YamlSyntax = "yaml_syntax",
        /// The YAML text is too large.
        YamlTooLarge = "yaml_too_large",
        /// The YAML text nests too deeply.
        YamlTooDeep = "yaml_too_deep",
        /// A key stands twice in one mapping.
        YamlDuplicateKey = "yaml_duplicate_key",
        /// Valid YAML that this file may not use.
        YamlUnsupportedConstruct = "yaml_unsupported_construct",
        /// A null where a value belongs.
        YamlNullValue = "yaml_null_value",
        /// A key that nobody knows.
        UnknownKey = "unknown_key",
        /// A value of another type than its key wants.
        WrongType = "wrong_type",
        /// The launch does not belong to the plan.
        PlanMismatch = "plan_mismatch",
        /// The working folder of a launch is not an absolute container path.
        WorkdirInvalid = "workdir_invalid",
        /// The command of a launch cannot be run.
        CommandInvalid = "command_invalid",
        /// Podman needs the delivery helper to hand values over.
        PodmanNeedsHelper = "podman_needs_helper",
        /// A remote podman cannot get values without storing them.
        PodmanRemoteValues = "podman_remote_values",
        /// A declared secret has no value at launch.
        SecretMissing = "secret_missing",
        /// The GitHub account bound to the repository has no token at launch.
        GhBoundAccountUnavailable = "gh_bound_account_unavailable",
        /// Something waits for a person's approval.
        ApprovalRequired = "approval_required",
        /// A reserved variable was left out.
        ReservedKeyIgnored = "reserved_key_ignored",
        /// An empty account variable was left out.
        ReservedKeyBlank = "reserved_key_blank",
        /// A repository asked for a host variable that is never forwarded.
        RepositoryHostEnvNever = "repository_host_env_never",
        /// A variable that a shell sets itself.
        ShellOwnedName = "shell_owned_name",
        /// An ORCA_ variable that the translation table does not know.
        OrcaEnvUnknown = "orca_env_unknown",
        /// A .worktreeinclude entry that could leave the repository.
        UnsafeIncludePath = "unsafe_include_path",
        /// A .worktreeinclude entry that git does not ignore, or that is not there.
        IncludeNotIgnored = "include_not_ignored",
        /// A repository asked for more than the operator's maximum.
        ExceedsMaximumDropped = "exceeds_maximum_dropped",
        /// A source that commandSourcePolicy does not admit.
        CommandSourcePolicy = "command_source_policy",
        /// Ports that a container without a network cannot publish.
        PortsNeedNetwork = "ports_need_network",
        /// A repository's variable hides one that a person set.
        RepositoryShadowsUser = "repository_shadows_user",
        /// A reserved variable of the image is removed.
        ImageKeyRemoved = "image_key_removed",
        /// The image sets a variable that decides where credentials go.
        ImageRedirects = "image_redirects",
        /// The image is named by a tag that can move.
        ImageNotPinned = "image_not_pinned",
        /// The image's own entrypoint is not run.
        ImageEntrypointNotRun = "image_entrypoint_not_run",
        /// The image's user could not be used.
        ImageUserUnresolved = "image_user_unresolved",
        /// Fewer CPUs than the template says.
        CpusClamped = "cpus_clamped",
        /// The network reaches the host and cloud metadata.
        NetworkReachesHost = "network_reaches_host",
        /// Nothing limits the disk.
        DiskNotLimited = "disk_not_limited",
        /// The engine was not asked.
        EngineAssumed = "engine_assumed",
        /// The engine has a known hole.
        EngineKnownVulnerable = "engine_known_vulnerable",
        /// Limits that the engine will not enforce.
        LimitsAdvisory = "limits_advisory",
        /// The kernel's view could not be read.
        KernelEvidenceUnavailable = "kernel_evidence_unavailable",
        /// A host variable that is allowed but not set.
        HostEnvMissing = "host_env_missing",
        /// A password was taken out of the remote's URL.
        RemotePasswordRemoved = "remote_password_removed",
        /// The remote is not set in the clone.
        RemoteNotSet = "remote_not_set",
        /// A variable points at a listener on the host.
        RelayRequired = "relay_required",
        /// The policy is stricter than when the plan was made.
        PolicyUpdated = "policy_updated",
        /// No branch is checked out, so there is nothing to clone yet.
        BranchUnknown = "branch_unknown",
        /// An env file sets one name more than once; the last one counts.
        EnvFileRepeatedName = "env_file_repeated_name",
        /// Ignored files are to be copied and none is named.
        IncludeCopiesNothing = "include_copies_nothing",
        /// A name in .worktreeinclude stands for less than in other tools.
        IncludeNameDeeper = "include_name_deeper",
        /// A .worktreeinclude with more bytes or entries than are read.
        IncludeTooLarge = "include_too_large",
        /// A blank before a hash cut a value: YAML reads the rest as a comment.
        YamlCommentCutsValue = "yaml_comment_cuts_value",
        /// The image declares volumes of its own.
        ImageVolumes = "image_volumes",
        /// A property of devcontainer.json asks for what no repository gets.
        DevcontainerKeyDropped = "devcontainer_key_dropped",
        /// A property of devcontainer.json has no effect here.
        DevcontainerKeyIgnored = "devcontainer_key_ignored",
        /// A property of devcontainer.json that no schema knows.
        DevcontainerUnknownKey = "devcontainer_unknown_key",
        /// A value of devcontainer.json is outside what the property takes here.
        DevcontainerValueDropped = "devcontainer_value_dropped",
        /// A reference to a variable stands where it is not resolved.
        SubstitutionRefused = "substitution_refused",
        /// The runArgs of a devcontainer.json have a token that is no whole flag, so all of them are left out.
        RunArgsUnreadable = "run_args_unreadable",
        /// A flag in runArgs that a repository never gets, or whose value is not allowed.
        RunArgDropped = "run_arg_dropped",
        /// A flag in runArgs that is not needed, or that this engine does not know.
        RunArgIgnored = "run_arg_ignored",
        /// A size or number that a devcontainer.json asks for, made smaller.
        DevcontainerCapped = "devcontainer_capped",
        /// The image is built, and a build is not hardened.
        BuildNotHardened = "build_not_hardened",
        /// A mount of a devcontainer.json that is left out.
        MountDropped = "mount_dropped",
        /// A mount of a devcontainer.json, or a part of one, that is not needed.
        MountIgnored = "mount_ignored",
        /// The engine is reached in the clear.
        EndpointPlain = "endpoint_plain",
        /// The docker daemon is in debug mode.
        EngineDebug = "engine_debug",
    }
}

/// One finding. Its text never holds a variable's value, nor a line of a file that may hold one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// The rule.
    pub code: Code,
    /// What it does to the plan.
    pub severity: Severity,
    /// One full sentence; names in double quotes; the rule stated positively.
    pub message: String,
    /// The way out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Where it was said.
    pub source: Source,
    /// Rules of public standards behind it, such as "CIS Docker 5.4".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub standards: Vec<String>,
}

impl Diagnostic {
    /// A finding without help or standards.
    pub fn new(severity: Severity, code: Code, message: impl Into<String>, source: Source) -> Self {
        Self { code, severity, message: message.into(), help: None, source, standards: Vec::new() }
    }

    /// The same finding with a way out.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same finding with a standard behind it.
    #[must_use]
    pub fn standard(mut self, standard: &str) -> Self {
        self.standards.push(standard.into());
        self
    }
}

/// Everything found while judging one request, in the order it was found.
#[derive(Clone, Debug, Default)]
pub struct Findings(Vec<Diagnostic>);

impl Findings {
    /// Notes one finding.
    pub fn push(&mut self, finding: Diagnostic) {
        self.0.push(finding);
    }

    /// Notes everything that was found elsewhere.
    pub fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Notes a refusal.
    pub fn refuse(&mut self, code: Code, source: Source, message: impl Into<String>) {
        self.push(Diagnostic::new(Severity::Refused, code, message, source));
    }

    /// Notes something left out.
    pub fn drop(&mut self, code: Code, source: Source, message: impl Into<String>) {
        self.push(Diagnostic::new(Severity::Dropped, code, message, source));
    }

    /// Notes something worth knowing.
    pub fn notice(&mut self, code: Code, source: Source, message: impl Into<String>) {
        self.push(Diagnostic::new(Severity::Notice, code, message, source));
    }

    /// The same, with a way out on the finding noted last.
    pub fn help(&mut self, help: impl Into<String>) {
        if let Some(last) = self.0.last_mut() {
            last.help = Some(help.into());
        }
    }

    /// What strict mode makes of the findings: everything dropped is refused.
    pub fn refuse_dropped(&mut self) {
        for finding in self.0.iter_mut().filter(|f| f.severity == Severity::Dropped) {
            finding.severity = Severity::Refused;
        }
    }

    /// Whether any finding is a refusal.
    pub fn refused(&self) -> bool {
        self.0.iter().any(|f| f.severity == Severity::Refused)
    }

    /// All findings, refusals first, otherwise in the order they were found.
    pub fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.0.sort_by_key(|f| f.severity);
        self.0
    }

    /// The findings so far.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }
}

//! The tables of special variable names. A new reserved, redirecting, host-only or shell-owned name goes here.
//!
//! Every comparison ignores letter case: Windows folds names, and http_proxy counts like HTTP_PROXY.

use alloc::string::String;

/// How a row names variables.
#[derive(Clone, Copy, Debug)]
enum Pattern {
    /// Exactly this name.
    Is(&'static str),
    /// Every name that begins so.
    Begins(&'static str),
    /// Every name that ends so.
    Ends(&'static str),
}
use Pattern::{Begins, Ends, Is};

impl Pattern {
    /// Whether an upper-case name matches.
    fn matches(self, upper: &str) -> bool {
        match self {
            Is(name) => upper == name,
            Begins(start) => upper.starts_with(start),
            Ends(end) => upper.ends_with(end),
        }
    }
}

/// Why a name is reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reserved {
    /// Orca sets it; nobody else ever does.
    Orca,
    /// It selects or authenticates an account that Orca manages; a person may be allowed to set it.
    Account,
}

/// Reserved names (design 6; `facts` orca 3.4 A to C and G).
const RESERVED: &[(Pattern, Reserved)] = &[
    (Begins("ORCA_"), Reserved::Orca),
    (Is("CONDUCTOR_ROOT_PATH"), Reserved::Orca),
    (Is("GHOSTX_ROOT_PATH"), Reserved::Orca),
    (Is("CLAUDE_CONFIG_DIR"), Reserved::Orca),
    (Is("CODEX_HOME"), Reserved::Orca),
    (Is("ANTHROPIC_API_KEY"), Reserved::Account),
    (Is("ANTHROPIC_AUTH_TOKEN"), Reserved::Account),
    (Is("CLAUDE_CODE_OAUTH_TOKEN"), Reserved::Account),
    (Is("AWS_BEARER_TOKEN_BEDROCK"), Reserved::Account),
    (Is("ANTHROPIC_CUSTOM_HEADERS"), Reserved::Account),
];

/// Names that decide where a user's credentials go, or what runs before a user's program (design 6).
///
/// Wider than the design's list by its own kinds: every GIT_ variable but authorship, editors and pagers,
/// configuration homes, and the start-up hooks of more interpreters (docs/decisions/0004).
const REDIRECTING: &[Pattern] = &[
    // Where requests go.
    Ends("_BASE_URL"),
    Ends("_PROXY"),
    Is("GOPROXY"),
    Is("GOSUMDB"),
    Is("GONOSUMDB"),
    Is("GONOSUMCHECK"),
    Is("GOINSECURE"),
    Is("GOTOOLCHAIN"),
    Is("LOCALDOMAIN"),
    Is("RESOLV_HOST_CONF"),
    Ends("_ENDPOINT"),
    Ends("_ENDPOINT_URL"),
    Begins("AWS_ENDPOINT_URL"),
    Ends("_API_BASE"),
    Ends("_API_URL"),
    Ends("_BASE_URI"),
    Ends("_REGISTRY"),
    Ends("_INDEX_URL"),
    Ends("_INDEX"),
    Is("PIP_FIND_LINKS"),
    Is("UV_FIND_LINKS"),
    Is("OLLAMA_HOST"),
    Begins("CARGO_REGISTRIES_"),
    Is("TAR_OPTIONS"),
    Is("RSYNC_RSH"),
    Is("GCONV_PATH"),
    Is("MAKEFLAGS"),
    Is("HOSTALIASES"),
    Is("RES_OPTIONS"),
    Is("GH_HOST"),
    Begins("DOCKER_"),
    Begins("SSH_"),
    Is("VAULT_ADDR"),
    Is("CONSUL_HTTP_ADDR"),
    Is("PGHOST"),
    Is("PGHOSTADDR"),
    Begins("PGSERVICE"),
    Is("MYSQL_HOST"),
    Is("MYSQL_HOME"),
    Ends("_UNIX_SOCKET"),
    // Whom a client trusts.
    Is("PYTHONHTTPSVERIFY"),
    Is("GNUPGHOME"),
    Begins("SSL_CERT_"),
    Is("CURL_CA_BUNDLE"),
    Is("REQUESTS_CA_BUNDLE"),
    Is("NODE_EXTRA_CA_CERTS"),
    Is("NODE_TLS_REJECT_UNAUTHORIZED"),
    Is("AWS_CA_BUNDLE"),
    Begins("OPENSSL_"),
    Is("SSLKEYLOGFILE"),
    // What is loaded into a program.
    Is("PATH"),
    Begins("LD_"),
    Begins("DYLD_"),
    Is("NODE_OPTIONS"),
    Is("NODE_PATH"),
    Is("PYTHONPATH"),
    Is("PYTHONSTARTUP"),
    Is("PYTHONHOME"),
    Is("PYTHONUSERBASE"),
    Is("PERL5LIB"),
    Is("PERL5OPT"),
    Is("PERL5DB"),
    Is("RUBYOPT"),
    Is("RUBYLIB"),
    Is("JAVA_TOOL_OPTIONS"),
    Is("JDK_JAVA_OPTIONS"),
    Is("_JAVA_OPTIONS"),
    Is("DOTNET_STARTUP_HOOKS"),
    Is("MAVEN_OPTS"),
    Is("MAVEN_ARGS"),
    Is("SBT_OPTS"),
    Is("GOFLAGS"),
    Is("PHPRC"),
    Is("PHP_INI_SCAN_DIR"),
    Is("LUA_INIT"),
    Begins("RUSTC"),
    Is("RUSTDOC"),
    Begins("CARGO_BUILD_"),
    Begins("CARGO_TARGET_"),
    Begins("RUSTUP_"),
    Begins("NODE_REPL_"),
    Is("NIX_PATH"),
    Is("GRADLE_USER_HOME"),
    Is("BUN_OPTIONS"),
    Is("DOTNET_ADDITIONAL_DEPS"),
    Begins("DOTNET_ROOT"),
    Begins("CORECLR_"),
    Begins("COR_"),
    Begins("COMPLUS_"),
    Is("PYTHONBREAKPOINT"),
    Is("PYTHONEXECUTABLE"),
    Is("PYTHONPLATLIBDIR"),
    Begins("ERL_"),
    Is("ELIXIR_ERL_OPTIONS"),
    Begins("R_PROFILE"),
    Begins("R_ENVIRON"),
    Is("GEM_HOME"),
    Is("GEM_PATH"),
    Begins("BUNDLE_"),
    Begins("LUA_PATH"),
    Begins("LUA_CPATH"),
    Is("GUILE_LOAD_PATH"),
    Is("JULIA_LOAD_PATH"),
    Is("ELECTRON_RUN_AS_NODE"),
    Is("COMPOSER_HOME"),
    Begins("CLAUDE_CODE_SHELL"),
    Begins("CLAUDE_CODE_USE_"),
    Begins("CLAUDE_CODE_SKIP_"),
    Is("CLAUDE_CODE_EXTRA_BODY"),
    // What a shell runs or reads first.
    Is("BASH_ENV"),
    Is("ENV"),
    Is("ZDOTDIR"),
    Is("FPATH"),
    Is("SHELL"),
    Is("INPUTRC"),
    Is("SUDO_ASKPASS"),
    Is("PROMPT_COMMAND"),
    Is("IFS"),
    Is("PS4"),
    // What git and other tools run, and where they read settings.
    Begins("GIT_"),
    Is("HGRCPATH"),
    Begins("MISE_"),
    Begins("DIRENV_"),
    Is("VIMINIT"),
    Is("EXINIT"),
    Is("EDITOR"),
    Is("VISUAL"),
    Is("PAGER"),
    Is("MANPAGER"),
    Is("LESSOPEN"),
    Is("LESSCLOSE"),
    Is("BROWSER"),
    Is("HOME"),
    Begins("XDG_"),
    Is("AWS_CONFIG_FILE"),
    Is("AWS_SHARED_CREDENTIALS_FILE"),
    Is("KUBECONFIG"),
    // npm, pnpm and yarn take every setting of theirs from a variable.
    Begins("NPM_CONFIG_"),
    Begins("YARN_"),
    // Another account: what is pushed or posted goes there.
    Is("GH_TOKEN"),
    Is("GITHUB_TOKEN"),
    Is("GH_ENTERPRISE_TOKEN"),
    Is("GITHUB_ENTERPRISE_TOKEN"),
    Is("GH_HOST"),
    Is("OPENAI_API_KEY"),
    Is("GEMINI_API_KEY"),
    Is("GH_CONFIG_DIR"),
    Is("NETRC"),
    Is("CURL_HOME"),
    Is("WGETRC"),
    Is("PIP_CONFIG_FILE"),
    Is("CARGO_HOME"),
    Is("CLOUDSDK_CONFIG"),
];

/// Rows of [`REDIRECTING`] that are harmless after all: authorship, and where a build puts its files.
const NOT_REDIRECTING: &[Pattern] =
    &[Begins("GIT_AUTHOR_"), Begins("GIT_COMMITTER_"), Is("CARGO_TARGET_DIR")];

/// Host variables that never enter a container (design 6; `facts` orca 3.4 E and 3.6).
const NEVER_FROM_HOST: &[Pattern] = &[
    Is("PATH"),
    Is("HOME"),
    Is("SHELL"),
    Is("USER"),
    Is("LOGNAME"),
    Is("PWD"),
    Is("OLDPWD"),
    Begins("TMP"),
    Is("TEMP"),
    Begins("XDG_"),
    Begins("DOCKER_"),
    Begins("CONTAINER"),
    Begins("PODMAN_"),
    Begins("LD_"),
    Begins("DYLD_"),
    Is("NODE_OPTIONS"),
    Is("SSH_AUTH_SOCK"),
    Is("SSH_ASKPASS"),
    Begins("GPG_"),
    Is("GIT_ASKPASS"),
    Begins("VSCODE_GIT_"),
    Is("CLAUDE_CODE_CHILD_SESSION"),
    Is("CLAUDE_CODE_SESSION_ID"),
    Is("CLAUDE_CODE_BRIDGE_SESSION_ID"),
];

/// Names that a shell sets or refuses itself, so that no value arrives unchanged (measured with dash, bash,
/// busybox; `core/tests/shim.rs` runs all three).
const SHELL_OWNED: &[Pattern] = &[
    Is("UID"),
    Is("EUID"),
    Is("PPID"),
    Is("SHELLOPTS"),
    Is("BASHOPTS"),
    Is("BASH_VERSINFO"),
    Is("GROUPS"),
    Is("RANDOM"),
    Is("LINENO"),
    Is("SHLVL"),
    Is("_"),
    Is("OPTIND"),
    Begins("BASH_"),
    Is("BASHPID"),
    Is("DIRSTACK"),
    Is("EPOCHREALTIME"),
    Is("EPOCHSECONDS"),
    Is("FUNCNAME"),
    Is("HISTCMD"),
    Is("PIPESTATUS"),
    Is("SECONDS"),
    Is("SRANDOM"),
];

/// Row of [`SHELL_OWNED`] that a shell does leave alone.
const NOT_SHELL_OWNED: &[Pattern] = &[Is("BASH_ENV")];

fn any(rows: &[Pattern], upper: &str) -> bool {
    rows.iter().any(|row| row.matches(upper))
}

fn upper(name: &str) -> String {
    name.to_ascii_uppercase()
}

/// Whether, and why, a name is reserved.
pub(crate) fn reserved(name: &str) -> Option<Reserved> {
    let upper = upper(name);
    RESERVED.iter().find(|(row, _)| row.matches(&upper)).map(|(_, why)| *why)
}

/// Whether a name decides where credentials go or what runs first.
pub(crate) fn is_redirecting(name: &str) -> bool {
    let upper = upper(name);
    any(REDIRECTING, &upper) && !any(NOT_REDIRECTING, &upper)
}

/// Whether a host variable never enters a container, whoever lists it.
pub(crate) fn is_never_from_host(name: &str) -> bool {
    any(NEVER_FROM_HOST, &upper(name))
}

/// Whether a shell would not pass the value on. Shells are case-sensitive; the rule is not, for one verdict.
pub(crate) fn is_shell_owned(name: &str) -> bool {
    let upper = upper(name);
    any(SHELL_OWNED, &upper) && !any(NOT_SHELL_OWNED, &upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_names_are_reserved_in_every_letter_case() {
        for name in [
            "ORCA_X",
            "orca_x",
            "Orca_Terminal_Handle",
            "ORCA_",
            "conductor_root_path",
            "CODEX_HOME",
            "claude_config_dir",
        ] {
            assert_eq!(reserved(name), Some(Reserved::Orca), "{name}");
        }
        for name in ["ANTHROPIC_API_KEY", "anthropic_api_key", "AWS_BEARER_TOKEN_BEDROCK"] {
            assert_eq!(reserved(name), Some(Reserved::Account), "{name}");
        }
        for name in ["ORCA", "ORCAX", "MY_ORCA_X", "ANTHROPIC_MODEL", "CLAUDE", "CODEX_HOME2"] {
            assert_eq!(reserved(name), None, "{name}");
        }
    }

    #[test]
    fn redirecting_names_are_known_by_kind_not_by_list() {
        for name in [
            "ANTHROPIC_BASE_URL",
            "https_proxy",
            "NO_PROXY",
            "AWS_ENDPOINT_URL_S3_ENDPOINT_URL",
            "NPM_CONFIG_REGISTRY",
            "OPENAI_API_BASE",
            "AWS_ENDPOINT_URL_S3",
            "MAVEN_OPTS",
            "GOFLAGS",
            "YARN_NPM_REGISTRY_SERVER",
            "OPENSSL_CONF",
            "NETRC",
            "GH_TOKEN",
            "OPENAI_API_KEY",
            "UV_INDEX_URL",
            "LD_PRELOAD",
            "LD_AUDIT",
            "BASH_ENV",
            "ENV",
            "NODE_OPTIONS",
            "PYTHONSTARTUP",
            "PERL5OPT",
            "RUBYOPT",
            "JAVA_TOOL_OPTIONS",
            "DOTNET_STARTUP_HOOKS",
            "GIT_SSH_COMMAND",
            "GIT_CONFIG_COUNT",
            "GIT_EXEC_PATH",
            "GIT_PAGER",
            "PROMPT_COMMAND",
            "CLAUDE_CODE_SHELL_PREFIX",
            "CLAUDE_CODE_USE_BEDROCK",
            "BUN_OPTIONS",
            "CARGO_BUILD_RUSTC_WRAPPER",
            "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER",
            "VAULT_ADDR",
            "PGHOST",
            "ANTHROPIC_UNIX_SOCKET",
            "VIMINIT",
            "GRADLE_USER_HOME",
            "HGRCPATH",
            "MISE_CONFIG_FILE",
            "DIRENV_CONFIG",
            "NODE_REPL_EXTERNAL_MODULE",
            "RUSTUP_TOOLCHAIN",
            "GNUPGHOME",
            "NIX_PATH",
            "PYTHONHTTPSVERIFY",
            "PYTHONBREAKPOINT",
            "GOSUMDB",
            "PATH",
            "IFS",
            "DOCKER_HOST",
            "SSH_AUTH_SOCK",
        ] {
            assert!(is_redirecting(name), "{name}");
        }
        for name in [
            "NODE_ENV",
            "DATABASE_URL",
            "GIT_AUTHOR_NAME",
            "GIT_COMMITTER_EMAIL",
            "GRADLE_OPTS",
            "PORT",
            "PROXY",
        ] {
            assert!(!is_redirecting(name), "{name}");
        }
    }

    #[test]
    fn host_paths_sockets_and_session_stamps_never_come_from_the_host() {
        for name in [
            "PATH",
            "TMPDIR",
            "TEMP",
            "XDG_RUNTIME_DIR",
            "CONTAINERS_CONF",
            "CONTAINER_HOST",
            "SSH_AUTH_SOCK",
            "GPG_AGENT_INFO",
            "home",
        ] {
            assert!(is_never_from_host(name), "{name}");
        }
        assert!(!is_never_from_host("GRADLE_OPTS") && !is_never_from_host("NPM_CONFIG_REGISTRY"));
    }

    #[test]
    fn shells_own_their_counters_but_not_bash_env() {
        assert!(is_shell_owned("UID") && is_shell_owned("BASH_SUBSHELL") && is_shell_owned("_"));
        assert!(!is_shell_owned("BASH_ENV") && !is_shell_owned("PWD"));
    }
}

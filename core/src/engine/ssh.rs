//! A terminal over ssh without a daemon, a port or a network: what ssh's ProxyCommand runs is an `exec` that starts
//! `sshd -i` as the workspace's user, for one connection.
//!
//! sshd hands nothing of its own environment to a session. So each session asks, over the connection's standard error,
//! for the variables of now; the host answers with a launch like any other, whose process leaves its environment in memory
//! (`/dev/shm`) for the session to read. No value is an argument, in an image, or in a file on a disk.
//!
//! Scripts are exact in dash, bash --posix and busybox sh; data reaches them as positional parameters.

use crate::plan::ContainerPlan;
use alloc::{format, string::String, vec::Vec};

/// Begins a line of the connection's standard error that asks for a session's variables: the session's process id follows.
pub const SSH_ASKS: &str = "orca-session ";

/// One connection: `sh -c SSH_SERVE sh CONNECTION AUTHORIZED_KEY SESSION_SCRIPT`, with the host key's private half, an empty
/// line and then the client's side of the connection on standard input.
///
/// When sshd ends, sessions that are left get a hangup: what was made to outlive its terminal does, and nothing else. A session is
/// told by its leader's number and start, since numbers come again; ended ones are taken off the list at each 64th, since Orca
/// keeps one connection for thousands of commands. At the end the folder is first moved away: who is on the list by then gets the
/// hangup, and a session that comes later does not begin.
const SSH_SERVE: &str = "\
set -u; mask=$(umask); umask 077; PATH=/usr/bin:/bin:/usr/sbin:/sbin; export PATH; dir=/dev/shm/orca-ssh-$1; asker=; \
fail() { echo \"$1\" >&2; exit 1; }; \
sshd=$(command -v sshd) || fail 'The image has no sshd. On Debian: apt-get install openssh-server openssh-sftp-server.'; \
id -un >/dev/null 2>&1 || fail 'The user of the container has no line in the /etc/passwd of the image, and sshd lets only those in that have one.'; \
mkdir \"$dir\" || fail 'The container has no /dev/shm to write to.'; \
leaders=' '; began() { [ ! -f \"$1\" ] || while read -r leader start; do leaders=\"$leaders$leader:$start \"; done <\"$1\"; }; \
is_ours() { if read -r line 2>/dev/null <\"/proc/$1/stat\"; then set -- \"$1\" ${line##*) }; case $leaders in *\" $1:${21:-} \"*) ;; *) return 1;; esac; \
else case $leaders in *\" $1:\"*) ;; *) return 1;; esac; fi; }; \
hang_up() { began \"$dir/sessions\"; began \"$dir/sessions.old\"; for process in /proc/[0-9]*; do \
if read -r line 2>/dev/null <\"$process/stat\"; then set -- ${line##*) }; \
if [ -n \"${4:-}\" ] && is_ours \"$4\"; then kill -HUP \"${process#/proc/}\" 2>/dev/null || :; fi; fi; done; }; \
prune() { mv -f \"$dir/sessions\" \"$dir/sessions.old\" || return 0; alive=' '; for process in /proc/[0-9]*; do \
if read -r line 2>/dev/null <\"$process/stat\"; then set -- ${line##*) }; alive=\"$alive${4:-} \"; fi; done; \
while read -r leader start; do case $alive in *\" $leader \"*) echo \"$leader $start\";; esac; done <\"$dir/sessions.old\" >>\"$dir/sessions\"; rm -f \"$dir/sessions.old\"; }; \
tidy() { trap '' HUP INT TERM; mv -- \"$dir\" \"$dir.ended\" && dir=$dir.ended; [ -z \"$asker\" ] || kill \"$asker\" 2>/dev/null || :; hang_up; rm -rf -- \"$dir\"; }; \
trap tidy EXIT; trap 'exit 1' HUP INT TERM; : >\"$dir/sessions\"; \
while IFS= read -r line && [ -n \"$line\" ]; do printf '%s\\n' \"$line\"; done >\"$dir/host\"; \
printf '%s\\n' \"$2\" >\"$dir/key\" && printf '%s\\n' \"$3\" >\"$dir/session\" && mkfifo \"$dir/asked\" || fail 'The container has no room in /dev/shm.'; \
asked=0; while IFS= read -r session; do echo \"orca-session $session\"; asked=$((asked + 1)); [ $((asked % 64)) -ne 0 ] || prune; done <>\"$dir/asked\" >&2 & asker=$!; \
umask \"$mask\"; \"$sshd\" -i -e -f /dev/null -o HostKey=\"$dir/host\" -o AuthorizedKeysFile=\"$dir/key\" \
-o ForceCommand=\"exec /bin/sh $dir/session $dir\" -o Subsystem='sftp orca-sftp' \
-o AuthenticationMethods=publickey -o PasswordAuthentication=no -o KbdInteractiveAuthentication=no -o UsePAM=no \
-o StrictModes=no -o PermitUserRC=no -o PermitUserEnvironment=no -o PidFile=none -o UseDNS=no -o LogLevel=ERROR \
-o AllowAgentForwarding=no -o X11Forwarding=no -o PermitTunnel=no -o AllowStreamLocalForwarding=no -o GatewayPorts=no \
-o AllowTcpForwarding=local -o PermitOpen='127.0.0.1:* localhost:* [::1]:*' -o MaxSessions=200 -o LoginGraceTime=30";

/// One session, as sshd's forced command: `sh session DIR`. What the person asked for is in `SSH_ORIGINAL_COMMAND`.
const SSH_SESSION: &str = "\
dir=$1; command=${SSH_ORIGINAL_COMMAND-}; read -r stat <\"/proc/$$/stat\"; set -- ${stat##*) }; echo \"$$ ${20}\" >>\"$dir/sessions\" || exit 1; \
if [ \"$command\" = orca-sftp ]; then for server in /usr/lib/openssh/sftp-server /usr/libexec/openssh/sftp-server \
/usr/lib/ssh/sftp-server /usr/libexec/sftp-server; do [ ! -x $server ] || exec $server; done; \
echo 'The image has no sftp-server. On Debian: apt-get install openssh-sftp-server.' >&2; exit 127; fi; \
mask=$(umask); umask 077; answer=$dir/answer.$$; trap 'rm -f \"$answer\" \"$answer.done\"; exit 1' HUP INT TERM; \
rm -f \"$answer\" \"$answer.done\"; mkfifo \"$answer.done\" && exec 3<>\"$answer.done\" || exit 1; \
echo $$ >\"$dir/asked\"; read -r said <&3; exec 3<&-; text=$(cat \"$answer\"); rm -f \"$answer\" \"$answer.done\"; umask \"$mask\"; trap - HUP INT TERM; \
if [ \"$said\" != yes ]; then printf '%s\\n' \"$text\" >&2; exit 1; fi; \
case $text in *': whole') ;; *) echo 'orca-container: /dev/shm of the container has no room for the variables.' >&2; exit 1;; esac; \
set -- \"$SHELL\" \"$command\" \"${TERM-}\"; unset dir command answer said mask stat; eval \"unset text; $text\"; \
if [ -n \"$3\" ]; then TERM=$3; export TERM; fi; unset SSH_ORIGINAL_COMMAND; \
if [ -n \"$2\" ]; then unset ORCA_SSH_FOLDER; exec \"$1\" -c \"$2\"; fi; \
cd -- \"$ORCA_SSH_FOLDER\" 2>/dev/null || :; unset ORCA_SSH_FOLDER; exec \"$1\"";

/// Leaves the environment of a launch for a session: `sh -c SSH_ENVIRONMENT sh ANSWER FOLDER`. It waits for nobody: a session that
/// is gone has nothing that could be read.
const SSH_ENVIRONMENT: &str = "\
umask 077; ORCA_SSH_FOLDER=$2; export ORCA_SSH_FOLDER; [ -p \"$1.done\" ] && [ -d \"/proc/${1##*.}\" ] || exit 0; \
rm -f \"$1\"; { export -p; echo ': whole'; } >\"$1\"; [ -p \"$1.done\" ] || rm -f \"$1\"; echo yes 1<>\"$1.done\"";

/// Tells a session why it gets none: `sh -c SSH_REFUSED sh ANSWER WHY`.
const SSH_REFUSED: &str = "\
umask 077; [ -p \"$1.done\" ] || exit 0; printf '%s\\n' \"$2\" >\"$1\"; echo no 1<>\"$1.done\"";

/// The arguments of the engine's client for one connection. `connection` is 32 hex digits, `authorized_key` one line of a
/// public key. There is no value in them.
pub fn ssh_serve_argv(container_id: &str, connection: &str, authorized_key: &str) -> Vec<String> {
    internal(container_id, true, SSH_SERVE, &[connection, authorized_key, SSH_SESSION])
}

/// Says the name of the container's user, and a line for what is missing: `sh -c SSH_LOGIN`.
const SSH_LOGIN: &str = "\
PATH=/usr/bin:/bin:/usr/sbin:/sbin; export PATH; command -v sshd >/dev/null 2>&1 || echo 'no sshd'; \
name=$(id -un 2>/dev/null) || { echo 'no user'; exit 0; }; echo \"user $name\"; \
while IFS=: read -r user secret uid gid gecos home shell; do [ \"$user\" != \"$name\" ] || { shell=${shell:-/bin/sh}; break; }; done </etc/passwd; \
if [ -n \"$shell\" ]; then case ${shell##*/} in nologin|false) echo 'no shell';; *) [ -x \"$shell\" ] || echo 'no shell';; esac; fi; \
for server in /usr/lib/openssh/sftp-server /usr/libexec/openssh/sftp-server /usr/lib/ssh/sftp-server /usr/libexec/sftp-server; do \
[ ! -x $server ] || exit 0; done; echo 'no sftp'";

/// How one logs in over ssh, as the container tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SshLogin {
    /// The user's name. It is only what one logs in as.
    pub user: String,
    /// Whether files can be moved by sftp.
    pub sftp: bool,
}

/// Why nobody can log in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SshLoginError {
    /// The image has no sshd.
    #[error(
        "The image has no sshd, which a terminal over ssh needs. On Debian: apt-get install openssh-server openssh-sftp-server."
    )]
    NoSshd,
    /// The image does not know its user.
    #[error(
        "The image has no line for the container's user in its /etc/passwd, and sshd lets only those in that have one."
    )]
    NoUser,
    /// The user may not log in.
    #[error(
        "The container's user has no shell to log in with in the image's /etc/passwd. Give it one: usermod -s /bin/sh USER."
    )]
    NoShell,
    /// What was said is no answer.
    #[error("The container's shell did not say who its user is.")]
    Unusable,
}

/// The arguments of the engine's client that ask how one logs in; [`ssh_login`] reads the answer.
pub fn ssh_login_argv(container_id: &str) -> Vec<String> {
    internal(container_id, false, SSH_LOGIN, &[])
}

/// What the container said to [`ssh_login_argv`].
pub fn ssh_login(said: &str) -> Result<SshLogin, SshLoginError> {
    let says = |line: &str| said.lines().any(|said| said == line);
    for (line, error) in [
        ("no sshd", SshLoginError::NoSshd),
        ("no user", SshLoginError::NoUser),
        ("no shell", SshLoginError::NoShell),
    ] {
        if says(line) {
            return Err(error);
        }
    }
    let user = said.lines().find_map(|line| line.strip_prefix("user "));
    let user = user.filter(|name| is_user_name(name)).ok_or(SshLoginError::Unusable)?;
    Ok(SshLogin { user: user.into(), sftp: !says("no sftp") })
}

/// A name that is one word to ssh and to every shell.
fn is_user_name(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    !text.starts_with('-') && (1..=64).contains(&text.len()) && text.bytes().all(plain)
}

/// The command of the launch that answers a session. It starts in `/`, since an agent may have taken the clone away.
pub fn ssh_environment_command(plan: &ContainerPlan, connection: &str, session: u32) -> Vec<String> {
    let answer = answer(connection, session);
    let chosen = plan.devcontainer.as_ref().map(|file| file.workspace_folder.as_str());
    let folder = chosen.or(plan.clone.as_ref().map(|clone| clone.target.as_str())).unwrap_or("/");
    // Where /bin/sh is bash it would give these back as its own, and a session that reads them would end.
    let shells = ["UID", "EUID", "PPID", "SHELLOPTS", "BASHOPTS", "BASH_VERSINFO"];
    let mut words: Vec<&str> = Vec::from(["/usr/bin/env"]);
    words.extend(shells.iter().flat_map(|name| ["-u", name]));
    words.extend(["/bin/sh", "-c", SSH_ENVIRONMENT, "sh", &answer, folder]);
    words.into_iter().map(String::from).collect()
}

/// The arguments of the engine's client that tell a session why it gets nothing; `why` holds no value.
pub fn ssh_refused_argv(container_id: &str, connection: &str, session: u32, why: &str) -> Vec<String> {
    internal(container_id, false, SSH_REFUSED, &[&answer(connection, session), why])
}

fn answer(connection: &str, session: u32) -> String {
    format!("/dev/shm/orca-ssh-{connection}/answer.{session}")
}

fn internal(container_id: &str, reads: bool, script: &str, parameters: &[&str]) -> Vec<String> {
    let mut words: Vec<&str> = Vec::from(["exec"]);
    words.extend(reads.then_some("-i"));
    words.extend(["--workdir=/", "--", container_id, "/usr/bin/env", "-i", "/bin/sh", "-c", script, "sh"]);
    words.extend(parameters);
    words.into_iter().map(String::from).collect()
}

//! The constant shell texts that run in a container. Data reaches them as positional parameters or through
//! variables and descriptors; no text is ever put together from data.
//!
//! Each is exact in dash, bash, bash --posix and busybox sh (`core/tests/shim.rs` runs them all).

/// Prefix under which a value travels in the engine client's environment: it configures nothing there.
pub const ENV_PREFIX: &str = "ORCA_ENV_";

/// Delivery through the environment (docker): `sh -c SHIM sh LAUNCH_ID NAME… -- UNSET… -- COMMAND…`.
///
/// Names were held to `[A-Za-z_][A-Za-z0-9_]*` before, so the `eval` assigns a variable and nothing else.
pub const ENVIRONMENT_SHIM: &str = "\
ORCA_LAUNCH_ID=$1; export ORCA_LAUNCH_ID; shift; \
while [ \"$1\" != -- ]; do eval \"export $1=\\\"\\$ORCA_ENV_$1\\\"; unset ORCA_ENV_$1\"; shift; done; shift; \
while [ \"$1\" != -- ]; do unset \"$1\"; shift; done; shift; exec \"$@\"";

/// Delivery through a descriptor (podman, which stores every `exec -e` value): the same parameters; line N of
/// descriptor 3 is the value of name N, with backslash and newline written as `\\\\` and `\\n`.
pub const DESCRIPTOR_SHIM: &str = "\
ORCA_LAUNCH_ID=$1; export ORCA_LAUNCH_ID; shift; \
while [ \"$1\" != -- ]; do IFS= read -r ORCA_ENV_VALUE <&3; ORCA_ENV_VALUE=$(printf '%b.' \"$ORCA_ENV_VALUE\"); \
ORCA_ENV_VALUE=${ORCA_ENV_VALUE%.}; eval \"export $1=\\\"\\$ORCA_ENV_VALUE\\\"\"; shift; done; shift; \
unset ORCA_ENV_VALUE; exec 3<&-; \
while [ \"$1\" != -- ]; do unset \"$1\"; shift; done; shift; exec \"$@\"";

/// Ends a launch: `sh -c TERMINATE sh LAUNCH_ID`. TERM to every process that carries the id, KILL to those left
/// after two seconds. The id is 32 hex digits, so it is no pattern.
pub const TERMINATE: &str = "\
PATH=/usr/bin:/bin:/usr/sbin:/sbin; \
ours() { grep -l \"ORCA_LAUNCH_ID=$1\" /proc/[0-9]*/environ 2>/dev/null; }; \
each() { for f in $(ours \"$2\"); do p=${f#/proc/}; kill \"-$1\" \"${p%/environ}\" 2>/dev/null; done; }; \
each TERM \"$1\"; n=0; \
while [ $n -lt 20 ]; do [ -z \"$(ours \"$1\")\" ] && exit 0; sleep 0.1 2>/dev/null || sleep 1; n=$((n+1)); done; \
each KILL \"$1\"; exit 0";

/// Goes to a folder, or says that it is not there and stays: `sh -c IN_FOLDER sh FOLDER COMMAND…`.
pub(super) const IN_FOLDER: &str = "cd -- \"$1\" || :; shift; exec \"$@\"";

/// Runs the commands of a devcontainer.json, whose text arrives as a variable and is gone from what they see.
pub(super) const LIFECYCLE: &str = "orca_text=$ORCA_LIFECYCLE; unset ORCA_LIFECYCLE; eval \"$orca_text\"";

/// A login shell for people: bash where the image has it.
pub(super) const PERSONS_SHELL: &str = "if command -v bash >/dev/null 2>&1; then exec bash; else exec sh; fi";

/// The clone: `sh -c CLONE sh TARGET BRANCH COMMIT BEGINS` with the bundle on standard input. It is built beside its place and
/// moved there whole, so a broken one is never taken for a clone; a rest of an interrupted one goes first. With a
/// COMMIT, one whose branch is at another is none: its texts are not those that were judged. With BEGINS, the branch is a
/// new one at that reference of the bundle.
pub(super) const CLONE: &str = "\
set -eu; umask 022; PATH=/usr/bin:/bin; HOME=/nonexistent; GIT_CONFIG_NOSYSTEM=1; GIT_CONFIG_GLOBAL=/dev/null; \
export PATH HOME GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL; \
target=$1; branch=$2; commit=$3; begins=$4; work=/workspace/.orca-clone; rm -rf -- \"$work\" \"$target\"; \
git -c init.defaultBranch=orca init -q --template= -- \"$work\"; cd \"$work\"; \
git bundle unbundle /dev/stdin >.git/orca-refs; while read -r id ref; do \
case $ref in refs/heads/*|refs/remotes/*) git update-ref -- \"$ref\" \"$id\";; esac; \
if [ \"$ref\" = \"$begins\" ]; then git update-ref -- \"refs/heads/$branch\" \"$id\"; fi; done <.git/orca-refs; rm -f .git/orca-refs; \
git symbolic-ref HEAD \"refs/heads/$branch\"; at=$(git rev-parse -q --verify 'HEAD^{commit}'); \
if [ -n \"$commit\" ] && [ \"$at\" != \"$commit\" ]; then echo 'the branch moved since its files were judged; create it again' >&2; exit 1; fi; \
git reset -q --hard; cd /; mv -- \"$work\" \"$target\"";

/// The clone from a remote: `sh -c CLONE_REMOTE sh TARGET URL BRANCH` with `Stdin::CloneSecret` on standard input; it prints
/// the branch and the commit that it is at. Built beside its place like the other. The token is in this one git's
/// environment and asked for only by the URL's own host, also where that one leads elsewhere; the key is in an agent that
/// ends with the clone. Neither is ever in a file. Hosts that nobody knows are not spoken to.
pub(super) const CLONE_REMOTE: &str = "\
set -eu; umask 022; PATH=/usr/bin:/bin; HOME=/nonexistent; GIT_CONFIG_NOSYSTEM=1; GIT_CONFIG_GLOBAL=/dev/null; \
GIT_TERMINAL_PROMPT=0; export PATH HOME GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL GIT_TERMINAL_PROMPT; \
target=$1; url=$2; branch=$3; work=/workspace/.orca-clone; known=/workspace/.orca-known-hosts; socket=/workspace/.orca-agent; \
rm -rf -- \"$work\" \"$target\" \"$known\" \"$socket\"; \
tidy() { [ -z \"${SSH_AGENT_PID:-}\" ] || kill \"$SSH_AGENT_PID\" || :; rm -rf -- \"$work\" \"$known\" \"$socket\"; }; \
trap tidy EXIT; trap 'exit 1' HUP INT TERM; \
while IFS= read -r line && [ -n \"$line\" ]; do printf '%s\\n' \"$line\"; done >\"$known\"; helper=; \
case $url in https://*) GIT_ALLOW_PROTOCOL=https; host=${url#https://}; host=https://${host%%/*}; \
IFS= read -r ORCA_CLONE_USER || :; IFS= read -r ORCA_CLONE_TOKEN || :; export ORCA_CLONE_USER ORCA_CLONE_TOKEN; \
if [ -n \"$ORCA_CLONE_TOKEN\" ]; then \
helper='!f() { [ \"$1\" != get ] || printf \"username=%s\\npassword=%s\\n\" \"$ORCA_CLONE_USER\" \"$ORCA_CLONE_TOKEN\"; }; f'; fi;; \
*) GIT_ALLOW_PROTOCOL=ssh; host=none; for tool in ssh ssh-agent ssh-add; do command -v $tool >/dev/null || { echo \"the image has no $tool; on Debian: apt-get install openssh-client\" >&2; exit 1; }; done; \
id -un >/dev/null 2>&1 || { echo 'the user of the container has no line in the /etc/passwd of the image, and ssh works for none' >&2; exit 1; }; \
key=$(cat); if [ -n \"$key\" ]; then eval \"$(ssh-agent -s -a \"$socket\")\" >/dev/null; printf '%s\\n' \"$key\" | ssh-add -q -; fi; key=; \
GIT_SSH_VARIANT=ssh; GIT_SSH_COMMAND=\"ssh -F none -o BatchMode=yes -o StrictHostKeyChecking=yes -o UserKnownHostsFile=$known \
-o GlobalKnownHostsFile=none -o ConnectTimeout=30 -o ServerAliveInterval=30 -o ServerAliveCountMax=2 -o ForwardAgent=no -o ClearAllForwardings=yes\"; export GIT_SSH_VARIANT GIT_SSH_COMMAND;; esac; \
export GIT_ALLOW_PROTOCOL; \
git -c core.hooksPath=/dev/null -c http.lowSpeedLimit=1 -c http.lowSpeedTime=60 -c credential.helper= -c \"credential.$host.helper=$helper\" -c init.defaultBranch=orca \
clone -q --template= --no-recurse-submodules ${branch:+\"--branch=$branch\"} -- \"$url\" \"$work\" </dev/null; \
cd \"$work\"; at=$(git rev-parse -q --verify 'HEAD^{commit}') || { echo 'the remote has no commit to begin at' >&2; exit 1; }; \
on=$(git symbolic-ref -q HEAD) || { echo 'what was asked for is no branch of the remote' >&2; exit 1; }; \
cd /; mv -- \"$work\" \"$target\"; echo \"${on#refs/heads/}\"; echo \"$at\"";

/// Sets origin: `sh -c SET_REMOTE sh TARGET URL`.
pub(super) const SET_REMOTE: &str = "\
set -eu; PATH=/usr/bin:/bin; HOME=/nonexistent; GIT_CONFIG_NOSYSTEM=1; GIT_CONFIG_GLOBAL=/dev/null; \
export PATH HOME GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL; cd \"$1\"; \
git config --replace-all remote.origin.url \"$2\"; \
git config --replace-all remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'";

/// What `BUNDLE_OUT` ends with where the clone, or the branch in it, is not there.
pub const NO_BRANCH_INSIDE: i32 = 10;

/// What `BUNDLE_OUT` ends with where the branch brings nothing that is not known; its commit is printed instead.
pub const NOTHING_NEW_INSIDE: i32 = 11;

/// What `COMMITTED_TEXT` ends with where the commit has nothing at the path.
pub const NO_TEXT_INSIDE: i32 = 10;

/// What `COMMITTED_TEXT` ends with where it has a link, a folder or a submodule there.
pub const NOT_REGULAR_INSIDE: i32 = 11;

/// The blob at a path of the commit that is checked out: `sh -c COMMITTED_TEXT sh TARGET PATH`. Asked before anybody works inside.
pub const COMMITTED_TEXT: &str = "\
set -eu; PATH=/usr/bin:/bin; HOME=/nonexistent; GIT_CONFIG_NOSYSTEM=1; GIT_CONFIG_GLOBAL=/dev/null; \
export PATH HOME GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL; cd -- \"$1\"; entry=$(git ls-tree HEAD -- \"$2\"); \
case $entry in '') exit 10;; 100644*|100755*) ;; *) exit 11;; esac; exec git cat-file blob \"HEAD:$2\"";

/// What is in a folder of the commit that is checked out, as `git ls-tree -z` lists it, and nothing where it is not there:
/// `sh -c COMMITTED_LISTING sh TARGET PATH`. Asked before anybody works inside.
pub const COMMITTED_LISTING: &str = "\
set -eu; PATH=/usr/bin:/bin; HOME=/nonexistent; GIT_CONFIG_NOSYSTEM=1; GIT_CONFIG_GLOBAL=/dev/null; \
export PATH HOME GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL; cd -- \"$1\"; exec git ls-tree -z HEAD -- \"$2/\"";

/// The branch on its way out, as a bundle on standard output: `sh -c BUNDLE_OUT sh TARGET BRANCH COMMIT…`. Without what
/// the COMMITs reach, of which one that is not there counts for nothing. All of it is the container's own word.
pub const BUNDLE_OUT: &str = "\
set -eu; PATH=/usr/bin:/bin; HOME=/nonexistent; GIT_CONFIG_NOSYSTEM=1; GIT_CONFIG_GLOBAL=/dev/null; \
GIT_ALLOW_PROTOCOL=none; GIT_NO_LAZY_FETCH=1; GIT_NO_REPLACE_OBJECTS=1; \
export PATH HOME GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL GIT_ALLOW_PROTOCOL GIT_NO_LAZY_FETCH GIT_NO_REPLACE_OBJECTS; \
cd -- \"$1\" 2>/dev/null || exit 10; branch=$2; shift 2; \
at=$(git rev-parse -q --verify \"refs/heads/$branch^{commit}\") || exit 10; \
for id; do shift; if git cat-file -e \"$id^{commit}\" 2>/dev/null; then set -- \"$@\" \"^$id\"; fi; done; \
new=$(git rev-list -n 1 \"$at\" \"$@\"); if [ -z \"$new\" ]; then echo \"$at\"; exit 11; fi; \
exec git bundle create --progress - \"refs/heads/$branch\" \"$@\"";

/// Unpacks ignored files: `sh -c UNPACK sh TARGET` with a tar on standard input; never over what is there. Large
/// files come under `.git/orca-copy` first and are linked into their place once they are whole. busybox leaves out
/// links with `..` unless it is told that they were judged.
pub const UNPACK: &str = "\
set -eu; PATH=/usr/bin:/bin; EXTRACT_UNSAFE_SYMLINKS=1; export PATH EXTRACT_UNSAFE_SYMLINKS; umask 077; cd \"$1\"; \
rm -rf .git/orca-copy; tar -x -k -o -f -; rm -rf .git/orca-copy";

/// Unpacks ignored files over those that are there, each whole and by itself: `sh -c UNPACK_OVER sh TARGET` with the same tar.
pub const UNPACK_OVER: &str = "\
set -eu; PATH=/usr/bin:/bin; EXTRACT_UNSAFE_SYMLINKS=1; export PATH EXTRACT_UNSAFE_SYMLINKS; umask 077; cd \"$1\"; \
rm -rf .git/orca-copy; tar -x -o -f -; rm -rf .git/orca-copy";

/// Says of each path what is there, one a line: `0` for nothing, `1` for a file or a link, `2` for a folder:
/// `sh -c ARE_THERE sh TARGET PATH…`. A path may hold any byte: those that are no plain letter come as `\\0ooo`.
pub const ARE_THERE: &str = "\
set -eu; PATH=/usr/bin:/bin; cd \"$1\"; shift; \
for path; do case $path in *\\\\*) path=$(printf '%b.' \"$path\"); path=${path%.};; esac; there=0; \
if [ -L \"$path\" ]; then there=1; elif [ -d \"$path\" ]; then there=2; elif [ -e \"$path\" ]; then there=1; fi; \
echo $there; done";

/// Counts the work that is nowhere else: `sh -c UNPUSHED sh VOLUME CLONE KNOWN…`, where KNOWN are commits that are safe
/// elsewhere. Commits that neither those nor origin's branches have (of every reference, a detached head and the stashes),
/// changed files, stashes, and what lies in the volume beside the clone. It ends badly where git cannot say.
pub(super) const UNPUSHED: &str = "\
set -eu; PATH=/usr/bin:/bin; HOME=/nonexistent; GIT_CONFIG_NOSYSTEM=1; GIT_CONFIG_GLOBAL=/dev/null; GIT_OPTIONAL_LOCKS=0; \
export PATH HOME GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL GIT_OPTIONAL_LOCKS; volume=$1; clone=$2; shift 2; \
quiet() { git -c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.pager=cat \"$@\"; }; \
count() { n=0; while IFS= read -r line; do [ -z \"$line\" ] || n=$((n+1)); done; echo \"$kind $n\"; }; \
cd \"$clone\"; [ \"$(quiet rev-parse --show-toplevel)\" = \"$clone\" ]; \
head=; if quiet rev-parse -q --verify HEAD >/dev/null; then head=HEAD; fi; \
commits=$(quiet rev-list --count --ignore-missing --all $head --not --remotes=origin \"$@\"); echo \"commits $commits\"; \
changes=$(quiet status --porcelain --untracked-files=all --ignore-submodules=none); \
kind=changes; echo \"$changes\" | count; \
stashes=; if quiet rev-parse -q --verify refs/stash >/dev/null; then stashes=$(quiet rev-list --walk-reflogs refs/stash); fi; \
kind=stashes; echo \"$stashes\" | count; \
others=0; for entry in \"$volume\"/* \"$volume\"/.[!.]* \"$volume\"/..?*; do \
if [ \"$entry\" != \"$clone\" ] && { [ -e \"$entry\" ] || [ -L \"$entry\" ]; }; then others=$((others+1)); fi; done; \
echo \"others $others\"";

/// Prints the tools that an image lacks, one a line: `sh -c MISSING_TOOLS`.
pub const MISSING_TOOLS: &str = "\
PATH=/usr/bin:/bin; for tool in git tar mkdir mv rm cat sleep grep; do command -v \"$tool\" >/dev/null 2>&1 || echo \"$tool\"; done; \
[ -x /usr/bin/env ] || echo /usr/bin/env";

/// Prints the folders in which the workspace's user cannot make a file, one a line: `sh -c NOT_WRITABLE sh FOLDER…`.
pub const NOT_WRITABLE: &str = "\
PATH=/usr/bin:/bin; umask 077; set -C; \
for folder; do test=\"$folder/.orca-write-test\"; rm -f \"$test\"; \
if (: >\"$test\") 2>/dev/null; then rm -f \"$test\"; else echo \"$folder\"; fi; done";

/// Says of each port whether it answers within a second, `open PORT` or `closed PORT`, or `none` where the image has
/// nothing to try it with: `sh -c TRY_PORTS sh ADDRESS PORT…`. Not one byte is sent beyond the connection.
pub const TRY_PORTS: &str = "\
PATH=/usr/bin:/bin:/usr/sbin:/sbin; address=$1; shift; how=none; \
if command -v nc >/dev/null 2>&1; then case $(nc -h 2>&1) in *-z*) how=nc ;; *'-e PROG'*) how=busybox ;; esac; fi; \
if [ $how = none ] && command -v bash >/dev/null 2>&1 && command -v timeout >/dev/null 2>&1; then how=bash; fi; \
if [ $how = none ]; then echo none; exit 0; fi; \
try() { case $how in nc) nc -z -w 1 \"$address\" \"$1\" ;; busybox) nc -w 1 \"$address\" \"$1\" -e true ;; \
bash) timeout 1 bash -c ': </dev/tcp/\"$0\"/\"$1\"' \"$address\" \"$1\" ;; esac; }; \
for port; do if try \"$port\" </dev/null >/dev/null 2>&1; then echo \"open $port\"; else echo \"closed $port\"; fi; done";

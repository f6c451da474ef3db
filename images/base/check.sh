#!/bin/sh
# Says whether an image can be a workspace, by running it once as a workspace would be run: no network, no
# capability, no new privileges. Usage: check.sh docker|podman IMAGE
# ENGINE_FLAGS holds more flags for the engine itself, such as "--runtime runc" for podman.
set -eu
engine=${1:?docker or podman} image=${2:?an image}
here=$(cd "$(dirname "$0")" && pwd)
failed=0
bad() { echo "bad: $*" >&2; failed=1; }

# The list of tools is the core's own text, so that this cannot ask for something else.
scripts=$here/../../core/src/engine/scripts.rs
missing_tools=$(awk '
  inside { sub(/\\$/, ""); text = text $0; if (/";[[:space:]]*$/) exit }
  /^pub const MISSING_TOOLS/ { inside = 1 }
  END { sub(/";[[:space:]]*$/, "", text); gsub(/\\"/, "\"", text); print text }
' "$scripts")
case $missing_tools in *'command -v'*) ;; *) echo "check.sh: no MISSING_TOOLS in $scripts" >&2; exit 2 ;; esac

client() {
  # shellcheck disable=SC2086 # flags, not a word
  "$engine" ${ENGINE_FLAGS:-} "$@"
}
field() { client image inspect --format "$1" "$image"; }
# Nothing but a shell is expected to be there; what the image would run on its own is not run.
inside() {
  client run --rm -i --pull=never --network=none --cap-drop=ALL --security-opt=no-new-privileges --pids-limit=128 \
    --ulimit=nofile=1024:1024 --ulimit=nproc=1000:1000 --entrypoint=/bin/sh -- "$image" -c "$@"
}

user=$(field '{{.Config.User}}') || { echo "check.sh: $engine has no image $image" >&2; exit 2; }
case ${user%%:*} in
'' | root | 0) bad "the image's user is root; end the Containerfile with USER and another user" ;;
esac
if ! inside : </dev/null; then
  bad "/bin/sh does not run"
  exit 1
fi
for tool in $(inside "$missing_tools" </dev/null); do bad "$tool is missing"; done
inside 'exec /usr/bin/env' </dev/null >/dev/null || bad "/usr/bin/env is missing"
# shellcheck disable=SC2016 # the container's variables
who=$(inside 'echo "$(id -u):$(id -g)"' </dev/null 2>/dev/null) || who=
case $who in
'') bad "id is missing" ;;
0:* | *:0) bad "processes are $who; neither may be 0" ;;
esac
# shellcheck disable=SC2016
inside 'test -d "$HOME" && test -w "$HOME"' </dev/null || bad "the user has no home that it may write"
# A clone arrives on standard input, without configuration.
# shellcheck disable=SC2016
inside 'set -e; cd /tmp; export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null HOME=/nonexistent
  git init -q a; cd a; git -c user.name=n -c user.email=n@example.invalid commit -q --allow-empty -m one
  git bundle create -q /tmp/b HEAD; git init -q /tmp/c; cd /tmp/c; git bundle unbundle /dev/stdin </tmp/b >/dev/null
' </dev/null >/dev/null || bad "git cannot read a bundle"
for name in $(field '{{range .Config.Env}}{{println .}}{{end}}' | sed 's/=.*//'); do
  case $name in
  ORCA_* | CLAUDE_CONFIG_DIR | CODEX_HOME | *_API_KEY | *_TOKEN) bad "the image sets $name, which is removed or is a secret" ;;
  esac
done
[ "$failed" -ne 0 ] || echo "good: $image on $engine, user $who"
exit "$failed"

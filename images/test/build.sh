#!/bin/sh
# Lays out a small image from this machine's own Debian packages (busybox-static, git) and imports it into an
# engine: no registry, under a second. Usage: build.sh docker|podman NAME [KIND]
# KIND: full (default), no-git, no-sh, endless-chown (hostile: its chown never ends), idle-chown (its chown does
# nothing and says that it went well), remote (also git's https and ssh and an sshd, trusting the authority in $CA_FILE),
# no-login (the same, and its user may not log in). The image has the users agent (1000:1000) and dev (1001:1001), each with a
# home, and /usr/bin/env.
set -eu
engine=$1 name=$2 kind=${3:-full}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

mkdir -p "$root/bin" "$root/usr/bin" "$root/usr/lib" "$root/etc" "$root/tmp" "$root/home/agent" "$root/home/dev" "$root/proc" "$root/dev" "$root/sys"
# mktemp makes it for its owner only; podman without root keeps that for the container's root folder.
chmod 755 "$root"
chmod 1777 "$root/tmp"
busybox=$(command -v busybox)
cp "$busybox" "$root/bin/busybox"
for applet in $("$busybox" --list); do
  case $applet in busybox) ;; *) ln -s /bin/busybox "$root/bin/$applet" ;; esac
done
ln -s /bin/busybox "$root/usr/bin/env"
printf 'root:x:0:0:root:/root:/bin/sh\nagent:x:1000:1000:agent:/home/agent:/bin/sh\ndev:x:1001:1001:dev:/home/dev:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\ntty:x:5:\nagent:x:1000:\ndev:x:1001:\n' >"$root/etc/group"

# A program with every library it is linked with.
program() {
  mkdir -p "$root$(dirname "$1")"
  cp -L "$1" "$root$1"
  ldd "$1" | awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^\//) print $i }' | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
  done
}

if [ "$kind" != no-git ]; then
  mkdir -p "$root/usr/lib/git-core" "$root/usr/share/git-core/templates"
  for program in git git-remote-https git-sh-setup; do
    [ -e "/usr/lib/git-core/$program" ] && cp -P "/usr/lib/git-core/$program" "$root/usr/lib/git-core/" || true
  done
  program /usr/bin/git
fi
if [ "$kind" = no-login ]; then
  sed -i 's#:/home/agent:/bin/sh#:/home/agent:/usr/sbin/nologin#' "$root/etc/passwd"
fi
if [ "$kind" = remote ] || [ "$kind" = no-login ]; then
  program /usr/lib/git-core/git-remote-http
  program /usr/lib/openssh/sftp-server
  for tool in bin/ssh bin/ssh-agent bin/ssh-add sbin/sshd; do program "/usr/$tool"; done
  ln -s git "$root/usr/bin/git-upload-pack"
  mkdir -p "$root/etc/ssl/certs"
  if [ -n "${CA_FILE:-}" ]; then cp "$CA_FILE" "$root/etc/ssl/certs/ca-certificates.crt"; fi
fi
if [ "$kind" = no-sh ]; then rm -f "$root/bin/sh" "$root/bin/ash" "$root/bin/hush"; fi
if [ "$kind" = endless-chown ]; then
  rm "$root/bin/chown"
  printf '#!/bin/sh\nexec sleep 100000\n' >"$root/bin/chown"
  chmod 755 "$root/bin/chown"
fi
if [ "$kind" = idle-chown ]; then
  rm "$root/bin/chown"
  printf '#!/bin/sh\nexit 0\n' >"$root/bin/chown"
  chmod 755 "$root/bin/chown"
fi
chown -R 1000:1000 "$root/home/agent"
chown -R 1001:1001 "$root/home/dev"

set -- -c 'USER agent' -c 'ENV PATH=/usr/bin:/bin' -c 'WORKDIR /home/agent' -c 'CMD ["sleep","600"]'
if [ -n "${IMAGE_CHANGES:-}" ]; then
  # One Dockerfile instruction a line.
  while IFS= read -r change; do [ -z "$change" ] || set -- "$@" -c "$change"; done <<EOF
$IMAGE_CHANGES
EOF
fi
case $engine in
docker) tar -C "$root" -c . | docker import "$@" - "$name" ;;
podman) tar -C "$root" -c . | podman import -q "$@" - "$name" ;;
*) echo "build.sh: docker or podman" >&2; exit 2 ;;
esac

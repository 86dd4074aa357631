#!/usr/bin/env bash
# A Docker engine with BuildKit and compose, and the base images of the tests, on a Debian 12 machine that has root and apt but neither systemd
# nor an image registry. Safe to run again: what is there stays, an engine that runs is left alone.
#
# Debian 12's own engine has no BuildKit in its packages, so the newer programs come from Debian 13, unpacked beside the system (their
# dependencies are static or present), with Debian 12's runc.
set -euo pipefail

if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "expected root, found uid $(id -u) and no sudo: run this as root" >&2; exit 1; }
  exec sudo --preserve-env=PROCTOR_ENGINE_HOME,DOCKER_HOST,DOCKER_CONFIG,HOME "$0" "$@"
fi

home=${PROCTOR_ENGINE_HOME:-/var/tmp/proctor-engine}
mkdir -p "$home"
export PATH="$home/root/usr/sbin:$home/root/usr/bin:$PATH"

has() { command -v "$1" >/dev/null 2>&1; }

with_retry() {
  local attempt
  for attempt in 1 2 3 4 5 6; do
    "$@" && return 0
    sleep $((attempt * 5))
  done
  echo "failed after 6 attempts: $*" >&2
  return 1
}

install_missing() {
  local missing=()
  has runc || missing+=(runc)
  has debootstrap || missing+=(debootstrap)
  has iptables || missing+=(iptables)
  [ ${#missing[@]} -eq 0 ] && return 0
  with_retry apt-get update -qq
  DEBIAN_FRONTEND=noninteractive with_retry apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# The mirror that this machine's apt already uses. Either kind of list may be absent.
mirror() {
  { cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null || true; } |
    awk '/^URIs:/ { print $2; exit } /^deb / { for (i = 2; i <= NF; i++) if ($i ~ /:\/\//) { print $i; exit } }'
}

# apt with lists and caches of its own: the system's sources stay as they are.
beside() {
  apt-get -o "Dir::Etc::sourcelist=$home/sources.list" -o Dir::Etc::sourceparts=/dev/null -o "Dir::State::lists=$home/lists" \
    -o "Dir::Cache=$home/cache" -o APT::Sandbox::User=root "$@"
}

unpack_engine() {
  [ -x "$home/root/usr/sbin/dockerd" ] && return 0
  mkdir -p "$home/debs" "$home/root.new" "$home/lists/partial" "$home/cache/archives/partial"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror) trixie main" >"$home/sources.list"
  with_retry beside update -qq
  (cd "$home/debs" && with_retry beside download -qq docker.io docker-cli docker-buildx docker-compose containerd)
  local package
  for package in "$home"/debs/*.deb; do dpkg -x "$package" "$home/root.new"; done
  mv "$home/root.new" "$home/root"
}

link_programs() {
  local plugins=${DOCKER_CONFIG:-$HOME/.docker}/cli-plugins
  mkdir -p "$plugins"
  local plugin
  for plugin in "$home"/root/usr/libexec/docker/cli-plugins/*; do
    [ -e "$plugins/$(basename "$plugin")" ] || cp "$plugin" "$plugins/"
  done
  # A later shell finds the program without our PATH.
  [ -e /usr/local/bin/docker ] || ln -s "$home/root/usr/bin/docker" /usr/local/bin/docker
}

start_engine() {
  mkdir -p "$home/run"
  setsid nohup dockerd --data-root "$home/data" --exec-root "$home/run/exec" --pidfile "$home/run/docker.pid" -H unix:///var/run/docker.sock \
    >"$home/run/log" 2>&1 </dev/null &
  local _
  for _ in $(seq 120); do
    docker version >/dev/null 2>&1 && return 0
    sleep 0.5
  done
  echo "dockerd did not come up within 60 s; the end of its log:" >&2
  tail -20 "$home/run/log" >&2
  return 1
}

# A minimal Debian 12. On another distribution debootstrap knows where Debian is, and needs Debian's keys.
make_base() {
  docker image inspect proctor-base:12 >/dev/null 2>&1 && return 0
  has debootstrap || { with_retry apt-get update -qq && with_retry apt-get install -y -qq debootstrap debian-archive-keyring >/dev/null; }
  local from=()
  if grep -q '^ID=debian' /etc/os-release; then from=("$(mirror)"); fi
  if [ ! -e "$home/base/.complete" ]; then
    rm -rf "$home/base"
    with_retry debootstrap --variant=minbase bookworm "$home/base" "${from[@]}" >"$home/debootstrap.log"
    rm -rf "$home"/base/var/cache/apt/archives/*.deb "$home"/base/var/lib/apt/lists/*
    touch "$home/base/.complete"
  fi
  tar -C "$home/base" --exclude=./.complete -c . | docker import --change 'CMD ["bash"]' - proctor-base:12 >/dev/null
}

# The other kind of userland: one static program and its names.
make_busybox() {
  docker image inspect proctor-busybox:1 >/dev/null 2>&1 && return 0
  local root=$home/busybox
  rm -rf "$root" && mkdir -p "$root"/{bin,etc,tmp,root,proc,sys,dev} "$home/busybox-deb"
  chmod 1777 "$root/tmp"
  (cd "$home/busybox-deb" && rm -f ./*.deb && with_retry download_busybox && dpkg -x ./busybox-static_*.deb unpacked)
  cp "$(find "$home/busybox-deb/unpacked" -type f -path '*/bin/busybox')" "$root/bin/busybox"
  local names name
  names=$("$root/bin/busybox" --list)
  for name in $names; do [ "$name" = busybox ] || ln -s busybox "$root/bin/$name"; done
  printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/tmp:/bin/sh\n' >"$root/etc/passwd"
  printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"
  tar -C "$root" -c . | docker import --change 'CMD ["sh"]' --change 'ENV PATH=/bin' - proctor-busybox:1 >/dev/null
}

download_busybox() {
  apt-get download -qq busybox-static 2>/dev/null || { apt-get update -qq && apt-get download -qq busybox-static; }
}

if has docker && docker version >/dev/null 2>&1; then
  echo "engine: runs already"
else
  install_missing
  unpack_engine
  link_programs
  start_engine
fi
make_base
make_busybox
docker version --format 'engine: {{.Server.Version}} at unix:///var/run/docker.sock'
echo 'images: proctor-base:12 proctor-busybox:1'

#!/bin/sh
# Makes the current mount namespace, a copy of a pretended node's, what a container of the DaemonSet gets, then runs the
# agent in it:
#   agent.sh HOST_ROOT SHARED_DIRECTORIES COMMAND ARG…
# The shared directories (separated by colons) and what is mounted beneath them stay peers of the host's, as Bidirectional
# makes them: what the agent mounts there appears on the host. All else only follows the host (HostToContainer), and HOST_ROOT
# shows the host's root so.
set -eu
host_root=$1
shared=$2
shift 2

# Whether a path is one of the shared directories, or beneath one.
is_shared() {
  rest=$shared:
  while [ -n "$rest" ]; do
    directory=${rest%%:*}
    rest=${rest#*:}
    case $1/ in "$directory"/*) return 0 ;; esac
  done
  return 1
}

# The fifth field of mountinfo is where it is mounted, with blanks as \040.
while read -r _ _ _ _ at _; do
  at=$(printf '%b' "$(printf '%s' "$at" | sed 's/\\0*\([0-7]\{2,3\}\)/\\0\1/g')")
  # What another mount covers cannot be changed, nor reached.
  is_shared "$at" || mount --make-slave "$at" 2>/dev/null || true
done </proc/self/mountinfo
mkdir -p "$host_root"
mount --rbind / "$host_root"
mount --make-rslave "$host_root"
exec "$@"

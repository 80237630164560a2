#!/bin/sh
# Makes the current mount namespace that of a pretended node's host, then holds it open:
#   host.sh STATE_DIR PREFIX…
# As systemd has it, everything is shared. /mnt, the allowed prefixes and the state directory are this node's own, so that
# several nodes can live on one machine.
set -eu
state=$1
shift
mount --make-rshared /
mount -t tmpfs nodevolume /mnt
for directory in "$state" "$@"; do
  mkdir -p "$directory"
  mount -t tmpfs nodevolume "$directory"
done
echo ready
# An agent that may not look into processes with more rights than it has can look into this one.
exec setpriv --bounding-set=-sys_ptrace sleep infinity

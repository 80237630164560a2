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
exec sleep infinity

#!/bin/sh
# Makes the current mount namespace that of a pretended node's host, then holds it open:
#   host.sh NODE COVER DIRECTORY…
# As systemd has it, everything is shared. /mnt, /var/lib and the directories are this node's own, so that several nodes can
# live on one machine, and nothing of them is made on its disk. NODE runs COVER, which covers /var/lib.
set -eu
node=$1
cover=$2
shift 2
mount --make-rshared /
mount -t tmpfs nodevolume /mnt
"$node" "$cover" /var/lib
for directory in "$@"; do
  mkdir -p "$directory"
  mount -t tmpfs nodevolume "$directory"
done
echo ready
# An agent that may not look into processes with more rights than it has can look into this one. Process 1 of a PID
# namespace gets the orphans of all others, and waits for them.
hold='exec sleep infinity'
[ $$ -ne 1 ] || hold='sleep infinity & wait'
exec setpriv --bounding-set=-sys_ptrace sh -c "$hold"

#!/bin/sh
# Inside the VM: servers on loopback, then the program that is named, which tests against them.
set -eu
mkdir -p /mnt/export /run/rpc_pipefs /var/lib/nfs/nfsdcld
mkfs.ext4 -q /dev/vda
mount /dev/vda /mnt/export # the root is an overlay, which cannot be exported
chmod 0777 /mnt/export
mount -t nfsd nfsd /proc/fs/nfsd
mountpoint -q /run/rpc_pipefs || mount -t rpc_pipefs rpc_pipefs /run/rpc_pipefs
nfsdcld
: >/etc/exports
rpc.mountd -N 3
exportfs -o rw,no_root_squash,insecure,fsid=0 127.0.0.1:/mnt/export
rpc.nfsd -N 3 --grace-time 10 --lease-time 10 4
export NODEVOLUME_NFS_EXPORT=127.0.0.1:/
exec "$@"

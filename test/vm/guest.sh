#!/bin/sh
# Inside the VM: servers on loopback, then the program that is named, which tests against them.
set -eu
. test/vm/fc.sh
. test/vm/iscsi.sh
fc_start || echo "there is no Fibre Channel here: only its own tests fail" >&2
iscsi_start || echo "there is no iSCSI here: only its own tests fail" >&2
mkdir -p /mnt/export /run/rpc_pipefs /var/lib/nfs/nfsdcld
# The packages are unpacked, not installed: what their scripts would do, and is needed here, is done by hand.
cp /usr/share/nfs-common/conffiles/*.conf /etc/ # nfsdcld and others look for rpc_pipefs where nfs.conf says, else in /var/lib/nfs
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

# There is no udev here (--no-udev): LVM makes the nodes of its devices itself. In the guest's overlay only.
printf 'activation {\n  udev_sync = 0\n  udev_rules = 0\n}\n' >/etc/lvm/lvmlocal.conf

mkdir -p /mnt/smb/private /mnt/smb/state /mnt/share-a /mnt/share-b
chmod 0777 /mnt/share-a /mnt/share-b
cat >/mnt/smb/smb.conf <<CONF
[global]
  workgroup = TEST
  interfaces = 127.0.0.1
  bind interfaces only = yes
  disable netbios = yes
  smb ports = 445
  load printers = no
  private dir = /mnt/smb/private
  state directory = /mnt/smb/state
  cache directory = /mnt/smb/state
  lock directory = /mnt/smb/state
  pid directory = /mnt/smb/state
  log file = /mnt/smb/smbd.log
[a]
  path = /mnt/share-a
  read only = no
  valid users = ua
[b share]
  path = /mnt/share-b
  read only = no
  valid users = ub
CONF
: >/mnt/share-a/here
: >/mnt/share-b/here
for user in ua ub; do # in the guest's overlay only
  useradd -M "$user"
  printf '%s,pw\n%s,pw\n' $user $user | smbpasswd -c /mnt/smb/smb.conf -s -a $user >/dev/null
done
smbd -D -s /mnt/smb/smb.conf
until bash -c '</dev/tcp/127.0.0.1/445' 2>/dev/null; do sleep 0.2; done
# The first session takes it long here, longer than the kernel waits for a server: the tests are not about that.
mkdir /mnt/smb/first
for _ in 1 2 3 4 5; do
  if PASSWD=ua,pw mount.cifs //127.0.0.1/a /mnt/smb/first -o user=ua,vers=3.1.1; then # an option would end at the comma
    umount /mnt/smb/first
    break
  fi
done
export NODEVOLUME_SMB_SERVER=127.0.0.1
fc_wait
export NODEVOLUME_FC_TARGETS="2000020000000102 2000020000000202"
exec "$@"

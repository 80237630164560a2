# iSCSI in the VM, sourced by guest.sh: tgt's target on loopback, and Debian's open-iscsi as a node has it. LUNs are files in memory.

# A tgtd with a target that lets everybody in, whose LUNs are the same disks whichever tgtd shows them.
# $1: its number; $2: which portals it has, if not all addresses at 3260
iscsi_tgtd() {
  tgtd -C "$1" ${2:+--iscsi "portal=$2"} -p "/run/iscsi/tgtd-$1.pid"
  for _ in $(seq 100); do
    tgtadm -C "$1" --lld iscsi --op show --mode target >/dev/null 2>&1 && break
    sleep 0.1
  done
  iscsi_luns "$1" 1 open
}

# $1: number of the tgtd; $2: target; $3: its name
iscsi_luns() {
  tgtadm -C "$1" --lld iscsi --op new --mode target --tid "$2" --targetname "iqn.2024-01.example:$3"
  for lun in 1 2; do
    [ -e "/run/iscsi/$3-$lun" ] || truncate -s 32M "/run/iscsi/$3-$lun"
    tgtadm -C "$1" --lld iscsi --op new --mode logicalunit --tid "$2" --lun $lun --backing-store "/run/iscsi/$3-$lun"
  done
  tgtadm -C "$1" --lld iscsi --op bind --mode target --tid "$2" --initiator-address ALL
}

# The first tgtd, and of it a target by CHAP: ua has to prove who it is there, and the target proves who it is to whom asks. Discovery asks ud.
# $1: a password of ua's other than the usual one.
iscsi_target() {
  iscsi_tgtd 0
  iscsi_luns 0 2 chap
  iscsi_account ua "${1:-secret-of-ua-1}" --tid 2
  iscsi_account target secret-of-target --tid 2 --outgoing
  iscsi_account ud secret-of-ud-1
}

# $1: user; $2: password; the rest: what for, if not for discovery
iscsi_account() {
  user=$1
  tgtadm --lld iscsi --op new --mode account --user "$user" --password "$2"
  shift 2
  tgtadm --lld iscsi --op bind --mode account --user "$user" "$@"
}

iscsi_kill() {
  pid=$(cat "/run/iscsi/tgtd-$1.pid")
  kill -KILL "$pid"
  while [ -e "/proc/$pid/exe" ]; do sleep 0.1; done
}

iscsi_start() {
  modprobe -a iscsi_tcp sd_mod
  mkdir -p /run/iscsi /run/lock/iscsi
  echo 'InitiatorName=iqn.2024-01.example:node' >/etc/iscsi/initiatorname.iscsi
  # What is lost is noticed within seconds, and given up after ten.
  sed -i -e 's/^\(node.conn\[0\].timeo.noop_out_.*\) = .*/\1 = 2/' -e 's/^\(node.session.timeo.replacement_timeout\) = .*/\1 = 10/' /etc/iscsi/iscsid.conf
  iscsi_target
  iscsid
  export NODEVOLUME_ISCSI_PORTAL=127.0.0.1
}

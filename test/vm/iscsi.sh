# iSCSI in the VM, sourced by guest.sh: tgt's target on loopback, and Debian's open-iscsi as a node has it. LUNs are files in memory.
# $1: a password of ua's other than the usual one.
iscsi_target() {
  tgtd
  for _ in $(seq 100); do
    tgtadm --lld iscsi --op show --mode target >/dev/null 2>&1 && break
    sleep 0.1
  done
  tid=0
  for name in open chap; do
    tid=$((tid + 1))
    tgtadm --lld iscsi --op new --mode target --tid $tid --targetname "iqn.2024-01.example:$name"
    for lun in 1 2; do
      [ -e "/run/iscsi/$name-$lun" ] || truncate -s 32M "/run/iscsi/$name-$lun"
      tgtadm --lld iscsi --op new --mode logicalunit --tid $tid --lun $lun --backing-store "/run/iscsi/$name-$lun"
    done
    tgtadm --lld iscsi --op bind --mode target --tid $tid --initiator-address ALL
  done
  tgtadm --lld iscsi --op new --mode account --user ua --password "${1:-secret-of-ua-1}"
  tgtadm --lld iscsi --op bind --mode account --tid 2 --user ua
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

# One LUN in the VM by two fabrics, sourced by what needs it: LUN 2 of the first port of fc.sh, and LUN 2 of an iSCSI target of Linux's own (LIO)
# at a portal of its own, as an array shows a LUN that it serves by both. It goes with the VM.
shared_lun_start() {
  modprobe iscsi_target_mod || return
  target=/sys/kernel/config/target
  disk=$target/core/iblock_2/shared
  truncate -s 96M /run/fc/shared
  mkdir -p "$disk"
  echo "udev_path=$(losetup -f --show /run/fc/shared)" >"$disk/control"
  echo fc00002 >"$disk/wwn/vpd_unit_serial"
  echo 1 >"$disk/enable"
  port=$target/fc/20:00:02:00:00:00:01:02/tpgt_1
  acl=$port/acls/20:00:02:00:00:00:01:01
  mkdir -p "$port/lun/lun_2" "$acl/lun_2"
  ln -s "$disk" "$port/lun/lun_2/shared"
  ln -s "$port/lun/lun_2" "$acl/lun_2/lun"
  group=$target/iscsi/iqn.2024-01.example:shared/tpgt_1
  mkdir -p "$group/np/127.0.0.1:3262" "$group/lun/lun_2"
  ln -s "$disk" "$group/lun/lun_2/shared"
  echo 1 >"$group/attrib/generate_node_acls" # whoever logs in sees it, and may write to it
  echo 0 >"$group/attrib/demo_mode_write_protect"
  echo 0 >"$group/attrib/authentication"
  echo 1 >"$group/enable"
}

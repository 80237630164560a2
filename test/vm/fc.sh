# Fibre Channel in the VM, sourced by guest.sh: real frames over two pairs of virtual Ethernet devices (FCoE, VN2VN), with Linux's target
# (LIO, tcm_fc) at one end of each. Both pairs lead to the same two LUNs: two paths to each.
fc_start() {
  modprobe -a fcoe tcm_fc target_core_iblock veth sd_mod loop dm_multipath || return
  grep -q ' /sys/kernel/config ' /proc/mounts || mount -t configfs configfs /sys/kernel/config
  target=/sys/kernel/config/target
  mkdir -p /run/fc
  for lun in 0 1; do
    truncate -s 96M /run/fc/$lun
    disk=$target/core/iblock_$lun/fc$lun
    mkdir -p "$disk"
    echo "udev_path=$(losetup -f --show /run/fc/$lun)" >"$disk/control"
    echo "fc0000$lun" >"$disk/wwn/vpd_unit_serial"
    echo 1 >"$disk/enable"
  done
  for path in 1 2; do
    ip link add "fci$path" address "02:00:00:00:0$path:01" mtu 2500 type veth peer name "fct$path" address "02:00:00:00:0$path:02" mtu 2500
    ip link set "fci$path" up
    ip link set "fct$path" up
    fc_controller "fct$path" # its port has to be there before the target that has its name
    port=$target/fc/20:00:02:00:00:00:0$path:02/tpgt_1
    acl=$port/acls/20:00:02:00:00:00:0$path:01
    for lun in 0 1; do
      mkdir -p "$port/lun/lun_$lun" "$acl/lun_$lun"
      ln -s "$target/core/iblock_$lun/fc$lun" "$port/lun/lun_$lun/fc$lun"
      ln -s "$port/lun/lun_$lun" "$acl/lun_$lun/lun"
    done
    fc_controller "fci$path"
  done
  for controller in /sys/bus/fcoe/devices/ctlr_*; do echo 1 >"$controller/enabled"; done
}

fc_controller() {
  before=$(ls /sys/bus/fcoe/devices)
  echo "$1" >/sys/bus/fcoe/ctlr_create
  for controller in /sys/bus/fcoe/devices/ctlr_*; do
    case " $(echo $before) " in *" ${controller##*/} "*) ;; *) echo vn2vn >"$controller/mode" ;; esac
  done
}

# Until the ports know each other: three seconds. A test says what is missing if it takes longer than half a minute.
fc_wait() {
  [ -d /sys/class/fc_host ] || return 0
  for _ in $(seq 300); do
    [ "$(ls /sys/block | grep -c '^sd')" -lt 4 ] || return 0
    sleep 0.1
  done
}

# dm-multipath in the VM: Debian's multipathd, with udevd, which tells it of paths, and a second tgt that shows the LUNs of the first one
# at a portal of its own (3261). Sourced after iscsi.sh by what needs it; ended by multipath_stop.

# udevd with the rules that multipathd and device-mapper go by, and no others: each costs much under emulation. In the guest's overlay only.
multipath_start() {
  modprobe -a dm_multipath dm_service_time
  mkdir -p /etc/udev/rules.d
  for rule in /lib/udev/rules.d/*; do
    case ${rule##*/} in
      55-dm.rules | 95-dm-notify.rules) ;;
      *) : >"/etc/udev/rules.d/${rule##*/}" ;;
    esac
  done
  # What 60-persistent-storage.rules has of it.
  echo 'KERNEL=="sd*[!0-9]", ACTION!="remove", IMPORT{program}="scsi_id --export --whitelisted -d $devnode"' >/etc/udev/rules.d/60-scsi-id.rules
  # As on RHEL: two paths are a map. Debian's own default makes none of what nobody has named (multipath -a).
  multipath_conf scsi:fcp
  /lib/systemd/systemd-udevd --daemon
  env -u DM_DISABLE_UDEV multipathd
  iscsi_tgtd 1 127.0.0.1:3261
}

multipath_stop() {
  iscsi_kill 1
  multipath -F
  multipathd shutdown
  udevadm control --exit
  rm -rf /run/udev # by which cryptsetup and LVM would go on taking udev for alive, and wait for it
}

# $1: what is left alone, as each map costs: scsi:fcp or scsi:iscsi
multipath_conf() {
  cat >/etc/multipath.conf <<CONF
defaults {
  find_multipaths yes
  polling_interval 2
  max_polling_interval 2
}
blacklist {
  protocol "$1"
}
CONF
}

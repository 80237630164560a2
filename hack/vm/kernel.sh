#!/bin/bash
# The kernel and the initramfs, of packages that are unpacked in $root. By itself: kernel.sh ROOT makes ready what was just unpacked there.

# $1: where the packages are. $loader runs a program of theirs with their libraries, for this machine may have others, or none.
use_root() {
  root=$1
  loader=("$root"/lib64/ld-linux-x86-64.so.2 --library-path "$root/usr/lib/x86_64-linux-gnu")
}

# Runs program $2 beneath $root/usr by the name $1.
of_root() { "${loader[@]}" --argv0 "$1" "$root/usr/$2" "${@:3}"; }

# What the kernel's own scripts would do.
finish_kernel() {
  of_root depmod bin/kmod -b "$root" "$(basename "$root"/usr/lib/modules/*)"
  unpack_vmlinux "$(find "$root/boot" -name 'vmlinuz*' -type f -print -quit)" "$root/boot/vmlinux"
}

# Take the ELF kernel out of the bzImage $1 (2 s less per boot); else use $1 as it is.
unpack_vmlinux() {
  local sects off len unpack
  sects=$(od -An -tu1 -j497 -N1 "$1") off=$(od -An -tu4 -j584 -N4 "$1") len=$(od -An -tu4 -j588 -N4 "$1")
  for unpack in xz zstd gzip; do
    tail -c "+$(((sects + 1) * 512 + off + 1))" "$1" | head -c "$len" | of_root $unpack bin/$unpack -qdc >"$2" 2>/dev/null || true
    [[ $(head -c 4 "$2") == $'\x7fELF' ]] && return 0
  done
  cp "$1" "$2"
}

# busybox + the modules that reach the host's / : $initrd, whose name says what it was made of.
build_initramfs() {
  local kver t word path
  kver=$(basename "$root"/usr/lib/modules/*)
  initrd=$state/initrd-$({ stat -c '%n %Y' "$root/boot/vmlinux"; cat "$here/init" "$here/kernel.sh"; } | sha256sum | head -c 12)
  [[ ! -e $initrd ]] || return 0
  t=$(mktemp -d "$state/ird.XXXXXX")
  mkdir -p "$t"/{bin,dev,proc,sys,host,root,ov,newroot,lib}
  cp "$root/usr/bin/busybox" "$t/bin/busybox"
  install -m 755 "$here/init" "$t/init"
  for m in virtio_pci virtio_console 9pnet_virtio 9p overlay; do
    while read -r word path _; do # "insmod /path/x.ko" or "builtin x"
      [[ $word == insmod ]] || continue
      case $path in
        *.xz) of_root xz bin/xz -dc "$path" ;; *.zst) of_root zstd bin/zstd -qdc "$path" ;; *.gz) gzip -dc "$path" ;; *) cat "$path" ;;
      esac >"$t/lib/$(basename "${path%%.ko*}").ko"
      basename "${path%%.ko*}"
    done < <(of_root modprobe bin/kmod -d "$root" -S "$kver" --show-depends "$m")
  done | awk '!seen[$0]++' >"$t/lib/list"
  (cd "$t" && find . | "$root/usr/bin/busybox" cpio -o -H newc -R 0:0 2>/dev/null | gzip -1) >"$t.gz"
  mv "$t.gz" "$initrd"
  rm -rf "$t"
}

if [[ ${BASH_SOURCE[0]} == "$0" ]]; then
  set -euo pipefail
  use_root "$1"
  finish_kernel
fi

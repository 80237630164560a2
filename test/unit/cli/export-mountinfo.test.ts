import { expect } from "chai";
import { gist } from "./fstab-gist.ts";

const ofSystem = (path: string) =>
  `${path}: no set: it belongs to the operating system, or to kubelet and the container runtime`;

/** Tables of the kernel, and what export makes of each line. */
const tables: readonly {
  readonly title: string;
  readonly table: readonly string[];
  readonly says: readonly string[];
}[] = [
  {
    title: "a source that is a dash, and one that is empty",
    table: [
      "75 25 8:17 / /mnt/d rw - ext4 /dev/disk/by-id/b rw",
      "74 25 0:59 / /mnt/t rw - tmpfs - rw,size=1024k",
      "76 25 0:60 / /mnt/u rw shared:1 master:2 - tmpfs  rw,size=1024k",
    ],
    says: [
      "/mnt/d: {local:{path:/dev/disk/by-id/b}}",
      "/mnt/t: {emptyDir:{medium:Memory,sizeLimit:1024Ki}}",
      "/mnt/u: {emptyDir:{medium:Memory,sizeLimit:1024Ki}}",
    ],
  },
  {
    title: "names with escapes and blanks that separate nothing",
    table: ["75 25 8:17 / /mnt/a\\040b\u00a0c rw - ext4 /dev/mapper/x\\043y rw"],
    says: ["/mnt/a b\u00a0c: {local:{path:/dev/mapper/x#y}}"],
  },
  {
    title: "a part of a file system that is mounted nowhere else",
    table: [
      "75 25 8:17 /sub /mnt/a rw - ext4 /dev/disk/by-id/b rw",
      "76 25 0:31 /@home /mnt/b rw - btrfs /dev/disk/by-id/c rw,subvolid=256,subvol=/@home",
      "77 25 0:40 /dir /mnt/c rw - cifs //srv/share rw,vers=3.0,username=u",
    ],
    says: [
      "/mnt/a: no set: only /sub of its file system is mounted: a set would show another directory",
      "/mnt/b: no set: only /@home of its file system is mounted: a set would show another directory",
      "/mnt/c: no set: only /dir of its file system is mounted: a set would show another directory",
    ],
  },
  {
    title: "a directory of a share, which the source names, too",
    table: [
      "77 25 0:40 /dir /mnt/c rw - cifs //srv/share/dir rw,vers=3.0,soft,serverino,addr=10.0.0.1",
      "78 25 0:41 /dir /mnt/d rw - cifs //srv/dir rw,vers=3.0",
    ],
    says: [
      "/mnt/c: {cifs:{server:srv,share:share/dir}} [vers=3.0]",
      "/mnt/d: no set: only /dir of its file system is mounted: a set would show another directory",
    ],
  },
  {
    title: "binds, of which the file system's options are none",
    table: [
      "70 25 8:17 / /data rw - ext4 /dev/disk/by-id/b rw,commit=30",
      "71 25 8:17 /a /mnt/a ro,noexec - ext4 /dev/disk/by-id/b rw,commit=30",
      "72 25 8:17 / /mnt/all rw - ext4 /dev/disk/by-id/b ro,commit=30",
    ],
    says: [
      "/data: {local:{path:/dev/disk/by-id/b}} [commit=30]",
      "/mnt/a: {hostPath:{path:/data/a,type:}} (ro,noexec)",
      "/mnt/all: {hostPath:{path:/data,type:}} (ro)",
    ],
  },
  {
    title: "a bind whose directory something else covers, and one that was removed",
    table: [
      "70 25 8:17 / /data rw - ext4 /dev/disk/by-id/b rw",
      "71 25 8:17 /a/x /mnt/a rw - ext4 /dev/disk/by-id/b rw",
      "72 70 0:50 / /data/a rw - tmpfs tmpfs rw,mode=777",
      "73 25 8:17 /c//deleted /mnt/c rw - ext4 /dev/disk/by-id/b rw",
    ],
    says: [
      "/data: {local:{path:/dev/disk/by-id/b}}",
      "/mnt/a: no set: only /a/x of its file system is mounted: a set would show another directory",
      "/data/a: {emptyDir:{medium:Memory}}",
      "/mnt/c: no set: the directory that it shows has been removed",
    ],
  },
  {
    title: "the whole of a btrfs, whose default subvolume is not to be seen",
    table: ["76 25 0:31 / /mnt/b rw - btrfs /dev/disk/by-id/c rw,ssd,space_cache=v2,subvolid=5,subvol=/"],
    says: [
      "/mnt/b: {local:{path:/dev/disk/by-id/c}} [ssd] # option subvolid is left out: a set shows the default subvolume: the same unless btrfs subvolume set-default has chosen another # option subvol is left out: a set shows the default subvolume: the same unless btrfs subvolume set-default has chosen another",
    ],
  },
  {
    title: "a label of SELinux with a comma, and one that the kernel escapes",
    table: [
      '75 25 8:17 / /mnt/a rw - xfs /dev/disk/by-id/b rw,context="u:o:t:s0:c1,c2",nouuid',
      "77 25 0:40 / /mnt/c rw - cifs //srv/share rw,username=a\\054hunter2,vers=3.0",
    ],
    says: [
      "/mnt/a: {local:{path:/dev/disk/by-id/b}} # option context is left out: the set labels its files as the node's SELinux policy does # option nouuid is left out: the agent mounts no device whose UUID is mounted already",
      "/mnt/c: {cifs:{server:srv,share:share,secretRef:{namespace:default,name:mnt-c-credentials}}} [vers=3.0]",
    ],
  },
  {
    title: "what NFS has negotiated",
    table: [
      "32 21 0:40 / /mnt/a rw,relatime - nfs nas:/a rw,vers=3,hard,namlen=255,mountaddr=10.0.0.1,mountvers=3,mountport=20048,mountproto=udp,local_lock=none,addr=10.0.0.1",
    ],
    says: ["/mnt/a: {nfs:{server:nas,path:/a}} [vers=3,hard]"],
  },
  {
    title: "what agents have mounted of their own staging, also beneath another prefix, and what was there before",
    table: [
      "25 1 8:1 / / rw - ext4 /dev/sda1 rw",
      "70 25 0:40 / /data rw - nfs nas:/a rw,vers=4.2",
      "71 25 0:40 / /var/lib/nodevolume/staging/k1 rw shared:5 - nfs nas:/a rw,vers=4.2",
      "72 25 0:40 / /mnt/nodevolume/a rw shared:6 - nfs nas:/a rw,vers=4.2",
      "73 25 0:41 / /var/lib/nodevolume/staging/k2 rw shared:7 - tmpfs tmpfs rw,mode=777",
      "74 25 0:41 /part /srv/volumes/b rw shared:8 - tmpfs tmpfs rw,mode=777",
      "75 25 8:1 /var/lib/nodevolume/data/k3 /srv/volumes/c rw - ext4 /dev/sda1 rw",
      "76 25 8:17 / /var/lib/kubelet/plugins/nodevolume.dev/k4/staging rw - ext4 /dev/sdb rw",
      "77 25 8:17 / /srv/volumes/d rw - ext4 /dev/sdb rw",
      "78 25 8:1 /srv/models /mnt/nodevolume/models rw - ext4 /dev/sda1 rw",
    ],
    says: [
      ofSystem("/"),
      "/data: {nfs:{server:nas,path:/a}} [vers=4.2]",
      ofSystem("/var/lib/nodevolume/staging/k1"),
      "/mnt/nodevolume/a: no set: an agent mounted it from /var/lib/nodevolume/staging/k1 there, for a set",
      ofSystem("/var/lib/nodevolume/staging/k2"),
      "/srv/volumes/b: no set: an agent mounted it from /var/lib/nodevolume/staging/k2 there, for a set",
      "/srv/volumes/c: no set: an agent mounted it from /var/lib/nodevolume/data/k3 there, for a set",
      ofSystem("/var/lib/kubelet/plugins/nodevolume.dev/k4/staging"),
      "/srv/volumes/d: no set: an agent mounted it from /var/lib/kubelet/plugins/nodevolume.dev/k4/staging there, for a set",
      "/mnt/nodevolume/models: no set: it is beneath /mnt/nodevolume: an agent mounted it for a set",
    ],
  },
  {
    title: "two mounts on one path, and a line that is cut off",
    table: [
      "75 25 8:17 / /mnt/a rw - ext4 /dev/disk/by-id/b rw",
      "76 75 8:33 / /mnt/a rw - ext4 /dev/disk/by-id/c rw",
      "77 25 8:49 / /mnt/b rw",
    ],
    says: [
      "/mnt/a: no set: line 2 mounts on the same path, over it",
      "/mnt/a: {local:{path:/dev/disk/by-id/c}}",
      "line 3 is not read",
    ],
  },
];

describe("export of mount tables", () => {
  it("takes what an fstab has beneath an agents' prefix for people's wish, and what /proc/mounts has for an agent's", () => {
    for (const prefix of ["/var/lib/nodevolume/mounts", "/mnt/nodevolume"]) {
      expect(gist(`nas:/a ${prefix}/a nfs defaults 0 0`)).to.deep.equal([`${prefix}/a: {nfs:{server:nas,path:/a}}`]);
      expect(gist(`proc /proc proc rw 0 0\nnas:/a ${prefix}/a nfs rw,vers=3 0 0`)).to.deep.equal([
        "/proc: no set: proc is the system's own",
        `${prefix}/a: no set: it is beneath ${prefix}: an agent mounted it for a set`,
      ]);
    }
  });

  for (const { title, table, says } of tables)
    it(`has ${title}`, () => expect(gist(table.join("\n"))).to.deep.equal(says));
});

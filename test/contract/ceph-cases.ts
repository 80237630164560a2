import { CephCluster, cephUser, monitorAddress, nobodysMonitor } from "../lib/servers/ceph.ts";
import { type Case, isEmptyOrToken } from "./case.ts";
import { versionOf } from "./parts.ts";

let directories = 0;
let cluster: CephCluster;

const open = async (context: Mocha.Context) => {
  cluster = await CephCluster.start(context);
  return cluster;
};

/** A monitor, an OSD and an MDS, and Debian's clients. */
export const cephCases: readonly Case[] = [
  {
    title: "cephfs",
    open,
    source(node) {
      const path = `/contract-${++directories}`;
      cluster.directory(path);
      node.contents.set("ceph", cluster.secret());
      const secretRef = { namespace: "default", name: "ceph" };
      return { cephfs: { monitors: [nobodysMonitor, monitorAddress], path, user: cephUser, secretRef } };
    },
    shows: isEmptyOrToken,
    keepsData: true,
    table: { fsType: "fuse.ceph-fuse", source: /^10\.7\.7\.6:6999:\/contract-/ },
    cutOffs: "some",
    secrets: () => [cluster.key()],
    parts: () => ({ client: versionOf("ceph-fuse", "--version"), server: versionOf("ceph-mds", "--version") }),
  },
];

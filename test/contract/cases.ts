import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { type Case, isEmptyOrToken } from "./case.ts";
import { cephCases } from "./ceph-cases.ts";
import { cephKernelCases } from "./ceph-kernel-cases.ts";
import { contentCases } from "./content-cases.ts";
import { fcCase } from "./fc-case.ts";
import { flexVolumeCases } from "./flex-volume-cases.ts";
import { flockerCase } from "./flocker-case.ts";
import { gitCases } from "./git-cases.ts";
import { glusterfsCases } from "./glusterfs-cases.ts";
import { imageCases } from "./image-cases.ts";
import { iscsiCase } from "./iscsi-case.ts";
import { layerCases } from "./layer-cases.ts";
import { networkCases } from "./network-cases.ts";
import { versionOf } from "./parts.ts";
import { rbdNBDCase } from "./rbd-nbd-case.ts";

/** Each plugin at least once. */
export const cases: readonly Case[] = [
  { title: "emptyDir on disk", source: () => ({ emptyDir: {} }), shows: isEmptyOrToken, keepsData: false },
  {
    title: "emptyDir in memory",
    source: () => ({ emptyDir: { medium: "Memory", sizeLimit: "8Mi" } }),
    shows: isEmptyOrToken,
    keepsData: false,
    table: { fsType: "tmpfs", options: ["size=8192k"] },
  },
  {
    title: "emptyDir of huge pages",
    needs: ["hugetlbfs"],
    source: () => ({ emptyDir: { medium: "HugePages-2Mi", sizeLimit: "4Mi" } }),
    shows: isEmptyOrToken,
    keepsData: false,
    written: "directory",
    cutOffs: "some",
    table: { fsType: "hugetlbfs", options: ["pagesize=2M", "size=4194304"] },
  },
  {
    title: "hostPath of a directory",
    source(node) {
      writeFileSync(`${node.path}/src/here`, "");
      return { hostPath: { path: `${node.path}/src`, type: "Directory" } };
    },
    shows: (path) => expect(readdirSync(path)).to.include("here"),
    keepsData: true,
  },
  {
    title: "hostPath that is made",
    source: (node) => ({ hostPath: { path: `${node.path}/src/a/b`, type: "DirectoryOrCreate" } }),
    shows: isEmptyOrToken,
    keepsData: true,
  },
  {
    title: "hostPath of a file",
    kind: "file",
    source(node) {
      writeFileSync(`${node.path}/src/file`, `${" ".repeat(32)}before it was written`);
      return { hostPath: { path: `${node.path}/src/file`, type: "File" } };
    },
    shows: (path) => expect(readFileSync(path, "utf8")).to.contain("before it was written"),
    keepsData: true,
  },
  {
    title: "local directory",
    source(node) {
      writeFileSync(`${node.path}/src/here`, "");
      return { local: { path: `${node.path}/src` } };
    },
    shows: (path) => expect(readdirSync(path)).to.include("here"),
    keepsData: true,
  },
  {
    title: "local block device, formatted with ext4",
    needs: ["loop-devices", "mkfs.ext4", "ext4"],
    source: (node) => ({ local: { path: emptyDevice(node) } }),
    spec: { fsType: "ext4" },
    shows: (path) => expect(readdirSync(path)).to.include("lost+found"),
    keepsData: true,
    parts: () => ({ client: versionOf("mkfs.ext4", "-V") }),
    table: { fsType: "ext4", source: /^\/dev\/loop/ },
  },
  {
    title: "local block device as it is",
    needs: ["loop-devices"],
    kind: "device",
    source: (node) => ({ local: { path: emptyDevice(node) } }),
    spec: { volumeMode: "Block" },
    shows: (path) => expect(statSync(path).isBlockDevice()).to.equal(true),
    keepsData: true,
  },
  {
    title: "local block device, formatted with xfs",
    needs: ["loop-devices", "mkfs.xfs", "xfs"],
    source: (node) => ({ local: { path: emptyDevice(node, 320) } }),
    spec: { fsType: "xfs" },
    shows: isEmptyOrToken,
    keepsData: true,
    cutOffs: "some",
    parts: () => ({ client: versionOf("mkfs.xfs", "-V") }),
    table: { fsType: "xfs", source: /^\/dev\/loop/ },
  },
  flockerCase,
  ...layerCases,
  ...networkCases,
  fcCase,
  iscsiCase,
  ...contentCases,
  ...flexVolumeCases,
  ...gitCases,
  ...imageCases,
  ...glusterfsCases,
  ...cephCases,
  ...cephKernelCases,
  rbdNBDCase,
];

function emptyDevice(node: RealNode, megabytes = 32): string {
  return node.keep(loopDevice(`${node.path}/disks`, "disk", megabytes)).path;
}

import { readdirSync, writeFileSync } from "node:fs";
import { release } from "node:os";
import { expect } from "chai";
import type { CephFSVolumeSource, RBDVolumeSource } from "../../src/api/types.gen.ts";
import type { ObjectContent } from "../../src/plugins/api/content.ts";
import { full } from "../lib/asserts/requirements.ts";
import type { Case } from "./case.ts";

/** Of the cluster that the VM reaches, as test/vm has started it. */
const { NODEVOLUME_CEPH_ADDRESS: address = "", NODEVOLUME_CEPH_KEY: key = "" } = process.env;
export const addressOfVM = address;
delete process.env["NODEVOLUME_CEPH_KEY"]; // no program of the agent is to inherit it
export const wrongKey = "AQBgZ1xnAAAAABAAb1b1b1b1b1b1b1b1b1b1bQ==";
/** Each node of a test has one of its own. */
export const contractImages = Array.from({ length: full() ? 16 : 8 }, (_, index) => `contract-${index + 1}`);

/** A directory of the file system, with another in it, as test/vm has made them. */
export const contractDirectory = "/contract";
export const inContractDirectory = "here";
/** With --full only: it takes an MDS more. */
export const secondFileSystem = "second";

const nextImage = eachOnce(contractImages);

/** Images and directories that test/vm has made. */
export const cephKernelCases: readonly Case[] = [
  {
    title: "rbd",
    needs: ["ceph-cluster"],
    open: async () => ({ [Symbol.asyncDispose]: async () => unmapAll() }),
    source(node) {
      node.contents.set("ceph", secretOfVM());
      return { rbd: rbdOfVM({ image: nextImage(), fsType: "ext4" }) };
    },
    shows: (path) => expect(readdirSync(path)).to.include("lost+found"),
    keepsData: true,
    table: { fsType: "ext4", source: /^\/dev\/rbd\d+$/ },
    secrets: [key],
    refuses(node) {
      node.contents.set("ceph", secretOfVM(wrongKey));
      return [wrongKey];
    },
    parts: () => ({ client: `krbd of Linux ${release()}`, server: "Ceph 16.2.15" }),
  },
  {
    title: "cephfs, by the kernel",
    needs: ["ceph-cluster"],
    source(node) {
      node.contents.set("ceph", secretOfVM());
      return { cephfs: cephFSOfVM({ path: contractDirectory }) };
    },
    spec: { mountOptions: ["rsize=1048576", "recover_session=clean"] },
    shows: (path) => expect(readdirSync(path)).to.include(inContractDirectory),
    keepsData: true,
    table: { fsType: "ceph", source: /:6789:\/contract$/, options: ["name=volumes", "rsize=1048576", "noshare"] },
    secrets: [key],
    refuses(node) {
      node.contents.set("ceph", secretOfVM(wrongKey));
      return [wrongKey];
    },
    parts: () => ({ client: `ceph of Linux ${release()}`, server: "Ceph 16.2.15" }),
  },
];

/** One after the other, each once: who was cut off may hold the one that it had. @throws Error once none is left */
export function eachOnce(names: readonly string[]): () => string {
  let taken = 0;
  return () => {
    const name = names[taken++];
    if (name === undefined) throw new Error(`all ${names.length} are taken (${names[0]}, …): have more made`);
    return name;
  };
}

/** Of the one kernel, whatever the namespace. */
export const bus = "/sys/bus/rbd";

export function mappedDevices(): string[] {
  return readdirSync(`${bus}/devices`);
}

/** Gives back what tests have left mapped: what mounted it is gone with their sandboxes. */
export function unmapAll(): void {
  using all = new DisposableStack();
  for (const id of mappedDevices()) all.defer(() => writeFileSync(`${bus}/remove_single_major`, `${id} force`));
}

/** A source by the kernel's client. */
export function cephFSOfVM(changes: Partial<CephFSVolumeSource> = {}): CephFSVolumeSource {
  return { ...placeOfVM(), client: "Kernel", ...changes };
}

/** A source: an image that several tests use, if no other is named. */
export function rbdOfVM(changes: Partial<RBDVolumeSource> = {}): RBDVolumeSource {
  return { ...placeOfVM(), image: "shared", ...changes };
}

function placeOfVM() {
  return { monitors: [monitorOfVM()], user: "volumes", secretRef: { namespace: "default", name: "ceph" } };
}

/** The key of the user that the cluster of the VM has for volumes. */
export function keyOfVM(): string {
  return key;
}

export function secretOfVM(text = key): ObjectContent {
  return { version: text === key ? "u/1" : "u/2", data: new Map([["key", Buffer.from(text)]]) };
}

export function monitorOfVM(port = 6789): string {
  return `${addressOfVM}:${port}`;
}

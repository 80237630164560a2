import { execFileSync } from "node:child_process";
import { readdirSync, statfsSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { flexDriver } from "../lib/fakes/flex-driver.ts";
import { type Case, isEmptyOrToken } from "./case.ts";

const MiB = 2 ** 20;
const canary = "canary,of: a Secret";
const refused = "canary,to be refused";

/** Drivers as people have them: test/drivers/flex. */
export const flexVolumeCases: readonly Case[] = [
  {
    title: "flexVolume of a driver that attaches and mounts",
    needs: ["loop-devices", "mkfs.ext4", "ext4"],
    source(node) {
      const { image } = flexDriver(node, "test/loop");
      return { flexVolume: { driver: "test/loop", options: { image, sizeMegabytes: "32" } } };
    },
    shows: (path) => expect(readdirSync(path)).to.include("lost+found"),
    parts: () => ({ client: "test/drivers/flex/loop, a shell script" }),
    keepsData: true,
    cutOffs: 8,
    table: { fsType: "ext4", source: /^\/dev\/loop/ },
  },
  {
    title: "flexVolume of a driver that only attaches",
    needs: ["loop-devices", "mkfs.ext4", "ext4"],
    source(node) {
      const { image } = flexDriver(node, "test/disk");
      execFileSync("truncate", ["-s", "32M", image]);
      return { flexVolume: { driver: "test/disk", fsType: "ext4", options: { image } } };
    },
    shows: (path) => expect(readdirSync(path)).to.include("lost+found"),
    parts: () => ({ client: "test/drivers/flex/disk, a shell script" }),
    keepsData: true,
    cutOffs: "some",
    table: { fsType: "ext4", source: /^\/dev\/loop/ },
  },
  {
    title: "flexVolume of a driver without attach",
    source(node) {
      flexDriver(node, "test/memory");
      node.secrets.set("memory", new Map([["key", canary]]));
      const secretRef = { namespace: "default", name: "memory" };
      return { flexVolume: { driver: "test/memory", secretRef, secretInArguments: "Allow" } };
    },
    shows: isEmptyOrToken,
    parts: () => ({ client: "test/drivers/flex/memory, a shell script" }),
    keepsData: false,
    cutOffs: "some",
    table: { fsType: "tmpfs", source: /^flex-memory$/ },
    secrets: [canary],
    refuses(node) {
      node.secrets.set("memory", new Map([["key", refused]]));
      return [refused];
    },
    secretsToldTo: { program: "memory", by: "arguments" },
    grows: { from: String(16 * MiB), to: String(24 * MiB), size },
  },
  {
    title: "flexVolume of Kubernetes' example",
    source(node) {
      flexDriver(node, "dummy");
      writeFileSync(`${node.path}/src/here`, "");
      return { flexVolume: { driver: "dummy", options: { server: node.path, share: "src" } } };
    },
    shows: (path) => expect(readdirSync(path)).to.include("here"),
    parts: () => ({ client: "test/drivers/flex/dummy, a shell script" }),
    keepsData: true,
    cutOffs: "some",
  },
];

/** Bytes of the file system that shows on a path. */
function size(path: string): number {
  const { blocks, bsize } = statfsSync(path);
  return blocks * bsize;
}

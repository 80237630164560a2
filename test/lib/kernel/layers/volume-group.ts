import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { loopDevice } from "../disks/loop-device.ts";
import type { RealNode } from "../real-node.ts";

const run = (program: string, ...args: string[]) => execFileSync(program, args, { stdio: "pipe", encoding: "utf8" });

let groups = 0;

/** A loop device of the node, without a layer of anything that is left open when the node goes. */
export function layeredDevice(node: RealNode, megabytes: number): string {
  const disk = loopDevice(`${node.path}/disks`, `disk-${megabytes}`, megabytes);
  const close = () => {
    for (const name of mappings()) if (name.startsWith("nodevolume-")) run("cryptsetup", "close", name);
    disk[Symbol.dispose]();
  };
  return node.keep({ path: disk.path, [Symbol.dispose]: close }).path;
}

/** A volume group on a disk of its own, gone with the node. @returns its name */
export function volumeGroup(node: RealNode, megabytes: number): string {
  const name = `nvo-test_${randomUUID().slice(0, 8)}.${++groups}`;
  const disk = loopDevice(`${node.path}/disks`, name, megabytes);
  run("lvm", "vgcreate", "-q", name, disk.path);
  const remove = () => {
    for (const mapping of mappings()) if (mapping.startsWith("nodevolume-")) run("cryptsetup", "close", mapping);
    run("lvm", "vgremove", "-q", "-f", "-y", name);
    disk[Symbol.dispose]();
  };
  return node.keep({ name, [Symbol.dispose]: remove }).name;
}

/** Devices of device-mapper, by name. */
export function mappings(): string[] {
  const disks = readdirSync("/sys/block").filter((disk) => disk.startsWith("dm-"));
  return disks.map((disk) => readFileSync(`/sys/block/${disk}/dm/name`, "utf8").trim());
}

/** What a Secret of this name has, as the agent's watch would show it. */
export function passphrase(node: RealNode, secret: string, text: string, version = "u/1"): void {
  node.contents.set(secret, { version, data: new Map([["passphrase", Buffer.from(text)]]) });
}

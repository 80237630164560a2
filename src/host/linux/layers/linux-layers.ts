import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import type {
  HeaderHow,
  Layers,
  LogicalVolumeInfo,
  LogicalVolumeName,
  MappedDevice,
  ProbedDevice,
} from "../../ports/block-layers.ts";
import type { ProgramHow, ProgramResult, Programs } from "../../ports/programs.ts";
import { onNode, runOfNode } from "../child/node-tools.ts";
import { attribute } from "../syscall/block-device.ts";
import { ifThere } from "../syscall/errno.ts";
import { cryptFailure, formatArgs } from "./cryptsetup-errors.ts";
import { lvmFailure, parseVolumes } from "./lvm-errors.ts";

/** Dependencies of LUKS and LVM. */
export interface LayersDeps {
  /** Those of the node. */
  readonly programs: Programs;
  /** The node's root as the agent sees it. */
  readonly hostRoot: string;
}

/** LUKS by cryptsetup(8), LVM by lvm(8), both the node's. */
export class LinuxLayers implements Layers {
  readonly #deps: LayersDeps;

  constructor(deps: LayersDeps) {
    this.#deps = deps;
  }

  randomKey(): Uint8Array {
    return randomBytes(32);
  }

  async mapped(name: string): Promise<MappedDevice | undefined> {
    const { hostRoot } = this.#deps;
    return findMapped(name, `${hostRoot === "/" ? "" : hostRoot}/dev`);
  }

  async formatLUKS(device: ProbedDevice, passphrase: Uint8Array, how: HeaderHow): Promise<void> {
    const held = { ...known(device), stands: { contents: how.rest } };
    await this.#cryptsetup([...formatArgs(how.uuid), this.#onNode(device.path)], device.path, {
      input: passphrase,
      device: held,
      heavy: true,
    });
  }

  async openLUKS(device: ProbedDevice, name: string, passphrase: Uint8Array): Promise<void> {
    const args = ["open", "--type", "luks", "--key-file", "-", this.#onNode(device.path), name];
    const held = { ...known(device), stands: "anything", keeps: true } as const;
    await this.#cryptsetup(args, device.path, { input: passphrase, device: held, heavy: true });
  }

  async resizeLUKS(name: string, passphrase: Uint8Array): Promise<void> {
    await this.#cryptsetup(["resize", "--key-file", "-", name], name, { input: passphrase, heavy: true });
  }

  async closeLUKS(name: string): Promise<void> {
    if ((await this.mapped(name)) !== undefined) await this.#cryptsetup(["close", name], name);
  }

  async logicalVolume({ volumeGroup, logicalVolume }: LogicalVolumeName): Promise<LogicalVolumeInfo | undefined> {
    const columns = "lv_name,lv_size,lv_active,lv_role,lv_tags,vg_uuid,lv_uuid";
    const format = ["--reportformat", "json", "--units", "b", "--nosuffix", "--options", columns];
    const { stdout } = await this.#lvm(["lvs", ...format, volumeGroup], volumeGroup);
    return parseVolumes(stdout).get(logicalVolume);
  }

  async makeLogicalVolume(name: LogicalVolumeName, sizeBytes: bigint, tag: string): Promise<void> {
    const { volumeGroup, logicalVolume } = name;
    const clean = ["--yes", "--wipesignatures", "y", "--zero", "y"]; // of what was in this part of the group before
    const args = ["--size", sectors(sizeBytes), "--addtag", tag, "--name", logicalVolume, volumeGroup];
    await this.#lvm(["lvcreate", ...clean, ...args], textOf(name));
  }

  async growLogicalVolume(name: LogicalVolumeName, sizeBytes: bigint): Promise<void> {
    const now = await this.logicalVolume(name);
    if (now !== undefined && BigInt(now.sizeBytes) >= sizeBytes) return;
    await this.#lvm(["lvextend", "--size", sectors(sizeBytes), textOf(name)], textOf(name));
  }

  async activate(name: LogicalVolumeName, active: boolean): Promise<void> {
    const args = ["lvchange", "--activate", active ? "y" : "n", textOf(name)];
    await this.#lvm(args, textOf(name), active ? "activate" : "deactivate");
  }

  /** @throws VolumeError for any end but a good one */
  async #cryptsetup(args: readonly string[], what: string, how: ProgramHow = {}): Promise<ProgramResult> {
    const result = await this.#run("cryptsetup", args, how);
    if (result.code !== 0) throw cryptFailure(what, args[0] ?? "", result);
    return result;
  }

  async #lvm(args: readonly string[], what: string, doing = args[0] ?? ""): Promise<ProgramResult> {
    const result = await this.#run("lvm", args, {});
    if (result.code !== 0) throw lvmFailure(what, doing, result);
    return result;
  }

  #run(program: "cryptsetup" | "lvm", args: readonly string[], how: ProgramHow): Promise<ProgramResult> {
    return runOfNode(this.#deps.programs, program, args, how, program === "lvm" ? "lvm2" : "cryptsetup-bin");
  }

  /** A path as the node's programs see it. */
  #onNode(path: string): string {
    return onNode(path, this.#deps.hostRoot);
  }
}

/** In the unit of which LVM takes any number; it rounds up to its extents itself. */
function sectors(bytes: bigint): string {
  return `${(bytes + 511n) / 512n}s`;
}

function textOf({ volumeGroup, logicalVolume }: LogicalVolumeName): string {
  return `${volumeGroup}/${logicalVolume}`;
}

function known({ path, deviceNumber, identity }: ProbedDevice): ProbedDevice {
  return { path, deviceNumber, ...(identity !== undefined && { identity }) };
}

/** The device-mapper device of a name, by sysfs. @param dev the node's /dev, as the agent sees it */
function findMapped(name: string, dev: string): MappedDevice | undefined {
  const disks = readdirSync("/sys/block").filter((disk) => disk.startsWith("dm-"));
  const disk = disks.find((each) => attribute(`/sys/block/${each}/dm/name`) === name);
  if (disk === undefined) return undefined;
  const place = `/sys/block/${disk}`;
  const slaves = ifThere(() => readdirSync(`${place}/slaves`)) ?? [];
  const over = slaves.map((slave) => attribute(`${place}/slaves/${slave}/dev`)).filter((number) => number !== "");
  return { path: `${dev}/${disk}`, deviceNumber: attribute(`${place}/dev`), over };
}

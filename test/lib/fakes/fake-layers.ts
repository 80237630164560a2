import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { VolumeError } from "../../../src/errors.ts";
import { cryptFailure } from "../../../src/host/linux/layers/cryptsetup-errors.ts";
import type { Layers, LogicalVolumeName, MappedDevice, ProbedDevice } from "../../../src/host/ports/block-layers.ts";
import { mapperName } from "../../../src/host/ports/block-layers.ts";

const run = (program: string, ...args: string[]) =>
  execFileSync(program, args, { stdio: "pipe", encoding: "utf8" }).trim();
const headerBytes = 16 * 1024 * 1024;

/**
 * Stands for LVM and LUKS on a kernel without device-mapper: logical volumes are files, what is opened is a loop device
 * behind the header, and not encrypted. The headers are cryptsetup's own. What real ones have said is in
 * test/unit/host/linux/layers/layer-words.test.ts.
 */
export class FakeLayers implements Layers {
  readonly #directory: string;
  readonly #mapped = new Map<string, MappedDevice & { readonly hold: number; readonly base: string }>();
  readonly #room = new Map<string, number>();
  /** Logical volumes that are parts of others, as `GROUP NAME`. */
  readonly hidden = new Set<string>();
  /** Of all groups, until others have their names. */
  groupUUID = "uuid-of-group";
  /** What happens before and after each step: a crash, if it throws. */
  at: (step: string) => void = () => {};

  constructor(directory: string) {
    this.#directory = directory;
  }

  addGroup(name: string, megabytes: number): void {
    this.#room.set(name, megabytes * 1024 * 1024);
  }

  get names(): string[] {
    return [...this.#mapped.keys()];
  }

  volumesOf(group: string): string[] {
    const files = readdirSync(this.#directory).filter(
      (file) => file.startsWith(`${group} `) && !file.endsWith(".tags"),
    );
    return files.map((file) => {
      const logicalVolume = file.slice(group.length + 1);
      const active = this.#mapped.has(mapperName({ volumeGroup: group, logicalVolume })) ? "active" : "";
      return [logicalVolume, active, readFileSync(`${this.#directory}/${file}.tags`, "utf8")]
        .filter((part) => part !== "")
        .join(" ");
    });
  }

  randomKey(): Uint8Array {
    return randomBytes(32);
  }

  async mapped(name: string) {
    return this.#mapped.get(name);
  }

  async formatLUKS({ path }: ProbedDevice, passphrase: Uint8Array, { uuid }: { uuid: string }): Promise<void> {
    this.#step("formatLUKS", () => {
      const noise = openSync(path, "r+");
      writeSync(noise, randomBytes(4 * 1024 * 1024), 0, undefined, headerBytes);
      closeSync(noise);
      const quick = ["--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000"];
      const args = ["luksFormat", "--batch-mode", "--type", "luks2", "--uuid", uuid, ...quick, "--key-file", "-", path];
      execFileSync("cryptsetup", args, { input: passphrase, stdio: "pipe" });
    });
  }

  async openLUKS({ path }: ProbedDevice, name: string, passphrase: Uint8Array): Promise<void> {
    this.#step("openLUKS", () => {
      this.#unlock(path, passphrase);
      this.#map(name, path, ["--offset", `${headerBytes}`]);
    });
  }

  async resizeLUKS(name: string, passphrase: Uint8Array): Promise<void> {
    const mapped = this.#mapped.get(name);
    if (mapped === undefined) throw new Error(`${name} is not open`);
    this.#step("resizeLUKS", () => {
      this.#unlock(mapped.base, passphrase);
      run("losetup", "-c", mapped.path);
    });
  }

  async closeLUKS(name: string): Promise<void> {
    if (this.#mapped.has(name)) this.#step("closeLUKS", () => this.#unmap(name));
  }

  async logicalVolume(name: LogicalVolumeName) {
    if (!this.#room.has(name.volumeGroup))
      throw new VolumeError("SourceNotFound", "final", `no group, vgcreate ${name.volumeGroup}`);
    const file = this.#file(name);
    if (!existsSync(file)) return undefined;
    const tags = readFileSync(`${file}.tags`, "utf8").split(",");
    const shown = !this.hidden.has(`${name.volumeGroup} ${name.logicalVolume}`);
    const identity = `${this.groupUUID} ${name.logicalVolume}`;
    return { sizeBytes: statSync(file).size, active: this.#mapped.has(mapperName(name)), shown, tags, identity };
  }

  async makeLogicalVolume(name: LogicalVolumeName, sizeBytes: bigint, tag: string): Promise<void> {
    this.#step("makeLogicalVolume", () => {
      this.#take(name, sizeBytes);
      const file = this.#file(name);
      writeFileSync(`${file}.tags`, tag);
      writeFileSync(`${file}.new`, randomBytes(1024 * 1024)); // what a volume of before has left
      truncateSync(`${file}.new`, Number(sizeBytes));
      renameSync(`${file}.new`, file);
      this.#map(mapperName(name), file, []);
    });
  }

  async growLogicalVolume(name: LogicalVolumeName, sizeBytes: bigint): Promise<void> {
    const file = this.#file(name);
    if (statSync(file).size >= sizeBytes) return;
    this.#step("growLogicalVolume", () => {
      this.#take(name, sizeBytes);
      truncateSync(file, Number(sizeBytes));
      run("losetup", "-c", this.#mapped.get(mapperName(name))?.path ?? "");
    });
  }

  async activate(name: LogicalVolumeName, active: boolean): Promise<void> {
    this.#step("activate", () => {
      if (active) this.#map(mapperName(name), this.#file(name), []);
      else this.#unmap(mapperName(name));
    });
  }

  /** Lets go of everything, as a reboot does. */
  forget(): void {
    for (const name of [...this.#mapped.keys()].reverse()) this.#unmap(name);
  }

  #step(name: string, act: () => void): void {
    this.at(`before ${name}`);
    act();
    this.at(`after ${name}`);
  }

  #unlock(path: string, passphrase: Uint8Array): void {
    const args = ["open", "--test-passphrase", "--key-file", "-", path];
    const { status, stderr } = spawnSync("cryptsetup", args, { input: passphrase, encoding: "utf8" });
    if (status !== 0) throw cryptFailure(path, "open", { code: status ?? 1, stdout: "", stderr });
  }

  #map(name: string, path: string, options: readonly string[]): void {
    const made = run("losetup", "--find", "--show", ...options, this.#fileBeneath(path));
    const hold = openSync(made, "r");
    run("losetup", "--detach", made); // it goes when it is not held any more
    const number = (device: string) => run("lsblk", "-dno", "MAJ:MIN", device);
    const over = path.startsWith("/dev/") ? [number(path)] : ["0:0"];
    this.#mapped.set(name, { path: made, deviceNumber: number(made), over, hold, base: path });
  }

  /**
   * A loop device on another is its second name, which nobody may use: what stands for device-mapper's is on the same
   * file.
   */
  #fileBeneath(path: string): string {
    return path.startsWith("/dev/") ? run("losetup", "--noheadings", "--output", "BACK-FILE", path) : path;
  }

  #unmap(name: string): void {
    const { hold = -1 } = this.#mapped.get(name) ?? {};
    closeSync(hold);
    this.#mapped.delete(name);
  }

  #take({ volumeGroup }: LogicalVolumeName, sizeBytes: bigint): void {
    if (Number(sizeBytes) <= (this.#room.get(volumeGroup) ?? 0)) return;
    throw new VolumeError("VolumeGroupFull", "final", `${volumeGroup} is full`);
  }

  #file({ volumeGroup, logicalVolume }: LogicalVolumeName): string {
    return `${this.#directory}/${volumeGroup} ${logicalVolume}`;
  }
}

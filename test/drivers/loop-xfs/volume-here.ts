// One volume on this node: its device, and where it is mounted. Everything is read from the kernel when it is asked.
import { mkdirSync } from "node:fs";
import { basename } from "node:path";
import type { VolumeCapability } from "../../../src/csi/gen/csi.gen.ts";
import type { Call } from "../lib/serve.ts";
import { isMultiNode, isReader } from "./capabilities.ts";
import type { Device, Devices } from "./devices.ts";
import { format, giveToGroup, isToBeFormatted } from "./file-system.ts";
import type { Flags } from "./flags.ts";
import { type Mounted, mountFile, mounts, unmount } from "./mounts.ts";
import type { Storage } from "./storage.ts";

export class VolumeHere {
  readonly id: string;
  readonly #storage: Storage;
  readonly #devices: Devices;
  readonly #flags: Flags;

  constructor(id: string, storage: Storage, devices: Devices, flags: Flags) {
    this.id = id;
    this.#storage = storage;
    this.#devices = devices;
    this.#flags = flags;
  }

  get device(): Device | undefined {
    return this.#devices.of(this.#storage.pathOn(this.#flags.nodeID, this.id));
  }

  /** Where its file system or its device is mounted. */
  mounts(): Mounted[] {
    const { device } = this;
    if (device === undefined) return [];
    return mounts().filter(({ number, root }) => number === device.number || root === `/${basename(device.path)}`);
  }

  mountAt(path: string): Mounted | undefined {
    return this.mounts().findLast((mount) => mount.path === path);
  }

  async attachDevice(readOnly: boolean): Promise<Device> {
    return this.#devices.attach(this.#storage.linkOn(this.#flags.nodeID, this.id), readOnly);
  }

  /** Gives the device back; if something is still mounted, with its last mount. */
  async detachDevice(): Promise<void> {
    const { device } = this;
    if (device !== undefined) await this.#devices.detach(device);
  }

  /** Unmounts what of this volume is on a path, every layer. */
  async unmount(path: string): Promise<void> {
    while (this.mountAt(path) !== undefined) await unmount(path);
  }

  /** Mounts the file system, which is made before if there is none. */
  async mountFileSystem(path: string, capability: VolumeCapability, call: Call): Promise<void> {
    const reads = isReader(capability);
    await this.#format(call);
    const modes = [...(reads ? ["ro", "norecovery"] : []), ...(isMultiNode(capability) ? ["nouuid"] : [])];
    mkdirSync(path, { recursive: true });
    const file = this.#storage.linkOn(this.#flags.nodeID, this.id);
    await mountFile(file, path, [...modes, ...(capability.mount?.mountFlags ?? [])]);
    const group = capability.mount?.volumeMountGroup ?? "";
    if (group !== "" && !reads) giveToGroup(path, group);
  }

  async #format(call: Call): Promise<void> {
    if (this.device !== undefined) return; // it was mounted before
    const file = this.#storage.linkOn(this.#flags.nodeID, this.id);
    if (!isToBeFormatted(this.#storage, this.id, file)) return;
    await call.effect("formatted", { id: this.id }, () => format(this.#storage, this.id, file, this.#flags));
  }
}

import { VolumeError } from "../../../src/errors.ts";
import type { Disk as DiskOfNode } from "../../../src/host/ports/disk.ts";
import type {
  DeviceAttributes,
  DeviceInfo,
  Devices,
  FormatHow,
  Mounter,
  OperationContext,
  SourcePath,
} from "../../../src/host/ports/host-ports.ts";
import type { Disk } from "../kernel/disk.ts";
import { fileAt } from "../kernel/lookup.ts";
import { format } from "../machine.ts";
import { type HostDeps, latency } from "./host-deps.ts";
import { inChild } from "./sim-child.ts";

/** Block devices of the machine; each question is asked in a child. */
export class SimDevices implements Devices {
  readonly #deps: HostDeps;
  readonly #mounter: Mounter;
  readonly #operation: OperationContext;

  constructor(deps: HostDeps, mounter: Mounter, operation: OperationContext) {
    this.#deps = deps;
    this.#mounter = mounter;
    this.#operation = operation;
  }

  async probe(source: SourcePath): Promise<DeviceInfo> {
    const info = await this.#mounter.inspect(source);
    if (info === undefined) throw new VolumeError("SourceNotFound", "final", `there is no ${source.path} on the node`);
    const disk = this.#disk(info.canonicalPath);
    if (info.kind !== "blockDevice" || disk === undefined) {
      throw new VolumeError("SourceWrongType", "final", `${source.path} is a ${info.kind}, not a block device`);
    }
    const what = `probe ${source.path}`;
    const apply = (): DeviceInfo => {
      const busy = disk.mounted ? `${info.canonicalPath} is open elsewhere: mounted` : disk.holder;
      return {
        path: info.canonicalPath,
        deviceNumber: disk.number,
        sizeBytes: disk.sizeBytes,
        identity: disk.serial,
        lastingName: disk.serial,
        empty: disk.empty && busy === undefined,
        ...(disk.filesystem !== undefined && { signature: disk.filesystem.fsType }),
        ...(busy !== undefined && { busy }),
      };
    };
    return inChild(this.#deps, this.#operation, { what, changes: false, latency: latency.child, disk, apply });
  }

  async attributes(deviceNumber: string): Promise<DeviceAttributes> {
    const disk = [...this.#deps.machine.disks.values()].find(({ number }) => number === deviceNumber);
    if (disk === undefined) throw new VolumeError("SourceNotFound", "transient", `the device ${deviceNumber} has gone`);
    return { sizeBytes: disk.sizeBytes, identity: disk.serial, lastingName: disk.serial };
  }

  async claim(path: string): Promise<string | undefined> {
    const disk = this.#disk(path);
    if (disk === undefined) return undefined;
    const apply = () => (disk.mounted ? `${path} is open elsewhere: mounted` : disk.holder);
    const what = `ask who claims ${path}`;
    return inChild(this.#deps, this.#operation, { what, changes: false, latency: latency.child, disk, apply });
  }

  /** Nobody on the simulated machine has a device open without a mount. */
  async openers() {
    return [];
  }

  async disks(): Promise<readonly DiskOfNode[]> {
    return [...this.#deps.machine.disks].map(([path, disk]) => ({
      name: path.slice("/dev/".length),
      deviceNumber: disk.number,
      sizeBytes: disk.sizeBytes,
      identity: disk.serial,
      lastingName: disk.serial,
      serial: disk.serial,
      rotational: false,
      transport: "virtio",
      ids: [],
      ...(disk.holder !== undefined && { claim: disk.holder }),
    }));
  }

  async wipe({ path }: DeviceInfo): Promise<void> {
    const disk = this.#disk(path);
    if (disk === undefined) throw new VolumeError("SourceNotFound", "final", `there is no ${path}`);
    const apply = () => {
      disk.filesystem = undefined;
      disk.garbage = false;
    };
    const what = `wipe ${path}`;
    await inChild(this.#deps, this.#operation, { what, changes: true, latency: latency.child, disk, apply });
  }

  async format(source: SourcePath, fsType: string, onProgress: (line: string) => void, how: FormatHow): Promise<void> {
    const { begun, identity } = how;
    const device = await this.probe(source);
    if (identity !== undefined && device.identity !== identity) {
      throw new VolumeError("SetUpFailed", "transient", `${device.path} stands for another device by now`);
    }
    const goesOn = begun !== undefined && begun === device.identity && !device.busy && !device.signature;
    if (!device.empty && !goesOn) {
      const found = device.busy ?? device.signature ?? "data without a signature";
      throw new VolumeError("DeviceNotEmpty", "final", `${device.path} is not empty: ${found}`);
    }
    const disk = this.#disk(device.path);
    if (disk === undefined) throw new VolumeError("SourceNotFound", "final", `there is no ${device.path}`);
    const what = `mkfs.${fsType} ${device.path}`;
    const apply = () => {
      this.#deps.onFormat(disk);
      format(disk, fsType);
      onProgress("done");
    };
    const cutOff = () => {
      disk.garbage = true;
      disk.cutOff = true;
      this.#deps.onCutOff?.(disk);
    };
    await inChild(this.#deps, this.#operation, { what, changes: true, latency: latency.mkfs, disk, apply, cutOff });
  }

  /** No file system of the simulated machine is damaged: e2fsck finds nothing to mend. */
  async mend({ path }: DeviceInfo, fsType: string): Promise<void> {
    const disk = this.#disk(path);
    if (disk === undefined) throw new VolumeError("SourceNotFound", "final", `there is no ${path}`);
    if (!fsType.startsWith("ext")) return;
    const apply = () => {
      if (disk.mounted) throw new VolumeError("DeviceBusy", "transient", `${path} is open elsewhere: mounted`);
    };
    const what = `e2fsck -p ${path}`;
    await inChild(this.#deps, this.#operation, { what, changes: true, latency: latency.child, disk, apply });
  }

  /** No disk of the simulated machine becomes larger. */
  async grow(): Promise<void> {}

  #disk(path: string): Disk | undefined {
    return fileAt(this.#deps.namespace, path).disk;
  }
}

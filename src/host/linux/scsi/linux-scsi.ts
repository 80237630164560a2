import { VolumeError } from "../../../errors.ts";
import type { OperationContext } from "../../ports/host-ports.ts";
import type { Programs } from "../../ports/programs.ts";
import { type MultipathMap, type Scsi, type ScsiDisk, type ScsiTree, scsiText } from "../../ports/scsi.ts";
import type { RemovedDisk, RequestOf } from "../child/child-protocol.ts";
import { askChild, errorOf, isKnown } from "../child/child-reply.ts";
import type { ChildRunner } from "../child/child-runner.ts";
import { findOfNode } from "../child/node-tools.ts";
import { outputExcerpt } from "../child/output-excerpt.ts";
import { bootID } from "../syscall/proc.ts";
import { readScsi } from "./scsi-tree.ts";

/**
 * SCSI disks by sysfs, which is the node's in every container. What has the kernel ask a device or a target, and may
 * take as long as that does, is done in a disposable child; maps are the matter of the node's own multipath, which
 * knows its configuration.
 */
export class LinuxScsi implements Scsi {
  readonly #runner: ChildRunner;
  readonly #programs: Programs;
  readonly #operation: OperationContext;

  constructor(runner: ChildRunner, programs: Programs, operation: OperationContext) {
    this.#runner = runner;
    this.#programs = programs;
    this.#operation = operation;
  }

  async look(hostRoot: string): Promise<ScsiTree> {
    const [dev, udev] = [devOf(hostRoot), `${hostRoot === "/" ? "" : hostRoot}/run/udev/data`];
    return readScsi({ sys: "/sys", dev, udev, sockets: "/proc/net/unix", bootID: bootID() });
  }

  async scan({ host, channel, target, lun }: Parameters<Scsi["scan"]>[0]): Promise<void> {
    const text = [channel, target, lun].map((part) => part ?? "-").join(" ");
    const file = `/sys/class/scsi_host/host${host}/scan`;
    await this.#run({ kind: "sysfs", file, text }, `host${host} cannot be scanned`);
  }

  async rescan({ address, name }: ScsiDisk): Promise<void> {
    const file = `/sys/class/scsi_device/${scsiText(address)}/device/rescan`;
    await this.#run({ kind: "sysfs", file, text: "1" }, `the size of ${name} cannot be queried`);
  }

  async remove(disk: ScsiDisk, hostRoot: string): Promise<void> {
    const { name } = disk;
    await this.#run(
      { kind: "removeDisk", disk: removed(disk, hostRoot) },
      `${name} cannot be taken off the node`,
      name,
    );
  }

  async refuseUsed(disk: ScsiDisk, hostRoot: string): Promise<void> {
    const { name } = disk;
    const request = { kind: "removeDisk", disk: { ...removed(disk, hostRoot), stays: true } } as const;
    await this.#run(request, `it is unknown whether ${name} is in use`, name);
  }

  async offer({ name }: ScsiDisk): Promise<void> {
    const said = await this.#multipath("multipathd", ["add", "path", name], { optional: true });
    if (said === undefined) return;
    const message = `multipathd does not report whether it makes a map of ${name}: ${said}`;
    throw new VolumeError("DiskNotFound", "transient", message, { on: { kind: "Device", name: `/dev/${name}` } });
  }

  async flushMap({ name, device }: MultipathMap): Promise<void> {
    const said = await this.#multipath("multipath", ["-f", name]);
    if (said === undefined) return;
    const message = `the multipath map ${name} cannot be removed: ${said}`;
    throw new VolumeError("DeviceBusy", "transient", message, { on: { kind: "Device", name: `/dev/${device}` } });
  }

  async growMap({ name, device }: MultipathMap): Promise<void> {
    const said = await this.#multipath("multipathd", ["resize", "map", name]);
    if (said === undefined) return;
    const message = `the multipath map ${name} does not get the size of its paths: ${said}`;
    throw new VolumeError("FileSystemResizeFailed", "transient", message, {
      on: { kind: "Device", name: `/dev/${device}` },
    });
  }

  async #run(request: RequestOf<"sysfs" | "removeDisk">, what: string, device?: string): Promise<void> {
    const reply = await askChild(this.#runner, request, this.#operation);
    if (reply.ok) return;
    const { error } = reply;
    const on = device === undefined ? undefined : { kind: "Device", name: `/dev/${device}` };
    if (isKnown(error)) throw errorOf(error, on);
    throw new VolumeError("SetUpFailed", "transient", `${what}: ${error.message}`, on && { on });
  }

  /** @returns what it said if it failed */
  async #multipath(program: string, args: readonly string[], { optional = false } = {}): Promise<string | undefined> {
    const path = await findOfNode(this.#programs, program);
    if (path !== undefined) {
      const { code, stdout, stderr } = await this.#programs.run(path, args);
      const text = `${stdout}\n${stderr}`.trim();
      // multipathd answers `fail` to its client, which ends well.
      return code === 0 && !/^(fail|timeout)/m.test(stdout) ? undefined : `exit ${code}: ${outputExcerpt(text)}`;
    }
    if (optional) return undefined;
    const message = `${program} is not on the node, which has a multipath map: install multipath-tools there`;
    throw new VolumeError("ToolMissing", "final", message, { on: { kind: "Program", name: `/usr/sbin/${program}` } });
  }
}

function removed({ address, deviceNumber, name, wwid }: ScsiDisk, hostRoot: string): RemovedDisk {
  const path = `${devOf(hostRoot)}/${name}`;
  return { path, deviceNumber, address: scsiText(address), ...(wwid !== undefined && { wwid }) };
}

function devOf(hostRoot: string): string {
  return `${hostRoot === "/" ? "" : hostRoot}/dev`;
}

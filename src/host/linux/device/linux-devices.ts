import { VolumeError } from "../../../errors.ts";
import type { Disk } from "../../ports/disk.ts";
import type {
  DeviceAttributes,
  DeviceInfo,
  Devices,
  FormatHow,
  Holder,
  Mounter,
  OperationContext,
  SourcePath,
} from "../../ports/host-ports.ts";
import type { BlockProbe, WrittenDevice } from "../child/child-protocol.ts";
import { askChild, errorOf, isKnown, runProgram } from "../child/child-reply.ts";
import type { ChildResult, ChildRunner } from "../child/child-runner.ts";
import { findProgram } from "../child/find-program.ts";
import { outputExcerpt } from "../child/output-excerpt.ts";
import { deviceIdentity, deviceSize, diskSequence, isMadeOfMemory, lastingNameOf } from "../syscall/block-device.ts";
import { unlessErrno } from "../syscall/errno.ts";
import { bootID } from "../syscall/proc.ts";
import { attachedBy } from "./attached-by.ts";
import { parseBlkid } from "./blkid-output.ts";
import { type BlockClaims, claimsOf } from "./block-claims.ts";
import { claimedText } from "./device-users.ts";
import { devicesBeneath } from "./devices-beneath.ts";
import { readDisks } from "./disks.ts";
import { checkArgs, checkProgress, damageOf, isChecked, judgeCheck, unfinishedCheck } from "./file-system-check.ts";

/** blkid(8): nothing was found on the device. */
const blkidNothing = 2;

/**
 * Options that make each mkfs take a whole device without a question. None forces it over something that is there.
 * -F: no question for a whole disk; emptiness was proved right before (kubelet uses the same). None discards the whole
 * device first (nodiscard, -K): that can take longer than any deadline, and may stop a slow disk for everybody else.
 */
const mkfs: { readonly [fsType: string]: readonly string[] } = {
  ext2: ["-q", "-F", "-m0", "-E", "nodiscard"],
  ext3: ["-q", "-F", "-m0", "-E", "nodiscard"],
  ext4: ["-q", "-F", "-m0", "-E", "nodiscard"],
  xfs: ["-q", "-K"],
  btrfs: ["-q", "-K"],
  swap: [],
};

/** How many deadlines of mkfs a check that gets on may last: four hours, usually. Then the next disk has its turn. */
const checkDeadlines = 8;

/** Block devices, each question asked in a disposable child. */
export class LinuxDevices implements Devices {
  readonly #mounter: Mounter;
  readonly #runner: ChildRunner;
  readonly #operation: OperationContext;

  constructor(mounter: Mounter, runner: ChildRunner, operation: OperationContext) {
    this.#mounter = mounter;
    this.#runner = runner;
    this.#operation = operation;
  }

  async probe(source: SourcePath): Promise<DeviceInfo> {
    const info = await this.#mounter.inspect(source);
    if (info === undefined) throw new VolumeError("SourceNotFound", "final", `there is no ${source.path} on the node`);
    if (info.kind !== "blockDevice" || info.deviceNumber === undefined) {
      throw new VolumeError("SourceWrongType", "final", `${source.path} is a ${info.kind}, not a block device`);
    }
    const path = info.canonicalPath;
    const probe = await this.#askDevice(path);
    const { signature, uuid, label } = await this.#signature(path);
    const { users, sizeBytes } = probe;
    const sequence = diskSequence(info.deviceNumber);
    return {
      path,
      deviceNumber: info.deviceNumber,
      ...attributesOf(info.deviceNumber, sizeBytes),
      ...(sequence !== undefined && { sequence }),
      empty: probe.digest === undefined && signature === undefined && users === undefined,
      ...(probe.digest === undefined ? {} : { contents: probe.digest }),
      ...(signature === undefined ? {} : { signature }),
      ...(uuid === undefined ? {} : { uuid }),
      ...(label === undefined ? {} : { label }),
      ...(users === undefined
        ? {}
        : { busy: users.text, heldBy: users.heldBy, ...(users.allowsMount && { allowsMount: true }) }),
      ...(probe.journalLeft && { journalLeft: true }),
      ...(probe.journalElsewhere && { journalElsewhere: true }),
      ...(probe.swapBytes !== undefined && { swapBytes: probe.swapBytes }),
    };
  }

  async attributes(deviceNumber: string): Promise<DeviceAttributes> {
    const attributes = unlessErrno(["ENOENT"], () => attributesOf(deviceNumber, deviceSize(deviceNumber)));
    if (attributes !== undefined) return attributes;
    throw new VolumeError("SourceNotFound", "transient", `the device ${deviceNumber} has just gone from the node`);
  }

  async claim(path: string, deviceNumber: string): Promise<string | undefined> {
    const { holders, partitions } = claimsIfThere(deviceNumber);
    const deviceNumbers = [deviceNumber, ...partitions.map((partition) => partition.deviceNumber)];
    const reply = await askChild(this.#runner, { kind: "claimed", path, deviceNumbers }, this.#operation);
    if (!reply.ok) {
      const message = `it is unknown whether ${path} is claimed: ${reply.error.message}`;
      throw new VolumeError("DeviceBusy", "transient", message, { on: { kind: "Device", name: path } });
    }
    if (holders.length > 0) return `${path} is part of ${holders.join(", ")}`;
    const { claimed, inKernel } = reply.value;
    return inKernel ?? (claimed ? claimedText(path) : undefined);
  }

  async openers(deviceNumber: string): Promise<readonly Holder[]> {
    const { partitions } = claimsIfThere(deviceNumber);
    const deviceNumbers = [deviceNumber, ...partitions.map((partition) => partition.deviceNumber)];
    const reply = await askChild(this.#runner, { kind: "openers", deviceNumbers }, this.#operation);
    if (reply.ok) return reply.value;
    const message = `cannot list the processes that have ${deviceNumber} open: ${reply.error.message}`;
    throw new VolumeError("StillReferenced", "transient", message);
  }

  async disks(hostRoot: string): Promise<readonly Disk[]> {
    return readDisks(`${hostRoot === "/" ? "" : hostRoot}/dev`, bootID());
  }

  async format(source: SourcePath, fsType: string, onProgress: (line: string) => void, how: FormatHow): Promise<void> {
    const options = mkfs[fsType];
    if (options === undefined)
      throw new VolumeError("FilesystemUnsupported", "final", `no way is known to make ${fsType}`);
    const device = await this.probe(source); // once more: minutes may have passed since it was planned
    const rest = isUnfinished(device, how.begun) && device.contents === how.rest;
    const on = { kind: "Device", name: device.path };
    if (device.busy !== undefined) {
      const { busy, heldBy = [] } = device;
      throw new VolumeError("DeviceBusy", "transient", busy, { on, heldBy });
    }
    if (!device.empty && !rest) {
      const found = device.signature ?? "data without a signature";
      throw new VolumeError("DeviceNotEmpty", "final", `${device.path} is not empty: ${found}`);
    }
    const operation = { ...this.#operation, deadlineMs: this.#operation.formatDeadlineMs };
    const program = fsType === "swap" ? "mkswap" : `mkfs.${fsType}`;
    const file = findProgram(program);
    const written = writtenDevice(device, how.identity);
    const args = how.label === undefined ? options : [...options, "-L", how.label]; // each of them calls it so
    const { contents } = device;
    const request = {
      kind: "format",
      device: written,
      ...(contents !== undefined && { contents }),
      file,
      args,
    } as const;
    const result = await runProgram(this.#runner, request, operation, { onLine: onProgress, on });
    if (result.code === 0) return;
    const text = outputExcerpt(result.stderr || result.stdout);
    throw new VolumeError("FormatFailed", "final", `${program} ${device.path} ended with ${result.code}: ${text}`);
  }

  async mend(device: DeviceInfo, fsType: string, tell: (message: string) => void): Promise<void> {
    if (!isChecked(fsType)) return;
    const { path, identity } = device;
    const operation = { ...this.#operation, deadlineMs: this.#operation.formatDeadlineMs };
    const file = checker();
    if (file === undefined) return tell(`${path} is mounted unchecked: e2fsck is not installed where the agent runs`);
    const request = { kind: "check", device: writtenDevice(device, identity), file, args: checkArgs } as const;
    const atMostMs = checkDeadlines * operation.deadlineMs;
    const on = { kind: "Device", name: path };
    const options = { onLine: checkProgress(tell), writesWhileWell: true, atMostMs, on };
    const result = await runProgram(this.#runner, request, operation, options).catch((error) => {
      throw unfinishedCheck(path, error);
    });
    const said = judgeCheck(path, result);
    if (said !== undefined) tell(said);
  }

  async grow(path: string, fsType: string, point: string): Promise<void> {
    const [program, ...args] = growing(path, fsType, point);
    const operation = { ...this.#operation, deadlineMs: this.#operation.formatDeadlineMs };
    const result = await runProgram(this.#runner, { kind: "exec", file: findProgram(program), args }, operation);
    if (result.code === 0) return;
    const text = outputExcerpt(result.stderr || result.stdout);
    const message = `${program} of ${path} ended with ${result.code}: ${text}`;
    throw new VolumeError("FileSystemResizeFailed", "transient", message, { on: { kind: "Device", name: path } });
  }

  async wipe({ path, deviceNumber, identity }: DeviceInfo, contents: string): Promise<void> {
    const device = writtenDevice({ path, deviceNumber }, identity);
    const reply = await askChild(this.#runner, { kind: "wipe", device, digest: contents }, this.#operation);
    if (reply.ok) return;
    if (isKnown(reply.error)) throw errorOf(reply.error, { kind: "Device", name: path });
    throw new VolumeError("FormatFailed", "transient", `${path} cannot be emptied: ${reply.error.message}`);
  }

  async #askDevice(path: string): Promise<BlockProbe> {
    const reply = await askChild(this.#runner, { kind: "probe", path }, this.#operation);
    if (reply.ok) return reply.value;
    const { code, message } = reply.error;
    throw damageOf(path, "", code, message) ?? new VolumeError("SetUpFailed", "transient", `${path}: ${message}`);
  }

  async #signature(path: string): Promise<Pick<DeviceInfo, "signature" | "uuid" | "label">> {
    const result = await this.#run("blkid", ["-p", "-u", "filesystem,raid,crypto,other", "-o", "udev", path]);
    if (result.code === blkidNothing) return {};
    const { type, ...names } = parseBlkid(result.stdout);
    if (type !== undefined) return { signature: type, ...names };
    // 8: several signatures that contradict each other. Anything else: not known, hence not empty.
    return {
      signature: result.code === 8 ? "several signatures" : `something that blkid cannot name (exit ${result.code})`,
    };
  }

  #run(program: string, args: readonly string[]): Promise<ChildResult> {
    return runProgram(this.#runner, { kind: "exec", file: findProgram(program), args }, this.#operation);
  }
}

function attributesOf(deviceNumber: string, sizeBytes: number): DeviceAttributes {
  const identity = deviceIdentity(deviceNumber, sizeBytes, bootID());
  const lastingName = lastingNameOf(deviceNumber);
  const attached = attachedBy("/sys", deviceNumber);
  const beneath = devicesBeneath(deviceNumber, { sys: "/sys" }).map((device) => device.deviceNumber);
  return {
    sizeBytes,
    ...(identity !== undefined && { identity }),
    ...(lastingName !== undefined && { lastingName }),
    ...(beneath.length > 0 && { beneath }),
    ...(attached !== undefined && { attached }),
    ...(isMadeOfMemory("/sys", deviceNumber) && { endsWithBoot: true }),
  };
}

/** A node without it has always mounted what was there: it goes on doing so. (kubelet does, too) */
function checker(): string | undefined {
  try {
    return findProgram("e2fsck");
  } catch (error) {
    if (error instanceof VolumeError && error.reason === "ToolMissing") return undefined;
    throw error;
  }
}

function growing(path: string, fsType: string, point: string): readonly [program: string, ...args: string[]] {
  if (/^ext[234]$/.test(fsType)) return ["resize2fs", path];
  if (fsType === "xfs") return ["xfs_growfs", point];
  if (fsType === "btrfs") return ["btrfs", "filesystem", "resize", "max", point];
  throw new VolumeError("FilesystemUnsupported", "final", `no way is known to grow ${fsType}`);
}

function writtenDevice(device: Pick<DeviceInfo, "path" | "deviceNumber">, identity: string | undefined): WrittenDevice {
  const { path, deviceNumber } = device;
  return { path, deviceNumber, ...(identity === undefined ? {} : { identity }) };
}

/** Whether what is on the device can only be the rest of a file system that was begun there and not finished. */
function isUnfinished(device: DeviceInfo, begun: string | undefined): boolean {
  if (begun === undefined || device.identity !== begun) return false;
  return device.signature === undefined && device.busy === undefined;
}

/** What is made of a device that may have been pulled meanwhile: then nothing. */
function claimsIfThere(deviceNumber: string): BlockClaims {
  return unlessErrno(["ENOENT"], () => claimsOf(deviceNumber)) ?? { holders: [], partitions: [] };
}

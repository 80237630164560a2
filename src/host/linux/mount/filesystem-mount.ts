import { readSync } from "node:fs";
import { VolumeError } from "../../../errors.ts";
import type { FilesystemMount } from "../../ports/host-ports.ts";
import { damageOf } from "../device/file-system-check.ts";
import { FSCONFIG, FSMOUNT_CLOEXEC, FSOPEN_CLOEXEC, FSPICK } from "../syscall/constants.ts";
import { Descriptor } from "../syscall/descriptor.ts";
import { errnoOf } from "../syscall/errno.ts";
import type { Libc } from "../syscall/libc.ts";
import { attributeBits } from "./attributes.ts";
import { refuseStrangeMembers } from "./btrfs-members.ts";
import { errorsOption } from "./errors-option.ts";
import { refusedDevice } from "./refused-device.ts";
import { servedFailure, servedFileSystems } from "./served-file-systems.ts";

/** A new mount of a file system, not attached anywhere yet (fsopen, fsconfig, fsmount). */
export function createFilesystemMount(libc: Libc, request: FilesystemMount): Descriptor {
  const { fsType, device, options } = request;
  if (fsType !== "btrfs" || device === undefined) return create(libc, request);
  // What the device of a stranger says is not written by.
  if (!options.includes("ro")) createBtrfs(libc, { ...request, options: withoutWrites }, device)[Symbol.dispose]();
  return createBtrfs(libc, request, device);
}

const withoutWrites = ["ro", "rescue=nologreplay"];

function createBtrfs(libc: Libc, request: FilesystemMount, { deviceNumber }: { deviceNumber: string }): Descriptor {
  const mount = create(libc, request);
  try {
    refuseStrangeMembers("/sys", request.source, deviceNumber);
    return mount;
  } catch (error) {
    mount[Symbol.dispose]();
    throw error;
  }
}

function create(libc: Libc, request: FilesystemMount): Descriptor {
  using context = openContext(libc, request.fsType);
  const began = performance.now();
  const known = (error: unknown, log: string) =>
    servedFailure(request, error, log, performance.now() - began) ??
    damageOf(request.source, request.fsType, errnoOf(error), log);
  const set = () => {
    libc.fsconfig(context.fd, FSCONFIG.SET_STRING, "source", request.source);
    setOptions(libc, context, [...request.options, ...errorsOption(request), ...credentialOptions(request)]);
  };
  explained(context, set, known);
  const make = () => libc.fsconfig(context.fd, FSCONFIG.CMD_CREATE, null, null);
  explained(context, make, (error, log) => refusedDevice(request, errnoOf(error), log) ?? known(error, log));
  const { set: attributes } = attributeBits(request.attributes);
  return new Descriptor(explained(context, () => libc.fsmount(context.fd, FSMOUNT_CLOEXEC, attributes)));
}

/** Changes options of the file system that `mount` is in (fspick, fsconfig). */
export function reconfigureFilesystem(libc: Libc, mount: Descriptor, options: readonly string[]): void {
  using context = new Descriptor(libc.fspick(mount.fd, FSPICK.CLOEXEC | FSPICK.EMPTY_PATH));
  explained(context, () => {
    setOptions(libc, context, options);
    libc.fsconfig(context.fd, FSCONFIG.CMD_RECONFIGURE, null, null);
  });
}

function credentialOptions({ fsType, credentials }: FilesystemMount): readonly string[] {
  if (credentials === undefined) return [];
  const served = servedFileSystems[fsType];
  if (served === undefined) throw new Error(`nothing is known of how ${fsType} takes credentials`);
  return served.credentials(credentials);
}

function setOptions(libc: Libc, context: Descriptor, options: readonly string[]): void {
  for (const option of options) {
    const equals = option.indexOf("=");
    if (equals === -1) libc.fsconfig(context.fd, FSCONFIG.SET_FLAG, option, null);
    else libc.fsconfig(context.fd, FSCONFIG.SET_STRING, option.slice(0, equals), option.slice(equals + 1));
  }
}

function openContext(libc: Libc, fsType: string): Descriptor {
  try {
    return new Descriptor(libc.fsopen(fsType, FSOPEN_CLOEXEC));
  } catch (error) {
    if (errnoOf(error) !== "ENODEV") throw error;
    const other = fsType === "ceph" ? "client: FUSE" : "another fsType";
    const message = `the kernel has no file system ${fsType}: load its module on the node, or use ${other}`;
    throw new VolumeError("FilesystemUnsupported", "final", message, { cause: error });
  }
}

/** Adds what the kernel wrote into the context's log: "e tmpfs: Unknown parameter 'bogus'". */
function explained<T>(
  context: Descriptor,
  call: () => T,
  known: (error: unknown, log: string) => VolumeError | undefined = () => undefined,
): T {
  try {
    return call();
  } catch (error) {
    const log = readLog(context);
    const code = errnoOf(error);
    if (code === "EBUSY") {
      throw new VolumeError("DeviceBusy", "transient", `the device is in use: ${log || "EBUSY"}`, { cause: error });
    }
    const meaning = known(error, log);
    if (meaning !== undefined) throw meaning;
    if (code === "EINVAL") {
      const message = `the kernel refuses the options: ${log || "dmesg on the node shows which, or what else is wrong"}`;
      throw new VolumeError("OptionsRefused", "final", message, { cause: error });
    }
    throw log === "" || !(error instanceof Error) ? error : new Error(`${error.message}: ${log}`, { cause: error });
  }
}

function readLog(context: Descriptor): string {
  const lines: string[] = [];
  const buffer = Buffer.alloc(1024);
  try {
    for (let length = readSync(context.fd, buffer); length > 0; length = readSync(context.fd, buffer)) {
      lines.push(buffer.toString("utf8", 0, length).trim());
    }
  } catch (error) {
    if (errnoOf(error) !== "ENODATA") throw error; // ENODATA: no more messages
  }
  return lines.join("; ");
}

import { VolumeError } from "../../../src/errors.ts";
import type { FilesystemMount } from "../../../src/host/ports/host-ports.ts";
import type { MountAttributes, TargetPath } from "../../../src/host/ports/types.ts";
import type { Disk } from "../kernel/disk.ts";
import { codeOf } from "../kernel/errno.ts";
import type { Mount, Path } from "../kernel/mount.ts";
import type { HostDeps } from "./host-deps.ts";

/** Options that the simulated kernel takes for a file system that is mounted already, by their key. */
const changeable: { readonly [fsType: string]: readonly string[] } = {
  tmpfs: ["size", "mode", "noswap"],
  ext4: ["discard", "nodiscard", "commit", "lazytime", "errors", "barrier", "nobarrier"],
  xfs: ["discard", "nodiscard", "lazytime", "inode64"],
};

/** Options that it knows at all. */
const known: { readonly [fsType: string]: readonly string[] } = {
  ...changeable,
  ext4: [...(changeable["ext4"] ?? []), "data", "journal_checksum"],
  xfs: [...(changeable["xfs"] ?? []), "logbufs", "logbsize"],
};

/** Attaches a new mount of a file system: a new one in memory, or the one that is on the disk. */
export function attachFilesystem(
  deps: HostDeps,
  request: FilesystemMount,
  disk: Disk | undefined,
  place: () => Path,
): void {
  const { kernel } = deps.machine;
  const { fsType, source, options, attributes, target } = request;
  refuse(options, known[fsType] ?? []);
  const root = fsType === "tmpfs" ? kernel.memoryRoot("tmpfs", source, options) : rootOnDisk(deps, request, disk);
  if (disk?.filesystem !== undefined && !disk.mounted) disk.filesystem.options = options;
  kernel.attachNew(root, place, { attributes, maker: "agent", volume: deps.volumeAt(target.path) });
}

/** Attaches a private copy of a place, with its flags from the first instant. */
export function bindClone(
  deps: HostDeps,
  source: Path,
  place: () => Path,
  attributes: MountAttributes,
  target: TargetPath,
): void {
  const { kernel } = deps.machine;
  const identity = { device: source.dentry.superblock.device, root: source.dentry.path };
  kernel.attachNew(source.dentry, place, { attributes, maker: "agent", volume: deps.volumeAt(target.path, identity) });
}

/** No namespace is told of it: fsconfig(2) changes the file system, not a mount. @throws VolumeError OptionsRefused */
export function reconfigureFilesystem(deps: HostDeps, mount: Mount, options: readonly string[]): void {
  const { superblock } = mount;
  const before = new Set(superblock.options);
  refuse(
    options.filter((option) => !before.has(option)),
    changeable[superblock.fsType] ?? [],
  );
  // The mode of a tmpfs is that of its root directory when it is made; later the kernel takes it and does nothing.
  const heeded = options.filter((option) => superblock.fsType !== "tmpfs" || keyOf(option) !== "mode");
  const keys = new Set(heeded.map(keyOf));
  superblock.options = [...superblock.options.filter((option) => !keys.has(keyOf(option))), ...heeded];
  deps.machine.kernel.version++;
}

function rootOnDisk(deps: HostDeps, { fsType, source }: FilesystemMount, disk: Disk | undefined) {
  if (disk === undefined) throw new Error(`${source}: ENOENT`);
  if (disk.filesystem?.fsType !== fsType) throw new Error(`mount ${source}: EINVAL (wrong superblock)`);
  try {
    return deps.machine.kernel.diskRoot(disk);
  } catch (error) {
    if (codeOf(error) !== "EBUSY") throw error;
    throw new VolumeError("DeviceBusy", "transient", `the device is in use: ${disk.holder ?? "EBUSY"}`);
  }
}

function refuse(options: readonly string[], allowed: readonly string[]): void {
  const unknown = options.find((option) => !allowed.includes(keyOf(option)));
  if (unknown === undefined) return;
  throw new VolumeError("OptionsRefused", "final", `the kernel refuses the options: ${unknown}`);
}

function keyOf(option: string): string {
  return option.split("=", 1)[0] ?? option;
}

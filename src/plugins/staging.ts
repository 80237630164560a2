import { VolumeError } from "../errors.ts";
import type { FilesystemMount } from "../host/ports/host-ports.ts";
import {
  type ContentPlugin,
  type Layout,
  type StageContext,
  type Staged,
  stagingAttributes,
  type VolumeSpec,
} from "./api/volume-plugin.ts";

/** Mounts a file system on the staging path, unless one of an attempt before is there already. */
export async function stageFilesystem(
  context: StageContext,
  mount: Pick<FilesystemMount, "fsType" | "source" | "options" | "credentials" | "device">,
  readOnly = false,
  device: Pick<Staged, "found" | "deviceNumber" | "devicePath"> = {},
): Promise<Staged> {
  const target = context.stagingTarget;
  await context.record({ kind: "filesystem", path: target.path, ...device });
  if (context.stagingMount === undefined) {
    await context.mounter.makeTarget(target, "directory");
    await context.mounter.mountFilesystem({ ...mount, target, attributes: { ...stagingAttributes, readOnly } });
  } else if (!isVersionOf(context.stagingMount.fsType, mount.fsType)) refuseForeign(context, mount.fsType);
  const staged = await context.mounter.inspect({ root: "/", path: target.path });
  if (staged === undefined) throw new VolumeError("SetUpFailed", "transient", `${target.path} is not there any more`);
  return { kind: "filesystem", path: target.path, fileKind: "directory", identity: staged.identity, ...device };
}

/** @throws VolumeError ForeignMount if there is a file system of another type on the staging path */
export function refuseForeign({ stagingMount, stagingTarget }: StageContext, fsType: string): void {
  if (stagingMount === undefined || stagingMount.fsType === fsType) return;
  const message = `${stagingTarget.path} has a ${stagingMount.fsType} mounted that is not ours`;
  throw new VolumeError("ForeignMount", "final", message);
}

/** The name of a volume's file system in memory in the mount table: it tells it from those of other volumes. */
export function memorySource({ key }: VolumeSpec): string {
  return `nodevolume-${key}`;
}

/** How the mount table shows it. */
export function memoryFilesystem(
  spec: VolumeSpec,
  fsType: "tmpfs" | "hugetlbfs" = "tmpfs",
): NonNullable<Layout["filesystem"]> {
  return { types: [fsType], source: memorySource(spec), own: true };
}

const memoryMode = "mode=0755";

/** Of a volume that shows content from memory. */
export function memoryLayout(spec: VolumeSpec): Layout {
  return { options: [memoryMode], readOnly: true, devices: false, group: "write", filesystem: memoryFilesystem(spec) };
}

/** A tmpfs for content, which is not swapped where the kernel knows how: noswap is there since Linux 6.4. */
export async function stageInMemory(spec: VolumeSpec, context: StageContext): Promise<Staged> {
  const mount = { fsType: "tmpfs", source: memorySource(spec) };
  try {
    return await stageFilesystem(context, { ...mount, options: [memoryMode, "noswap"] });
  } catch (error) {
    if (!(error instanceof VolumeError) || error.reason !== "OptionsRefused") throw error;
    return stageFilesystem(context, { ...mount, options: [memoryMode] });
  }
}

/** Stages a place for the content and writes it there; nothing is touched if it cannot be shown. */
export async function withPayload(
  plugin: ContentPlugin,
  spec: VolumeSpec,
  context: StageContext,
  stage: () => Promise<Staged>,
): Promise<Staged> {
  if (context.content === undefined) throw new Error("a content volume is not staged before its content is known");
  const files = plugin.payload(spec, context.content, context.fsGroup);
  const place = await stage();
  await context.directories.writePayload(place.path, files, context.fsGroup);
  return place;
}

/** The kernel names a mount of type nfs by the version that was negotiated. */
function isVersionOf(shown: string, asked: string): boolean {
  return asked === "nfs" && shown === "nfs4";
}

/**
 * Makes the data directory of a volume.
 * @param fill what comes into it before it is shown
 * @param path of the part of it that is shown
 */
export async function stageDirectory(
  context: StageContext,
  mode: number,
  fill: () => Promise<void> = async () => {},
  path = context.dataPath,
): Promise<Staged> {
  await context.record({ kind: "directory", path });
  const directory = await context.directories.make(context.dataPath, mode);
  await context.record({ kind: "directory", path, directory });
  await fill();
  // A child that was taken over may have made it: neither a link of theirs nor what it leads to is shown.
  const made = await context.mounter.inspect({ root: "/", path, links: "refuse" });
  if (made === undefined) throw new VolumeError("SetUpFailed", "transient", `${path} is not there any more`);
  if (made.kind !== "directory") throw new VolumeError("ContentRefused", "final", `${path} is not a directory`);
  return { kind: "directory", path, fileKind: "directory", identity: made.identity, directory };
}

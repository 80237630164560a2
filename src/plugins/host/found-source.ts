import { VolumeError } from "../../errors.ts";
import { isBeneath, joinPath, mountIdentity, sameFilesystem } from "../../host/mount-table/mount-table.ts";
import type { MountEntry } from "../../host/mount-table/mountinfo.ts";
import type { SourceInfo } from "../../host/ports/host-ports.ts";
import { sourceDiffers } from "../api/source-differs.ts";
import type { FoundSource, StageContext } from "../api/volume-plugin.ts";

/** The node that the path is of, and what is on record. */
type Node = Pick<StageContext, "found" | "hostRoot" | "table">;

/**
 * What stands at a path of the host, if a volume may come from there. Whoever may write to a directory on that path, a
 * pod for example, can put something else there:
 * - a device node of any disk: only those in the node's /dev are taken for devices, and in devtmpfs, the kernel's own.
 * - a link, or a file of another kind, once the volume is set up: that is not followed until a person decides. In /dev
 *   only root makes links, and a disk gets another name there with a reset or when it is plugged in again: a device is
 *   followed by what links to it there, and what is on it decides whether it is used.
 *
 * @throws VolumeError SourceWrongType, SourceDiffers
 */
export function foundSource(path: string, info: SourceInfo, context: Node): FoundSource {
  const { kind, canonicalPath, deviceNumber, fsType } = info;
  const isDevice = kind === "blockDevice" || kind === "charDevice";
  const dev = nodeDev(context);
  if (isDevice && fsType !== "devtmpfs" && !isIn(dev, info)) {
    const message = `${path} is a ${kind} on ${fsType}, which anybody may have made who can write there: name the one in /dev`;
    throw new VolumeError("SourceWrongType", "final", message);
  }
  const now: FoundSource = { path: canonicalPath, kind, ...(deviceNumber !== undefined && { deviceNumber }) };
  const { found } = context;
  if (found === undefined || isSame(found, now)) return now;
  if (isDevice && found.kind === kind && dev !== undefined && isNamedIn(dev, path, context)) return now;
  const what = `${path} is ${text(now)} now, but was ${text(found)} when the volume was set up: it is not followed there`;
  throw sourceDiffers(what, "Put it back", { kind: "Path", name: path });
}

/** The mount that is the node's /dev: devtmpfs, or a tmpfs where the node is a container itself (kind, k3d). */
function nodeDev({ hostRoot, table }: Node): MountEntry | undefined {
  return table.at(joinPath(hostRoot, "dev"));
}

function isIn(dev: MountEntry | undefined, { canonicalPath, identity }: SourceInfo): boolean {
  return dev !== undefined && isBeneath(canonicalPath, dev.point) && sameFilesystem(identity, mountIdentity(dev));
}

/** Whether a path, links aside, stays in the mount of /dev: not in /dev/shm, where anybody may make links. */
function isNamedIn(dev: MountEntry, path: string, { hostRoot, table }: Node): boolean {
  return table.covering(joinPath(hostRoot, path.slice(1)))?.id === dev.id;
}

function isSame(a: FoundSource, b: FoundSource): boolean {
  return a.path === b.path && a.kind === b.kind && a.deviceNumber === b.deviceNumber;
}

function text({ path, kind, deviceNumber }: FoundSource): string {
  return deviceNumber === undefined ? `the ${kind} ${path}` : `the ${kind} ${path} (${deviceNumber})`;
}

import { VolumeError } from "../errors.ts";
import type { SourceInfo } from "../host/ports.ts";
import type { FoundSource, StageContext } from "./plugin.ts";

/**
 * What stands at a path of the host, if a volume may come from there. Whoever may write to a directory on that path, a
 * pod for example, can put something else there:
 * - a device node of any disk: only those that the kernel keeps in devtmpfs are taken for devices.
 * - a link, or a file of another kind, once the volume is set up: that is not followed until a person decides.
 *
 * @throws VolumeError SourceWrongType, SourceDiffers
 */
export function foundSource(path: string, info: SourceInfo, { found }: StageContext): FoundSource {
  const { kind, canonicalPath, deviceNumber, fsType } = info;
  if ((kind === "blockDevice" || kind === "charDevice") && fsType !== "devtmpfs") {
    const message = `${path} is a ${kind} on ${fsType}, which anybody may have made who can write there: name the one in /dev`;
    throw new VolumeError("SourceWrongType", "final", message);
  }
  const now: FoundSource = { path: canonicalPath, kind, ...(deviceNumber !== undefined && { deviceNumber }) };
  if (found === undefined || isSame(found, now)) return now;
  const message = `${path} is ${text(now)} now, but was ${text(found)} when the volume was set up: it is not followed there. Put it back, or delete the set and create it again`;
  throw new VolumeError("SourceDiffers", "final", message, { on: { kind: "Path", name: path } });
}

function isSame(a: FoundSource, b: FoundSource): boolean {
  return a.path === b.path && a.kind === b.kind && a.deviceNumber === b.deviceNumber;
}

function text({ path, kind, deviceNumber }: FoundSource): string {
  return deviceNumber === undefined ? `the ${kind} ${path}` : `the ${kind} ${path} (${deviceNumber})`;
}

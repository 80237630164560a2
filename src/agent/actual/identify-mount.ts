import {
  joinPath,
  type MountIdentity,
  type MountTable,
  mountIdentity,
  sameFilesystem,
  sameIdentity,
} from "../../host/mount-table/mount-table.ts";
import type { MountEntry } from "../../host/mount-table/mountinfo.ts";
import type { MountMatch } from "../model/actual-volume.ts";
import type { DesiredVolume } from "../model/desired.ts";
import { dataPath, hostSource, type Observation, type PlanSettings, stagingPath } from "../model/plan-input.ts";

/** Evidence for the comparison of a mount of unknown origin with a volume, beside the volume's spec. */
export interface MountMatchContext {
  readonly table: MountTable;
  readonly settings: PlanSettings;
  /** The result of the last look at the source, if there was one. */
  readonly observed: Observation | undefined;
}

/** PURE. Each source by what the mount table shows of it: a name, a directory, or a device. */
export function identifyMount(mount: MountEntry, desired: DesiredVolume, context: MountMatchContext): MountMatch {
  const { layout, spec } = desired;
  const { table, settings, observed } = context;
  if (layout.filesystem !== undefined) {
    const { types, source, own } = layout.filesystem;
    if (!types.includes(mount.fsType) || clean(mount.source) !== clean(source)) return "other";
    return own ? "own" : "same";
  }
  if (desired.type === "local" && (layout.hostPath === undefined || layout.opens === true)) {
    // The chosen disk, or the device built on it, is identified by the mount on the staging path. Others may have
    // mounted it, too.
    const staged = table.at(stagingPath(settings, spec));
    return staged !== undefined && sameIdentity(mount, mountIdentity(staged)) ? "same" : "other";
  }
  if (layout.hostPath === undefined) {
    const directory = dataPath(settings, spec);
    const { shownData } = layout;
    const data = table.identityOf(shownData === undefined ? directory : joinPath(directory, shownData));
    return data !== undefined && sameIdentity(mount, data) ? "own" : "other";
  }
  const source = observed?.source;
  const disk = desired.type === "local" && spec.volumeMode === "Filesystem" ? source?.deviceNumber : undefined;
  const identity: MountIdentity | undefined =
    disk !== undefined
      ? { device: disk, root: "/" }
      : (source?.identity ?? table.identityOf(hostSource(settings, layout.hostPath)));
  if (identity === undefined || !sameFilesystem(mount, identity)) return "other";
  return sameIdentity(mount, identity) ? "same" : "filesystem";
}

/** A server's export is named with or without a slash at its end. */
function clean(source: string): string {
  return source.length > 1 ? source.replace(/\/+$/, "") : source;
}

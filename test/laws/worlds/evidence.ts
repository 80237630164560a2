import { volumeKey } from "../../../src/agent/desired/volume-key.ts";
import type { Operation } from "../../../src/agent/model/operation.ts";
import type { TargetRecord, VolumeRecord } from "../../../src/agent/model/volume-record.ts";
import type { MountIdentity, MountTable } from "../../../src/host/mount-table/mount-table.ts";
import type { MountEntry } from "../../../src/host/mount-table/mountinfo.ts";
import { settings } from "./paths.ts";
import type { StagedVolume } from "./volumes.ts";

/**
 * What a journal and a mount table say, read here a second time and on purpose not with the planner's own code: a law
 * that asked the planner whose a mount is would believe whatever the planner believes.
 */

/**
 * An operation that takes something away; false for one that only adds or writes down. New kinds have to be entered.
 */
export function takesAway(operation: Operation): boolean {
  switch (operation.kind) {
    case "unpublish":
    case "unstage":
    case "forget":
      return true;
    case "publish":
      return operation.replaces !== undefined;
    case "stage":
    case "refresh":
    case "reconfigure":
    case "adopt":
    case "note":
    case "setAttributes":
    case "claim":
    case "retain":
    case "recover":
    case "republish":
    case "expand":
    case "observe":
      return false;
  }
}

/** The mount that an operation unmounts, if it unmounts one. */
export function unmounts(operation: Operation): { path: string; id: number } | undefined {
  switch (operation.kind) {
    case "unpublish":
      return operation.mountID === undefined ? undefined : { path: operation.path, id: operation.mountID };
    case "publish":
      return operation.replaces === undefined ? undefined : { path: operation.path, id: operation.replaces };
    case "unstage":
      if (operation.mountID === undefined) return undefined;
      return { path: stagingPathOf({ key: volumeKey(operation.volume) }), id: operation.mountID };
    default:
      return undefined;
  }
}

export function stagingPathOf({ key }: Pick<VolumeRecord, "key">): string {
  return `${settings.stateDir}/staging/${key}`;
}

/** Device numbers of file systems without a device are given out again: then the source column counts too. */
export function ofOneFilesystem(mount: Pick<MountEntry, "device" | "source">, identity: MountIdentity): boolean {
  if (mount.device !== identity.device) return false;
  return !mount.device.startsWith("0:") || identity.source === undefined || identity.source === mount.source;
}

export function shows(mount: MountEntry, identity: MountIdentity): boolean {
  return ofOneFilesystem(mount, identity) && mount.root === identity.root;
}

/** Whether the journal covers a mount: it shows what was bound there, or is the very mount that was made there. */
export function covers(target: TargetRecord, mount: MountEntry): boolean {
  if (shows(mount, target.identity)) return true;
  const same = mount.id === target.mountID || (mount.shared !== undefined && mount.shared === target.peerGroup);
  return same && ofOneFilesystem(mount, target.identity);
}

/** Whether a mount can be the one that the journal speaks of: also if it was not learned which one was made. */
export function mayCover(target: TargetRecord, mount: MountEntry): boolean {
  const unknown = target.mountID === undefined && target.peerGroup === undefined;
  return covers(target, mount) || (unknown && ofOneFilesystem(mount, target.identity));
}

/** Whether a mount shows a volume, by what it is and not by any record. */
export function isOf(mount: MountEntry, { identity, before, source }: StagedVolume): boolean {
  const known = identity.device.startsWith("0:") && mount.source === source && mount.root === identity.root;
  return known || shows(mount, identity) || shows(mount, before);
}

/** The only mount on a path, and what a lookup of the path ends in. */
export function soleMount(table: MountTable, path: string): MountEntry | undefined {
  const layers = table.entries.filter(({ point }) => point === path);
  const [only] = layers;
  return layers.length === 1 && only !== undefined && table.covering(path)?.id === only.id ? only : undefined;
}

/** Operations as text, for messages. */
export function told(operations: Iterable<Operation>): string {
  return JSON.stringify([...operations]);
}

import { quoted } from "../../api/values/printable.ts";
import {
  type MountIdentity,
  type MountTable,
  sameFilesystem,
  sameIdentity,
} from "../../host/mount-table/mount-table.ts";
import { type MountEntry, sameMount } from "../../host/mount-table/mountinfo.ts";
import { isSameProcess } from "../health/fuse-client-watch.ts";
import type { ActualStateInput } from "../model/actual-input.ts";
import type {
  ActualStage,
  ActualTarget,
  ActualVolume,
  MountedTarget,
  Problem,
  UnmountedTarget,
} from "../model/actual-volume.ts";
import type { DesiredMount, DesiredVolume } from "../model/desired.ts";
import type { MountPath } from "../model/identities.ts";
import { identityBeneath } from "../model/identity-beneath.ts";
import { attributeDifference, mountAttributes } from "../model/mount-attributes.ts";
import type { StageRecord, TargetRecord, VolumeRecord } from "../model/volume-record.ts";
import { ownershipDiffers } from "../ownership/fsgroup-policy.ts";
import { observeDriverStage, observePublished } from "./csi-volume.ts";
import { beneath, covered, differentMount, foreignMount, stacked } from "./mount-problems.ts";
import { observeNodeMount } from "./node-mount.ts";
import { observeUnread } from "./unread.ts";

/** PURE. The actual state of one volume, by table and record; nothing else is evidence (law L10). */
export function buildActualState(input: ActualStateInput): ActualVolume {
  const stage = observeStage(input);
  const targets = allPaths(input).map((path) => observeTarget(path, input, stage));
  const staged = stage.record !== undefined && stage.record.kind !== "path";
  const mounted = targets.some((target) => target.record !== undefined && target.truth !== "absent");
  // A staged volume counts as in use until its record is removed, which happens only with evidence of its release.
  const unrecorded = stage.record === undefined && stage.truth === "uncertain";
  const recorded = mounted || staged || unrecorded || input.record?.child !== undefined;
  const unread = input.unread && observeUnread({ ...input, unread: input.unread });
  const inUse = recorded || mayBeLostWhole(input, targets) || unread?.problem !== undefined;
  return { stage, targets, inUse, ...(unread && { unread }) };
}

function observeStage({ record, table, stagingPath, desired, ended, swap }: ActualStateInput): ActualStage {
  const stage = record?.stage;
  if (stage === undefined) {
    // A mount on our own staging path is a record of itself (safety rule 24): staging again takes it over.
    // With a table that cannot be read nobody knows whether there is one: the record may be of another life (law L2).
    if (table === undefined && record !== undefined) return { truth: "uncertain" };
    const mount = table?.at(stagingPath);
    return mount === undefined ? { truth: "absent" } : { truth: "uncertain", mount };
  }
  if (stage.csi !== undefined) return observeDriverStage(stage, table, { record, desired });
  if (swap === "off") return { truth: "absent", record: stage, ...(stage.ready ? { drift: "Missing" } : {}) };
  if (swap === "unknown") return { truth: "uncertain", record: stage };
  if (stage.kind !== "filesystem") return { truth: stage.ready ? "mounted" : "uncertain", record: stage };
  if (table === undefined) return { truth: "uncertain", record: stage };
  const layers = table.layers(stage.path);
  const mount = table.at(stage.path);
  if (layers.length === 0) return { truth: "absent", record: stage, ...(stage.ready ? { drift: "Missing" } : {}) };
  if (mount === undefined || layers.length > 1) {
    return { truth: "uncertain", record: stage, problem: covered(stage.path), drift: "Stacked" };
  }
  if (stage.identity !== undefined && !sameFilesystem(stage.identity, mount)) {
    return { truth: "uncertain", record: stage, problem: foreignMount(stage.path, mount), drift: "SourceDiffers" };
  }
  // Its users get errors for ever, so that it is staged again where it is desired.
  if (stage.client !== undefined && isSameProcess(stage.client, ended)) {
    return { truth: "uncertain", record: stage, mount, drift: "Stale" };
  }
  const flipped = isReadOnlyFlip(stage, mount, desired);
  return {
    truth: stage.ready ? "mounted" : "uncertain",
    record: stage,
    mount,
    ...(flipped ? { drift: "ReadOnlyFlip" } : {}),
  };
}

/** A file system that the kernel itself made read-only, after an error. */
function isReadOnlyFlip(stage: StageRecord, mount: MountEntry, desired: DesiredVolume | undefined): boolean {
  return mount.superOptions.includes("ro") && !stage.options.includes("ro") && desired?.layout.readOnly === false;
}

function allPaths({ desired, record }: ActualStateInput): MountPath[] {
  const recorded = record?.targets.map((target) => target.path) ?? [];
  return [...new Set([...(desired?.mounts.map((mount) => mount.path) ?? []), ...recorded])];
}

/** What the mount table shows of a target, by the record of it. */
type TargetCase =
  | { readonly kind: "unreadable" }
  | { readonly kind: "absent" }
  | { readonly kind: "moved"; readonly ours: MountEntry; readonly foreign?: MountEntry | undefined }
  | { readonly kind: "unrecorded"; readonly layers: readonly MountEntry[]; readonly top: MountEntry | undefined }
  | { readonly kind: "replaced"; readonly mayBeThere: boolean; readonly foreign: MountEntry | undefined }
  | { readonly kind: "stacked"; readonly ours: MountEntry; readonly top: MountEntry | undefined }
  | { readonly kind: "mounted"; readonly ours: MountEntry; readonly record: TargetRecord; readonly table: MountTable };

/**
 * Which case a target is, by the mounts on its path and whether one of them is ours:
 *
 *   mounts    record    ours                            case
 *   unknown   any       -                               unreadable
 *   none      any       -                               moved, if ours is elsewhere; else absent
 *   some      none      -                               unrecorded
 *   some      there     none of them                    moved, if ours is elsewhere; else replaced
 *   some      there     beneath or above another one    stacked
 *   one       there     that one                        mounted
 */
function caseOf(path: MountPath, record: TargetRecord | undefined, input: ActualStateInput): TargetCase {
  const { table } = input;
  if (table === undefined) return { kind: "unreadable" };
  const layers = table.layers(path);
  const top = table.at(path);
  const elsewhere = record && input.record && movedMount(table, record, input.record);
  if (layers.length === 0) return elsewhere === undefined ? { kind: "absent" } : { kind: "moved", ours: elsewhere };
  if (record === undefined) return { kind: "unrecorded", layers, top };
  const ours = layers.findLast((entry) => isOwnMount(entry, record));
  if (ours === undefined) {
    const foreign = top ?? layers[0];
    if (elsewhere !== undefined) return { kind: "moved", ours: elsewhere, foreign };
    return { kind: "replaced", mayBeThere: layers.some((entry) => mayBeOurs(entry, record)), foreign };
  }
  if (ours !== top || layers.length > 1) return { kind: "stacked", ours, top };
  return { kind: "mounted", ours, record, table };
}

/** A case without what any target has. */
type Seen<T extends ActualTarget> = Omit<T, "path" | "name" | "desired" | "record">;

function observeTarget(path: MountPath, input: ActualStateInput, stage: ActualStage): ActualTarget {
  const desired = input.desired?.mounts.find((mount) => mount.path === path);
  const record = input.record?.targets.find((target) => target.path === path);
  const name = desired?.name ?? record?.name ?? "";
  const target = { path, name, ...(desired && { desired }), ...(record && { record }) };
  const found = caseOf(path, record, input);
  switch (found.kind) {
    case "unreadable":
      return { ...target, truth: "uncertain" };
    case "absent":
      return { ...target, ...absentTarget(desired, record) };
    case "moved":
      return { ...target, ...movedTarget(path, found.ours, found.foreign) };
    case "unrecorded":
      return { ...target, ...unrecordedTarget(path, input, found.layers, found.top) };
    case "replaced":
      return { ...target, ...replacedTarget(path, found.mayBeThere, found.foreign) };
    case "stacked":
      return { ...target, ...stackedTarget(path, found.ours, found.top) };
    case "mounted":
      return { ...target, ...mountedTarget(found, desired, input, stage) };
  }
}

function absentTarget(desired: DesiredMount | undefined, record: TargetRecord | undefined): Seen<UnmountedTarget> {
  const isMissing = desired !== undefined && record?.mountID !== undefined;
  return { truth: "absent", ...(isMissing && { drift: "Missing" }) };
}

/** Our mount is at another path, and perhaps another mount is at this one. */
function movedTarget(path: MountPath, ours: MountEntry, foreign: MountEntry | undefined): Seen<UnmountedTarget> {
  const drift = foreign === undefined ? "Missing" : "SourceDiffers";
  return { truth: "uncertain", ours, problem: targetMoved(path, ours), drift, ...(foreign && { foreign }) };
}

/** None of the mounts is ours for all that is known. @param mayBeThere whether one may be, as too little is known */
function replacedTarget(path: MountPath, mayBeThere: boolean, foreign: MountEntry | undefined): Seen<UnmountedTarget> {
  const problem = foreignMount(path, foreign);
  return { truth: mayBeThere ? "uncertain" : "absent", problem, drift: "SourceDiffers", ...(foreign && { foreign }) };
}

/** Our mount covers another one, or is covered. */
function stackedTarget(path: MountPath, ours: MountEntry, top: MountEntry | undefined): Seen<UnmountedTarget> {
  const problem = top === undefined ? covered(path) : top === ours ? beneath(path) : stacked(path);
  const foreign = top !== undefined && top !== ours ? { foreign: top } : {};
  return { truth: "uncertain", ours, problem, drift: "Stacked", ...foreign };
}

/** Our mount is there alone: what it shows is compared with the record, the spec and the node's copy of it. */
function mountedTarget(
  { ours, record, table }: Extract<TargetCase, { kind: "mounted" }>,
  desired: DesiredMount | undefined,
  input: ActualStateInput,
  stage: ActualStage,
): Seen<MountedTarget> {
  const csi = stage.record?.csi !== undefined;
  const source = csi ? undefined : identityBeneath(stage.record?.identity, (desired ?? record).subPath);
  const bound = compare(ours, record, desired, source);
  const again = input.desired?.layout.csi?.requiresRepublish === true;
  const published = csi ? observePublished(record, desired?.attributes.readOnly, table, again) : undefined;
  const drift = bound.drift ?? published?.drift;
  const outdated = bound.outdated || published?.outdated === true;
  const owned = !desired || !input.desired || !ownershipDiffers(desired, input.desired, input);
  const differs = owned ? {} : { ownershipDiffers: true };
  const compared = { ...bound, ...published, ...differs, outdated, ...(drift && { drift }) };
  return { truth: "mounted", ours, ...compared, ...observeNodeMount(ours, record, desired, input, compared.drift) };
}

/** A mount that no record of ours covers: an observed volume compares it, any other keeps away from it. */
function unrecordedTarget(
  path: MountPath,
  { desired, identifyMount }: ActualStateInput,
  layers: readonly MountEntry[],
  top: MountEntry | undefined,
): Seen<MountedTarget> | Seen<UnmountedTarget> {
  const foreign = top ?? layers[0];
  const like = foreign && identifyMount(foreign);
  const observed = desired?.mode === "Observe";
  if (observed && top !== undefined && (like === "same" || like === "own")) {
    const wanted = desired?.adopt === "IfSame" ? desired.mounts.find((mount) => mount.path === path) : undefined;
    const differs = wanted !== undefined && attributeDifference(mountAttributes(top), wanted.attributes).length > 0;
    // Without being taken over it would keep its flags.
    return { truth: "mounted", outdated: false, attributesDiffer: differs, ...(differs && { foreign: top }) };
  }
  const single = observed ? differentMount(path, foreign) : foreignMount(path, foreign, desired?.adopt === "IfSame");
  const problem = top === undefined ? covered(path) : layers.length > 1 ? stacked(path) : single;
  return { truth: "absent", problem, ...(foreign && { foreign }), ...(like && { mountMatch: like }) };
}

/** Whether there is no record of a volume that may have been mounted, and something may be it for all that is known. */
function mayBeLostWhole(input: ActualStateInput, targets: readonly ActualTarget[]): boolean {
  const { record, desired, table, mayHaveLost } = input;
  if (record !== undefined || desired?.mode !== "Manage" || !desired.granted) return false;
  const staged = mayHaveLost && desired.layout.csi !== undefined;
  return table === undefined || staged || targets.some((target) => mayBeLost(target, mayHaveLost));
}

/**
 * A mount that may have been made by us for this volume, whatever became of the record of it. Somebody else's may show
 * the same; while no record is lost it is theirs.
 */
export function mayBeLost({ foreign, mountMatch }: ActualTarget, mayHaveLost: boolean): boolean {
  if (foreign === undefined || mountMatch === undefined) return false;
  return mountMatch === "own" || (mayHaveLost && mountMatch !== "other");
}

function compare(
  ours: MountEntry,
  record: TargetRecord,
  desired: DesiredMount | undefined,
  source: MountIdentity | undefined,
): Pick<MountedTarget, "outdated" | "attributesDiffer" | "drift"> {
  // The source was removed (//deleted) or renamed beneath the mount, or was staged anew since.
  const moved = !sameIdentity(ours, record.identity);
  const outdated = moved || (source !== undefined && !sameIdentity(record.identity, source));
  const shown = mountAttributes(ours);
  const attributesDiffer = desired !== undefined && attributeDifference(shown, desired.attributes).length > 0;
  const drifted = attributesDiffer && attributeDifference(shown, record.attributes).length > 0;
  const drift = moved ? "SourceDiffers" : drifted ? "OptionsDiffer" : undefined;
  return { outdated, attributesDiffer, ...(drift === undefined ? {} : { drift }) };
}

/** By what it shows, or, if its source was renamed or removed since, by its file system and its id or peer group. */
export function isOwnMount(entry: MountEntry, record: TargetRecord): boolean {
  if (sameIdentity(entry, record.identity)) return true;
  if (!sameFilesystem(entry, record.identity)) return false;
  if (sameMount(entry, { id: record.mountID, uniqueID: record.uniqueID })) return true;
  return record.peerGroup !== undefined && [entry.shared, entry.master].includes(record.peerGroup);
}

/** Whether it was not learned before a crash which mount is ours, and the source may have been renamed since. */
function mayBeOurs(entry: MountEntry, { identity, mountID, peerGroup }: TargetRecord): boolean {
  return mountID === undefined && peerGroup === undefined && sameFilesystem(entry, identity);
}

/**
 * PURE. Our mount of a target where it is now, if a directory above it was renamed: the mount goes along, and its path
 * in the table with it. Known by its id, its peer group and by what it shows, all three: a peer group has whatever
 * others have bound of it, an id is used again, and in the namespace of another run of the agent it is that of another
 * mount.
 */
export function movedMount(table: MountTable, target: TargetRecord, volume: VolumeRecord): MountEntry | undefined {
  const entry = target.mountID === undefined ? undefined : table.byID(target.mountID);
  if (entry === undefined || entry.shared !== target.peerGroup) return undefined;
  if (!sameMount(entry, { id: target.mountID, uniqueID: target.uniqueID })) return undefined;
  const isTarget = volume.targets.some(({ path }) => path === entry.point);
  return !isTarget && sameIdentity(entry, target.identity) ? entry : undefined;
}

/** PURE. The problem of a target whose parent directory was renamed, so that our mount is at another path now. */
function targetMoved(path: string, { point }: MountEntry): Problem {
  return {
    reason: "TargetMoved",
    message: `the mount on ${path} is now at ${quoted(point)}: a directory above it was renamed. Rename it back`,
    on: { kind: "Mount", name: point },
  };
}

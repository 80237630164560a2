import type { DesiredMount, DesiredVolume } from "../model/desired.ts";
import type { MountPath } from "../model/identities.ts";
import type { PlanSettings } from "../model/plan-input.ts";
import type { CSIRecord, Owned, TargetRecord, VolumeRecord } from "../model/volume-record.ts";

/** Whom the files of a volume belong to, and how they are labelled: one group and label for all its mounts. Pure. */

/** The part of a volume's spec that decides the group of its files. */
export type Wanted = Pick<DesiredVolume, "layout" | "mounts">;
/** The part of a volume's record that decides the group of its files; undefined if there is no record. */
export type KnownRecord = Pick<VolumeRecord, "stage" | "targets"> | undefined;

/** The group that is passed to a driver in NodeStageVolume and NodePublishVolume, by the record. */
export type ToldOwnership = Pick<CSIRecord, "takesGroup" | "mountGroup" | "seLinuxLabel">;

/**
 * The fsGroup of the volume: the one that was applied, as long as a mount asks for it; otherwise the first one that a
 * mount asks for. A driver that applies it itself gets it only if that takes the volume from no consumer. Undefined:
 * none.
 */
export function fsGroupFor(desired: Wanted, record: KnownRecord): number | undefined {
  const asked = desired.mounts.flatMap(({ fsGroup }) => fsGroup ?? []);
  const { takesGroup, mountGroup } = record?.stage?.csi ?? {};
  const given = appliedFSGroups(desired, record);
  const kept = asked.find((group) => given.includes(group));
  if (kept !== undefined) return kept;
  const [next] = asked;
  return takesGroup !== true || othersThan(desired, record, "fsGroup", next).length === 0 ? next : mountGroup;
}

/** Groups that its files were given to, as far as the record says. */
function appliedFSGroups({ layout }: Wanted, record: KnownRecord): readonly (number | undefined)[] {
  const { takesGroup, mountGroup } = record?.stage?.csi ?? {};
  if (takesGroup === true) return [mountGroup];
  if (layout.group === "write") return [record?.stage?.fsGroup];
  return record?.targets.map((target) => ownedOf(target).fsGroup) ?? [];
}

/** Whom the files that a target shows were given to. */
export function ownedOf({ published, owned }: TargetRecord): Owned {
  return published ?? owned ?? {};
}

/**
 * The group that content is to be written for. Nothing is taken back when nobody asks any more; and while a mount is on
 * its way out, it keeps what it was mounted with.
 */
export function fsGroupToWrite(desired: Wanted, record: KnownRecord): number | undefined {
  if (desired.layout.group !== "write") return undefined;
  const has = record?.stage?.fsGroup;
  const group = fsGroupFor(desired, record) ?? has;
  return has === undefined || leavingOf(desired, record).length === 0 ? group : has;
}

/** Targets on record that no mount asks for any more. The old path of one that has moved goes with that. */
function leavingOf({ mounts }: Wanted, record: KnownRecord): readonly TargetRecord[] {
  return (record?.targets ?? []).filter((target) => !mounts.some((mount) => isFor(mount, target)));
}

function isFor(mount: DesiredMount, { path, name }: TargetRecord): boolean {
  return mount.path === path || mount.name === name;
}

/** The label in the same way, but that a volume which nobody wants one of any more goes without it. */
export function labelOf(desired: Wanted, record: KnownRecord, settings: PlanSettings): string | undefined {
  if (!takesLabels(desired, settings)) return undefined;
  const asked = desired.mounts.flatMap(({ seLinuxLabel }) => seLinuxLabel ?? []);
  const given = record?.stage?.csi?.seLinuxLabel;
  if (given !== undefined && asked.includes(given)) return given;
  const [next] = asked;
  return othersThan(desired, record, "seLinuxLabel", next).length === 0 ? next : given;
}

/** Whether mounts of the volume get the label that they ask for: with SELinux, and a driver that passes it on. */
export function takesLabels({ layout }: Wanted, { seLinux }: PlanSettings): boolean {
  return seLinux === true && layout.csi?.seLinuxMount === true;
}

/**
 * The targets on record whose mounts do not ask for this group or label. To stage the volume anew for it would take
 * them down, and what is mounted stays (safety rule 15).
 */
export function othersThan(
  { mounts }: Wanted,
  record: KnownRecord,
  key: "fsGroup" | "seLinuxLabel",
  value: number | string | undefined,
): readonly TargetRecord[] {
  return (record?.targets ?? []).filter(({ path, name }) => {
    const mount = mounts.find((one) => one.path === path) ?? mounts.find((one) => one.name === name);
    return mount?.[key] !== value;
  });
}

/** The group that is passed to the driver in the next NodeStageVolume. */
export function toldOwnership(
  desired: Wanted,
  record: KnownRecord,
  settings: PlanSettings,
  { volumeMountGroup }: { readonly volumeMountGroup: boolean },
): ToldOwnership {
  const group = volumeMountGroup ? fsGroupFor(desired, record) : undefined;
  const label = labelOf(desired, record, settings);
  return {
    ...(volumeMountGroup && { takesGroup: true }),
    ...(group !== undefined && { mountGroup: group }),
    ...(label !== undefined && { seLinuxLabel: label }),
  };
}

/** Whether the driver has to stage the volume anew for another group or label: CSI has no call that changes them. */
export function mustStageForOwnership(desired: Wanted, record: KnownRecord, settings: PlanSettings): boolean {
  const { takesGroup, mountGroup, seLinuxLabel } = record?.stage?.csi ?? {};
  const group = fsGroupFor(desired, record);
  if (takesGroup === true && group !== undefined && group !== mountGroup) return true;
  return labelOf(desired, record, settings) !== seLinuxLabel;
}

/** What is to become of the group of the files that a mount shows. */
export interface FSGroupPlan {
  /** The group that the mount asks for; undefined: none. */
  readonly want: number | undefined;
  /** The group that the agent gave them to, by the record; undefined: none. */
  readonly have: number | undefined;
  /** Whether the mount lacks the group that it asks for. It is out of sync then, even if a change is blocked. */
  readonly differs: boolean;
  /**
   * - walk: the agent gives all files to the group `want` before the mount may be used.
   * - wait: the content is first written anew for the group `want`.
   * - none: the files stay as they are: they have the group, the driver gives them to it, or nobody may.
   */
  readonly action: "walk" | "wait" | "none";
}

/**
 * PURE. What is to become of the group of the files that a mount shows. What a mount only reads stays as it is
 * (behaviour 107), but for what every mount of it only reads.
 * @param when in which case the agent gives the files to the group: if they do not have it, by the record
 *   ("differs"); in any case, as the caller knows more than the record ("always"); or only if they have it, as the
 *   driver has written other files since ("has", behaviour 78): any other group is for a publish to give, which waits
 *   for it
 */
export function fsGroupPlan(
  mount: DesiredMount,
  desired: Wanted,
  record: KnownRecord,
  when: "differs" | "always" | "has" = "differs",
): FSGroupPlan {
  const { fsGroup: want, path } = mount;
  const have = fsGroupAt(path, record);
  if (want === undefined) return { want, have, differs: false, action: "none" };
  const differs = fsGroupDiffers(mount, desired, record, have);
  const isDue =
    when === "has" ? want === have : isGivenByAgent(mount, desired, record) && (differs || when === "always");
  if (isDue && want === fsGroupFor(desired, record)) return { want, have, differs, action: "walk" };
  return { want, have, differs, action: differs && desired.layout.group === "write" ? "wait" : "none" };
}

/** Whether the agent gives files to the group of a mount, and no driver and no plugin does. */
function isGivenByAgent(mount: DesiredMount, desired: Wanted, record: KnownRecord): boolean {
  const { csi, group } = desired.layout;
  const gives = csi?.supportsFSGroup === true ? record?.stage?.csi?.takesGroup !== true : group === "walk";
  return gives && !isReadOnlyBeside(mount, desired);
}

/** Whether the volume is shown read-only to this mount alone, perhaps: its files may be written to by another. */
function isReadOnlyBeside({ attributes }: DesiredMount, { layout }: Wanted): boolean {
  return attributes.readOnly && (layout.csi !== undefined || !layout.readOnly);
}

/** The record before files are given to a group. Targets with another group lose that: their files are the same. */
export function withoutOtherFSGroups(record: VolumeRecord, group: number): VolumeRecord {
  const isStale = (target: TargetRecord) => ![undefined, group].includes(ownedOf(target).fsGroup);
  if (!record.targets.some(isStale)) return record;
  const targets = record.targets.map((target) => {
    if (!isStale(target)) return target;
    const { owned: _theirs, published, ...rest } = target;
    if (published === undefined) return rest;
    const { fsGroup: _another, ...without } = published;
    return { ...rest, published: without };
  });
  return { ...record, targets };
}

function fsGroupAt(path: MountPath, record: KnownRecord): number | undefined {
  const target = record?.targets.find((one) => one.path === path);
  return target && ownedOf(target).fsGroup;
}

/** Whether a mount lacks the group or label that its spec asks for: it is out of sync then, even if blocked. */
export function ownershipDiffers(
  mount: DesiredMount,
  desired: Wanted,
  { record, settings }: { readonly record: KnownRecord; readonly settings: PlanSettings },
): boolean {
  const { seLinuxLabel } = mount;
  const asksForLabel = seLinuxLabel !== undefined && takesLabels(desired, settings);
  if (asksForLabel && seLinuxLabel !== record?.stage?.csi?.seLinuxLabel) return true;
  return fsGroupPlan(mount, desired, record).differs;
}

function fsGroupDiffers(mount: DesiredMount, desired: Wanted, record: KnownRecord, have: number | undefined): boolean {
  const { takesGroup, mountGroup } = record?.stage?.csi ?? {};
  if (takesGroup === true) return mount.fsGroup !== mountGroup;
  const { csi, group } = desired.layout;
  if (group === "write") return mount.fsGroup !== record?.stage?.fsGroup;
  if (csi === undefined ? group === undefined : csi.supportsFSGroup === false) return false;
  return !isReadOnlyBeside(mount, desired) && have !== mount.fsGroup;
}

import type { DesiredMount, DesiredVolume } from "../desired-volume.ts";
import type { PlanSettings } from "../plan-input.ts";
import type { CSIRecord, VolumeRecord } from "../record.ts";
import type { Problem, VolumeView } from "../view.ts";

/** Whom the files of a CSI volume belong to, and how they are labelled: one group and one label for all its mounts. Pure. */

type Wanted = Pick<DesiredVolume, "layout" | "mounts">;
type Known = Pick<VolumeRecord, "stage" | "targets"> | undefined;

/** What a driver is told when it stages and publishes, as the record has it. */
export type ToldOwnership = Pick<CSIRecord, "takesGroup" | "mountGroup" | "seLinuxLabel">;

/**
 * The group that the volume has or is to have: the one it was given to, as long as a mount asks for that; else the first that
 * one asks for. Undefined: nobody asks, and the files stay as they are.
 */
export function groupOf({ mounts }: Wanted, record: Known): number | undefined {
  const asked = mounts.flatMap(({ fsGroup }) => fsGroup ?? []);
  const { takesGroup, mountGroup } = record?.stage?.csi ?? {};
  const given = takesGroup === true ? [mountGroup] : (record?.targets.map(({ published }) => published?.fsGroup) ?? []);
  return asked.find((group) => given.includes(group)) ?? asked[0];
}

/** The label in the same way, but that a volume which nobody wants one of any more goes without it. */
export function labelOf({ layout, mounts }: Wanted, record: Known, { seLinux }: PlanSettings): string | undefined {
  if (seLinux !== true || layout.csi?.seLinuxMount !== true) return undefined;
  const asked = mounts.flatMap(({ seLinuxLabel }) => seLinuxLabel ?? []);
  const given = record?.stage?.csi?.seLinuxLabel;
  return asked.find((label) => label === given) ?? asked[0];
}

/** What the driver is told when the volume is staged now. */
export function toldOwnership(
  desired: Wanted,
  record: Known,
  settings: PlanSettings,
  { volumeMountGroup }: { readonly volumeMountGroup: boolean },
): ToldOwnership {
  const group = volumeMountGroup ? groupOf(desired, record) : undefined;
  const label = labelOf(desired, record, settings);
  return {
    ...(volumeMountGroup && { takesGroup: true }),
    ...(group !== undefined && { mountGroup: group }),
    ...(label !== undefined && { seLinuxLabel: label }),
  };
}

/** Whether the driver has to stage the volume anew, because it was told another group or label: CSI has no call that changes them. */
export function mustStageForOwnership(desired: Wanted, record: Known, settings: PlanSettings): boolean {
  const { takesGroup, mountGroup, seLinuxLabel } = record?.stage?.csi ?? {};
  const group = groupOf(desired, record);
  if (takesGroup === true && group !== undefined && group !== mountGroup) return true;
  return labelOf(desired, record, settings) !== seLinuxLabel;
}

/**
 * The group that the agent has to give what is published for a mount, before it may be used; undefined if there is none to give, it
 * was done, or the driver does it. What is published read-only stays as it is (behaviour 107).
 */
export function groupDue(mount: DesiredMount, desired: Wanted, record: Known): number | undefined {
  const { fsGroup, path, attributes } = mount;
  if (fsGroup === undefined || attributes.readOnly || desired.layout.csi?.supportsFSGroup !== true) return undefined;
  if (record?.stage?.csi?.takesGroup === true || fsGroup !== groupOf(desired, record)) return undefined;
  const published = record?.targets.find((target) => target.path === path)?.published;
  return published?.fsGroup === fsGroup ? undefined : fsGroup;
}

/** Whether a mount that is there has not the group or the label that it asks for; it is not as wanted, whoever stands in the way. */
export function ownershipDiffers(mount: DesiredMount, desired: Wanted, record: Known): boolean {
  const { fsGroup, seLinuxLabel } = mount;
  const told: ToldOwnership = record?.stage?.csi ?? {};
  if (seLinuxLabel !== undefined && told.seLinuxLabel !== undefined && seLinuxLabel !== told.seLinuxLabel) return true;
  if (fsGroup === undefined) return false;
  if (told.takesGroup === true) return fsGroup !== told.mountGroup;
  const { csi } = desired.layout;
  if (mount.attributes.readOnly || csi === undefined || csi.supportsFSGroup === false) return false;
  return record?.targets.find(({ path }) => path === mount.path)?.published?.fsGroup !== fsGroup;
}

/** Why a mount waits whose group or label is not the volume's: another mount has it, or has not left yet (safety rule 18). */
export function ownershipProblem(
  mount: DesiredMount,
  desired: Wanted,
  { record, view, settings }: { record: Known; view: Pick<VolumeView, "targets">; settings: PlanSettings },
): Problem | undefined {
  const label = labelOf(desired, record, settings);
  if (label !== undefined && mount.seLinuxLabel !== undefined && mount.seLinuxLabel !== label) {
    return conflict(
      "SELinuxContextConflict",
      `is mounted with the label ${label}`,
      holderOf(desired, "seLinuxLabel", label),
    );
  }
  const { fsGroup } = mount;
  if (isUnknownToGrant(mount, desired, record)) return grantOutdated;
  const changes = desired.layout.csi?.supportsFSGroup === true || record?.stage?.csi?.takesGroup === true;
  if (fsGroup === undefined || !changes) return undefined;
  const group = groupOf(desired, record);
  if (group !== undefined && fsGroup !== group) {
    return conflict("FsGroupConflict", `belongs to group ${group}`, holderOf(desired, "fsGroup", group));
  }
  // The old path of this very mount goes only when the new one is there.
  const leaving = view.targets.find(({ desired: wanted, truth, record: of, name }) => {
    const given = of?.published?.fsGroup;
    return (
      name !== mount.name && wanted === undefined && truth !== "absent" && given !== undefined && given !== fsGroup
    );
  });
  if (leaving === undefined) return undefined;
  return conflict("FsGroupConflict", `belongs to group ${leaving.record?.published?.fsGroup}`, leaving.path);
}

/** Whether nothing says if the group may be given: the grant is of a controller that did not write that yet. */
function isUnknownToGrant({ fsGroup, attributes }: DesiredMount, { layout }: Wanted, record: Known): boolean {
  if (fsGroup === undefined || attributes.readOnly || layout.csi === undefined) return false;
  return layout.csi.supportsFSGroup === undefined && record?.stage?.csi?.takesGroup !== true;
}

const grantOutdated: Problem = {
  reason: "GrantOutdated",
  message:
    "the grant is of before fsGroup and does not say whether the driver lets files be given to a group: take the node out of the set and back in, so that the volume is granted anew",
};

function holderOf({ mounts }: Wanted, key: "fsGroup" | "seLinuxLabel", value: number | string): string {
  return mounts.find((mount) => mount[key] === value)?.path ?? "";
}

function conflict(reason: "FsGroupConflict" | "SELinuxContextConflict", what: string, holder: string): Problem {
  const message = `the volume ${what} on this node, as ${holder} asks for: ask for the same, or wait until that is gone`;
  return { reason, message, on: { kind: "Mount", name: holder } };
}

import type { ActualVolume, Problem } from "../model/actual-volume.ts";
import type { DesiredMount } from "../model/desired.ts";
import type { PlanSettings } from "../model/plan-input.ts";
import {
  fsGroupFor,
  type KnownRecord,
  labelOf,
  othersThan,
  ownedOf,
  takesLabels,
  type Wanted,
} from "../ownership/fsgroup-policy.ts";

/**
 * PURE. Why a mount waits whose group or label is not the volume's: another mount has it, or has not left yet (safety
 * rule 18). Undefined if it need not.
 */
export function ownershipProblem(
  mount: DesiredMount,
  desired: Wanted,
  {
    record,
    actualState,
    settings,
  }: {
    readonly record: KnownRecord;
    readonly actualState: Pick<ActualVolume, "targets">;
    readonly settings: PlanSettings;
  },
): Problem | undefined {
  const { fsGroup, seLinuxLabel } = mount;
  const label = labelOf(desired, record, settings);
  if (seLinuxLabel !== undefined && seLinuxLabel !== label && takesLabels(desired, settings)) {
    const what = label === undefined ? "is mounted without a label" : `is mounted with the label ${label}`;
    return conflict("SELinuxContextConflict", what, holderOf(mount, desired, record, "seLinuxLabel", label));
  }
  if (isUnknownToGrant(mount, desired, record)) return grantOutdated;
  const { csi, group: kind } = desired.layout;
  const changes = csi?.supportsFSGroup === true || record?.stage?.csi?.takesGroup === true || kind !== undefined;
  if (fsGroup === undefined || !changes) return undefined;
  const group = fsGroupFor(desired, record);
  if (fsGroup !== group) {
    const what = group === undefined ? "is mounted for no group" : `belongs to group ${group}`;
    return conflict("FsGroupConflict", what, holderOf(mount, desired, record, "fsGroup", group));
  }
  // The old path of a mount goes only when its new one is there: it has the volume as that mount would have it at its
  // old path.
  for (const { desired: wanted, truth, record: of, name, path } of actualState.targets) {
    const given = kind === "write" ? record?.stage?.fsGroup : of && ownedOf(of).fsGroup;
    const left = wanted === undefined && !desired.mounts.some((one) => one.name === name);
    if (!left || truth === "absent" || given === undefined || given === fsGroup) continue;
    return conflict("FsGroupConflict", `belongs to group ${given}`, path);
  }
  return undefined;
}

/** Whether nothing says if the group may be given: the grant is of a controller that did not write that yet. */
function isUnknownToGrant({ fsGroup, attributes }: DesiredMount, { layout }: Wanted, record: KnownRecord): boolean {
  if (fsGroup === undefined || attributes.readOnly || layout.csi === undefined) return false;
  return layout.csi.supportsFSGroup === undefined && record?.stage?.csi?.takesGroup !== true;
}

const grantOutdated: Problem = {
  reason: "GrantOutdated",
  message:
    "the grant is older than fsGroup, and lacks whether the driver allows a group for its files: take the node out of the set and back in, so that the volume is granted again",
};

/**
 * The mount that requires the volume's present group; otherwise one that keeps it without requiring it, or that
 * requires another one.
 */
function holderOf(
  mount: DesiredMount,
  desired: Wanted,
  record: KnownRecord,
  key: "fsGroup" | "seLinuxLabel",
  value: number | string | undefined,
): string {
  const { mounts } = desired;
  const asks = value === undefined ? undefined : mounts.find((one) => one[key] === value);
  const has = asks ?? othersThan(desired, record, key, mount[key])[0];
  return (has ?? mounts.find((one) => one[key] !== undefined && one[key] !== mount[key]))?.path ?? "";
}

function conflict(reason: "FsGroupConflict" | "SELinuxContextConflict", what: string, holder: string): Problem {
  const message = `the volume ${what} on this node, as ${holder} has it: specify the same, or wait until that is gone`;
  return { reason, message, on: { kind: "Mount", name: holder } };
}

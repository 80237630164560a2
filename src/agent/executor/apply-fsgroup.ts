import { VolumeError } from "../../errors.ts";
import { type MountIdentity, sameIdentity } from "../../host/mount-table/mount-table.ts";
import type { OwnershipRequest, OwnershipResult } from "../../host/ports/ownership.ts";
import type { DesiredMount, DesiredVolume } from "../model/desired.ts";
import type { VolumeName } from "../model/identities.ts";
import { identityBeneath } from "../model/identity-beneath.ts";
import { type Owned, type Published, type TargetRecord, withTarget } from "../model/volume-record.ts";
import { type FSGroupPlan, fsGroupPlan, ownedOf, withoutOtherFSGroups } from "../ownership/fsgroup-policy.ts";
import { type ActionContext, recordOf } from "./operation-context.ts";

type Shown = Published & { readonly identity: MountIdentity };
type Place = Pick<OwnershipRequest, "path" | "mountID" | "device" | "directory" | "readOnly">;

/**
 * Gives what is published for a target to its group, if that is due (behaviour 75): before it is bound, so that nobody
 * uses files that are not theirs yet. That it was done is written down when the root was done, last; until then it is
 * begun again.
 * @param of with `anew`: what is published may have other files than when it was given, so all of it is given once more
 * @returns what is published, with its group
 */
export async function applyFSGroup(
  context: ActionContext,
  desired: DesiredVolume,
  of: { readonly mount: DesiredMount; readonly published: Shown; readonly anew?: boolean },
): Promise<Shown> {
  const { mount, published, anew = false } = of;
  const plan = fsGroupPlan(mount, desired, recordOf(context, desired.name), anew ? "has" : "differs");
  const fsGroup = groupToGive(plan);
  if (fsGroup === undefined) return published;
  const { path } = published;
  const at = (await context.host.mountTable.read()).at(path);
  if (at === undefined || !sameIdentity(at, published.identity)) {
    throw new VolumeError("TargetChanged", "transient", `the driver's mount on ${path} is gone`);
  }
  const owned = await give(context, desired.name, {
    mount,
    place: { path, mountID: at.id, device: at.device },
    fsGroup,
  });
  const { refusedGroup: _before, ...rest } = published;
  const done: Shown = { ...rest, ...owned };
  await context.journal.put(
    withTarget(recordOf(context, desired.name), { ...targetOf(context, desired, mount), published: done }),
  );
  return done;
}

/**
 * Applies the fsGroup of a mount to a volume that no driver manages, before it is bound. A volume that is mounted with
 * the group already is left alone.
 * @returns the group that applies now; undefined: unchanged
 */
export async function applyVolumeFSGroup(
  context: ActionContext,
  desired: DesiredVolume,
  mount: DesiredMount,
  shown: MountIdentity | undefined,
): Promise<Owned | undefined> {
  const record = recordOf(context, desired.name);
  const fsGroup = groupToGive(fsGroupPlan(mount, desired, record, "always"));
  if (fsGroup === undefined) return undefined;
  const { identity } = record.stage ?? {};
  const known = record.targets.find(({ path }) => path === mount.path);
  const whole = identityBeneath(identity, mount.subPath);
  const same = whole !== undefined && shown !== undefined && sameIdentity(shown, whole);
  if (same && known && ownedOf(known).fsGroup === fsGroup) return ownedOf(known);
  return give(context, desired.name, { mount, place: await placeOf(context, desired), fsGroup });
}

/**
 * Gives the volume that a target shows to its group, if that alone is what is due: nobody who uses it is disturbed.
 * @returns whether it was
 */
export async function applyFSGroupInPlace(
  context: ActionContext,
  desired: DesiredVolume,
  mount: DesiredMount,
  mountID: number,
) {
  const record = recordOf(context, desired.name);
  const fsGroup = desired.layout.csi === undefined ? groupToGive(fsGroupPlan(mount, desired, record)) : undefined;
  const shown = (await context.host.mountTable.read()).byID(mountID);
  const target = record.targets.find(({ path }) => path === mount.path);
  const isShown = target !== undefined && shown !== undefined && sameIdentity(shown, target.identity);
  if (fsGroup === undefined || !isShown) return false;
  const owned = await give(context, desired.name, { mount, place: await placeOf(context, desired), fsGroup });
  await context.journal.put(
    withTarget(recordOf(context, desired.name), { ...targetOf(context, desired, mount), owned }),
  );
  return true;
}

function groupToGive({ want, action }: FSGroupPlan): number | undefined {
  return action === "walk" ? want : undefined;
}

async function give(
  context: ActionContext,
  volume: VolumeName,
  { mount, place, fsGroup }: { readonly mount: DesiredMount; readonly place: Place; readonly fsGroup: number },
): Promise<Owned> {
  const policy = mount.fsGroupChangePolicy ?? "Always";
  const request = { ...place, fsGroup, policy };
  const before = recordOf(context, volume);
  const begun = withoutOtherFSGroups(before, fsGroup);
  if (begun !== before) await context.journal.put(begun);
  const change = context.changesOwnership({ path: mount.path, fsGroup });
  try {
    const result = await context.effects.ownership.give(request, (count) => change.reached(count), change.unwanted);
    const { entries, failed, examples } = result;
    const refused = failed === 0 ? "" : `; ${failed} refused: ${examples.join(", ")}`;
    context.progress(`${entries} files of ${mount.path} were given to group ${fsGroup}${refused}`);
    return { fsGroup, ...(isRefused(result) && { refusedGroup: { failed, entries, example: examples.at(-1) ?? "" } }) };
  } finally {
    change.ended();
  }
}

/** Where the files of a volume are that no driver has: on a mount of its own, or in a directory. */
async function placeOf(context: ActionContext, desired: DesiredVolume): Promise<Place> {
  const { stage } = recordOf(context, desired.name);
  const mount = stage && (await context.host.mountTable.read()).covering(stage.path);
  if (stage?.identity === undefined || mount === undefined) {
    throw new VolumeError("SetUpFailed", "transient", "the volume is not staged any more");
  }
  const readOnly = desired.layout.readOnly ? { readOnly: true } : {};
  const place = { path: stage.path, mountID: mount.id, device: mount.device, ...readOnly };
  return mount.point === stage.path ? place : { ...place, directory: stage.identity.root };
}

function targetOf(context: ActionContext, { name }: DesiredVolume, { path }: DesiredMount): TargetRecord {
  const target = recordOf(context, name).targets.find((one) => one.path === path);
  if (target === undefined) throw new Error(`${path} has no record`);
  return target;
}

/** Whether the result is reported: the files that should be shared are not, mostly or from the root on. */
function isRefused({ entries, failed, rootFailed }: OwnershipResult): boolean {
  return rootFailed === true || failed * 2 > entries;
}

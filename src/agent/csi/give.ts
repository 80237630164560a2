import { VolumeError } from "../../errors.ts";
import { type MountIdentity, sameIdentity } from "../../host/mount-table.ts";
import type { OwnershipResult } from "../../host/ownership.ts";
import { type ActionContext, recordOf } from "../actions/context.ts";
import type { DesiredMount, DesiredVolume } from "../desired-volume.ts";
import { type Published, withTarget } from "../record.ts";
import { groupAgain, groupDue, onlyGiven } from "./ownership.ts";

type Shown = Published & { readonly identity: MountIdentity };

/**
 * Gives what is published for a target to its group, if that is due (behaviour 75): before it is bound, so that nobody uses files that
 * are not theirs yet. That it was done is written down when the root was done, last; until then it is begun again.
 * @param anew what is published may have other files in it than when it was given: all of it is given once more
 * @returns what is published, with its group
 */
export async function giveToGroup(
  context: ActionContext,
  desired: DesiredVolume,
  {
    mount,
    published,
    anew = false,
  }: { readonly mount: DesiredMount; readonly published: Shown; readonly anew?: boolean },
): Promise<Shown> {
  const { effects, host, journal } = context;
  const toGive = anew ? groupAgain : groupDue;
  const fsGroup = toGive(mount, desired, recordOf(context, desired.name));
  if (fsGroup === undefined) return published;
  const { path } = published;
  const at = (await host.mountTable.read()).at(path);
  if (at === undefined || !sameIdentity(at, published.identity)) {
    throw new VolumeError("TargetChanged", "transient", `what the driver published on ${path} is not there any more`);
  }
  const policy = mount.fsGroupChangePolicy ?? "Always";
  const request = { path, mountID: at.id, device: at.device, fsGroup, policy };
  const before = recordOf(context, desired.name);
  const begun = onlyGiven(before, fsGroup);
  if (begun !== before) await journal.put(begun);
  const change = context.changesOwnership({ path: mount.path, fsGroup });
  let refusedGroup: Published["refusedGroup"];
  try {
    const result = await effects.ownership.give(request, (count) => change.reached(count), change.unwanted);
    const { entries, failed, examples } = result;
    if (isRefused(result)) refusedGroup = { failed, entries, example: examples.at(-1) ?? "" };
    const refused = failed === 0 ? "" : `; ${failed} refused: ${examples.join(", ")}`;
    context.progress(`${entries} files of ${mount.path} were given to group ${fsGroup}${refused}`);
  } finally {
    change.ended();
  }
  const { refusedGroup: _before, ...rest } = published;
  const done: Shown = { ...rest, fsGroup, ...(refusedGroup && { refusedGroup }) };
  const record = recordOf(context, desired.name);
  const target = record.targets.find((one) => one.path === mount.path);
  if (target === undefined) throw new Error(`${mount.path} has no record`);
  await journal.put(withTarget(record, { ...target, published: done }));
  return done;
}

/** Whether people are to be told: who was to share the files cannot, mostly or from the root on. */
function isRefused({ entries, failed, rootFailed }: OwnershipResult): boolean {
  return rootFailed === true || failed * 2 > entries;
}

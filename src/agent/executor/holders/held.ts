import { VolumeError } from "../../../errors.ts";
import { isBeneath, type MountIdentity } from "../../../host/mount-table/mount-table.ts";
import type { VolumeName } from "../../model/identities.ts";
import type { VolumeRecord } from "../../model/volume-record.ts";
import type { ActionContext } from "../operation-context.ts";
import { heldBy, names } from "./mount-holders.ts";

/**
 * Refuses while any mount namespace of the node shows this file system (safety rule 6).
 * @param shared whether others may mount the same in their own right, as kubelet or fstab do an export: while one is
 * mounted on the node, which is none of ours any more, what containers show cannot be told from copies of it
 */
export async function refuseWhileHeld(
  context: ActionContext,
  volume: VolumeName,
  identity: MountIdentity,
  shared: boolean,
): Promise<void> {
  const holders = await context.host.evidence.holders(identity);
  const onNode = holders.find((holder) => holder.onNode === true);
  if (holders.length === 0 || (shared && onNode !== undefined)) return;
  if (onNode !== undefined) {
    const owner = ownerOf(context, onNode.mountPoint);
    // Its number was free and the next has got it, or both are of one file system, as directories of an export are:
    // neither waits for the other (law L4). Copies on paths of this volume were looked for before (executor/csi).
    if (owner?.stage?.csi !== undefined && owner.name !== volume && isCSI(context, volume)) return;
    const other = owner?.name;
    if (other !== undefined && other !== volume) {
      const message = `${other} has it mounted at ${onNode.mountPoint}, on this node too: it has to be released as well`;
      throw new VolumeError("StillReferenced", "transient", message, { on: { kind: "NodeVolumeIntent", name: other } });
    }
    const message = `it is still mounted on the node at ${onNode.mountPoint}, not by this agent: unmount it there`;
    throw new VolumeError("StillReferenced", "transient", message, { on: { kind: "Mount", name: onNode.mountPoint } });
  }
  const message = `it is still mounted in another mount namespace: ${names(holders)}. End these processes or unmount it there`;
  throw heldBy("StillReferenced", message, holders);
}

/** The volume that has mounted something at this path, by the journal. */
function ownerOf({ journal }: ActionContext, path: string): VolumeRecord | undefined {
  const has = ({ stage, targets }: VolumeRecord) =>
    (stage?.csi !== undefined && isBeneath(path, stage.csi.directory)) ||
    targets.some((target) => target.path === path);
  return [...journal.records.values()].find(has);
}

function isCSI({ journal }: ActionContext, volume: VolumeName): boolean {
  return journal.records.get(volume)?.stage?.csi !== undefined;
}

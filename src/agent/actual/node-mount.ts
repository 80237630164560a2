import type { DriftClass } from "../../api/status-values.ts";
import { type MountTable, sameIdentity } from "../../host/mount-table/mount-table.ts";
import type { MountEntry } from "../../host/mount-table/mountinfo.ts";
import type { MountedTarget } from "../model/actual-volume.ts";
import type { DesiredMount } from "../model/desired.ts";
import { attributeDifference, mountAttributes } from "../model/mount-attributes.ts";
import type { TargetRecord } from "../model/volume-record.ts";

/**
 * PURE. Whether the node sees a mount of ours as the agent does. In a container the agent has a mount namespace of its
 * own; what it mounts arrives on the node by propagation, as a mount of its own in the same peer group. That one may be
 * missing, because the prefix is not shared or somebody made it private and unmounted it, and it may have other flags,
 * because flags do not propagate.
 */
export function observeNodeMount(
  ours: MountEntry,
  record: TargetRecord,
  desired: DesiredMount | undefined,
  { table, nodeTable }: { table: MountTable | undefined; nodeTable?: MountTable | undefined },
  drift: DriftClass | undefined,
): Pick<MountedTarget, "differsOnNode" | "flagsOnNode" | "problem" | "drift"> {
  if (table === undefined || nodeTable === undefined) return {};
  // A container runtime may have made it a slave of the node's when this agent's container started: the node has it.
  const groups = [ours.shared, ours.master].filter((group) => group !== undefined);
  const copy = groups.flatMap((group) => nodeTable.peers(group)).find((mount) => sameIdentity(mount, ours));
  if (copy === undefined) {
    if (!reachesNode(ours, table, nodeTable)) return { differsOnNode: true, problem: notPropagated(ours.point) };
    return { differsOnNode: true, drift: drift ?? "PropagationDiffers" };
  }
  const shown = mountAttributes(copy);
  if (desired === undefined || attributeDifference(shown, desired.attributes).length === 0) return {};
  const drifted = attributeDifference(shown, record.attributes).length > 0;
  return { differsOnNode: true, flagsOnNode: shown, ...(drifted && { drift: drift ?? "OptionsDiffer" }) };
}

/** Whether what is mounted beside this mount would arrive on the node: its parent has a peer there. */
function reachesNode(ours: MountEntry, table: MountTable, nodeTable: MountTable): boolean {
  const group = table.byID(ours.parent)?.shared;
  return group !== undefined && nodeTable.peers(group).length > 0;
}

function notPropagated(path: string): NonNullable<MountedTarget["problem"]> {
  return {
    reason: "NotPropagated",
    message: `${path} is mounted for the agent only: the prefix is not shared with the node. Make it Bidirectional`,
    on: { kind: "Mount", name: path },
  };
}

import { daemonTolerations, matchesSelector, untolerated } from "../../api/match-node.ts";
import type { NodeVolumeSetSpec } from "../../api/types.gen.ts";
import type { NodeInfo } from "../model/projections.ts";
import { isGuarded } from "../model/volume-key.ts";

/**
 * How a set treats a Node, as a DaemonSet would. Pure.
 * - run: the volume belongs there.
 * - keep: present mounts stay and are updated, no new ones are made.
 * - leave: present mounts are unmounted.
 */
export type Selection = "run" | "keep" | "leave";

type DrainPolicy = NonNullable<NodeVolumeSetSpec["drainPolicy"]>;

/**
 * Where nothing is said, a volume that another node may wait for is given back, and any other is kept (safety rule 23).
 */
function drainPolicyOf({ drainPolicy, volume }: NodeVolumeSetSpec): DrainPolicy {
  return drainPolicy ?? (isGuarded(volume.source) ? "Release" : "Keep");
}

/** Whether a set selects any Node, or only such as are cordoned, which it gives its volume back on. */
export type SelectedNodes = "some" | "cordoned" | "none";

/** PURE. Which of the Nodes a set selects. */
export function selectedNodes(spec: NodeVolumeSetSpec, nodes: Iterable<NodeInfo>): SelectedNodes {
  let found: SelectedNodes = "none";
  for (const node of nodes) {
    if (selectNode(spec, node) === "run") return "some";
    if (node.unschedulable && selectNode(spec, { ...node, unschedulable: false }) === "run") found = "cordoned";
  }
  return found;
}

/**
 * PURE. Whether a set runs on a node: by selector, drain policy, taints and tolerations. "keep": what is there stays,
 * and nothing new comes.
 */
export function selectNode(spec: NodeVolumeSetSpec, node: NodeInfo): Selection {
  if (!matchesSelector(spec, node)) return "leave";
  if (node.unschedulable && drainPolicyOf(spec) === "Release") return "leave";
  // For a volume there is no reason to wait until a node is ready, rather the other way round.
  const tolerations = [...daemonTolerations, ...(spec.tolerations ?? [])];
  if (untolerated(tolerations, node, "NoExecute").length > 0) return "leave";
  return untolerated(tolerations, node, "NoSchedule").length > 0 ? "keep" : "run";
}

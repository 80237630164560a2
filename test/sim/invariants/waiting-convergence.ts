import { readiness, resource } from "../../../src/api/names.ts";
import type { NodeVolumeSet } from "../../../src/api/types.gen.ts";
import { arrayIn, recordIn, stringIn } from "../../../src/kube/json.ts";
import type { Settled } from "./settled.ts";

/**
 * What still waits where nothing does any more: a Node shows that its volumes are there if a set asks for it, and no
 * taint of ours; and no pod is at a gate of ours.
 * @param blocked sets that cannot become Ready: what waits for them stays
 */
export function unmetWaits(world: Settled, blocked: { readonly [set: string]: string }): string[] {
  if (Object.keys(blocked).length > 0) return [];
  const sets = world.server.list(resource.sets) as unknown as NodeVolumeSet[];
  const nodes = world.server.list(resource.nodes).flatMap((node) => {
    const { name } = node.metadata;
    const asked = sets.some(
      ({ spec }) =>
        ["Condition", "Taint"].includes(spec.nodeReadiness) &&
        spec.mounts.length > 0 &&
        world.cluster.selectedNodes(spec.nodeSelector ?? {}).includes(name),
    );
    const conditions = arrayIn(recordIn(node, "status"), "conditions");
    const own = conditions.filter((one) => stringIn(one, "type") === readiness.nodeCondition);
    const taints = arrayIn(recordIn(node, "spec"), "taints").map((taint) => stringIn(taint, "key"));
    const is = own.map((one) => stringIn(one, "status")).join();
    return [
      ...(is === (asked ? "True" : "") ? [] : [`node ${name} shows ${readiness.nodeCondition} "${is}"`]),
      ...(taints.includes(readiness.taint) ? [`node ${name} has the taint ${readiness.taint}`] : []),
    ];
  });
  const pods = world.server.list(resource.pods).flatMap((pod) => {
    const gates = arrayIn(recordIn(pod, "spec"), "schedulingGates");
    return gates.length === 0 ? [] : [`pod ${pod.metadata.name} is at ${gates.length} gates`];
  });
  return [...nodes, ...pods];
}

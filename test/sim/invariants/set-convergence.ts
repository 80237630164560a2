import { findCondition } from "../../../src/api/conditions.ts";
import { resource } from "../../../src/api/names.ts";
import type { NodeVolumeSet } from "../../../src/api/types.gen.ts";
import type { Settled } from "./settled.ts";

/** What of the sets is not as their specs say: on each selected node one intent with their mounts, elsewhere none. */
export function unmetSets(world: Settled, blocked: { readonly [name: string]: string }): string[] {
  const sets = world.server.list(resource.sets) as unknown as NodeVolumeSet[]; // the collection holds nothing else
  return sets.flatMap((set) => {
    const reason = blocked[set.metadata.name];
    const found = reason === undefined ? unmetSet(world, set) : unmetReason(set, reason);
    return found.map((what) => `set ${set.metadata.name}: ${what}`);
  });
}

function unmetSet(world: Settled, set: NodeVolumeSet): string[] {
  const { metadata, spec, status } = set;
  if (metadata.deletionTimestamp !== undefined) return ["is still being deleted"];
  const selected = new Set(world.cluster.selectedNodes(spec.nodeSelector ?? {}));
  const intents = world.cluster
    .intents()
    .filter((intent) => intent.spec.mounts.some((m) => m.requester.name === metadata.name));
  const found = [...selected].flatMap((node) => {
    const own = intents.filter((intent) => intent.spec.nodeName === node);
    const paths = own.flatMap((intent) =>
      intent.spec.mounts.filter((m) => m.requester.uid === metadata.uid).map((mount) => mount.path),
    );
    const wanted = spec.mounts.map((mount) => mount.path);
    return sameMembers(paths, wanted) ? [] : [`node ${node} has ${paths.join(", ")}, not ${wanted.join(", ")}`];
  });
  // Where it has no mounts it is for pods, which are not counted.
  const counted = spec.mounts.length === 0 ? 0 : selected.size;
  const expected = selected.size === 0 ? "False NoNodesSelected" : "True";
  const astray = intents.filter((intent) => !selected.has(intent.spec.nodeName));
  const ready = findCondition(status.conditions, "Ready");
  return [
    ...found,
    ...astray.map((intent) => `${intent.metadata.name} is on a node that is not selected`),
    ...(status.observedGeneration === metadata.generation ? [] : ["is not observed"]),
    ...(`${ready?.status} ${ready?.reason}`.startsWith(expected)
      ? []
      : [`Ready is not ${expected}: ${ready?.status} ${ready?.reason} ${ready?.message}`]),
    ...(status.desired === counted && status.ready === counted
      ? []
      : [`counts ${status.ready} of ${status.desired} ready, not ${counted}`]),
  ];
}

function unmetReason({ status }: NodeVolumeSet, reason: string): string[] {
  const is = status.conditions?.map((condition) => condition.reason) ?? [];
  return is.includes(reason) ? [] : [`is to say ${reason}, but says ${is.join(", ")}`];
}

function sameMembers(a: readonly string[], b: readonly string[]): boolean {
  return [...a].sort().join() === [...b].sort().join();
}

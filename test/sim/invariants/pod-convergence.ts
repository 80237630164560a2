import { resource } from "../../../src/api/names.ts";
import { arrayIn, recordIn, stringIn } from "../../../src/kube/json.ts";
import type { Settled } from "./settled.ts";

/** What of the pods is not as they say: each that asks for a volume is listed on its node once, and nobody else is. */
export function unmetPods(world: Settled): string[] {
  if (world.controllers.length === 0) return []; // the story itself lists them
  const wanted = world.server.list(resource.pods).flatMap((pod) => {
    const { namespace, name, uid } = pod.metadata;
    const phase = stringIn(recordIn(pod, "status"), "phase");
    if (phase === "Succeeded" || phase === "Failed") return [];
    const spec = recordIn(pod, "spec");
    if (stringIn(spec, "nodeName") === undefined) return []; // at a gate, or on its way to a node
    const ours = arrayIn(spec, "volumes").filter((one) => recordIn(one, "csi") !== undefined);
    return ours.map((one) => `${stringIn(spec, "nodeName")} ${namespace}/${name} ${uid} ${stringIn(one, "name")}`);
  });
  const live = world.cluster.intents().filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const listed = live.flatMap(({ spec }) =>
    (spec.pods ?? []).map((one) => `${spec.nodeName} ${one.namespace}/${one.name} ${one.uid} ${one.volume}`),
  );
  const [is, shall] = [listed.sort().join("; "), wanted.sort().join("; ")];
  return is === shall ? [] : [`pods are listed as ${is}, not ${shall}`];
}

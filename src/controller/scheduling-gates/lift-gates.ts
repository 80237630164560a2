import type { KubeObject } from "../../api/meta.ts";
import { gate, resource } from "../../api/names.ts";
import type { KubeClient } from "../../kube/client/client.ts";
import { arrayIn, recordIn, stringIn } from "../../kube/json.ts";
import type { Logger } from "../../ports.ts";
import type { PodEntry } from "../model/pod-entry.ts";
import type { NodeInfo } from "../model/projections.ts";
import type { RejectionReason } from "../pods/admitted-pods.ts";
import { type NodeDemand, narrow, termsIn } from "./node-demand.ts";

/** Dependencies of removing scheduling gates from a pod. */
export interface LiftDeps {
  readonly client: KubeClient;
  readonly log: Logger;
  readonly node: (name: string) => NodeInfo | undefined;
  readonly upsertPod: (raw: unknown) => void;
}

/**
 * Removes our scheduling gates from a pod and adds the nodes where its volumes are available, in one write: the
 * scheduler never sees one without the other. The pod's own node affinity is read live, because it is not in the cache,
 * and the write is refused if the pod has changed since.
 * @returns the reason if the pod's own node affinity excludes these nodes
 */
export async function liftGates(
  deps: LiftDeps,
  pod: PodEntry,
  demand: NodeDemand,
): Promise<RejectionReason | undefined> {
  const { name, namespace, uid } = pod.metadata;
  const live = await deps.client.get<KubeObject>(resource.pods, { name, namespace });
  if (live === undefined || live.metadata.uid !== uid) return undefined;
  const spec = recordIn(live, "spec");
  const gates = arrayIn(spec, "schedulingGates");
  const others = gates.filter((one) => !(stringIn(one, "name") ?? "").startsWith(gate.prefix));
  if (others.length === gates.length) return undefined;
  const narrowing = narrow(ownDemand(spec), demand, deps.node);
  if ("problem" in narrowing) return { reason: "NodeAffinityConflict", message: narrowing.problem };
  const { terms, nodeSelector } = narrowing;
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } };
  const patch = {
    schedulingGates: others.length === 0 ? null : others,
    ...(Object.keys(nodeSelector).length > 0 && { nodeSelector }),
    ...(terms !== undefined && { affinity: { nodeAffinity: required } }),
  };
  const ref = { name, namespace, uid, resourceVersion: live.metadata.resourceVersion };
  deps.upsertPod(await deps.client.mergePatch(resource.pods, ref, { spec: patch }));
  deps.log.info("scheduling gates lifted", { pod: `${namespace}/${name}`, gates: pod.gates?.join() });
  return undefined;
}

function ownDemand(spec: unknown): NodeDemand {
  const nodeAffinity = recordIn(recordIn(spec, "affinity"), "nodeAffinity");
  const required = recordIn(nodeAffinity, "requiredDuringSchedulingIgnoredDuringExecution");
  return {
    nodeSelector: (recordIn(spec, "nodeSelector") ?? {}) as NodeDemand["nodeSelector"],
    terms: required && termsIn(arrayIn(required, "nodeSelectorTerms")),
  };
}

import { arrayIn, isRecord, recordIn, stringIn } from "../../kube/json.ts";
import { zoneLabels } from "./csi-translation.ts";

const regionLabels = { ga: "topology.kubernetes.io/region", beta: "failure-domain.beta.kubernetes.io/region" } as const;
const gaOf: ReadonlyMap<string, string> = new Map([
  [zoneLabels.beta, zoneLabels.ga],
  [regionLabels.beta, regionLabels.ga],
]);

/**
 * The terms of a PersistentVolume's node affinity: a Node must match one of them. Volumes of plugins that drivers have
 * replaced name zones by labels that Nodes had in beta, or by a label of the PersistentVolume alone. Nodes have the GA
 * label beside their driver's own, so it is compared in its place. undefined: any Node. Pure.
 */
export function nodeTerms(raw: unknown, inTree: boolean): readonly unknown[] | undefined {
  const required = recordIn(recordIn(recordIn(raw, "spec"), "nodeAffinity"), "required");
  const terms = required && arrayIn(required, "nodeSelectorTerms");
  if (!inTree) return terms;
  const named = terms?.map(withGALabels) ?? [];
  if (named.some(namesZone)) return named;
  const labels = recordIn(recordIn(raw, "metadata"), "labels");
  const zones = stringIn(labels, zoneLabels.ga) ?? stringIn(labels, zoneLabels.beta);
  if (zones === undefined) return terms && named;
  const zone = { key: zoneLabels.ga, operator: "In", values: zones.split("__") };
  const all = named.length === 0 ? [{}] : named;
  return all.map((term) => ({ ...term, matchExpressions: [...arrayIn(term, "matchExpressions"), zone] }));
}

function withGALabels(term: unknown): object {
  const matchExpressions = arrayIn(term, "matchExpressions").map((one) => {
    const key = stringIn(one, "key") ?? "";
    return isRecord(one) ? { ...one, key: gaOf.get(key) ?? key } : one;
  });
  return { ...(isRecord(term) ? term : {}), matchExpressions };
}

function namesZone(term: unknown): boolean {
  return arrayIn(term, "matchExpressions").some((one) => stringIn(one, "key") === zoneLabels.ga);
}

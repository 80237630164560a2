import { findCondition } from "../../api/conditions.ts";
import { systemNamespace } from "../../api/names.ts";
import type { Reason } from "../../api/reasons.ts";
import type { FailingNode, NodeVolumeIntent, NodeVolumeSet } from "../../api/types.gen.ts";
import { listed } from "../../api/values/listed.ts";
import type { Finding } from "../../explain/finding.ts";
import { reasonFinding } from "../../explain/intent-chain.ts";
import { controllerLog } from "../../explain/next-steps.ts";
import type { StepNames } from "../../explain/step-names.ts";

/** What Ready of a set says of nodes whose intents say more. */
const toldByIntents: ReadonlySet<string> = new Set([
  "AllReady",
  "NodesNotReady",
  "RollingOut",
  "Suspended",
  "Deleting",
  "NodeLost",
]);

/** What Stalled says of a set as a whole. */
const ofTheSet: ReadonlySet<string> = new Set<Reason>(["RolloutPaused", "ClaimNotAllowed"]);

/** PURE. Names of a set, and of the claim that it uses. */
export function setNames({ metadata, spec }: NodeVolumeSet): StepNames {
  const claim = spec.volume.source.persistentVolumeClaim;
  return { set: metadata.name, namespace: claim?.namespace, claim: claim?.claimName };
}

/** PURE. What a set says that none of its intents does: why it has none, and what keeps it as a whole. */
export function setFindings(set: NodeVolumeSet, intents: readonly NodeVolumeIntent[]): Finding[] {
  const { metadata, status = {} } = set;
  const ready = findCondition(status.conditions, "Ready");
  const found: Finding[] = [];
  const add = (reason: string, text: string, since: string | undefined, names = setNames(set)) =>
    found.push(reasonFinding(reason, text, { since, names }));
  if (status.observedGeneration !== metadata.generation)
    found.push({
      state: "waiting",
      code: "NotObserved",
      text: "the controller has not read the newest spec of the set",
      todo: `If it stays, check that the controller runs: kubectl -n ${systemNamespace} get pods; ${controllerLog}`,
    });
  const without = failingWithout(set, intents);
  for (const said of new Set(without.map(({ reason, message }) => message ?? reason))) {
    const nodes = without.filter(({ reason, message }) => (message ?? reason) === said);
    const names = nodes.map(({ node }) => node);
    const text = `on ${listed(names, 3)}: ${said}`;
    add(nodes[0]?.reason ?? "", text, ready?.lastTransitionTime, { ...setNames(set), node: names[0] });
  }
  const isTold = (reason: string) => without.some((failing) => failing.reason === reason);
  for (const type of ["Conflict", "Stalled"] as const) {
    const condition = findCondition(status.conditions, type);
    const isOwn = condition?.status === "True" && (type === "Conflict" || ofTheSet.has(condition.reason));
    if (condition === undefined || !isOwn || isTold(condition.reason)) continue;
    add(condition.reason, condition.message, condition.lastTransitionTime);
  }
  const isOfNodes = intents.length > 0 && toldByIntents.has(ready?.reason ?? "");
  if (ready !== undefined && found.length === 0 && !isOfNodes) found.push(readyFinding(set, ready));
  const policies = findCondition(status.conditions, "PoliciesInForce");
  if (policies?.status === "False")
    found.push({
      ...reasonFinding(policies.reason, policies.message, { since: policies.lastTransitionTime }),
      also: true,
    });
  return found;
}

/** PURE. Nodes of which the set alone says why nothing is there. */
export function failingWithout(
  { status }: NodeVolumeSet,
  intents: readonly NodeVolumeIntent[],
): readonly FailingNode[] {
  const there = new Set(intents.map(({ spec }) => spec.nodeName));
  return (status?.failing ?? []).filter(({ node }) => !there.has(node));
}

function readyFinding(
  { metadata, spec }: NodeVolumeSet,
  ready: NonNullable<ReturnType<typeof findCondition>>,
): Finding {
  const finding = reasonFinding(ready.reason, ready.message || ready.reason, {
    since: ready.lastTransitionTime,
    names: { set: metadata.name },
  });
  const selector = Object.entries(spec.nodeSelector ?? {}).map(([key, value]) => `${key}=${value}`);
  if (ready.reason !== "NoNodesSelected" || selector.length === 0) return finding;
  return {
    ...finding,
    text: `${finding.text}: its nodeSelector is ${selector.join(",")}`,
    todo: `Correct the set, or label or uncordon a Node. Nodes with these labels: kubectl get nodes -l ${selector.join(",")}`,
  };
}

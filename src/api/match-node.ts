import type {
  NodeFieldRequirement,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  NodeVolumeSetSpec,
  Toleration,
} from "./types.gen.ts";

/** Whether labels, fields and taints of a Node match, by the rules of the scheduler. Pure. */

/** core/v1 Taint. */
export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
}

/** What of a Node selectors and tolerations are about. */
export interface SelectableNode {
  readonly metadata: { readonly name: string; readonly labels?: { readonly [key: string]: string } };
  readonly taints: readonly Taint[];
}

/**
 * Taints that Kubernetes puts on nodes by itself, and that the DaemonSet controller has its pods tolerate
 * (pkg/controller/daemon/util, AddOrUpdateDaemonPodTolerations), some of them with one effect only.
 */
export const daemonTolerations: readonly Toleration[] = [
  "node.kubernetes.io/not-ready",
  "node.kubernetes.io/unreachable",
  "node.kubernetes.io/disk-pressure",
  "node.kubernetes.io/memory-pressure",
  "node.kubernetes.io/pid-pressure",
  "node.kubernetes.io/unschedulable",
  "node.kubernetes.io/network-unavailable",
].map((key) => ({ key, operator: "Exists" }));

/** nodeSelector and required node affinity: both must match if both are given. */
export function matchesSelector(
  spec: Pick<NodeVolumeSetSpec, "nodeSelector" | "affinity">,
  node: SelectableNode,
): boolean {
  const labels = node.metadata.labels ?? {};
  const plain = Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => labels[key] === value);
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return plain && (required === undefined || required.nodeSelectorTerms.some((term) => matchesTerm(term, node)));
}

/** A term without any requirement matches no Node. */
export function matchesTerm(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  node: SelectableNode,
): boolean {
  if (matchExpressions.length === 0 && matchFields.length === 0) return false;
  const labels = node.metadata.labels ?? {};
  return (
    matchExpressions.every((requirement) => matchesLabel(requirement, labels)) &&
    matchFields.every((requirement) => matchesField(requirement, node))
  );
}

/** As metav1.LabelSelector has it, too: NotIn holds where the label is missing. Pure. */
export function matchesLabel(
  { key, operator, values = [] }: NodeSelectorRequirement,
  labels: { readonly [key: string]: string },
): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
    case "Lt": {
      const [bound] = values;
      if (!isInteger(value) || !isInteger(bound)) return false;
      return operator === "Gt" ? BigInt(value) > BigInt(bound) : BigInt(value) < BigInt(bound);
    }
  }
}

function matchesField({ operator, values }: NodeFieldRequirement, node: SelectableNode): boolean {
  return values.includes(node.metadata.name) === (operator === "In");
}

function isInteger(text: string | undefined): text is string {
  return text !== undefined && /^[+-]?[0-9]+$/.test(text);
}

/** The taints of `node` with one of these effects that no toleration covers. */
export function untolerated(
  tolerations: readonly Toleration[],
  node: SelectableNode,
  effect: "NoSchedule" | "NoExecute",
): Taint[] {
  return node.taints.filter((taint) => taint.effect === effect && !tolerations.some((t) => tolerates(t, taint)));
}

function tolerates({ key = "", operator = "Equal", value = "", effect }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  if (operator === "Exists") return true;
  return key !== "" && value === taint.value;
}

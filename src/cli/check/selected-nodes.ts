import type { NodeSelectorRequirement, NodeSelectorTerm, Toleration } from "../../api/types.gen.ts";
import type { DaemonSetFacts, NodeFacts } from "./facts.ts";

/**
 * Taints that the DaemonSet controller has its pods tolerate (pkg/controller/daemon/util,
 * AddOrUpdateDaemonPodTolerations).
 */
const ofEachDaemonSet: readonly Toleration[] = [
  "node.kubernetes.io/not-ready",
  "node.kubernetes.io/unreachable",
  "node.kubernetes.io/disk-pressure",
  "node.kubernetes.io/memory-pressure",
  "node.kubernetes.io/pid-pressure",
  "node.kubernetes.io/unschedulable",
  "node.kubernetes.io/network-unavailable",
].map((key) => ({ key, operator: "Exists" }));

/** PURE. Why a DaemonSet makes no pod for a node; undefined if it makes one. */
export function leftOutBecause(
  { nodeSelector, terms, tolerations }: DaemonSetFacts,
  node: NodeFacts,
): string | undefined {
  const missing = Object.entries(nodeSelector).find(([key, value]) => node.labels[key] !== value);
  if (missing !== undefined) return `they lack the label ${missing[0]}=${missing[1]} of its nodeSelector`;
  if (terms !== undefined && !terms.some((term) => matchesTerm(term, node))) return "its nodeAffinity excludes them";
  const all = [...ofEachDaemonSet, ...tolerations];
  const taint = node.taints.find(
    (one) => ["NoSchedule", "NoExecute"].includes(one.effect) && !all.some((toleration) => tolerates(toleration, one)),
  );
  if (taint === undefined) return undefined;
  const { key, value, effect } = taint;
  return `it does not tolerate their taint ${key}${value === "" ? "" : `=${value}`}:${effect}`;
}

/** A term without any requirement matches no node. */
function matchesTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: NodeFacts): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    matchExpressions.every((requirement) => matchesLabel(requirement, node.labels)) &&
    matchFields.every(({ operator, values }) => values.includes(node.name) === (operator === "In"))
  );
}

function matchesLabel({ key, operator, values = [] }: NodeSelectorRequirement, labels: NodeFacts["labels"]): boolean {
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
      return Number(value) > Number(values[0]);
    case "Lt":
      return Number(value) < Number(values[0]);
  }
}

function tolerates(
  { key = "", operator = "Equal", value = "", effect }: Toleration,
  taint: NodeFacts["taints"][number],
): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  return operator === "Exists" || (key !== "" && value === taint.value);
}

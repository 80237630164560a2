import { daemonTolerations, matchesTerm, untolerated } from "../../api/match-node.ts";
import type { DaemonSetFacts, NodeFacts } from "./facts.ts";

/** PURE. Why a DaemonSet makes no pod for a node; undefined if it makes one. */
export function leftOutBecause(
  { nodeSelector, terms, tolerations }: DaemonSetFacts,
  { name, labels, taints }: NodeFacts,
): string | undefined {
  const node = { metadata: { name, labels }, taints };
  const missing = Object.entries(nodeSelector).find(([key, value]) => labels[key] !== value);
  if (missing !== undefined) return `they lack the label ${missing[0]}=${missing[1]} of its nodeSelector`;
  if (terms !== undefined && !terms.some((term) => matchesTerm(term, node))) return "its nodeAffinity excludes them";
  const all = [...daemonTolerations, ...tolerations];
  const [taint] = (["NoSchedule", "NoExecute"] as const).flatMap((effect) => untolerated(all, node, effect));
  if (taint === undefined) return undefined;
  const { key, value, effect } = taint;
  return `it does not tolerate their taint ${key}${value === "" ? "" : `=${value}`}:${effect}`;
}

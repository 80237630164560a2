import { cut } from "../../api/conditions.ts";
import { systemNamespace } from "../../api/names.ts";
import { isBlocked } from "../../api/reasons.ts";
import { counted } from "../../api/values/listed.ts";
import { nextStep } from "../../explain/next-steps.ts";
import { isLive } from "./check-controller.ts";
import type { InstalledFacts, StateFacts } from "./facts.ts";
import { frequencies, groups, someOf } from "./groups.ts";
import { type Found, failed, limited, ok, unknown } from "./result.ts";

/** Different reasons that are shown. */
const mostReasons = 4;

/** Inputs of the check of the agents' reports. */
export interface ReportsInput extends Pick<InstalledFacts, "states" | "leases"> {
  /** Nodes with a ready agent; undefined if that is not known: then each node that has reported. */
  readonly running: ReadonlySet<string> | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

interface Report {
  readonly node: string;
  readonly reason: string;
  readonly message: string;
}

/** PURE. What agents report, by NodeVolumeStates and Leases, of nodes with a ready one: see checkAgents for others. */
export function checkReports({ states, leases, running, now }: ReportsInput): Found[] {
  if (states.denied !== undefined) return [unknown(states.denied)];
  const byNode = new Map(states.items.map((state) => [state.node, state]));
  const byName = new Map(leases.items.map((lease) => [lease.metadata.name, lease]));
  const nodes = [...(running ?? byNode.keys())];
  const isLost = (node: string) => leases.denied === undefined && !isLive(byName.get(node), now);
  const bad = nodes.flatMap((node) => reportOf(node, byNode.get(node), isLost(node)) ?? []);
  if (bad.length === 0) {
    const found =
      nodes.length === 1 ? "1 agent is in sync with its node" : `${nodes.length} agents are in sync with their nodes`;
    return [nodes.length > 0 ? ok(found) : limited("no agent has reported yet", "kubectl get nvstate")];
  }
  const reasons = groups(bad, ({ reason }) => reason);
  // On however few nodes it is, what somebody must act on is not among the rest.
  const inOrder = [...reasons.filter(([reason]) => isWrong(reason)), ...reasons.filter(([reason]) => !isWrong(reason))];
  const results = inOrder.slice(0, mostReasons).map(([reason, those]) => resultOf(reason, those));
  const rest = inOrder.slice(mostReasons).flatMap(([, those]) => those);
  if (rest.length === 0) return results;
  const result = rest.some(({ reason }) => isWrong(reason)) ? failed : limited;
  return [...results, result(`other reasons on ${counted(rest.length, "node")}`, "kubectl get nvstate")];
}

/** Whether somebody must act on it. */
function isWrong(reason: string): boolean {
  return isBlocked(reason) || reason === "AgentLost" || reason === "NoReport";
}

function reportOf(node: string, state: StateFacts | undefined, isLost: boolean): Report | undefined {
  if (isLost) return { node, reason: "AgentLost", message: "their Leases are not renewed" };
  if (state?.ready === undefined) return { node, reason: "NoReport", message: "no NodeVolumeState" };
  const { status, reason, message } = state.ready;
  return status === "True" ? undefined : { node, reason, message };
}

function resultOf(reason: string, those: readonly Report[]): Found {
  const nodes = those.map(({ node }) => node);
  const [{ node, message } = { node: "", message: "" }] = those;
  const found = `${reason} on ${someOf(nodes)}${message === "" ? "" : `: ${cut(message, 160)}`}`;
  const log = `kubectl -n ${systemNamespace} get pods -o wide --field-selector spec.nodeName=${node}`;
  const remedy = nextStep(reason, { node }) ?? `Read the agent's log. Its pod: ${log}`;
  return isWrong(reason) ? failed(found, remedy) : limited(found, remedy);
}

/** PURE. Whether all agents are of one version, and of that of this program. */
export function checkVersions({ states }: Pick<InstalledFacts, "states">, version: string): Found {
  if (states.denied !== undefined) return unknown(states.denied);
  const versions = states.items.flatMap((state) => state.version || []);
  const found = `agents ${frequencies(versions)}, kubectl nvi ${version}`;
  if (versions.length === 0 || versions.every((one) => one === version)) return ok(found);
  if (new Set(versions).size > 1)
    return limited(found, `kubectl -n ${systemNamespace} rollout status daemonset/nodevolume-agent`);
  return limited(found, "Use kubectl nvi of the version that is installed (docs/api-versions.md#version-skew)");
}

import { cut } from "../../api/conditions.ts";
import { daemonTolerations, matchesTerm, untolerated } from "../../api/match-node.ts";
import { systemNamespace } from "../../api/names.ts";
import { counted } from "../../api/values/listed.ts";
import type { DaemonSetFacts, InstalledFacts, NodeFacts, PodFacts } from "./facts.ts";
import { groups, someOf } from "./groups.ts";
import { type Found, failed, limited, ok, unknown } from "./result.ts";

/** Different causes that are shown. */
const mostCauses = 4;

/** Results of `check` about the agents. */
export interface AgentsFound {
  readonly results: readonly Found[];
  /** Nodes with a ready agent; undefined if that is not known. */
  readonly running: ReadonlySet<string> | undefined;
}

interface Without {
  readonly node: string;
  readonly cause: string;
  readonly remedy: string;
  /** Somebody else's work ends it, or nothing has to end it. */
  readonly isLimit: boolean;
}

/** PURE. On which nodes an agent is ready, and why there is none on the others. */
export function checkAgents({
  nodes,
  pods,
  daemonSet,
}: Pick<InstalledFacts, "nodes" | "pods" | "daemonSet">): AgentsFound {
  if (pods.denied !== undefined) return { results: [unknown(pods.denied)], running: undefined };
  const agents = pods.items.filter(({ component }) => component === "agent");
  const running = new Set(agents.flatMap(({ ready, node }) => (ready ? (node ?? []) : [])));
  if (nodes.denied !== undefined) return { results: [unknown(nodes.denied)], running };
  if (daemonSet.denied === undefined && daemonSet.items.length === 0 && agents.length === 0) {
    const remedy = "kubectl apply --server-side -k ./config/my-cluster";
    return { results: [failed("there is no DaemonSet nodevolume-agent", remedy)], running };
  }
  const byNode = new Map<string | undefined, PodFacts>();
  for (const pod of agents) if (pod.ready || !byNode.has(pod.node)) byNode.set(pod.node, pod);
  const linux = nodes.items.filter(({ os }) => os === "linux" || os === "");
  const [template] = daemonSet.items;
  const without = linux.flatMap((node) => withoutAgent(node, byNode.get(node.name), template) ?? []);
  const ready = linux.filter(({ name }) => running.has(name)).length;
  const found = `${ready} of ${counted(linux.length, "node")} ${ready === 1 ? "has" : "have"} a ready agent`;
  if (without.length === 0) return { results: [ok(found)], running };
  const causes = groups(without, ({ cause, isLimit }) => `${isLimit} ${cause}`).map(([, those]) => those);
  const results = causes.slice(0, mostCauses).map((those, at) => resultOf(those, at === 0 ? `${found}; ` : ""));
  const more = causes.slice(mostCauses).flat();
  const remedy = `kubectl -n ${systemNamespace} get pods -o wide -l app.kubernetes.io/component=agent`;
  if (more.length > 0) results.push(failed(`other causes on ${someOf(more.map(({ node }) => node))}`, remedy));
  return { results, running };
}

function resultOf(those: readonly Without[], before: string): Found {
  const [first] = those;
  if (first === undefined) throw new Error("a cause has nodes");
  const found = `${before}none on ${someOf(those.map(({ node }) => node))}: ${first.cause}`;
  return first.isLimit ? limited(found, first.remedy) : failed(found, first.remedy);
}

function withoutAgent(
  node: NodeFacts,
  pod: PodFacts | undefined,
  template: DaemonSetFacts | undefined,
): Without | undefined {
  if (pod?.ready) return undefined;
  const { name } = node;
  if (!node.ready)
    return { node: name, cause: "the node is not ready", remedy: `kubectl describe node ${name}`, isLimit: true };
  if (pod !== undefined) {
    const { words, remedy } = podProblem(pod);
    return { node: name, cause: words, remedy, isLimit: false };
  }
  const leftOut = template === undefined ? undefined : leftOutBecause(template, node);
  if (leftOut !== undefined) {
    const remedy =
      "If sets need these nodes, change the DaemonSet nodevolume-agent; if not, leave the nodes out of the sets";
    return { node: name, cause: `the DaemonSet leaves them out: ${leftOut}`, remedy, isLimit: true };
  }
  const remedy = `Its events have the cause, such as a quota: kubectl -n ${systemNamespace} describe daemonset nodevolume-agent`;
  return { node: name, cause: "no pod was created", remedy, isLimit: false };
}

/** Why a DaemonSet makes no pod for a node; undefined if it makes one. */
function leftOutBecause(
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

/** Columns of what somebody else says. */
const longestQuote = 120;

/** PURE. Why a pod of ours is not ready, and where to read more. */
export function podProblem({ name, trouble }: PodFacts): { readonly words: string; readonly remedy: string } {
  const { reason = "NotReady", message = "" } = trouble ?? {};
  const words = message === "" ? reason : `${reason}: ${cut(message, longestQuote)}`;
  const pod = `kubectl -n ${systemNamespace}`;
  switch (reason) {
    case "CrashLoopBackOff":
    case "Error":
    case "OOMKilled":
      return { words, remedy: `Read why it ended: ${pod} logs ${name} --all-containers --previous --tail=20` };
    case "ImagePullBackOff":
    case "ErrImagePull":
    case "InvalidImageName":
    case "ErrImageNeverPull":
      return {
        words,
        remedy: `Name an image that the nodes can pull, in your kustomization: ${pod} describe pod ${name}`,
      };
    case "NotReady":
      return { words, remedy: `Read its log: ${pod} logs ${name} --all-containers --tail=20` };
    default:
      return { words, remedy: `Read its events: ${pod} describe pod ${name}` };
  }
}

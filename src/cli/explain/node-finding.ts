import { stringIn } from "../../kube/json.ts";
import { agentLease, conditionOf, type Facts, named } from "./facts.ts";
import type { Finding } from "./finding.ts";

/** PURE. What is wrong with a node as such: it is gone, its kubelet is silent, our agent is down. Nothing if all is well. */
export function nodeFindings(facts: Facts, name: string, { ours }: { readonly ours: boolean }): Finding[] {
  const found: Finding[] = [];
  const node = named(facts.nodes, name);
  if (node === undefined && facts.denied.nodes === undefined) {
    const todo =
      "If the machine is gone for good, say so: kubectl nvi release. If it is not, its kubelet registers it again.";
    found.push({
      state: "blocked",
      code: "NodeLost",
      text: `there is no Node ${name}`,
      todo,
      on: { kind: "Node", name },
    });
  }
  const ready = node === undefined ? undefined : conditionOf(node, "Ready");
  if (ready !== undefined && stringIn(ready, "status") !== "True") {
    const since = stringIn(ready, "lastTransitionTime");
    found.push({
      state: "waiting",
      code: "NodeNotReady",
      text: `node ${name} is not ready, so nothing happens there`,
      quote: stringIn(ready, "message") ?? "",
      ...(since !== undefined && { since }),
      on: { kind: "Node", name },
      todo: `Look at the machine: kubectl describe node ${name}. What is mounted there stays and counts as in use.`,
    });
  }
  const lease = ours ? agentLease(facts, name) : undefined;
  if (lease !== undefined && !lease.live) {
    const never = lease.renewed === undefined;
    found.push({
      state: "waiting",
      code: "AgentLost",
      text: never ? `no agent has ever run on ${name}` : `the agent of ${name} is silent: its Lease has run out`,
      ...(lease.renewed !== undefined && { since: lease.renewed }),
      on: { kind: "Node", name },
      todo: never
        ? `Does the DaemonSet select the node? kubectl -n nodevolume-system get pods -o wide --field-selector spec.nodeName=${name}`
        : (facts.advice("AgentLost") ?? ""),
    });
  }
  return found;
}

import { stringIn } from "../kube/json.ts";
import { agentOf, conditionOf, type Facts, named } from "./facts.ts";
import type { Finding } from "./finding.ts";
import { nextStep } from "./next-steps.ts";

/** Milliseconds after which the controller has long put an intent into the index of its node. */
const indexedWithin = 60_000;

/**
 * PURE. What is wrong with a node as such: it is gone, its kubelet is silent, our agent is down. Nothing if all is
 * well.
 */
export function nodeFindings(facts: Facts, name: string, { ours }: { readonly ours: boolean }): Finding[] {
  const found: Finding[] = [];
  const node = named(facts.nodes, name);
  if (node === undefined && facts.denied.nodes === undefined) {
    const todo = ours
      ? `If you have made sure that the machine is off: kubectl nvi release ${name} VOLUME. If it runs, its kubelet registers it again.`
      : "Kubernetes ends the pods of a Node that is gone. If the machine runs, its kubelet registers it again.";
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
      todo: `Check the machine: kubectl describe node ${name}. What is mounted there stays and counts as in use.`,
    });
  }
  const agent = ours ? agentOf(facts, name) : undefined;
  if (agent?.lease === "expired") {
    const never = agent.renewed === undefined;
    found.push({
      state: "waiting",
      code: "AgentLost",
      text: never ? `no agent has ever run on ${name}` : `the agent of ${name} does not respond: its Lease has expired`,
      ...(agent.renewed !== undefined && { since: agent.renewed }),
      on: { kind: "Node", name },
      todo: never
        ? `Does the DaemonSet select the node? kubectl -n nodevolume-system get pods -o wide --field-selector spec.nodeName=${name}`
        : (nextStep("AgentLost", { node: name }) ?? ""),
    });
  }
  if (agent?.lease === "late") {
    found.push({
      state: "waiting",
      code: "AgentLate",
      text: `the agent of ${name} has missed renewals of its Lease`,
      ...(agent.renewed !== undefined && { since: agent.renewed }),
      on: { kind: "Node", name },
      todo: nextStep("AgentLate", { node: name }) ?? "",
    });
  }
  return [...found, ...(ours ? [...deafFindings(facts, name), ...behindFindings(facts, name)] : [])];
}

/** Whether its agent goes by an index of its intents that it has not got (decision 0067). */
function deafFindings(facts: Facts, name: string): Finding[] {
  const ready = conditionOf(named(facts.states, name), "Ready");
  const code = stringIn(ready, "reason") ?? "";
  if (code !== "IndexMissing" && code !== "IndexTooLarge") return [];
  const since = stringIn(ready, "lastTransitionTime");
  return [
    {
      state: "blocked",
      code,
      text: `the agent of ${name} receives no changes of its volumes`,
      quote: stringIn(ready, "message") ?? "",
      ...(since !== undefined && { since }),
      on: { kind: "NodeVolumeState", name },
      todo: nextStep(code, { node: name }) ?? "",
    },
  ];
}

/** Whether nobody keeps the index that is there, as after a controller of a version before decision 0067 took over. */
function behindFindings(facts: Facts, name: string): Finding[] {
  const { intents: index } = named(facts.states, name)?.spec ?? {};
  if (index === undefined) return [];
  const indexed = new Set(index.map(({ uid }) => uid));
  const lacking = facts.intents.filter(({ metadata: { uid = "", creationTimestamp = "" }, spec }) => {
    // Those that are observed are left out of a full index.
    if (spec.nodeName !== name || spec.observed !== undefined) return false;
    return facts.now - Date.parse(creationTimestamp) > indexedWithin && !indexed.has(uid);
  });
  const [first] = lacking;
  if (first === undefined) return [];
  return [
    {
      state: "blocked",
      code: "IndexBehind",
      text: `the index of ${name} lacks ${lacking.length} of its intents, such as ${first.metadata.name}: no controller updates it, and an agent that uses it does not receive them`,
      on: { kind: "NodeVolumeState", name },
      todo: nextStep("IndexBehind") ?? "",
    },
  ];
}

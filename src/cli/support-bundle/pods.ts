import { conditionOf } from "../../explain/facts.ts";
import { arrayIn, asRecord, numberIn, recordIn, stringIn } from "../../kube/json.ts";

/** A pod of ours, as far as its log and its metrics go. */
export interface OurPod {
  readonly name: string;
  readonly node: string | undefined;
  readonly role: string;
  readonly containers: readonly { readonly name: string; readonly restarts: number }[];
  /** Of its metrics; undefined if it names none. */
  readonly port: number | undefined;
  readonly ready: boolean;
}

/** More agents than this are no log that somebody reads. */
const mostAgents = 20;

/** PURE. */
export function ourPod(pod: unknown): OurPod {
  const spec = recordIn(pod, "spec");
  const status = recordIn(pod, "status");
  // api-proxy of an agent, which has the port, is an init container that goes on beside it.
  const states = ["initContainerStatuses", "containerStatuses"].flatMap((list) => arrayIn(status, list));
  const all = ["initContainers", "containers"].flatMap((list) => arrayIn(spec, list));
  const containers = all.map((container) => {
    const name = stringIn(container, "name") ?? "";
    const state = states.find((one) => stringIn(one, "name") === name);
    return { name, restarts: numberIn(state, "restartCount") ?? 0 };
  });
  const ports = all.flatMap((container) => arrayIn(container, "ports"));
  const metrics = ports.find((port) => stringIn(port, "name") === "metrics");
  const metadata = recordIn(pod, "metadata");
  return {
    name: stringIn(metadata, "name") ?? "",
    node: stringIn(spec, "nodeName"),
    role: stringIn(recordIn(metadata, "labels"), "app.kubernetes.io/component") ?? "",
    containers,
    port: numberIn(asRecord(metrics), "containerPort"),
    ready: stringIn(conditionOf(pod, "Ready"), "status") === "True",
  };
}

/**
 * PURE. Whose log is taken: of controllers all, of agents that of the node; without a node those that are not ready or
 * have been started again before the others, and no more than `most`.
 */
export function chosenPods(pods: readonly OurPod[], node: string | undefined, most = mostAgents) {
  const agents = pods.filter(({ role }) => role === "agent");
  const others = pods.filter(({ role }) => role !== "agent");
  const wanted = node === undefined ? agents : agents.filter((agent) => agent.node === node);
  const trouble = ({ ready, containers }: OurPod) =>
    (ready ? 0 : 1_000) + Math.max(0, ...containers.map((c) => c.restarts));
  const sorted = [...wanted].sort((a, b) => trouble(b) - trouble(a) || (a.name < b.name ? -1 : 1));
  return { chosen: [...others, ...sorted.slice(0, most)], leftOut: sorted.slice(most).map(({ name }) => name) };
}

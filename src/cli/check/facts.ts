import type { NodeSelectorTerm, Toleration } from "../../api/types.gen.ts";
import { conditionOf, type Raw } from "../../explain/facts.ts";
import { arrayIn, recordIn, stringIn } from "../../kube/json.ts";
import type { Lease } from "../../kube/leases/lease.ts";
import type { PolicyFinding } from "../../kube/policies/policies.ts";
import type { Reading } from "../cluster.ts";
import type { FieldTree } from "./fields.ts";

/** Everything that the checks read, and nothing that they decide. */

/** A Node, as far as agents depend on it. */
export interface NodeFacts {
  readonly name: string;
  readonly labels: { readonly [label: string]: string };
  readonly taints: readonly { readonly key: string; readonly value: string; readonly effect: string }[];
  readonly ready: boolean;
  readonly os: string;
  readonly architecture: string;
  readonly kernel: string;
  readonly kubelet: string;
  readonly runtime: string;
  readonly image: string;
}

/** A pod of the installation. */
export interface PodFacts {
  readonly name: string;
  /** Also of one that is not scheduled yet: a DaemonSet makes it for one node. */
  readonly node: string | undefined;
  readonly component: string;
  readonly ready: boolean;
  /** Why it is not ready. */
  readonly trouble?: { readonly reason: string; readonly message: string };
}

/** Which nodes the agents are for, and what they share with them. */
export interface DaemonSetFacts {
  readonly nodeSelector: { readonly [label: string]: string };
  readonly terms: readonly NodeSelectorTerm[] | undefined;
  readonly tolerations: readonly Toleration[];
  /** Paths whose mounts propagate to the node. */
  readonly shared: readonly string[];
  /** ConfigMaps of the agent's settings, and what it is set to besides. */
  readonly settings: readonly string[];
  readonly prefixes: string | undefined;
}

/** What is served of our group. */
export interface DefinitionFacts {
  /** Plurals of this version of the API. */
  readonly served: readonly string[];
  /** `VERSION/PLURAL` of our group that this program does not know. */
  readonly others: readonly string[];
  /** CRDs that are being deleted, as far as that may be read. */
  readonly deleting: readonly string[];
  /** Fields by kind; undefined if the API server does not show them. */
  readonly fields: { readonly [kind: string]: FieldTree } | undefined;
}

/** What the person may do of what the installation does. */
export interface RightsFacts {
  readonly user: string;
  /** Every verb of every resource. */
  readonly everything: boolean;
  /** `VERB RESOURCE` that were refused, with the namespace if there is one. */
  readonly refused: readonly string[];
  /** May create roles with rights that they do not have themselves, and bind them. */
  readonly escalates: boolean;
}

/** The namespace of the installation. */
export interface NamespaceFacts {
  /** Level of Pod Security that it enforces; undefined if it has no such label. */
  readonly enforce: string | undefined;
  readonly deleting: boolean;
}

/** What both kinds of checks read. */
export interface CommonFacts {
  /** Version of the API server. */
  readonly server: string;
  readonly servesGates: boolean;
  readonly servesPolicies: boolean;
  readonly namespace: Reading<NamespaceFacts>;
  readonly nodes: Reading<NodeFacts>;
  readonly csiDriver: Reading<Raw>;
  /** Names of nodes on which kubelet has registered our driver. */
  readonly registered: Reading<string>;
  readonly definitions: DefinitionFacts;
}

/** What the checks before an installation read. */
export interface PreFacts extends CommonFacts {
  readonly rights: RightsFacts;
}

/** What an agent reports of its node. */
export interface StateFacts {
  readonly node: string;
  readonly version: string;
  readonly ready: { readonly status: string; readonly reason: string; readonly message: string } | undefined;
  /** Why admission policies are not in force, as the agent reports it. */
  readonly unguarded: string | undefined;
}

/** How a set stands. */
export interface SetFacts {
  readonly name: string;
  readonly ready: boolean;
  readonly failing: readonly { readonly node: string; readonly reason: string; readonly message: string }[];
  /** The same, as the controller reports it. */
  readonly unguarded: string | undefined;
}

/** What the checks of an installation read. */
export interface InstalledFacts extends CommonFacts {
  /** What is wrong with policies and their bindings. */
  readonly policies: Reading<PolicyFinding>;
  /** The MutatingAdmissionPolicy of the scheduling gates and its binding, as far as they are there. */
  readonly gates: Reading<Raw>;
  readonly pods: Reading<PodFacts>;
  readonly daemonSet: Reading<DaemonSetFacts>;
  /** NODEVOLUME_ALLOWED_PREFIXES of the ConfigMaps that the DaemonSet names. */
  readonly prefixes: Reading<string>;
  /** Replicas of the controller. */
  readonly replicas: Reading<number>;
  readonly leases: Reading<Lease>;
  readonly states: Reading<StateFacts>;
  readonly sets: Reading<SetFacts>;
}

/** PURE. Fields that are strings; "" for each that is not there. */
function textsIn<K extends string>(value: unknown, ...keys: readonly K[]): { readonly [key in K]: string } {
  return Object.fromEntries(keys.map((key) => [key, stringIn(value, key) ?? ""])) as { readonly [key in K]: string };
}

/** PURE. What a Node says; what it does not say is "". The labels stand in for what kubelet has not reported yet. */
export function nodeFacts(raw: Raw): NodeFacts {
  const info = recordIn(recordIn(raw, "status"), "nodeInfo");
  const text = (key: string) => stringIn(info, key) ?? "";
  const labels = raw.metadata.labels ?? {};
  const taints = arrayIn(recordIn(raw, "spec"), "taints").map((taint) => textsIn(taint, "key", "value", "effect"));
  return {
    name: raw.metadata.name,
    labels,
    taints,
    ready: stringIn(conditionOf(raw, "Ready"), "status") === "True",
    os: text("operatingSystem") || (labels["kubernetes.io/os"] ?? ""),
    architecture: text("architecture") || (labels["kubernetes.io/arch"] ?? ""),
    kernel: text("kernelVersion"),
    kubelet: text("kubeletVersion"),
    runtime: text("containerRuntimeVersion"),
    image: text("osImage"),
  };
}

/** PURE. What a pod says, with why it is not ready. Without a label of the component that is "". */
export function podFacts(raw: Raw): PodFacts {
  const ready = stringIn(conditionOf(raw, "Ready"), "status") === "True";
  const trouble = ready ? undefined : troubleOf(raw);
  return {
    name: raw.metadata.name,
    node: stringIn(recordIn(raw, "spec"), "nodeName") ?? nodeMeantFor(raw),
    component: raw.metadata.labels?.["app.kubernetes.io/component"] ?? "",
    ready,
    ...(trouble !== undefined && { trouble }),
  };
}

/** Why a pod is not ready: it has no node, a container waits or has ended, or nothing that the API shows. */
function troubleOf(raw: Raw): NonNullable<PodFacts["trouble"]> {
  const scheduled = conditionOf(raw, "PodScheduled");
  if (stringIn(scheduled, "status") === "False")
    return { reason: stringIn(scheduled, "reason") ?? "Unschedulable", message: stringIn(scheduled, "message") ?? "" };
  const status = recordIn(raw, "status");
  const containers = ["initContainerStatuses", "containerStatuses"].flatMap((list) => arrayIn(status, list));
  const states = containers.flatMap((one) => {
    const state = recordIn(one, "state");
    return recordIn(state, "waiting") ?? recordIn(state, "terminated") ?? [];
  });
  // What waits for another container says nothing.
  const cause = states.find((state) => stringIn(state, "reason") !== "PodInitializing") ?? states[0];
  const reason = stringIn(cause, "reason") ?? stringIn(status, "reason") ?? "NotReady";
  return { reason, message: stringIn(cause, "message") ?? stringIn(status, "message") ?? "" };
}

/** As the DaemonSet controller says which node a pod is for, before the scheduler has bound it. */
function nodeMeantFor(raw: Raw): string | undefined {
  const affinity = recordIn(recordIn(recordIn(raw, "spec"), "affinity"), "nodeAffinity");
  const required = recordIn(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
  const fields = arrayIn(required, "nodeSelectorTerms").flatMap((term) => arrayIn(term, "matchFields"));
  const named = fields.find((field) => stringIn(field, "key") === "metadata.name");
  const [name] = arrayIn(named, "values");
  return typeof name === "string" ? name : undefined;
}

/** PURE. What the template of a DaemonSet says; without a container `agent` nothing is shared or set. */
export function daemonSetFacts(raw: Raw): DaemonSetFacts {
  const pod = recordIn(recordIn(recordIn(raw, "spec"), "template"), "spec");
  const required = recordIn(
    recordIn(recordIn(pod, "affinity"), "nodeAffinity"),
    "requiredDuringSchedulingIgnoredDuringExecution",
  );
  return {
    nodeSelector: (recordIn(pod, "nodeSelector") ?? {}) as DaemonSetFacts["nodeSelector"],
    terms: required === undefined ? undefined : (arrayIn(required, "nodeSelectorTerms") as NodeSelectorTerm[]),
    tolerations: arrayIn(pod, "tolerations") as Toleration[],
    ...sharedPaths(arrayIn(pod, "containers").find((one) => stringIn(one, "name") === "agent")),
  };
}

function sharedPaths(agent: unknown): Pick<DaemonSetFacts, "shared" | "settings" | "prefixes"> {
  const shared = arrayIn(agent, "volumeMounts").filter((one) => stringIn(one, "mountPropagation") === "Bidirectional");
  const own = arrayIn(agent, "env").find((one) => stringIn(one, "name") === prefixVariable);
  return {
    shared: shared.flatMap((one) => stringIn(one, "mountPath") ?? []),
    settings: arrayIn(agent, "envFrom").flatMap((one) => stringIn(recordIn(one, "configMapRef"), "name") ?? []),
    prefixes: stringIn(own, "value"),
  };
}

/** The variable of the allowed prefixes, as src/config.ts reads it. */
export const prefixVariable = "NODEVOLUME_ALLOWED_PREFIXES";

/** PURE. What a NodeVolumeState says; `ready` is undefined until its agent has reported. */
export function stateFacts(raw: Raw): StateFacts {
  const ready = conditionOf(raw, "Ready");
  return {
    node: raw.metadata.name,
    version: stringIn(recordIn(recordIn(raw, "status"), "agent"), "version") ?? "",
    ready: ready && textsIn(ready, "status", "reason", "message"),
    unguarded: unguardedIn(raw),
  };
}

/** PURE. What a NodeVolumeSet says; without a condition Ready it is not ready. */
export function setFacts(raw: Raw): SetFacts {
  const failing = arrayIn(recordIn(raw, "status"), "failing").map((one) => textsIn(one, "node", "reason", "message"));
  const ready = stringIn(conditionOf(raw, "Ready"), "status") === "True";
  return { name: raw.metadata.name, ready, failing, unguarded: unguardedIn(raw) };
}

function unguardedIn(raw: Raw): string | undefined {
  const condition = conditionOf(raw, "PoliciesInForce");
  return stringIn(condition, "status") === "False" ? (stringIn(condition, "message") ?? "") : undefined;
}

/** PURE. What a namespace says; `enforce` is undefined without a label of Pod Security. */
export function namespaceFacts({ metadata }: Raw): NamespaceFacts {
  return {
    enforce: metadata.labels?.["pod-security.kubernetes.io/enforce"],
    deleting: metadata.deletionTimestamp !== undefined,
  };
}

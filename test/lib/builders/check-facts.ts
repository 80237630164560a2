import { expect } from "chai";
import type {
  CommonFacts,
  DaemonSetFacts,
  InstalledFacts,
  NodeFacts,
  PodFacts,
  PreFacts,
  StateFacts,
} from "../../../src/cli/check/facts.ts";
import { definedFields } from "../../../src/cli/check/installation.gen.ts";
import type { CheckResult } from "../../../src/cli/check/result.ts";
import type { Raw } from "../../../src/explain/facts.ts";
import type { Lease } from "../../../src/kube/leases/lease.ts";
import { raw } from "./cli-objects.ts";

/** A cluster on which everything is as it should be, for tests that change one thing of it. */
export const now = Date.parse("2026-03-01T12:00:00Z");
export const version = "0.1.0";

export const node = (name: string, more: Partial<NodeFacts> = {}): NodeFacts => ({
  name,
  labels: { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux" },
  taints: [],
  ready: true,
  os: "linux",
  architecture: "amd64",
  kernel: "6.12.9-generic",
  kubelet: "v1.36.3",
  runtime: "containerd://2.1.3",
  image: "Debian GNU/Linux 13 (trixie)",
  ...more,
});

export const agent = (node: string, more: Partial<PodFacts> = {}): PodFacts => ({
  name: `nodevolume-agent-${node}`,
  node,
  component: "agent",
  ready: true,
  ...more,
});

export const broken = (reason: string, message = ""): Partial<PodFacts> => ({
  ready: false,
  trouble: { reason, message },
});

export const controller = (number: number, more: Partial<PodFacts> = {}): PodFacts => ({
  ...agent("control-1"),
  name: `nodevolume-controller-${number}`,
  component: "controller",
  ...more,
});

export const state = (node: string, more: Partial<StateFacts> = {}): StateFacts => ({
  node,
  version,
  ready: { status: "True", reason: "InSync", message: "" },
  unguarded: undefined,
  ...more,
});

export const lease = (name: string, ago = 5): Lease => ({
  metadata: { name, namespace: "nodevolume-system" },
  spec: {
    holderIdentity: name,
    leaseDurationSeconds: 180,
    renewTime: new Date(now - ago * 1_000).toISOString(),
  },
});

const driverSpec = {
  attachRequired: false,
  podInfoOnMount: true,
  fsGroupPolicy: "None",
  volumeLifecycleModes: ["Ephemeral"],
};

export const driver = (spec: object = {}): Raw =>
  raw("csi.nodevolume.dev", undefined, { spec: { ...driverSpec, ...spec } });

export const daemonSet = (more: Partial<DaemonSetFacts> = {}): DaemonSetFacts => ({
  nodeSelector: { "kubernetes.io/os": "linux" },
  terms: undefined,
  tolerations: [{ operator: "Exists" }],
  shared: ["/mnt/nodevolume", "/var/lib/nodevolume"],
  settings: ["nodevolume-settings"],
  prefixes: undefined,
  ...more,
});

const nodes = ["worker-1", "worker-2"];

const common = (names: readonly string[]): CommonFacts => ({
  server: "v1.36.3",
  servesGates: true,
  servesPolicies: true,
  namespace: { items: [{ enforce: "privileged", deleting: false }] },
  nodes: { items: names.map((name) => node(name)) },
  csiDriver: { items: [driver()] },
  registered: { items: names },
  definitions: {
    served: ["nodevolumesets", "nodevolumeintents", "nodevolumestates"],
    others: [],
    deleting: [],
    fields: definedFields,
  },
});

/** Nothing is installed, and the person may do everything. */
export const uninstalled = (more: Partial<PreFacts> = {}): PreFacts => ({
  ...common(nodes),
  namespace: { items: [] },
  csiDriver: { items: [] },
  registered: { items: [] },
  definitions: { served: [], others: [], deleting: [], fields: undefined },
  rights: { user: "admin", everything: true, refused: [], escalates: true },
  ...more,
});

/** Everything is installed and works. */
export const installed = (more: Partial<InstalledFacts> = {}, names: readonly string[] = nodes): InstalledFacts => ({
  ...common(names),
  policies: { items: [] },
  gates: { items: [raw("nodevolume-gates", undefined, {}), raw("nodevolume-gates", undefined, {})] },
  pods: { items: [controller(1), controller(2), ...names.map((name) => agent(name))] },
  daemonSet: { items: [daemonSet()] },
  prefixes: { items: ["/mnt/nodevolume,/var/lib/nodevolume/mounts"] },
  replicas: { items: [2] },
  leases: { items: [lease("nodevolume-controller"), ...names.map((name) => lease(name))] },
  states: { items: names.map((name) => state(name)) },
  sets: { items: [{ name: "datasets", ready: true, failing: [], unguarded: undefined }] },
  ...more,
});

export const notRead = (what: string) => ({ items: [], denied: `you may not read ${what}` });

const mark = { Ok: "✓", Limited: "!", Failed: "✗", Unknown: "?" } as const;

/** What is not as it should be, a line each. */
export function bad(results: readonly CheckResult[]): string[] {
  return results
    .filter(({ result }) => result !== "Ok")
    .map(({ check, result, found, remedy = "" }) => `${mark[result]} ${check}: ${found} → ${remedy}`);
}

/** Each result is matched by its expression, in this order, and there are no others. */
export function expectResults(results: readonly string[], expected: readonly RegExp[]): void {
  expect(results, results.join("\n")).to.have.length(expected.length);
  expected.forEach((expression, at) => {
    expect(results[at]).to.match(expression);
  });
}

// How long volumes take to be mounted and unmounted: node hack/bench/mount-latency.ts. See README.md.
import { mount } from "./in-agent/scenarios.ts";
import type { Benchmark, Scenario } from "./lib/benchmark.ts";
import { main } from "./lib/main.ts";
import { numbersOf } from "./lib/numbers.ts";
import { inAgent, type Kind, podsText, quantiles, throughApi } from "./lib/pods.ts";
import type { Measure } from "./report/row.ts";

interface Wanted {
  readonly pods: number;
  readonly volumes: number;
  readonly kind: Kind;
  /** Milliseconds between two pods. */
  readonly intervalMs?: number;
  /** kubelet is held to its own client's limit of requests a second. */
  readonly limited?: true;
  /** How many times less than kubelet's p50. */
  readonly times: number;
}

export const mountLatency: Benchmark = {
  name: "mount-latency",
  scenarios: ({ quick }) => (quick ? [...inTheAgent(quickly), ...throughTheApi(quicklyThrough)] : full()),
};

const full = (): Scenario[] => [
  ...inTheAgent([
    { pods: 1, volumes: 2, kind: "mem", times: 20 },
    { pods: 1, volumes: 2, kind: "local", times: 20 },
    { pods: 100, volumes: 2, kind: "mem", times: 20 },
    { pods: 100, volumes: 2, kind: "local", times: 20 },
    { pods: 200, volumes: 2, kind: "mem", intervalMs: 20, times: 20 },
    { pods: 200, volumes: 2, kind: "local", intervalMs: 20, times: 20 },
    { pods: 500, volumes: 2, kind: "mem", times: 10 },
    { pods: 500, volumes: 2, kind: "local", times: 10 },
  ]),
  ...throughTheApi([
    { pods: 1, volumes: 2, kind: "mem", times: 10 },
    { pods: 1, volumes: 2, kind: "local", times: 10 },
    { pods: 200, volumes: 2, kind: "mem", intervalMs: 20, times: 10 },
    { pods: 100, volumes: 1, kind: "local", limited: true, times: 3 },
    { pods: 500, volumes: 2, kind: "local", limited: true, times: 5 },
  ]),
];

const quickly: readonly Wanted[] = [
  { pods: 1, volumes: 2, kind: "mem", times: 20 },
  { pods: 20, volumes: 2, kind: "local", times: 20 },
];

const quicklyThrough: readonly Wanted[] = [
  { pods: 1, volumes: 2, kind: "mem", times: 10 },
  { pods: 20, volumes: 1, kind: "local", limited: true, times: 3 },
];

function inTheAgent(all: readonly Wanted[]): Scenario[] {
  return all.map((wanted) => ({
    ...common(wanted),
    scope: inAgent,
    measures: measuresOf(wanted),
    ours: async ({ agent }) => numbersOf(await mount(wanted, agent)),
  }));
}

/** What the API server and the others cost there. */
const costs: readonly Measure[] = [
  { name: "status writes a volume", unit: "", ours: "statusWritesAVolume" },
  { name: "CPU of kube-apiserver while mounting", unit: "ms", ours: "apiServerCpuMs" },
  { name: "CPU of etcd", unit: "ms", ours: "etcdCpuMs" },
  { name: "CPU of the agent", unit: "ms", ours: "agentCpuMs" },
  { name: "CPU of the benchmark itself", unit: "ms", ours: "benchmarkCpuMs" },
];

function throughTheApi(all: readonly Wanted[]): Scenario[] {
  return all.map((wanted) => ({
    ...common(wanted),
    scope: throughApi,
    measures: [...measuresOf(wanted), ...costs],
    ...(wanted.pods * wanted.volumes >= 1000 && { long: true as const }),
    ours: async (tools) => (await tools.throughApi()).comeAndGo({ intervalMs: 0, ...wanted }),
  }));
}

function common({ pods, volumes, kind, intervalMs, limited }: Wanted) {
  const how = intervalMs === undefined ? "at once" : `one every ${intervalMs} ms`;
  const flags = intervalMs === undefined ? [] : ["-interval", `${intervalMs}ms`];
  return {
    name: `${podsText(pods, volumes, kind)}, ${pods === 1 ? "alone" : how}${limited ? " (kubelet: -qps 50)" : ""}`,
    pods,
    kubelet: ["mount", "-pods", `${pods}`, "-vols", `${kind}:${volumes}`, ...flags, ...(limited ? ["-qps", "50"] : [])],
  };
}

function measuresOf({ pods, times }: Wanted): Measure[] {
  return [
    ...quantiles("mount", "mount", "mount_wait", times, pods),
    ...quantiles("unmount", "unmount", "unmount_wait", undefined, pods),
  ];
}

if (import.meta.main) await main(import.meta.filename, [mountLatency]);

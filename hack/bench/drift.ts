// What is broken from outside, and what was broken and is whole again: node hack/bench/drift.ts. See README.md.
import { drift, retry } from "./in-agent/scenarios.ts";
import type { Benchmark, Scenario } from "./lib/benchmark.ts";
import { main } from "./lib/main.ts";
import { numbersOf } from "./lib/numbers.ts";
import { inAgent, type Kind, quantiles, throughApi } from "./lib/pods.ts";
import type { Measure } from "./report/row.ts";

/** Volumes of each drift. */
const few = 10;

const repairs: readonly Measure[] = [
  { name: "gone p50", unit: "ms", ours: "repairedP50" },
  { name: "gone p99", unit: "ms", ours: "repairedP99" },
  { name: "repaired", unit: "", ours: "repaired", kubelet: "repaired" },
];

export const drifting: Benchmark = {
  name: "drift",
  scenarios({ quick }) {
    const kinds: readonly Kind[] = quick ? ["mem"] : ["mem", "local"];
    const faults = quick ? [5] : [5, 20, 70];
    return [...kinds.flatMap((kind) => unmounted(kind, quick ? 5 : 30)), ...faults.map(missing)];
  },
};

/** kubelet does not look: it is watched for `seconds`. */
function unmounted(kind: Kind, seconds: number): Scenario[] {
  const common = {
    name: `${few} ${kind === "mem" ? "tmpfs" : "binds"} unmounted from outside, one by one (kubelet watched for ${seconds} s)`,
    pods: few,
    measures: repairs,
    kubelet: ["drift", "-pods", `${few}`, "-vols", `${kind}:1`, "-secs", `${seconds}`],
    long: true,
  } as const;
  return [
    {
      ...common,
      scope: inAgent,
      ours: async ({ agent }) => numbersOf(await drift({ volumes: few, kind }, agent)),
    },
    {
      ...common,
      scope: throughApi,
      ours: async (tools) => (await tools.throughApi()).drift({ volumes: few, kind }),
    },
  ];
}

function missing(seconds: number): Scenario {
  return {
    name: `${few} binds, source made after ${seconds} s`,
    scope: inAgent,
    pods: few,
    measures: quantiles("made → mounted", "mounted", "mounted_after_fix"),
    kubelet: ["retry", "-pods", `${few}`, "-vols", "local:1", "-secs", `${seconds}`],
    long: true,
    together: true,
    ours: async ({ agent }) => numbersOf(await retry({ volumes: few, faultMs: seconds * 1000 }, agent)),
  };
}

if (import.meta.main) await main(import.meta.filename, [drifting]);

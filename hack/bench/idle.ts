// What it costs to have nothing to do: node hack/bench/idle.ts. See README.md.
import { idle } from "./in-agent/scenarios.ts";
import type { Benchmark, Scenario } from "./lib/benchmark.ts";
import { main } from "./lib/main.ts";
import { numbersOf } from "./lib/numbers.ts";
import { inAgent, throughApi } from "./lib/pods.ts";
import type { Measure } from "./report/row.ts";

const measures: readonly Measure[] = [
  { name: "CPU", unit: "s/min", ours: "cpuSecondsAMinute", kubelet: "cpu_s_per_min", wanted: 20 },
  { name: "memory (RSS)", unit: "MiB", ours: "rssMiB", kubelet: "rss_mib" },
];

export const idling: Benchmark = {
  name: "idle",
  scenarios({ quick }) {
    const [volumes, seconds] = quick ? [40, 10] : [1000, 60];
    const kind = "mem";
    // kubelet's figure is of two volumes a pod.
    const kubelet = ["idle", "-pods", `${volumes / 2}`, "-vols", "mem:2", "-secs", `${seconds}`];
    const common = { name: `${volumes} tmpfs mounted`, pods: volumes / 2, measures, kubelet, long: true } as const;
    const scenarios: Scenario[] = [
      {
        ...common,
        scope: inAgent,
        ours: async ({ agent }) => numbersOf(await idle({ volumes, kind, seconds }, agent)),
      },
      {
        ...common,
        scope: throughApi,
        ours: async (tools) => (await tools.throughApi()).idle({ volumes, kind, seconds }),
      },
    ];
    return scenarios;
  },
};

if (import.meta.main) await main(import.meta.filename, [idling]);

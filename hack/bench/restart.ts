// How soon a fresh process knows what is mounted: node hack/bench/restart.ts. See README.md.
import { restart } from "./in-agent/scenarios.ts";
import type { Benchmark, Scenario } from "./lib/benchmark.ts";
import { main } from "./lib/main.ts";
import { numbersOf } from "./lib/numbers.ts";
import { inAgent, type Kind, podsText, throughApi } from "./lib/pods.ts";

export const restarting: Benchmark = {
  name: "restart",
  scenarios({ quick }) {
    const pods = quick ? 20 : 500;
    const kinds: readonly Kind[] = quick ? ["local"] : ["mem", "local"];
    return kinds.flatMap((kind) => scenariosOf(pods, kind));
  },
};

function scenariosOf(pods: number, kind: Kind): Scenario[] {
  const common = {
    name: `${podsText(pods, 2, kind)} in place`,
    pods,
    kubelet: ["restart", "-pods", `${pods}`, "-vols", `${kind}:2`],
  };
  return [
    {
      ...common,
      scope: inAgent,
      measures: [
        {
          name: "started → all known",
          unit: "ms",
          ours: "ready",
          kubelet: "ready_p99_ms",
          ...(kind === "local" && { wanted: 10 }),
        },
        { name: "process begun → all known", unit: "ms", ours: "readySinceExec", kubelet: "process_ms" },
      ],
      ours: async ({ agent }) => numbersOf(await restart({ pods, volumes: 2, kind }, agent)),
    },
    {
      ...common,
      scope: throughApi,
      measures: [
        { name: "killed → a volume asked for then is Ready", unit: "ms", ours: "ready", kubelet: "process_ms" },
        { name: "statuses written for it, of the others", unit: "", ours: "statusWrites" },
      ],
      long: true,
      ours: async (tools) => (await tools.throughApi()).restart({ pods, volumes: 2, kind }),
    },
  ];
}

if (import.meta.main) await main(import.meta.filename, [restarting]);

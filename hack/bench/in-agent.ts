// What the benchmarks measure in the agent, without kubelet: a line of JSON for each scenario.
// node hack/bench/in-agent.ts [--quick] [--only TEXT] ["--node-options=--cpu-prof --cpu-prof-dir=FOLDER"]
import { parseArgs } from "node:util";
import { drifting } from "./drift.ts";
import { idling } from "./idle.ts";
import { inAgent } from "./lib/pods.ts";
import { mountLatency } from "./mount-latency.ts";
import { restarting } from "./restart.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    "node-options": { type: "string" },
  },
});
const { quick, only, "node-options": nodeOptions } = values;
const agent = nodeOptions === undefined ? {} : { nodeOptions: nodeOptions.split(" ") };
const throughApi = () => Promise.reject(new Error("only the agent is measured here"));
for (const { scenarios } of [mountLatency, restarting, drifting, idling]) {
  const options = { quick, runs: 1, pods: undefined, only: undefined, json: undefined };
  for (const { name, scope, ours } of scenarios(options)) {
    if (scope !== inAgent || !name.includes(only)) continue;
    console.log(JSON.stringify({ scenario: name, ...(await ours({ agent, throughApi })) }));
  }
}

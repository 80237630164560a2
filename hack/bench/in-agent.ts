// The agent alone, against a fake API in its own process: node hack/bench/in-agent.ts [NAME…], one line of JSON each.
import { drift, idle, mount, type Options, type Row, restart, retry } from "./in-agent/scenarios.ts";

const scenarios: { readonly [name: string]: (options: Options) => Promise<Row> } = {
  one: (o) => mount({ pods: 1, volumes: 2, kind: "mem", rounds: 20 }, o),
  "one-local": (o) => mount({ pods: 1, volumes: 2, kind: "local", rounds: 20 }, o),
  hundred: (o) => mount({ pods: 100, volumes: 2, kind: "mem" }, o),
  "hundred-local": (o) => mount({ pods: 100, volumes: 2, kind: "local" }, o),
  stream: (o) => mount({ pods: 200, volumes: 2, kind: "mem", intervalMs: 20, rounds: 1 }, o),
  "stream-local": (o) => mount({ pods: 200, volumes: 2, kind: "local", intervalMs: 20, rounds: 1 }, o),
  many: (o) => mount({ pods: 500, volumes: 2, kind: "mem" }, o),
  "many-local": (o) => mount({ pods: 500, volumes: 2, kind: "local" }, o),
  drift: (o) => drift({ volumes: 50, kind: "mem" }, o),
  "drift-local": (o) => drift({ volumes: 50, kind: "local" }, o),
  restart: (o) => restart({ pods: 500, volumes: 2, kind: "local" }, o),
  "restart-mem": (o) => restart({ pods: 500, volumes: 2, kind: "mem" }, o),
  retry: (o) => retry({ volumes: 10, faultMs: 5_000 }, o),
  idle: (o) => idle({ volumes: 1000, kind: "local", seconds: 60 }, o),
};

const [first, ...more] = process.argv.slice(2);
const nodeOptions = first?.startsWith("--") ? first.split(" ") : undefined;
const names = [first, ...more].filter((name) => name !== undefined && !name.startsWith("--"));
for (const name of names.length > 0 ? names : Object.keys(scenarios)) {
  const run = scenarios[name ?? ""];
  if (run === undefined) throw new Error(`no scenario ${name}: ${Object.keys(scenarios).join(", ")}`);
  console.log(JSON.stringify(await run(nodeOptions === undefined ? {} : { nodeOptions })));
}

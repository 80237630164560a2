// Kills agents with real mounts at random: node hack/proof/kills.ts [--kills N] [--seed N] [--nodes N]
// [--settle-every N]
import { parseArgs } from "node:util";
import { inSandbox, isRoot, seedArgs } from "./in-sandbox.ts";
import { figuresOf } from "./kills/figures.ts";
import { runKills } from "./kills/run-kills.ts";

const text = { type: "string" } as const;
const { values } = parseArgs({ options: { kills: text, seed: text, nodes: text, "settle-every": text } });
const needs = isRoot() ? undefined : "agents that mount are killed, so this needs root";

await inSandbox({ script: import.meta.filename, args: seedArgs(values.seed), needs }, async () => {
  const options = {
    kills: Number(values.kills ?? 10_000),
    seed: Number(values.seed),
    nodes: Number(values.nodes ?? 3),
    withChildren: Number(values.nodes ?? 3),
    settleEvery: Number(values["settle-every"] ?? 100),
  };
  console.log(`seed ${options.seed}`);
  const figures = await runKills({ ...options, report: (line) => console.log(line) });
  return { lines: figuresOf(figures), failed: figures.violations.length > 0 };
});

// Real volumes come and go on one agent: node hack/proof/soak.ts [--minutes 60] [--seed N] [--pace-ms 100]
// [--rest-every 100] [--overlap 0.5]
import { parseArgs } from "node:util";
import { inSandbox, isRoot, seedArgs } from "./in-sandbox.ts";
import { figuresOf, growthOf } from "./soak/figures.ts";
import { runSoak } from "./soak/run-soak.ts";

const text = { type: "string" } as const;
const { values } = parseArgs({
  options: { minutes: text, seed: text, "pace-ms": text, "rest-every": text, overlap: text },
});
const needs = isRoot() ? undefined : "a real agent mounts, so this needs root";

await inSandbox({ script: import.meta.filename, args: seedArgs(values.seed), needs }, async () => {
  console.log(`seed ${values.seed}`);
  const figures = await runSoak({
    ms: Number(values.minutes ?? 60) * 60_000,
    seed: Number(values.seed),
    paceMs: Number(values["pace-ms"] ?? 100),
    restEvery: Number(values["rest-every"] ?? 100),
    ...{ leastRests: 2, overlap: Number(values.overlap ?? 0.5) },
    report: (line) => console.log(line),
  });
  const growth = growthOf(figures);
  return { lines: [...figuresOf(figures), ...growth], failed: figures.violations.length + growth.length > 0 };
});

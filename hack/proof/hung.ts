// Half of a node's volumes hang: node hack/proof/hung.ts [--minutes 10] [--baseline-minutes 3] [--volumes 100]
// [--hung 50]
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { figuresOf, slownessOf } from "./hung/figures.ts";
import { runHung } from "./hung/run-hung.ts";
import { inSandbox, isRoot } from "./in-sandbox.ts";

const text = { type: "string" } as const;
const { values } = parseArgs({
  options: { minutes: text, "baseline-minutes": text, volumes: text, hung: text, "pace-ms": text },
});
const minuteMs = 60_000;
const isThere = isRoot() && existsSync("/dev/fuse");
const needs = isThere ? undefined : "a real agent mounts, and FUSE servers stop: this needs root and /dev/fuse";

await inSandbox({ script: import.meta.filename, needs }, async () => {
  const figures = await runHung({
    size: { volumes: Number(values.volumes ?? 100), hung: Number(values.hung ?? 50) },
    hungMs: Number(values.minutes ?? 10) * minuteMs,
    baselineMs: Number(values["baseline-minutes"] ?? 3) * minuteMs,
    paceMs: Number(values["pace-ms"] ?? 100),
    control: true,
    report: (line) => console.log(line),
  });
  const slow = slownessOf(figures);
  return { lines: [...figuresOf(figures), ...slow], failed: figures.violations.length + slow.length > 0 };
});

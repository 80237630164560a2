import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { BuildOptions, Plugin } from "esbuild";
import { root } from "../../lib/root.ts";

/**
 * Which planner an agent has: `incremental` is the one of src; `plain` plans everything each time, so many milliseconds
 * after the last plan at least, or `in a crowd` only while many operations run, where src takes a turn of the event
 * loop.
 */
export const planners = ["incremental", "plain, 25 ms", "plain, 50 ms", "plain, 25 ms in a crowd"] as const;
export type PlannerName = (typeof planners)[number];

type Change = readonly [from: string, to: string];
const crowded = "if (this.running.size >= crowd) await this.#deps.system.yielder.next();";
const turn = "await (this.#deps.planner as unknown as { turn(): Promise<void> }).turn();";
const always: Change = [crowded, turn];
const inCrowd: Change = [crowded, `if (this.running.size >= crowd) ${turn}`];
/** So many operations end between two plans: with 32 the pace of plans would be that of operations, too. */
const more: Change = ["const mostAtOnce = 32;", "const mostAtOnce = 256;"];

/** Options of esbuild that put another planner into the agent. */
export function withPlanner(name: PlannerName): Pick<BuildOptions, "plugins" | "define"> {
  const changes = changesOf(name);
  if (changes.length === 0) return {};
  const other: Plugin = {
    name: "another planner",
    setup(build) {
      build.onResolve({ filter: /\/incremental-planner\.ts$/ }, ({ importer }) =>
        importer.includes("/hack/") ? undefined : { path: join(root, "hack/bench/planners/spaced-planner.ts") },
      );
      build.onLoad({ filter: /src\/agent\/loop\.ts$/ }, ({ path }) => {
        const contents = changes.reduce(
          (text, [from, to]) => {
            if (!text.includes(from)) throw new Error(`${path} has no line "${from}"`);
            return text.replace(from, to);
          },
          readFileSync(path, "utf8"),
        );
        return { contents, loader: "ts", resolveDir: dirname(path) };
      });
    },
  };
  return { plugins: [other], define: { planSpacingMs: /\d+/.exec(name)?.[0] ?? "0" } };
}

function changesOf(name: PlannerName): readonly Change[] {
  switch (name) {
    case "incremental":
      return [];
    case "plain, 25 ms":
    case "plain, 50 ms":
      return [always, more];
    case "plain, 25 ms in a crowd":
      return [inCrowd, more];
  }
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { eachLine } from "../../../hack/lib/lines.ts";
import type { Edit } from "../../sim/mutations/list.ts";
import type { Shown } from "./world.ts";

export interface Worlds {
  readonly firstSeed: number;
  readonly count: number;
  /** Processes beside each other. */
  readonly beside: number;
  /** What is broken in the product. */
  readonly edits?: readonly Edit[];
}

/** Lives in worlds until one shows harm. */
export async function runWorlds({ firstSeed, count, beside, edits = [] }: Worlds): Promise<Shown[]> {
  const main = fileURLToPath(new URL("main.ts", import.meta.url));
  const hook = fileURLToPath(new URL("../../sim/mutations/hook.ts", import.meta.url));
  const shares = Array.from({ length: beside }, (_, place) => {
    const from = Math.floor((count * place) / beside);
    return { place, from, count: Math.floor((count * (place + 1)) / beside) - from };
  });
  const all: Shown[] = [];
  const processes = shares.map((share) => {
    const args = [main, `${firstSeed + share.from}`, `${share.count}`, `${share.place}`];
    const env = { ...process.env, NODEVOLUME_SIM_EDITS: JSON.stringify(edits) };
    return spawn(process.execPath, ["--import", hook, ...args], { env, stdio: ["ignore", "pipe", "inherit"] });
  });
  await Promise.all(
    processes.map(async (child) => {
      eachLine(child.stdout, (line) => {
        const shown = JSON.parse(line) as Shown & { happened: [string, number][] };
        all.push({ ...shown, happened: new Map(shown.happened) });
        if (shown.harm.length > 0) for (const one of processes) one.kill("SIGTERM");
      });
      const [code] = await once(child, "close");
      if (code !== 0) throw new Error(`worlds ended with ${code}`);
    }),
  );
  return all;
}

/** What happened in all of them, and how often. */
export function togetherOf(worlds: readonly Shown[]): Map<string, number> {
  const all = new Map<string, number>();
  for (const { happened } of worlds) for (const [what, times] of happened) all.set(what, (all.get(what) ?? 0) + times);
  return all;
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { eachLine } from "../../../hack/lib/lines.ts";
import type { Edit } from "../../sim/mutations/mutation.ts";
import type { Focus } from "./focus.ts";
import type { Shown } from "./world.ts";

export interface Worlds {
  readonly firstSeed: number;
  readonly count: number;
  /** Processes beside each other. */
  readonly beside: number;
  /** What is broken in the product. */
  readonly edits?: readonly Edit[];
  readonly focus?: Focus;
  /** Is told now and then how far they are. */
  readonly report?: (line: string) => void;
}

/** Parts of all worlds after which it is told how far they are. */
const parts = 20;

/** Lives in worlds until one shows harm. */
export async function runWorlds({ firstSeed, count, beside, edits = [], focus, report }: Worlds): Promise<Shown[]> {
  const main = fileURLToPath(new URL("main.ts", import.meta.url));
  const hook = fileURLToPath(new URL("../../sim/mutations/hook.ts", import.meta.url));
  const shares = Array.from({ length: beside }, (_, place) => {
    const from = Math.floor((count * place) / beside);
    return { place, from, count: Math.floor((count * (place + 1)) / beside) - from };
  });
  const all: Shown[] = [];
  const begun = performance.now();
  const processes = shares.map((share) => {
    const args = [main, `${firstSeed + share.from}`, `${share.count}`, `${share.place}`];
    if (focus !== undefined) args.push(JSON.stringify(focus));
    const env = { ...process.env, NODEVOLUME_SIM_EDITS: JSON.stringify(edits) };
    return spawn(process.execPath, ["--import", hook, ...args], { env, stdio: ["ignore", "pipe", "inherit"] });
  });
  const endAll = () => {
    for (const one of processes) one.kill("SIGTERM");
  };
  const codes = await Promise.all(
    processes.map(async (child) => {
      eachLine(child.stdout, (line) => {
        const shown = JSON.parse(line) as Shown & { happened: [string, number][] };
        all.push({ ...shown, happened: new Map(shown.happened) });
        if (shown.harm.length > 0) endAll();
        if (all.length % Math.ceil(count / parts) === 0) report?.(progressOf(all.length, count, begun));
      });
      const [code] = await once(child, "close");
      if (code !== 0) endAll(); // those beside it end with the world that they are in
      return code as number | null;
    }),
  );
  const failed = codes.find((code) => code !== 0);
  if (failed !== undefined) throw new Error(`worlds ended with ${failed}`);
  return all;
}

function progressOf(done: number, count: number, begun: number): string {
  const seconds = (performance.now() - begun) / 1000;
  const left = (seconds / done) * (count - done);
  return `${done} of ${count} worlds in ${seconds.toFixed()} s, about ${left.toFixed()} s to go`;
}

/** What happened in all of them, and how often. */
export function togetherOf(worlds: readonly Shown[]): Map<string, number> {
  const all = new Map<string, number>();
  for (const { happened } of worlds) for (const [what, times] of happened) all.set(what, (all.get(what) ?? 0) + times);
  return all;
}

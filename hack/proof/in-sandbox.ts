import { insideSandbox, openSandbox } from "../lib/sandbox/inside.ts";
import { keptFolders } from "../lib/sandbox/kept.ts";
import { newRunId, runInSandbox } from "../lib/sandbox/outside.ts";

/** What a run came to. */
export interface Outcome {
  readonly lines: readonly string[];
  readonly failed: boolean;
}

/**
 * Runs the script again in a sandbox, and there what it is for; the process ends as that came out.
 * @param script the entry itself
 * @param args what its run in the sandbox is given beside its own arguments
 * @param needs what the machine lacks, for people; undefined if nothing
 */
export async function inSandbox(
  { script, args = [], needs }: { script: string; args?: readonly string[]; needs: string | undefined },
  run: () => Promise<Outcome>,
): Promise<void> {
  if (needs !== undefined) {
    console.error(`${needs} (nothing is left behind when it ends)`);
    process.exitCode = 1;
  } else if (!insideSandbox()) {
    process.exitCode = await runInSandbox({ script, args: [...process.argv.slice(2), ...args], id: newRunId() });
  } else {
    const { stopped } = openSandbox(keptFolders(process.env));
    stopped.addEventListener("abort", () => process.exit(130)); // what still runs ends with the sandbox
    const { lines, failed } = await run();
    for (const line of lines) console.log(line);
    process.exit(failed ? 1 : 0);
  }
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Arguments that give a run a seed where the user gave none. */
export function seedArgs(seed: string | undefined): string[] {
  return seed === undefined ? ["--seed", String(Math.floor(Math.random() * 2 ** 31))] : [];
}

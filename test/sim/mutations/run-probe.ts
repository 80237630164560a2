import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../../hack/lib/root.ts";
import type { Edit, Hint, Sighting } from "./mutation.ts";

const deadlineMs = 600_000;

export interface ProbeInput {
  readonly edits: readonly Edit[];
  /** Tried first. */
  readonly hint?: Hint | undefined;
  /** Whether nothing but the hint is tried. */
  readonly hintOnly?: boolean;
}

export interface Probed extends Sighting {
  readonly noticed: boolean;
}

/**
 * Runs the simulator on broken sources, in a process of its own. Nothing is written.
 * @throws Error if a text to replace is not in its file exactly once, or if the simulator could not be run
 */
export async function runProbe({ edits, hint, hintOnly = false }: ProbeInput): Promise<Probed> {
  for (const { file, from } of edits) {
    const found = readFileSync(join(root, file), "utf8").split(from).length - 1;
    if (found !== 1) throw new Error(`${file} has this text ${found} times, not once: ${from}`);
  }
  const args = ["--import", join(root, "test/sim/mutations/hook.ts"), join(root, "test/sim/mutations/probe.ts")];
  const env = {
    ...process.env,
    NODEVOLUME_SIM_EDITS: JSON.stringify(edits),
    NODEVOLUME_SIM_HINT: JSON.stringify(hint ?? null),
    NODEVOLUME_SIM_HINT_ONLY: hintOnly ? "1" : "",
  };
  const options = { cwd: root, env, timeout: deadlineMs, killSignal: "SIGKILL", maxBuffer: 1 << 24 } as const;
  const { failed, stdout, stderr } = await new Promise<{ failed: boolean; stdout: string; stderr: string }>(
    (resolve) => {
      execFile(process.execPath, args, options, (error, out, err) =>
        resolve({ failed: error !== null, stdout: out, stderr: err }),
      );
    },
  );
  const last = stdout.trim().split("\n").at(-1) ?? "";
  if (!last.startsWith("{")) throw new Error(`the simulator could not be run: ${stderr.slice(0, 2000)}`);
  return { ...(JSON.parse(last) as Sighting), noticed: failed };
}

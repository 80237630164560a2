import { readFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "../../../hack/lib/root.ts";

/** A function, and how often it was called. */
export interface Called {
  readonly name: string;
  /** File and line. */
  readonly at: string;
  readonly calls: number;
}

/**
 * How often each function of ours is called while `run` runs; an async one counts again each time that it goes on. V8
 * counts without optimizing, so that this is slow, and the same on every machine.
 */
export async function callsOf(run: () => Promise<void>): Promise<Called[]> {
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    await run();
    const { result } = await session.post("Profiler.takePreciseCoverage");
    return result
      .filter(({ url }) => isOurs(url))
      .flatMap(({ url, functions }) => {
        const text = readFileSync(fileURLToPath(url), "utf8");
        return functions.flatMap(({ functionName, ranges: [whole] }) => {
          if (whole === undefined || whole.count === 0) return [];
          const line = text.slice(0, whole.startOffset).split("\n").length;
          const at = `${relative(root, fileURLToPath(url))}:${line}`;
          return { name: functionName || "(anonymous)", at, calls: whole.count };
        });
      })
      .sort((a, b) => b.calls - a.calls);
  } finally {
    session.disconnect();
  }
}

function isOurs(url: string): boolean {
  return ["src", "test"].some((folder) => url.startsWith(`file://${root}/${folder}/`));
}

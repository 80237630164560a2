import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { childVariable } from "../../../hack/lib/agent-on-kernel/programs.ts";

/** A program that a child became, with all that it was given. */
export interface StartedProgram {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string };
}

/** Writes down what a child is about to become. Its argument after the program is the file for that. */
const recorder = `
  import { appendFileSync } from "node:fs";
  const { execve } = process;
  process.execve = (file, args, env) => {
    appendFileSync(process.argv[2], JSON.stringify({ file, args, env }) + "\\n");
    execve.call(process, file, args, env);
  };
`;

/**
 * How the role `child` is started: by the bundle that a lane has (childVariable), else from its sources, which takes
 * five times as long.
 * @param record file that is told of each program that a child becomes; of what that program starts by itself it is
 *   told nothing
 */
export function childCommand(record?: string): [string, ...string[]] {
  const source = new URL("../../../hack/lib/agent-on-kernel/child-entry.ts", import.meta.url);
  const child = process.env[childVariable] ?? fileURLToPath(source);
  if (record === undefined) return [process.execPath, child];
  return [process.execPath, "--import", `data:text/javascript,${encodeURIComponent(recorder)}`, child, record];
}

/** What children have become, by the file that was told of it. */
export function programsIn(record: string): StartedProgram[] {
  if (!existsSync(record)) return [];
  const lines = readFileSync(record, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as StartedProgram);
}

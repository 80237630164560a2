import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { childArguments, childVariable } from "../../../hack/lib/agent-on-kernel/programs.ts";
import { root } from "../../../hack/lib/root.ts";

/** A program that a child became, with all that it was given. */
export interface StartedProgram {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string };
}

/**
 * Writes down what a child is about to become. Its last argument is the file for that, which it opens before it may
 * enter a sandbox. The child for an image starts again inside of its own, and has no file there: it becomes nothing.
 */
const recorder = `
  import { existsSync, openSync, writeSync } from "node:fs";
  import { dirname } from "node:path";
  const file = process.argv.at(-1);
  const record = existsSync(dirname(file)) ? openSync(file, "a") : undefined;
  const { execve } = process;
  process.execve = (file, args, env) => {
    writeSync(record, JSON.stringify({ file, args, env }) + "\\n");
    execve.call(process, file, args, env);
  };
`;

/**
 * How the role `child` is started: by the bundle that a lane has (childVariable), else from its sources, which takes
 * ten times as long.
 * @param record file that is told of each program that a child becomes; of what that program starts by itself it is
 *   told nothing
 */
export function childCommand(record?: string): [string, ...string[]] {
  const { [childVariable]: built } = process.env;
  const args =
    built === undefined ? childArguments(join(root, "src/main.ts")) : (JSON.parse(built) as readonly string[]);
  if (record === undefined) return [process.execPath, ...args];
  const recording = ["--import", `data:text/javascript,${encodeURIComponent(recorder)}`];
  return [process.execPath, ...recording, ...args, record];
}

/** What children have become, by the file that was told of it. */
export function programsIn(record: string): StartedProgram[] {
  if (!existsSync(record)) return [];
  const lines = readFileSync(record, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as StartedProgram);
}

import { copyFileSync, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { root } from "../lib/root.ts";

/** Where logs of what failed are kept: the folder of a run is on the sandbox's tmpfs, and ends with it. */
const keptLogs = "dist/quickstart-logs";

/** What to do about a log: its end is shown, and a copy outlives the run where one can be made. */
export function keepLog(logFile: string): string {
  const path = join(keptLogs, basename(logFile));
  try {
    mkdirSync(join(root, keptLogs), { recursive: true });
    copyFileSync(logFile, join(root, path));
    return `the end of its log is above; the whole log is ${path}`;
  } catch {
    return "the end of its log is above";
  }
}

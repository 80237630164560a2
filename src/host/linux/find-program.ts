import { accessSync, constants } from "node:fs";
import { VolumeError } from "../../errors.ts";
import { errnoOf } from "./errno.ts";

/** Where programs are looked for: never in a PATH that somebody has set. */
const programPath = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/** @throws VolumeError ToolMissing, final */
export function findProgram(name: string): string {
  for (const directory of programPath) {
    try {
      accessSync(`${directory}/${name}`, constants.X_OK);
      return `${directory}/${name}`;
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") throw error;
    }
  }
  throw new VolumeError("ToolMissing", "final", `${name} is not installed where the agent runs`);
}

import { accessSync, constants } from "node:fs";
import { VolumeError } from "../../../errors.ts";
import { errnoOf } from "../syscall/errno.ts";

/** Where programs are looked for: never in a PATH that somebody has set. */
const programPath = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/** Programs that the image agent has and the image agent-minimal has not (Dockerfile). */
export const onlyInFullImage: ReadonlySet<string> = new Set(["mount.cifs", "glusterfs", "ceph-fuse", "rbd-nbd"]);

/** @throws VolumeError ToolMissing, final: its message names the image that has the program, if not each has it */
export function findProgram(name: string, directories: readonly string[] = programPath): string {
  for (const directory of directories) {
    try {
      accessSync(`${directory}/${name}`, constants.X_OK);
      return `${directory}/${name}`;
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") throw error;
    }
  }
  const where = onlyInFullImage.has(name)
    ? ": the image node-volume-operator-agent has it, and node-volume-operator-agent-minimal does not"
    : "";
  throw new VolumeError("ToolMissing", "final", `${name} is not installed where the agent runs${where}`);
}

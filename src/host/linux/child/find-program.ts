import { accessSync, constants } from "node:fs";
import { VolumeError } from "../../../errors.ts";
import { errnoOf } from "../syscall/errno.ts";

/** Where programs are looked for: never in a PATH that somebody has set. */
const programPath = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/** Programs that the image agent has and the image agent-minimal has not (Dockerfile). */
export const onlyInFullImage: ReadonlySet<string> = new Set(["mount.cifs", "glusterfs", "ceph-fuse", "rbd-nbd"]);

/** Programs that no image for arm64 has, as Debian lacks them there, and what to do without (Dockerfile). */
export const notOnArm64: ReadonlyMap<string, string> = new Map([
  ["ceph-fuse", "Debian has none for arm64, so set client: Kernel in the source"],
]);

/**
 * @throws VolumeError ToolMissing, final: its message names the image that has the program, if not each has it, or what
 *   to do where none has it
 */
export function findProgram(
  name: string,
  directories: readonly string[] = programPath,
  arch: NodeJS.Architecture = process.arch,
): string {
  for (const directory of directories) {
    try {
      accessSync(`${directory}/${name}`, constants.X_OK);
      return `${directory}/${name}`;
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") throw error;
    }
  }
  throw new VolumeError("ToolMissing", "final", `${name} is not installed where the agent runs${remedy(name, arch)}`);
}

function remedy(name: string, arch: NodeJS.Architecture): string {
  const without = arch === "arm64" ? notOnArm64.get(name) : undefined;
  if (without !== undefined) return `: ${without}`;
  if (!onlyInFullImage.has(name)) return "";
  return ": the image node-volume-operator-agent has it, and node-volume-operator-agent-minimal does not";
}

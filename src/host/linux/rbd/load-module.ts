import { existsSync } from "node:fs";
import { VolumeError } from "../../../errors.ts";
import type { Programs } from "../../ports/programs.ts";
import { findOfNode } from "../child/node-tools.ts";
import { outputExcerpt } from "../child/output-excerpt.ts";

/**
 * By the node's own modprobe: the modules are the node's.
 * @param shows what is there in /sys once the module is loaded, or built into the kernel
 * @param what the kernel lacks else, for people
 * @throws VolumeError FilesystemUnsupported
 */
export async function loadModule(programs: Programs, name: string, shows: string, what: string): Promise<void> {
  if (existsSync(shows)) return;
  let said = "no modprobe";
  const modprobe = await findOfNode(programs, "modprobe");
  if (modprobe !== undefined) {
    const { code, stderr } = await programs.run(modprobe, [name]);
    if (existsSync(shows)) return;
    said = `modprobe ${name} ended with ${code}: ${outputExcerpt(stderr) || `there is no ${shows}`}`;
  }
  const message = `the node's kernel has no ${what} (${said}): load its module ${name} there, install it first if it is missing, or use another kernel`;
  throw new VolumeError("FilesystemUnsupported", "final", message);
}

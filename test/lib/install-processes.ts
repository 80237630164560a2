import { spawn } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { eachLine } from "../../hack/lib/lines.ts";
import type { InstallWorld } from "./install-world.ts";

/**
 * Writes to an open file on the node, again and again, until it is ended. While it has something of a mount open, no other mount gets
 * its id: who then finds the ids as they were, finds the mounts.
 * @param open a directory that it has open, too
 */
export function spawnWriter(world: Pick<InstallWorld, "node">, file: string, open: string) {
  const script = `exec 3>${file} 4<${open}; n=0; while [ ! -e ${file}.end ]; do echo $n >&3 || exit 1; n=$((n+1)); sleep 0.02; done; echo $n`;
  const writer = spawn("nsenter", [`--mount=/proc/${world.node.host.pid}/ns/mnt`, "--", "sh", "-c", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let last = "";
  eachLine(writer.stdout, (line) => {
    last = line;
  });
  const ended = new Promise<number | null>((resolve) => writer.on("close", resolve));
  return {
    /** @returns how often it wrote */
    async end(): Promise<number> {
      await world.node.host.run("touch", `${file}.end`);
      expect(await ended, "the writer's exit code").to.equal(0);
      return Number(last);
    },
  };
}

/** Of the image, in that role. */
export function processOf(role: string): string {
  const found = globSync("/proc/[0-9]*/cmdline").find((file) => textOf(file).includes(`/app/main.cjs\0${role}\0`));
  if (found === undefined) throw new Error(`there is no process ${role}`);
  return found.split("/")[2] ?? "";
}

/** "" of a process that has ended meanwhile. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return "";
    throw error;
  }
}

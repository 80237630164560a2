// What a machine must have for volumes that are files: said before anything is started.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { StepError } from "../../lib/process.ts";
import type { LocateOptions } from "../../lib/tools/cache.ts";
import { locateXfsprogs, type Xfsprogs } from "../../lib/tools/xfsprogs.ts";

/** Something that is missing, and what to do about it. */
export interface Lack {
  readonly what: string;
  readonly remedy: string;
}

/** What is to be known of the machine. */
export interface Machine {
  /** Whether a file is there. */
  exists(path: string): boolean;
  /** Content of /proc/filesystems, after the modules were asked for that may be loaded. */
  readonly filesystems: string;
  /** Folders in which programs are looked for. */
  readonly path: readonly string[];
}

/** Pure but for what the machine answers. */
export function lacksOf(machine: Machine): Lack[] {
  const lacks: Lack[] = [];
  if (!machine.exists("/dev/loop-control")) {
    const remedy = "modprobe loop; in a container: --privileged, with the host's /dev";
    lacks.push({ what: "no loop devices: there is no /dev/loop-control", remedy });
  }
  if (!/\txfs$/m.test(machine.filesystems)) {
    lacks.push({ what: "the kernel has no xfs", remedy: "modprobe xfs, on a kernel that has this module" });
  }
  for (const program of ["losetup", "setpriv"]) {
    if (machine.path.some((folder) => machine.exists(join(folder, program)))) continue;
    lacks.push({ what: `no ${program}`, remedy: "install util-linux" });
  }
  return lacks;
}

/**
 * @returns the programs of xfs, which are fetched if the machine has none.
 * @throws StepError naming all that is missing
 */
export async function needMachine(options: LocateOptions): Promise<Xfsprogs> {
  const lacks = lacksOf(machineOf(options.env));
  // No need to fetch anything for a machine that cannot use it.
  const found = lacks.length === 0 ? await locateXfsprogs(options) : undefined;
  if (found !== undefined && "missing" in found) {
    lacks.push({ what: found.missing, remedy: "install the package xfsprogs, or let apt-get reach its mirror" });
  }
  if (found !== undefined && !("missing" in found)) return found;
  throw new StepError("this machine cannot do what --csi shows: a volume there is a file, a loop device and xfs", {
    details: lacks.map(({ what, remedy }) => `${what} (${remedy})`),
    remedy: "what stands in brackets above; without --csi the quickstart needs none of it",
  });
}

function machineOf(env: NodeJS.ProcessEnv): Machine {
  const filesystems = () => readFileSync("/proc/filesystems", "utf8");
  if (!/\txfs$/m.test(filesystems())) {
    try {
      execFileSync("modprobe", ["xfs"], { stdio: "ignore" });
    } catch {
      // No such module, or no modprobe: /proc/filesystems has the last word.
    }
  }
  return { exists: existsSync, filesystems: filesystems(), path: (env["PATH"] ?? "").split(delimiter) };
}

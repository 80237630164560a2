// The cgroup beneath which a kubelet has those of its pods: a folder of one run's in each hierarchy of the machine.
// Cgroups are the one thing here that no namespace ends.
import {
  accessSync,
  constants,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { until } from "../until.ts";

const mounted = "/sys/fs/cgroup";
const prefix = "nodevolume-";

/** As kubelet's cgroupRoot names it. @param run id of the sandbox's run */
export function cgroupOf(run: string): string {
  return `/${prefix}${run}`;
}

/** Why none can be made; undefined if one can. */
export function cannotMakeCgroups(): string | undefined {
  const [first] = hierarchies();
  if (first === undefined) return "needs cgroups: there are none at /sys/fs/cgroup";
  try {
    accessSync(first, constants.W_OK);
    return undefined;
  } catch {
    return "needs cgroups that can be made: /sys/fs/cgroup is read-only";
  }
}

export function makeCgroup(name: string): void {
  for (const hierarchy of hierarchies()) {
    mkdirSync(join(hierarchy, name), { recursive: true });
    // Of version 1: without these nothing can be put into it.
    for (const file of ["cpuset.cpus", "cpuset.mems"]) {
      const from = join(hierarchy, file);
      if (!isVersion2() && existsSync(from)) writeFileSync(join(hierarchy, name, file), readFileSync(from));
    }
  }
}

/** Removes it with all beneath it, once the processes in there have ended. @throws Error if they do not */
export async function removeCgroup(name: string): Promise<void> {
  await until(`the cgroup ${name} to be empty`, 10_000, () => {
    const folders = globSync([join(mounted, name), join(mounted, "*", name)]);
    return folders.map(removed).every(Boolean);
  });
}

/** Folders of any run. */
export function cgroupsThere(): string[] {
  return globSync([join(mounted, `${prefix}*`), join(mounted, "*", `${prefix}*`)]);
}

function removed(folder: string): boolean {
  try {
    const inner = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const gone = inner.map(({ name }) => removed(join(folder, name))).every(Boolean);
    if (gone) rmdirSync(folder);
    return gone;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return true;
    if (code === "EBUSY") return false;
    throw error;
  }
}

function isVersion2(): boolean {
  return existsSync(join(mounted, "cgroup.controllers"));
}

/** Those that hold controllers. */
function hierarchies(): string[] {
  return isVersion2() ? [mounted] : globSync(join(mounted, "*", "tasks")).map((file) => join(file, ".."));
}

import { readdir, readFile } from "node:fs/promises";
import { joinPath } from "../mount-table.ts";
import type { StaleLoop, Traces } from "../traces.ts";
import { errnoOf } from "./errno.ts";

/** `pod<uid>`, or with systemd `kubepods-burstable-pod<uid with _>.slice` (kubelet: pkg/kubelet/cm/pod_container_manager_linux.go). */
const podCgroup = /(?:^|-)pod([0-9A-Za-z][0-9A-Za-z_-]{0,63}?)(?:\.slice)?$/;
/** kubepods.slice/kubepods-burstable.slice/…pod….slice; one more where kubelet has a --cgroup-root. */
const deepest = 4;
const removed = " (deleted)";

/** Of cgroupfs and sysfs, which ask nobody: neither can hang. */
export class LinuxTraces implements Traces {
  readonly #cgroups: string;
  readonly #blocks: string;

  /** @param hostRoot where the node's root is seen */
  constructor(hostRoot: string) {
    this.#cgroups = joinPath(hostRoot, "sys/fs/cgroup");
    this.#blocks = joinPath(hostRoot, "sys/block");
  }

  async pods(): Promise<ReadonlySet<string> | undefined> {
    const uids = new Set<string>();
    for (const hierarchy of await this.#hierarchies()) await this.#podsIn(hierarchy, deepest, false, uids);
    return uids.size === 0 ? undefined : uids;
  }

  /** One of version 2; of version 1 one for each controller, as `memory`: a pod that is left in any of them counts. */
  async #hierarchies(): Promise<readonly string[]> {
    const entries = await listed(this.#cgroups);
    return entries.includes("cgroup.controllers") ? [this.#cgroups] : entries.map((name) => `${this.#cgroups}/${name}`);
  }

  /** Beneath kubepods alone: an agent's machine may have thousands of other cgroups. */
  async #podsIn(directory: string, depth: number, within: boolean, uids: Set<string>): Promise<void> {
    for (const entry of await listed(directory)) {
      const pod = within ? podCgroup.exec(entry)?.[1] : undefined;
      if (pod !== undefined) uids.add(pod.replaceAll("_", "-"));
      else if (depth > 1 && (within || entry.startsWith("kubepods") || entry.startsWith("kubelet"))) {
        await this.#podsIn(`${directory}/${entry}`, depth - 1, true, uids);
      }
    }
  }

  async staleLoops(): Promise<readonly StaleLoop[]> {
    const stale: StaleLoop[] = [];
    for (const name of await listed(this.#blocks)) {
      if (!/^loop\d+$/.test(name)) continue;
      const backing = (await textOf(`${this.#blocks}/${name}/loop/backing_file`)).trimEnd();
      if (!backing.endsWith(removed)) continue;
      const deviceNumber = (await textOf(`${this.#blocks}/${name}/dev`)).trim();
      stale.push({ path: `/dev/${name}`, deviceNumber, backing: backing.slice(0, -removed.length) });
    }
    return stale;
  }
}

/** Nothing of what is not there, or went while it was looked at. */
async function listed(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    return unlessGone(error, []);
  }
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    return unlessGone(error, "");
  }
}

function unlessGone<T>(error: unknown, otherwise: T): T {
  if (["ENOENT", "ENOTDIR", "ENODEV", "ENXIO"].includes(errnoOf(error) ?? "")) return otherwise;
  throw error;
}

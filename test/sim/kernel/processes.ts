import type { Mount, Namespace } from "./mount.ts";
import type { MountTree } from "./mount-tree.ts";

export interface Process {
  readonly pid: number;
  /** Clock ticks since boot: tells it from a later process with the same pid. */
  readonly startTime: number;
  readonly command: string;
  readonly namespace: Namespace;
  /** Mounts that it has its working directory or open files in. */
  readonly holds: Set<Mount>;
}

/** The processes of one node, as far as they matter to mounts. */
export class Processes {
  readonly #tree: MountTree;
  readonly #ticks: () => number;
  readonly #byPid = new Map<number, Process>();
  #nextPid = 100;

  constructor(tree: MountTree, ticks: () => number) {
    this.#tree = tree;
    this.#ticks = ticks;
  }

  start(command: string, namespace: Namespace): Process {
    const process = { pid: this.#nextPid++, startTime: this.#ticks(), command, namespace, holds: new Set<Mount>() };
    this.#byPid.set(process.pid, process);
    namespace.processes++;
    return process;
  }

  /** Opens something in a mount, or goes there. */
  hold(process: Process, mount: Mount): void {
    if (process.holds.has(mount)) return;
    process.holds.add(mount);
    mount.users++;
  }

  /** The process ends: what it used is free, and its namespace goes if it was the last one in it. */
  end(process: Process): void {
    if (!this.#byPid.delete(process.pid)) return;
    for (const mount of process.holds) this.#tree.release(mount);
    process.holds.clear();
    process.namespace.processes--;
    if (process.namespace.processes === 0) this.#tree.uproot(process.namespace);
  }

  get(pid: number): Process | undefined {
    return this.#byPid.get(pid);
  }

  all(): IterableIterator<Process> {
    return this.#byPid.values();
  }
}

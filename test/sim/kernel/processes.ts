import type { Namespace, Path } from "./mount.ts";
import type { MountTree } from "./mount-tree.ts";

export interface Process {
  readonly pid: number;
  /** Clock ticks since boot: tells it from a later process with the same pid. */
  readonly startTime: number;
  readonly command: string;
  readonly namespace: Namespace;
  /** Its working directory and open files. */
  readonly holds: Set<Path>;
  /** Called when it has ended, as a pidfd tells it. */
  readonly ended: Set<() => void>;
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
    const process = { pid: this.#nextPid++, startTime: this.#ticks(), command, namespace, ...empty() };
    this.#byPid.set(process.pid, process);
    namespace.processes++;
    return process;
  }

  /** Opens something, or goes there, until the process ends or lets go of it. */
  hold(process: Process, path: Path): void {
    process.holds.add(path);
    path.mount.users++;
  }

  letGo(process: Process, path: Path): void {
    if (process.holds.delete(path)) this.#tree.release(path.mount);
  }

  /** The process ends: what it used is free, and its namespace goes if it was the last one in it. */
  end(process: Process): void {
    if (!this.#byPid.delete(process.pid)) return;
    for (const path of process.holds) this.#tree.release(path.mount);
    process.holds.clear();
    process.namespace.processes--;
    if (process.namespace.processes === 0) this.#tree.uproot(process.namespace);
    for (const tell of process.ended) tell();
  }

  get(pid: number): Process | undefined {
    return this.#byPid.get(pid);
  }

  all(): IterableIterator<Process> {
    return this.#byPid.values();
  }
}

function empty(): Pick<Process, "holds" | "ended"> {
  return { holds: new Set(), ended: new Set() };
}

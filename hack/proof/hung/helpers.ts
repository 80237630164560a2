import { readFileSync } from "node:fs";
import { parseJournal } from "../../../src/agent/journal/journal-format.ts";
import { startTimeOf } from "../../../src/host/linux/child/child-runner.ts";
import { mountLinesBeneath } from "../../lib/mount-lines.ts";
import { journalOf } from "../kills/phases.ts";
import { childrenOf } from "../steady/process-figures.ts";

/**
 * Counts the processes that an agent has for volumes which do not answer, in three ways that know nothing of each
 * other: all that it has started; by volume those that its journal ever named and that live; by server the requests
 * that the kernel's FUSE has for it (a process waits for one at a time).
 */
export class Helpers {
  /** The most at once. */
  most = { all: 0, ofAVolume: 0, requestsOfAServer: 0 };
  readonly violations = new Set<string>();
  readonly #path: string;
  readonly #connections: string;
  /** Start time by process id, by volume. */
  readonly #named = new Map<string, Map<number, number>>();

  /** @param connections where fusectl is mounted */
  constructor(path: string, connections: string) {
    this.#path = path;
    this.#connections = connections;
  }

  look(agent: number): void {
    const all = childrenOf(agent).length;
    this.most.all = Math.max(this.most.all, all);
    for (const [name, { child }] of parseJournal(journalOf(this.#path)).records) {
      if (child === undefined) continue;
      const named = this.#named.get(name) ?? new Map<number, number>();
      this.#named.set(name, named.set(child.pid, child.startTime));
    }
    for (const [name, named] of this.#named) {
      for (const [pid, startTime] of named) if (!lives(pid, startTime)) named.delete(pid);
      this.most.ofAVolume = Math.max(this.most.ofAVolume, named.size);
      if (named.size > 1) this.violations.add(`${name} had ${named.size} processes at once`);
    }
    for (const { device, point } of mountLinesBeneath(`${this.#path}/src`)) {
      const waiting = this.#waiting(device);
      this.most.requestsOfAServer = Math.max(this.most.requestsOfAServer, waiting);
      if (waiting > 1) this.violations.add(`${waiting} requests at once waited for the server of ${point}`);
    }
  }

  #waiting(device: string): number {
    const file = `${this.#connections}/${device.split(":")[1]}/waiting`;
    return Number(readFileSync(file, "latin1"));
  }
}

function lives(pid: number, startTime: number): boolean {
  try {
    return startTimeOf(pid) === startTime;
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}

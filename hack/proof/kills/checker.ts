import { readdirSync } from "node:fs";
import { parseJournal } from "../../../src/agent/journal/journal-format.ts";
import type { NodeVolumeIntentStatus } from "../../../src/api/types.gen.ts";
import type { KernelAgent } from "../../lib/agent-on-kernel/kernel-agent.ts";
import { mountIDOf, mountLinesBeneath } from "../../lib/mount-lines.ts";
import type { Churn, Life, Slot } from "./churn.ts";
import { journalOf } from "./phases.ts";

/** Compares what the kernel's table shows with a model of its own of what may be mounted, and what must be. */
export class Checker {
  /** What must never be, and was. */
  readonly violations: string[] = [];
  looks = 0;
  released = 0;
  readonly #agent: KernelAgent;
  readonly #churn: Churn;

  constructor(agent: KernelAgent, churn: Churn) {
    this.#agent = agent;
    this.#churn = churn;
  }

  /** Takes in what the agent says of a volume, at the moment at which it says so. */
  told(name: string, status: NodeVolumeIntentStatus): void {
    const slot = this.#churn.slots.find((it) => it.name === name);
    const { life } = slot ?? {};
    if (slot === undefined || life === undefined) return;
    if (status.observedUID !== life.uid || status.observedGeneration !== life.generation) return; // of before
    if (status.state === "Released") this.#releasedNow(slot, life);
    else if (status.state === "Mounted" && !life.revoked) this.#mountedNow(life);
  }

  /** Nothing that is in use is gone, nothing is mounted twice, nothing is mounted that nobody wants. */
  look(): void {
    this.looks += 1;
    const lines = mountLinesBeneath(this.#agent.path);
    const points = lines.map(({ point }) => point).filter((point) => this.#isOurs(point));
    const seen = new Set<string>();
    for (const point of points) {
      if (seen.has(point)) this.#fail(`stacked: ${point} is mounted more than once`);
      seen.add(point);
    }
    const lives = this.#churn.slots.flatMap(({ life }) => life ?? []);
    const wanted = new Set(lives.flatMap(({ paths }) => [...paths]));
    for (const point of seen) {
      if (point.startsWith(`${this.#agent.path}/mnt/`) && !wanted.has(point))
        this.#fail(`leaked: ${point} is mounted, and its volume was released`);
    }
    for (const { uid, held } of lives) {
      for (const [path, id] of held) {
        if (!seen.has(path)) this.#fail(`lost: ${path} of ${uid} is not mounted any more`);
        else if (mountIDOf(path) !== id) this.#fail(`lost: ${path} of ${uid} is another mount than before`);
      }
    }
  }

  /** After everything was released: nothing is mounted, or in a directory of ours. */
  lookForLeftovers(): void {
    const { path } = this.#agent;
    for (const { point } of mountLinesBeneath(path)) if (this.#isOurs(point)) this.#fail(`leaked: ${point} is mounted`);
    if (parseJournal(journalOf(path)).damaged > 0) this.#fail("lines of the journal are damaged");
    for (const directory of ["mnt", "state/staging", "state/data"]) {
      for (const name of readdirSync(`${path}/${directory}`)) this.#fail(`leaked: ${directory}/${name} is there`);
    }
  }

  /** Whether the agent has said of every volume that it is as it is wanted. */
  isAtRest(): boolean {
    return this.#churn.slots.every(({ life }) => life === undefined || life.mountedGeneration === life.generation);
  }

  /** Whether every volume is as it is wanted, and the table shows exactly that. */
  converged(): boolean {
    const lives = this.#churn.slots.flatMap(({ life }) => life ?? []);
    if (!lives.every((it) => !it.revoked && it.mountedGeneration === it.generation)) return false;
    const points = mountLinesBeneath(`${this.#agent.path}/mnt`).map(({ point }) => point);
    return (
      points.sort().join() ===
      lives
        .flatMap(({ mounts }) => [...mounts.keys()])
        .sort()
        .join()
    );
  }

  #mountedNow(life: Life): void {
    life.mountedGeneration = life.generation;
    const lines = mountLinesBeneath(this.#agent.path);
    for (const path of life.mounts.keys()) {
      const line = lines.findLast(({ point }) => point === path);
      if (line === undefined) this.#fail(`lost: ${path} of ${life.uid} is said to be mounted, and is not`);
      else if (!life.held.has(path)) {
        life.held.set(path, mountIDOf(path));
        for (const { point, device, root } of lines)
          if (device === line.device && root === line.root && this.#isOurs(point)) life.shownOn.add(point);
      }
    }
  }

  #releasedNow(slot: Slot, life: Life): void {
    if (!life.revoked) this.#fail(`${life.uid} is said to be released, and nobody has asked for that`);
    // By place: the kernel gives the device number of a tmpfs that is gone to the next volume's, often at once.
    for (const { point } of mountLinesBeneath(this.#agent.path)) {
      if (life.paths.has(point) || life.shownOn.has(point))
        this.#fail(`leaked: ${life.uid} is said to be released, and is mounted on ${point}`);
    }
    slot.life = undefined;
    this.released += 1;
    this.#agent.forget(slot.name);
  }

  /** What only the agent mounts: not a test's own FUSE server. */
  #isOurs(point: string): boolean {
    return ["mnt", "state", "kubelet"].some((it) => point.startsWith(`${this.#agent.path}/${it}/`));
  }

  #fail(what: string): void {
    if (!this.violations.includes(what)) this.violations.push(what);
  }
}

import { type Disk, harmTo, type Leave, note } from "./disk.ts";
import type { Seen, Somebody } from "./somebody.ts";

interface CheckerOf {
  readonly somebody: Somebody;
  readonly disks: () => readonly Disk[];
  readonly count: (what: string) => void;
}

/**
 * Sees what was done to the disks of a world, beside what the agent might have done. It fails nothing: a world goes on.
 */
export class Checker {
  /** What became of disks that should not have become of them. */
  readonly harm: string[] = [];
  readonly #disks: () => readonly Disk[];
  readonly #somebody: Somebody;
  readonly #count: (what: string) => void;

  constructor({ somebody, disks, count }: CheckerOf) {
    [this.#somebody, this.#disks, this.#count] = [somebody, disks, count];
  }

  /** @param after what the agent did since `settle` */
  async check(after: string): Promise<void> {
    for (const [disk, now] of await this.#look()) {
      const harm = harmTo(disk, now);
      if (harm !== undefined) this.harm.push(`after ${after}: ${harm}`);
      const before = disk.contents;
      note(disk, now);
      if (disk.cutOff !== undefined && disk.contents !== before) this.#count("an mkfs leaves its rest");
      disk.seen = now;
    }
  }

  /** From here on the agent may do this. */
  async settle(leaveOf: (disk: Disk) => Leave): Promise<void> {
    for (const [disk, now] of await this.#look()) [disk.leave, disk.seen] = [leaveOf(disk), now];
  }

  async #look(): Promise<[Disk, Seen][]> {
    const disks = this.#disks();
    const seen = await this.#somebody.ask("look", { disks: disks.map((disk) => disk.lookedAt) });
    return disks.flatMap((disk, index): [Disk, Seen][] => {
      const now = seen[index];
      return now === undefined ? [] : [[disk, now]];
    });
  }
}

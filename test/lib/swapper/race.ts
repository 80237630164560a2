import { VolumeError } from "../../../src/errors.ts";
import { errnoOf } from "../../../src/host/linux/syscall/errno.ts";
import type { World } from "./arena.ts";
import type { Strategy } from "./steps.ts";
import type { Swapper } from "./swapper.ts";

/** One operation that takes a path, and how the path is changed under it. */
export interface Race {
  readonly name: string;
  /**
   * Errnos with which a swap may have it refused, as the last part or one on the way has gone or become another kind.
   */
  readonly errnos: readonly string[];
  strategies(world: World): readonly Strategy[];
  /** Brings about what an attempt needs, before the swapper runs. */
  prepare?(world: World): Promise<void>;
  /**
   * One try. Rejects with a VolumeError or one of `errnos` if the operation refuses; with anything else if it did harm.
   */
  attempt(world: World): Promise<void>;
  /** Undoes what an attempt did. The swapper runs meanwhile. */
  reset?(world: World): void;
  /** Looks for harm, when the swapper has stopped. */
  check?(world: World): void;
}

/** How often each outcome was met: `done`, or a reason or errno. */
export type Outcomes = Map<string, number>;

/** Attempts between two looks at the mounts of others. */
const lookEvery = 250;

/** Runs an operation over and over while one strategy swaps its path. @throws AssertionError if a canary died */
export async function run(
  race: Race,
  { world, swapper, strategy, attempts }: { world: World; swapper: Swapper; strategy: Strategy; attempts: number },
): Promise<{ outcomes: Outcomes; changes: number }> {
  const outcomes: Outcomes = new Map();
  await race.prepare?.(world);
  swapper.swap(strategy);
  try {
    for (let n = 1; n <= attempts; n++) {
      const outcome = await outcomeOf(race, world);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      race.reset?.(world);
      if (n % lookEvery === 0) world.canary.expectMounts();
      // What runs on other threads, such as the end of a mount, gets its turn; so does the swapper on one processor.
      if (n % lookEvery === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    const { changes } = await swapper.stop();
    outcomes.set("(changes of the path)", changes);
  }
  race.check?.(world);
  world.canary.expectAlive();
  const changes = outcomes.get("(changes of the path)") ?? 0;
  outcomes.delete("(changes of the path)");
  return { outcomes, changes };
}

async function outcomeOf(race: Race, world: World): Promise<string> {
  try {
    await race.attempt(world);
    return "done";
  } catch (error) {
    if (error instanceof VolumeError) return error.reason;
    const code = errnoOf(error);
    if (code !== undefined && race.errnos.includes(code)) return code;
    throw error; // an assertion, a fault of the program, or an errno that no swap explains
  }
}

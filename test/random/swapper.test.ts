import { expect } from "chai";
import { testDeadline } from "../../hack/lib/test-deadline.ts";
import { full, need } from "../lib/asserts/requirements.ts";
import { Arena } from "../lib/swapper/arena.ts";
import { makeRaces } from "../lib/swapper/make-races.ts";
import { type Outcomes, type Race, run } from "../lib/swapper/race.ts";
import { Shares } from "../lib/swapper/shares.ts";
import { stateRaces } from "../lib/swapper/state-races.ts";
import { Swapper } from "../lib/swapper/swapper.ts";
import { targetRaces } from "../lib/swapper/target-races.ts";

/**
 * Tries of each operation, divided among the ways to swap its path, by shares of which each is a test of its own.
 * NODEVOLUME_SWAPS says how many, and NODEVOLUME_SWAPS_DONE names a file by which the next run leaves out what is done.
 */
const tries = Number(process.env["NODEVOLUME_SWAPS"] || (full() ? 100_000 : 1_000));
const share = Math.min(tries, 100_000);
/** Milliseconds in which both outcomes of a race are met on a quiet machine, with room to spare. */
const hitWithin = 5_000;
const done = new Shares(process.env["NODEVOLUME_SWAPS_DONE"] || undefined);

describe("paths that are swapped while they are walked", function () {
  this.timeout(share > 1_000 ? 60 * 60_000 : 300_000);
  let arena: Arena;
  let swapper: Swapper;

  before(async function () {
    need(this, "root");
    arena = new Arena();
    swapper = await Swapper.start();
  });
  after(async () => {
    await swapper?.[Symbol.asyncDispose]();
    arena?.[Symbol.dispose]();
  });

  const race = (race: Race, part: string) =>
    it(`${race.name}${part}: nothing of others is touched, and both outcomes are met`, async () => {
      const names = race.strategies(arena.world()).map(({ name }) => name);
      const total: Outcomes = new Map();
      const started = performance.now();
      let swaps = 0;
      let tried = 0;
      const deadline = started + testDeadline(hitWithin);
      // How soon a swap falls between two steps of an attempt depends on the processors: as many rounds as it takes.
      do {
        for (const [index, name] of names.entries()) {
          const world = arena.world();
          const strategy = race.strategies(world)[index];
          if (strategy === undefined) throw new Error(`no strategy ${name}`);
          const attempts = Math.ceil(share / names.length);
          const { outcomes, changes } = await run(race, { world, swapper, strategy, attempts });
          expect(changes, `${name}: the path was swapped`).to.be.greaterThan(0);
          for (const [outcome, count] of outcomes) total.set(outcome, (total.get(outcome) ?? 0) + count);
          swaps += changes;
          tried += attempts;
        }
      } while (!(total.has("done") && total.size > 1) && performance.now() < deadline);
      const seconds = (performance.now() - started) / 1000;
      const counts = [...total].map(([outcome, count]) => `${outcome} ${count}`).join(", ");
      const rate = `${seconds.toFixed(1)} s, ${(tried / seconds).toFixed(0)} tries a second`;
      console.log(`        ${swaps} changes of the path in ${rate}; ${counts}`);
      expect([...total.keys()], "some succeeded").to.include("done");
      expect(total.size, "some were refused: the race was hit").to.be.greaterThan(1);
      done.add(race.name, share);
    });

  for (const one of [...targetRaces, ...makeRaces, ...stateRaces]) {
    const left = Math.ceil((tries - done.of(one.name)) / share);
    for (let part = 1; part <= left; part += 1) race(one, left === 1 ? "" : `, share ${part} of ${left}`);
  }
});

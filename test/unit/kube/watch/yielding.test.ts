import { expect } from "chai";
import fc from "fast-check";
import { createFullResync, runYielding } from "../../../../src/kube/watch/yielding.ts";
import { createTurns } from "../../../../src/system.ts";
import { settle, virtualSystem } from "../virtual-system.ts";

describe("runYielding", () => {
  it("does all at once as long as the turn is not over", () => {
    const done: number[] = [];
    function* steps() {
      for (const one of [1, 2, 3]) yield done.push(one);
    }
    expect(runYielding(virtualSystem().yielder, steps())).to.equal(undefined);
    expect(done).to.deep.equal([1, 2, 3]);
  });

  it("law: whenever a turn is over, the same is done in the same order, at least one step a turn", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(30), fc.infiniteStream(fc.boolean()), async (count, overs) => {
        const system = virtualSystem({ over: () => overs.next().value === true });
        const done: number[] = [];
        function* steps() {
          for (let one = 0; one < count; one += 1) yield done.push(one);
        }
        let ended = false;
        const rest = runYielding(system.yielder, steps());
        void (rest ?? Promise.resolve()).then(() => {
          ended = true;
        });
        await settle();
        await system.advance(count);
        expect(ended).to.equal(true);
        expect(done).to.deep.equal(Array.from({ length: count }, (_, one) => one));
      }),
    );
  });

  it("a step that throws ends it, in whatever turn", async () => {
    function* steps() {
      yield;
      throw new Error("planned");
    }
    expect(() => runYielding(virtualSystem().yielder, steps())).to.throw("planned");
    const system = virtualSystem({ over: () => true });
    const rest = runYielding(system.yielder, steps())?.catch((error: unknown) => String(error));
    await system.advance(10);
    expect(await rest).to.equal("Error: planned");
  });
});

describe("createFullResync", () => {
  function story() {
    let over = true;
    const system = virtualSystem({ over: () => over });
    const seen: string[] = [];
    const all = ["a", "b"];
    const resync = createFullResync(system.yielder, function* () {
      for (const one of all) yield seen.push(one);
    });
    return { system, sweep: resync, seen, all, rush: () => (over = false) };
  }

  it("sees all that is there when it is asked for, however often that is meanwhile", async () => {
    const { system, sweep: resync, seen, all } = story();
    resync.begin();
    expect(seen).to.deep.equal(["a"]);
    resync.begin();
    all.push("c");
    resync.begin();
    await system.advance(10);
    expect(seen).to.deep.equal(["a", "b", "c", "a", "b", "c"]);
    expect(system.pendingTimers).to.equal(0);
  });

  it("is done at once where there is time, and each time that it is asked for", () => {
    const { sweep: resync, seen, rush } = story();
    rush();
    resync.begin();
    resync.begin();
    expect(seen).to.deep.equal(["a", "b", "a", "b"]);
  });

  it("sees nothing more when it is stopped", async () => {
    const { system, sweep: resync, seen } = story();
    resync.begin();
    resync.begin();
    resync.stop();
    resync.begin();
    await system.advance(10);
    expect(seen).to.deep.equal(["a"]);
  });
});

describe("createTurns, on the real event loop", () => {
  it("is over after ten milliseconds of all who ask, and begins anew in the next turn", async () => {
    let now = 0;
    const yielder = createTurns(() => now);
    expect(yielder.over()).to.equal(false);
    now = 9;
    expect(yielder.over()).to.equal(false);
    now = 10;
    expect(yielder.over()).to.equal(true);
    const order: string[] = [];
    const first = yielder.next().then(() => order.push(`first ${yielder.over()}`));
    const second = yielder.next().then(() => order.push(`second ${yielder.over()}`));
    await Promise.all([first, second]);
    expect(order).to.deep.equal(["first false", "second false"]);
  });

  it("lets sockets and timers have theirs between two turns", async () => {
    const yielder = createTurns();
    let fired = false;
    setTimeout(() => {
      fired = true;
    }, 1);
    function* untilFired() {
      while (!fired) yield;
    }
    await runYielding(yielder, untilFired());
    expect(fired).to.equal(true);
  });
});

import { expect } from "chai";
import fc from "fast-check";
import type { KeyedQueueDeps } from "../../../src/kube/keyed-queue.ts";
import { createKeyedQueue } from "../../../src/kube/keyed-queue.ts";
import { settle, virtualSystem } from "./virtual-system.ts";

describe("createKeyedQueue", () => {
  function story(options: Partial<KeyedQueueDeps> = {}) {
    const system = virtualSystem();
    const started: string[] = [];
    const ends: { key: string; end: (error?: Error) => void }[] = [];
    const results: string[] = [];
    const queue = createKeyedQueue({
      system,
      name: "test",
      concurrency: 2,
      run(key) {
        started.push(key);
        return new Promise<undefined>((resolve, reject) => {
          ends.push({ key, end: (error) => (error === undefined ? resolve(undefined) : reject(error)) });
        });
      },
      onRun: (result, ms) => results.push(`${result} ${ms}`),
      ...options,
    });
    const finish = async (key: string, error?: Error) => {
      const index = ends.findIndex((e) => e.key === key);
      ends.splice(index, 1)[0]?.end(error);
      await settle();
    };
    return { system, queue, started, finish, results };
  }

  it("runs a key again after the time that its run asks for, or earlier if it is added", async () => {
    const started: number[] = [];
    const requeueAfter = [5_000, 5_000];
    const run = () => {
      started.push(system.clock.monotonic());
      return Promise.resolve(requeueAfter.shift());
    };
    const { system, queue } = story({ run });
    const begun = system.clock.monotonic();
    queue.add("a");
    await system.advance(4_000);
    queue.add("a");
    await system.advance(20_000);
    expect(started.map((at) => at - begun)).to.deep.equal([0, 4_000, 5_000]);
  });

  it("runs a key once for many additions, and not during the call of add", async () => {
    const { queue, started, finish } = story();
    queue.add("a");
    queue.add("a");
    expect(started).to.deep.equal([]);
    await settle();
    expect(started).to.deep.equal(["a"]);
    await finish("a");
    expect(queue.depth).to.equal(0);
  });

  it("runs a key once more that was added while it ran", async () => {
    const { queue, started, finish } = story();
    queue.add("a");
    await settle();
    queue.add("a");
    queue.add("a");
    await settle();
    expect(started).to.deep.equal(["a"]);
    await finish("a");
    expect(started).to.deep.equal(["a", "a"]);
    await finish("a");
    expect(queue.depth).to.equal(0);
  });

  it("is settled once nothing is due or running, whatever waits for its time", async () => {
    const { queue, finish } = story();
    let settled = 0;
    const wait = () => queue.settled().then(() => (settled += 1));
    void wait();
    await settle();
    expect(settled, "at first").to.equal(1);
    for (const key of ["a", "b", "c"]) queue.add(key);
    queue.addAfter("later", 1_000);
    void wait();
    await settle();
    for (const key of ["a", "b"]) await finish(key);
    expect(settled, "while c runs").to.equal(1);
    await finish("c", new Error("no"));
    expect(settled, "while c waits for its retry").to.equal(2);
    queue.add("a");
    void wait();
    void queue.stop();
    await settle();
    expect(settled, "what is forgotten is not waited for").to.equal(3);
  });

  it("runs at most as many keys as allowed, in the order they came", async () => {
    const { queue, started, finish } = story();
    for (const key of ["a", "b", "c", "d"]) queue.add(key);
    await settle();
    expect(started).to.deep.equal(["a", "b"]);
    await finish("b");
    expect(started).to.deep.equal(["a", "b", "c"]);
  });

  it("a key that waits for its own run does not hold up the others", async () => {
    const { queue, started } = story();
    queue.add("a");
    await settle();
    queue.add("a");
    queue.add("b");
    await settle();
    expect(started).to.deep.equal(["a", "b"]);
  });

  it("repeats a failed run with a growing delay, which a success forgets", async () => {
    const { system, queue, started, finish, results } = story({ backoff: { baseMs: 100, maxMs: 300 } });
    queue.add("a");
    await settle();
    for (const delay of [75, 150, 225, 225]) {
      const before = started.length;
      await finish("a", new Error("no"));
      await system.advance(delay - 1);
      expect(started.length, `before ${delay}`).to.equal(before);
      await system.advance(1);
      expect(started.length, `after ${delay}`).to.equal(before + 1);
    }
    await finish("a");
    queue.add("a");
    await settle();
    await finish("a", new Error("no"));
    await system.advance(75);
    expect(started).to.have.length(7);
    expect(results[0]).to.equal("failure 0");
  });

  it("an addition does not wait for the delay of a failure", async () => {
    const { queue, started, finish } = story();
    queue.add("a");
    await settle();
    await finish("a", new Error("no"));
    queue.add("a");
    await settle();
    expect(started).to.deep.equal(["a", "a"]);
  });

  it("addAfter: the earliest time counts", async () => {
    const { system, queue, started } = story();
    queue.addAfter("a", 100);
    queue.addAfter("a", 50);
    queue.addAfter("a", 70);
    await system.advance(49);
    expect(started).to.deep.equal([]);
    await system.advance(1000);
    expect(started).to.deep.equal(["a"]);
  });

  it("delayMs gathers additions", async () => {
    const { system, queue, started } = story({ delayMs: 200 });
    queue.add("a");
    await system.advance(150);
    queue.add("a");
    await system.advance(49);
    expect(started).to.deep.equal([]);
    await system.advance(1);
    expect(started).to.deep.equal(["a"]);
  });

  it("pause starts nothing and forgets, resume goes on with what is added then", async () => {
    const { system, queue, started, finish } = story();
    queue.add("running");
    await settle();
    queue.add("running");
    queue.add("a");
    queue.addAfter("b", 10);
    let ended = false;
    const paused = queue.pause().then(() => {
      ended = true;
    });
    queue.add("c");
    await settle();
    expect(ended, "a run is under way").to.equal(false);
    await finish("running");
    await paused;
    await system.advance(1000);
    expect(started).to.deep.equal(["running"]);
    queue.resume();
    queue.add("d");
    await settle();
    expect(started).to.deep.equal(["running", "d"]);
  });

  it("stop resolves when the last run has ended, and starts none after", async () => {
    const { system, queue, started, finish } = story();
    queue.add("a");
    await settle();
    let stopped = false;
    const stopping = queue.stop().then(() => {
      stopped = true;
    });
    queue.add("b");
    queue.resume();
    await system.advance(1000);
    expect(stopped).to.equal(false);
    await finish("a", new Error("no"));
    await stopping;
    expect([started, system.pendingTimers]).to.deep.equal([["a"], 0]);
    await queue.stop();
  });

  it("law: never two runs of one key, never more than allowed, and every addition is followed by a run", async () => {
    const step = fc.record({ key: fc.constantFrom("a", "b", "c", "d", "e"), wait: fc.nat(30), fails: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.integer({ min: 1, max: 3 }),
        async (steps, concurrency) => {
          const system = virtualSystem();
          const running = new Set<string>();
          const violations: string[] = [];
          const lastAdded = new Map<string, number>();
          const lastStarted = new Map<string, number>();
          const failing = new Map<string, boolean>(steps.map((s) => [s.key, s.fails]));
          let tick = 0;
          const queue = createKeyedQueue({
            system,
            name: "law",
            concurrency,
            async run(key) {
              if (running.has(key)) violations.push(`two runs of ${key}`);
              running.add(key);
              if (running.size > concurrency) violations.push(`${running.size} runs`);
              tick += 1;
              lastStarted.set(key, tick);
              await new Promise<void>((resolve) => system.timers.after(7, resolve));
              running.delete(key);
              if (failing.get(key) === true) {
                failing.set(key, false);
                throw new Error("planned");
              }
            },
          });
          for (const { key, wait } of steps) {
            tick += 1;
            lastAdded.set(key, tick);
            queue.add(key);
            await system.advance(wait);
          }
          await system.advance(10_000);
          expect(violations).to.deep.equal([]);
          for (const [key, added] of lastAdded) expect(lastStarted.get(key)).to.be.greaterThan(added);
          expect(queue.depth).to.equal(0);
        },
      ),
      { numRuns: 60 },
    );
  });
});

import { expect } from "chai";
import { type ChildSlot, ChildSlots, type ChildWork } from "../../../../../src/host/linux/child/child-slots.ts";
import { settle, virtualSystem } from "../../../kube/virtual-system.ts";

const ofAll = { all: 4, abandoned: 2, total: 5, slowMs: 1_000, waitMs: 500 };
const limits = { quick: 2, slow: 1, format: 1, check: 1, derive: 1, readBack: 1, walk: 1, ...ofAll };

describe("ChildSlots of children that go through files", () => {
  function story(given?: typeof limits) {
    const { timers, advance } = virtualSystem();
    const slots = new ChildSlots({ timers, ...(given && { limits: given }) });
    /** What became of each volume's child. */
    const seen = new Map<string, string>();
    const held = new Map<string, ChildSlot>();
    const start = async (volume: string, more: Omit<ChildWork, "volume"> = { kind: "walk" }) => {
      seen.set(volume, "waits");
      slots.acquire({ volume, ...more }).then(
        (slot) => {
          seen.set(volume, "runs");
          held.set(volume, slot);
          slot.begin();
          void slot.crowdedOut.then(() => seen.set(volume, "is to end"));
        },
        ({ reason }) => seen.set(volume, reason),
      );
      await settle();
    };
    const end = async (volume: string) => {
      held.get(volume)?.release();
      seen.delete(volume);
      await settle();
    };
    const heard = async (volume: string) => {
      held.get(volume)?.heard();
      await settle();
    };
    return { advance, seen, start, end, heard };
  }

  it("have room of their own, beside mkfs and all others, as long as they get further", async () => {
    const { advance, seen, start, end, heard } = story(limits);
    await start("w1");
    for (let ms = 0; ms < 10_000; ms += 500) {
      await advance(500);
      await heard("w1");
    }
    await start("w2");
    await start("f", { kind: "format" });
    await start("a", {});
    await start("b", {});
    expect(Object.fromEntries(seen)).to.deep.equal({ w1: "runs", w2: "waits", f: "runs", a: "runs", b: "runs" });
    await advance(500);
    expect(seen.get("w2")).to.equal("ProcessLimitReached");
    await start("w3");
    await end("w1");
    expect(seen.get("w3")).to.equal("runs");
  });

  it("are no more than what the memory has room for, with all that hang", async () => {
    const { seen, start } = story({ ...limits, walk: 2, total: 3 });
    await start("a", {});
    await start("w1");
    await start("w2");
    await start("b", {});
    expect(Object.fromEntries(seen)).to.deep.equal({ a: "runs", w1: "runs", w2: "runs", b: "waits" });
  });

  it("are slow while they get no further, and take their place again when they do", async () => {
    const { advance, seen, start, end, heard } = story(limits);
    await start("w1");
    await advance(1_000);
    await start("w2");
    expect(Object.fromEntries(seen), "w1 is slow").to.deep.equal({ w1: "runs", w2: "runs" });
    await end("w2");
    await heard("w1");
    await start("w3");
    await start("s", {});
    await advance(999);
    await heard("w1");
    expect(seen.get("w3"), "the place is taken again").to.equal("ProcessLimitReached");
    await advance(1);
    await start("w4");
    await advance(998);
    expect(Object.fromEntries(seen), "s has the room of the slow").to.deep.equal({
      w1: "runs",
      w3: "ProcessLimitReached",
      s: "runs",
      w4: "ProcessLimitReached",
    });
    await advance(1);
    expect(seen.get("w1"), "a second one that is slow").to.equal("is to end");
  });

  it("leave their server in good name when they get further, and those of it that wait begin", async () => {
    const { advance, seen, start, end, heard } = story({ ...limits, waitMs: 5_000 });
    await start("w1", { kind: "walk", server: "s" });
    await advance(1_000);
    await start("w2", { kind: "walk" });
    await start("a", { server: "s" });
    expect(seen.get("a"), "as a slow one").to.equal("waits");
    await heard("w1");
    expect(Object.fromEntries(seen)).to.deep.equal({ w1: "runs", w2: "runs", a: "runs" });
    for (const volume of ["a", "w1"]) await end(volume);
    for (const volume of ["c", "d"]) await start(volume, { server: "s" });
    expect(Object.fromEntries(seen), "none of them slow").to.deep.equal({ w2: "runs", c: "runs", d: "runs" });
  });

  it("of a server that is gone keep nobody else out", async () => {
    const { advance, seen, start } = story();
    for (const n of [1, 2, 3, 4]) await start(`gone${n}`, { kind: "walk", server: "nfs gone" });
    await advance(10_000);
    await start("mkfs", { kind: "format" });
    for (const n of [5, 6, 7]) await start(`gone${n}`, { kind: "walk", server: "nfs gone" });
    for (const n of [1, 2, 3, 4]) await start(`other${n}`, { kind: "walk", server: `disk ${n}` });
    const waiting = [...seen].filter(([, what]) => what !== "runs");
    expect(waiting, "two more of the server have room among the slow").to.deep.equal([["gone7", "waits"]]);
  });
});

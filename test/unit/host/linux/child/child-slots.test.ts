import { expect } from "chai";
import { type ChildSlot, ChildSlots, type LongWork } from "../../../../../src/host/linux/child/child-slots.ts";
import { settle, virtualSystem } from "../../../kube/virtual-system.ts";

const long = { format: 1, check: 1, derive: 1, readBack: 1, walk: 1 };
const limits = { quick: 2, slow: 1, all: 4, ...long, slowMs: 1_000, waitMs: 500, abandoned: 2, total: 5 };
const kinds: { readonly [name: string]: LongWork } = {
  ...{ mkfs: "format", e2fsck: "check", cryptsetup: "derive", swapoff: "readBack" },
};

describe("ChildSlots", () => {
  function story(more: Partial<typeof limits> = {}) {
    const system = virtualSystem();
    const slots = new ChildSlots({ timers: system.timers, limits: { ...limits, ...more } });
    const started: string[] = [];
    const crowdedOut: string[] = [];
    const held = new Map<string, ChildSlot>();
    const refused = new Map<string, unknown>();
    const start = async (...volumes: string[]) => {
      for (const volume of volumes) {
        slots.acquire({ volume, kind: kinds[volume.replace(/\d+$/, "")] }).then(
          (slot) => {
            started.push(volume);
            held.set(volume, slot);
            slot.begin();
            void slot.crowdedOut.then((ms) => crowdedOut.push(`${volume} after ${ms}`));
          },
          (error: unknown) => refused.set(volume, error),
        );
      }
      await settle();
    };
    const end = async (...volumes: string[]) => {
      for (const volume of volumes) held.get(volume)?.release();
      await settle();
    };
    const abandon = (...volumes: string[]) => {
      for (const volume of volumes) held.get(volume)?.abandon();
    };
    return { system, started, crowdedOut, refused, start, end, abandon };
  }

  it("starts so many at once, the others in the order they came, each as one ends", async () => {
    const { started, start, end } = story();
    await start("a", "b", "c", "d");
    expect(started).to.deep.equal(["a", "b"]);
    await end("b");
    expect(started).to.deep.equal(["a", "b", "c"]);
    await start("e");
    await end("a");
    expect(started).to.deep.equal(["a", "b", "c", "d"]);
    await end("a");
    expect(started, "released twice").to.have.length(4);
  });

  it("slow ones make room for quick ones; those beyond what may be slow are to end", async () => {
    const { system, started, crowdedOut, start, end } = story({ waitMs: 60_000 });
    await start("s1", "s2", "a", "b", "c");
    await system.advance(1_000);
    expect(started).to.deep.equal(["s1", "s2", "a"]);
    expect(crowdedOut).to.deep.equal(["s2 after 1000"]);
    await end("s2");
    expect(started.at(-1)).to.equal("b");
    await start("s2");
    await end("a");
    expect(started.at(-1), "s2 waits until s1 ends").to.equal("c");
    await end("s1");
    expect(started.at(-1)).to.equal("s2");
    await system.advance(60_000);
    expect(
      crowdedOut.filter((who) => who.startsWith("s2")),
      "who came in as slow has its time",
    ).to.have.length(1);
  });

  it("no more run than may run in all, whatever is slow", async () => {
    const { system, started, start, end } = story({ slow: 4, waitMs: 60_000 });
    await start("s1", "s2", "a", "b", "c");
    await system.advance(1_000);
    expect(started).to.deep.equal(["s1", "s2", "a", "b"]);
    await system.advance(10_000);
    expect(started, "all that may run").to.have.length(4);
    await end("s1");
    expect(started.at(-1)).to.equal("c");
  });

  it("volumes that hang leave room to those that do not, until one of theirs was quick", async () => {
    const { system, started, start, end } = story();
    await start("h1", "h2");
    await system.advance(1_000);
    await end("h1", "h2");
    await start("h1", "h2", "a", "b");
    expect(started.slice(2), "one of them, and none waits behind the other").to.deep.equal(["h1", "a", "b"]);
    await end("h1", "a", "b");
    expect(started.at(-1)).to.equal("h2");
    await start("h1", "a");
    expect(started.slice(-2), "h1 was quick").to.deep.equal(["h1", "a"]);
  });

  it("one that was not told what to do yet is not slow, however long our own disk takes", async () => {
    const { timers, advance } = virtualSystem();
    const slots = new ChildSlots({ timers, limits });
    const [a, b] = [await slots.acquire({ volume: "a" }), await slots.acquire({ volume: "b" })];
    const ended: string[] = [];
    void b.crowdedOut.then(() => ended.push("b"));
    await advance(10_000);
    a.begin();
    b.begin();
    await advance(999);
    b.release();
    await advance(10_000);
    expect(ended).to.deep.equal([]);
  });

  it("a server is slow as long as one of its children hangs, whatever else of it was quick", async () => {
    const { timers, advance } = virtualSystem();
    const slots = new ChildSlots({ timers, limits: { ...limits, slow: 2 } });
    const acquire = async (volume: string) => {
      const slot = await slots.acquire({ volume, server: "s" });
      slot.begin();
      return slot;
    };
    const hung = await acquire("h1");
    await advance(1_000);
    const unmount = await acquire("u");
    unmount.release();
    const started: string[] = [];
    for (const volume of ["h2", "h3"]) void acquire(volume).then(() => started.push(volume));
    await settle();
    expect(started, "as slow ones, of which there may be two").to.deep.equal(["h2"]);
    hung.release();
    await settle();
    expect(started).to.deep.equal(["h2", "h3"]);
  });

  it("who finds no room for a while is told why, and is not started any more", async () => {
    const { system, started, refused, start, end } = story();
    await start("a", "b", "c");
    await system.advance(499);
    expect(refused.size).to.equal(0);
    await system.advance(1);
    expect(refused.get("c")).to.include({ reason: "ProcessLimitReached", errorClass: "transient" });
    expect(refused.get("c")).to.have.property("message").that.includes("2 processes at work");
    await end("a", "b");
    expect(started).to.deep.equal(["a", "b"]);
  });

  it("what was given up keeps its own volumes out, and at last everybody, until it ends", async () => {
    const { system, started, refused, start, end, abandon } = story();
    await start("h1", "h2");
    await system.advance(1_000);
    await end("h1");
    await start("h3");
    abandon("h2", "h3");
    await start("h1", "a", "b");
    await system.advance(500);
    expect([...refused.keys()], "whose last one was slow").to.deep.equal(["h1"]);
    expect(started.slice(-2)).to.deep.equal(["a", "b"]);
    abandon("a", "b");
    await start("c", "d");
    await system.advance(500);
    expect(started.at(-1)).to.equal("c");
    expect(refused.get("d")).to.have.property("message").that.includes("4 that do not end");
    await end("a");
    await start("d");
    expect(started.at(-1)).to.equal("d");
  });

  it("making file systems has room of its own, and is not slow", async () => {
    const { system, started, start, end } = story();
    await start("mkfs1", "mkfs2", "a", "b");
    expect(started).to.deep.equal(["mkfs1", "a", "b"]);
    await end("mkfs1");
    expect(started.at(-1)).to.equal("mkfs2");
    await end("a", "b");
    await system.advance(60_000);
    await start("s");
    await system.advance(1_000);
    await end("s");
    await start("s", "mkfs1");
    expect(started.at(-1), "beside a slow one").to.equal("s");
  });

  it("a check that takes hours holds up other checks, but no mkfs, no disk that is opened, and nobody else", async () => {
    const { system, started, start } = story();
    await start("e2fsck1");
    await system.advance(3_600_000);
    await start("e2fsck2", "mkfs1", "cryptsetup1", "cryptsetup2", "a");
    expect(started).to.deep.equal(["e2fsck1", "mkfs1", "cryptsetup1", "a"]);
  });

  it("a swapoff goes on for as long as it takes, however many are slow beside it, and its volume is not slow", async () => {
    const { system, started, crowdedOut, start, end } = story();
    await start("swapoff1", "s1", "s2");
    await system.advance(1_000);
    expect(crowdedOut).to.deep.equal(["s2 after 1000"]);
    await system.advance(1_000_000);
    expect(crowdedOut).to.deep.equal(["s2 after 1000"]);
    await end("s2");
    await start("swapoff2", "a");
    expect(started.at(-1), "nobody but another swapoff waits for it").to.equal("a");
  });
});

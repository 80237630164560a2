import { expect } from "chai";
import { type ChildSlot, ChildSlots } from "../../../src/host/linux/child-slots.ts";
import { settle, virtualSystem } from "../kube/virtual-system.ts";

describe("ChildSlots", () => {
  function story() {
    const system = virtualSystem();
    const limits = { quick: 2, all: 4, slowMs: 1_000, abandoned: 2 };
    const slots = new ChildSlots({ timers: system.timers, limits });
    const started: string[] = [];
    const held = new Map<string, ChildSlot>();
    const start = async (...names: string[]) => {
      for (const name of names) {
        void slots.acquire().then((slot) => {
          started.push(name);
          held.set(name, slot);
        });
      }
      await settle();
    };
    const end = async (name: string) => {
      held.get(name)?.release();
      await settle();
    };
    return { system, slots, started, start, end, held };
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

  it("slow ones make room for quick ones, up to all that may run", async () => {
    const { system, started, start, end } = story();
    await start("s1", "s2", "a", "b", "c");
    await system.advance(1_000);
    expect(started).to.deep.equal(["s1", "s2", "a", "b"]);
    await system.advance(10_000);
    expect(started, "all that may run").to.have.length(4);
    await end("s1");
    expect(started.at(-1)).to.equal("c");
  });

  it("what was given up takes no room, but at last no more are started until it ends", async () => {
    const { slots, system, started, start, end, held } = story();
    await start("h1", "h2");
    await system.advance(120_000);
    held.get("h1")?.abandon();
    await start("a");
    expect(started).to.include("a");
    held.get("h2")?.abandon();
    const error = await slots.acquire().catch((thrown: unknown) => thrown);
    expect(error).to.include({ reason: "OperationAbandoned", errorClass: "transient" });
    await end("h1");
    await start("b");
    expect(started).to.include("b");
  });
});

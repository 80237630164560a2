import { expect } from "chai";
import { createKeyedQueue } from "../../../src/kube/keyed-queue.ts";
import { settle, virtualSystem } from "./virtual-system.ts";

describe("createKeyedQueue, with much to do", () => {
  it("starts no more runs in a turn that is over, whatever there is room for", async () => {
    let over = false;
    const system = virtualSystem({ over: () => over });
    const started: string[] = [];
    const queue = createKeyedQueue({
      system,
      name: "test",
      concurrency: 16,
      async run(key) {
        started.push(key);
        over = started.length % 2 === 0;
      },
    });
    for (const key of ["a", "b", "c", "d", "e"]) queue.add(key);
    await settle();
    expect(started).to.deep.equal(["a", "b"]);
    await system.advance(1);
    expect(started, "one at least, and as many as there is time for").to.deep.equal(["a", "b", "c", "d"]);
    await system.advance(10);
    expect(started).to.deep.equal(["a", "b", "c", "d", "e"]);
    expect([queue.depth, system.pendingTimers]).to.deep.equal([0, 0]);
  });
});

import { expect } from "chai";
import { isFull, type TriggerLimit, takeTrigger } from "../../../../src/agent/backoff/retry-triggers.ts";

/** Takes as many as there are at this time. */
function takeAll(budget: TriggerLimit | undefined, now: number): { taken: number; left: TriggerLimit | undefined } {
  let left = budget;
  for (let taken = 0; ; taken++) {
    const next = takeTrigger(left, now);
    if ("waitMs" in next) return { taken, left };
    left = next.left;
  }
}

describe("takeTrigger", () => {
  it("has eight to begin with, and says how long it takes until there is another", () => {
    const { taken, left } = takeAll(undefined, 1_000);
    expect(taken).to.equal(8);
    expect(takeTrigger(left, 1_000)).to.deep.equal({ waitMs: 15_000 });
    expect(takeTrigger(left, 8_500)).to.deep.equal({ waitMs: 7_500 });
    expect(takeAll(left, 16_000).taken).to.equal(1);
  });

  it("never has more than eight, however long nothing happened", () => {
    const { left } = takeAll(undefined, 0);
    expect(takeAll(left, 10 * 60_000).taken).to.equal(8);
  });
});

describe("isFull", () => {
  it("is so when everything that was taken has come back", () => {
    const { left = { left: 8, at: 0 } } = takeAll(undefined, 0);
    expect([isFull(left, 119_000), isFull(left, 120_000)]).to.deep.equal([false, true]);
  });
});

import { expect } from "chai";
import { longestTurnOf, mostlyIdle } from "../../../hack/bench/scale/loop.ts";

describe("the event loop of a measured controller", () => {
  const second = (at: number, busy: number, longestMs = 1) => ({ at, busy, longestMs });

  it("has nothing to do when it has mostly waited in each of the last seconds, and they are known", () => {
    const all = [second(1_000, 1), second(2_000, 0.1), second(3_000, 0.2), second(4_000, 0)];
    expect(mostlyIdle(all, 1_000, 3)).to.equal(true);
    expect(mostlyIdle(all, 1_000, 4), "it did not come to tell of one").to.equal(false);
    expect(mostlyIdle(all, 500, 4), "it was busy in the first").to.equal(false);
  });

  it("has its longest turn of all seconds", () => {
    expect(longestTurnOf([second(1, 1, 7), second(2, 1, 30), second(3, 1, 9)])).to.equal(30);
    expect(longestTurnOf([])).to.equal(0);
  });
});

import { expect } from "chai";
import { Backoff, slotOf } from "../../../../src/agent/backoff/backoff.ts";
import type { Operation } from "../../../../src/agent/model/operation.ts";
import { VolumeError } from "../../../../src/errors.ts";
import { type VirtualSystem, virtualSystem } from "../../kube/virtual-system.ts";

const publish = (path: string, volume = "v"): Operation => ({ volume, kind: "publish", path });
const error = new VolumeError("SourceNotFound", "final", "there is nothing");

describe("Backoff", () => {
  let system: VirtualSystem;
  let backoff: Backoff;
  beforeEach(() => {
    system = virtualSystem();
    backoff = new Backoff(system);
  });

  it("resetBackoff ends the delay of one place, and keeps the count of attempts", () => {
    backoff.failed(publish("/a"), 1, error);
    backoff.failed(publish("/b"), 1, error);
    expect(backoff.resetBackoff(slotOf(publish("/a")))).to.equal(true);
    const [a, b] = [...backoff.bySlot.values()];
    expect(a).to.include({ nextAt: system.clock.monotonic(), nextTime: system.clock.now(), attempts: 1 });
    expect(b?.nextAt).to.be.above(system.clock.monotonic());
    expect(backoff.failed(publish("/a"), 1, error).attempts).to.equal(2);
  });

  it("an attempt after a reset does not make the next delay longer", () => {
    const delays = Array.from({ length: 4 }, (_, i) => {
      const { nextAt } = backoff.failed(publish("/a"), 1, error);
      if (i < 3) backoff.resetBackoff(slotOf(publish("/a")));
      return nextAt - system.clock.monotonic();
    });
    expect(new Set(delays).size).to.equal(1);
    expect(backoff.failed(publish("/a"), 1, error).nextAt).to.be.above(delays[0] ?? 0);
    backoff.failed(publish("/a"), 2, error);
    expect(backoff.bySlot.get(slotOf(publish("/a")))?.resets, "of another spec").to.equal(undefined);
  });

  it("an attempt that has waited for its whole deadline is followed by the next one soon", () => {
    const timedOut = new VolumeError("TimedOut", "uncertain", "no answer within 120 s");
    const delays = Array.from({ length: 12 }, () => {
      const { nextAt } = backoff.failed(publish("/a"), 1, timedOut);
      return nextAt - system.clock.monotonic();
    });
    expect(Math.max(...delays)).to.be.within(2_500, 5_000);
    expect(backoff.failed(publish("/a"), 1, error).nextAt - system.clock.monotonic()).to.be.above(60_000);
  });

  it("resetBackoff says whether there was a delay to end", () => {
    expect(backoff.resetBackoff(slotOf(publish("/a")))).to.equal(false);
    backoff.failed(publish("/a"), 1, error);
    expect(backoff.resetBackoff(slotOf(publish("/a")))).to.equal(true);
    expect(backoff.resetBackoff(slotOf(publish("/a")))).to.equal(false);
  });

  it("a failure that was reset is another object: whoever compares sees that it changed", () => {
    const before = backoff.failed(publish("/a"), 1, error);
    backoff.resetBackoff(slotOf(publish("/a")));
    expect(backoff.bySlot.get(slotOf(publish("/a")))).to.not.equal(before);
  });

  it("keepOnly forgets the failures of volumes that are gone", () => {
    backoff.failed(publish("/a"), 1, error);
    backoff.failed(publish("/c", "other"), 1, error);
    backoff.keepOnly(new Set(["other"]));
    expect([...backoff.bySlot.keys()]).to.deep.equal([slotOf(publish("/c", "other"))]);
  });
});

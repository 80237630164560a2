import { expect } from "chai";
import { Failures, slotOf } from "../../../src/agent/failures.ts";
import type { Operation } from "../../../src/agent/operations.ts";
import { VolumeError } from "../../../src/errors.ts";
import { type VirtualSystem, virtualSystem } from "../kube/virtual-system.ts";

const publish = (path: string, volume = "v"): Operation => ({ volume, kind: "publish", path });
const error = new VolumeError("SourceNotFound", "final", "there is nothing");

describe("Failures", () => {
  let system: VirtualSystem;
  let failures: Failures;
  beforeEach(() => {
    system = virtualSystem();
    failures = new Failures(system);
  });

  it("pardon ends the delay of one place, and keeps the count of attempts", () => {
    failures.failed(publish("/a"), 1, error);
    failures.failed(publish("/b"), 1, error);
    expect(failures.pardon(slotOf(publish("/a")))).to.equal(true);
    const [a, b] = [...failures.bySlot.values()];
    expect(a).to.include({ nextAt: system.clock.monotonic(), nextTime: system.clock.now(), attempts: 1 });
    expect(b?.nextAt).to.be.above(system.clock.monotonic());
    expect(failures.failed(publish("/a"), 1, error).attempts).to.equal(2);
  });

  it("an attempt that was pardoned does not make the next delay longer", () => {
    const delays = Array.from({ length: 4 }, (_, i) => {
      const { nextAt } = failures.failed(publish("/a"), 1, error);
      if (i < 3) failures.pardon(slotOf(publish("/a")));
      return nextAt - system.clock.monotonic();
    });
    expect(new Set(delays).size).to.equal(1);
    expect(failures.failed(publish("/a"), 1, error).nextAt).to.be.above(delays[0] ?? 0);
    failures.failed(publish("/a"), 2, error);
    expect(failures.bySlot.get(slotOf(publish("/a")))?.pardoned, "of another spec").to.equal(undefined);
  });

  it("an attempt that has waited for its whole deadline is followed by the next one soon", () => {
    const timedOut = new VolumeError("TimedOut", "uncertain", "no answer within 120 s");
    const delays = Array.from({ length: 12 }, () => {
      const { nextAt } = failures.failed(publish("/a"), 1, timedOut);
      return nextAt - system.clock.monotonic();
    });
    expect(Math.max(...delays)).to.be.within(2_500, 5_000);
    expect(failures.failed(publish("/a"), 1, error).nextAt - system.clock.monotonic()).to.be.above(60_000);
  });

  it("pardon says whether there was a delay to end", () => {
    expect(failures.pardon(slotOf(publish("/a")))).to.equal(false);
    failures.failed(publish("/a"), 1, error);
    expect(failures.pardon(slotOf(publish("/a")))).to.equal(true);
    expect(failures.pardon(slotOf(publish("/a")))).to.equal(false);
  });

  it("pardonVolume ends the delays of that volume alone", () => {
    failures.failed(publish("/a"), 1, error);
    failures.failed(publish("/b"), 1, error);
    failures.failed(publish("/c", "other"), 1, error);
    expect(failures.pardonVolume("v")).to.equal(true);
    const now = system.clock.monotonic();
    expect([...failures.bySlot.values()].map(({ nextAt }) => nextAt > now)).to.deep.equal([false, false, true]);
  });

  it("a pardoned failure is another object: whoever compares sees that it changed", () => {
    const before = failures.failed(publish("/a"), 1, error);
    failures.pardon(slotOf(publish("/a")));
    expect(failures.bySlot.get(slotOf(publish("/a")))).to.not.equal(before);
  });

  it("keepOnly forgets the failures of volumes that are gone", () => {
    failures.failed(publish("/a"), 1, error);
    failures.failed(publish("/c", "other"), 1, error);
    failures.keepOnly(new Set(["other"]));
    expect([...failures.bySlot.keys()]).to.deep.equal([slotOf(publish("/c", "other"))]);
  });
});

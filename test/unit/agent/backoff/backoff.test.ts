import { expect } from "chai";
import { Backoff } from "../../../../src/agent/backoff/backoff.ts";
import { failureOf } from "../../../../src/agent/model/failure.ts";
import { asMountPath, asVolumeName, type MountPath } from "../../../../src/agent/model/identities.ts";
import type { Operation } from "../../../../src/agent/model/operation.ts";
import { VolumeError } from "../../../../src/errors.ts";
import { type VirtualSystem, virtualSystem } from "../../kube/virtual-system.ts";

const publish = (path: MountPath, volume = "v"): Operation => ({ volume: asVolumeName(volume), kind: "publish", path });
const error = new VolumeError("SourceNotFound", "final", "there is nothing");

describe("Backoff", () => {
  let system: VirtualSystem;
  let backoff: Backoff;
  beforeEach(() => {
    system = virtualSystem();
    backoff = new Backoff(system);
  });

  it("resetBackoff ends the delay of one place, and keeps the count of attempts", () => {
    backoff.failed(publish(asMountPath("/a")), 1, error);
    backoff.failed(publish(asMountPath("/b")), 1, error);
    expect(backoff.resetBackoff(publish(asMountPath("/a")))).to.equal(true);
    const [a, b] = [...(backoff.failures.get(asVolumeName("v"))?.values() ?? [])];
    expect(a).to.include({ nextAt: system.clock.monotonic(), nextTime: system.clock.now(), attempts: 1 });
    expect(b?.nextAt).to.be.above(system.clock.monotonic());
    expect(backoff.failed(publish(asMountPath("/a")), 1, error).attempts).to.equal(2);
  });

  it("an attempt after a reset does not make the next delay longer", () => {
    const delays = Array.from({ length: 4 }, (_, i) => {
      const { nextAt } = backoff.failed(publish(asMountPath("/a")), 1, error);
      if (i < 3) backoff.resetBackoff(publish(asMountPath("/a")));
      return nextAt - system.clock.monotonic();
    });
    expect(new Set(delays).size).to.equal(1);
    expect(backoff.failed(publish(asMountPath("/a")), 1, error).nextAt).to.be.above(delays[0] ?? 0);
    backoff.failed(publish(asMountPath("/a")), 2, error);
    expect(failureOf(backoff.failures, publish(asMountPath("/a")))?.resets, "of another spec").to.equal(undefined);
  });

  it("an attempt that has waited for its whole deadline is followed by the next one soon", () => {
    const timedOut = new VolumeError("TimedOut", "uncertain", "no answer within 120 s");
    const delays = Array.from({ length: 12 }, () => {
      const { nextAt } = backoff.failed(publish(asMountPath("/a")), 1, timedOut);
      return nextAt - system.clock.monotonic();
    });
    expect(Math.max(...delays)).to.be.within(2_500, 5_000);
    expect(backoff.failed(publish(asMountPath("/a")), 1, error).nextAt - system.clock.monotonic()).to.be.above(60_000);
  });

  it("resetBackoff says whether there was a delay to end", () => {
    expect(backoff.resetBackoff(publish(asMountPath("/a")))).to.equal(false);
    backoff.failed(publish(asMountPath("/a")), 1, error);
    expect(backoff.resetBackoff(publish(asMountPath("/a")))).to.equal(true);
    expect(backoff.resetBackoff(publish(asMountPath("/a")))).to.equal(false);
  });

  it("a failure that was reset is another object: whoever compares sees that it changed", () => {
    const before = backoff.failed(publish(asMountPath("/a")), 1, error);
    backoff.resetBackoff(publish(asMountPath("/a")));
    expect(failureOf(backoff.failures, publish(asMountPath("/a")))).to.not.equal(before);
  });

  it("what is not of this target stays the same object, when it fails or succeeds", () => {
    const stage: Operation = { volume: asVolumeName("v"), kind: "stage" };
    backoff.failed(stage, 1, error);
    const { failures } = backoff;
    const before = failures.get(asVolumeName("v"));
    backoff.succeeded(publish(asMountPath("/a")));
    backoff.failed(publish(asMountPath("/a"), "other"), 1, error);
    expect(failures.get(asVolumeName("v"))).to.equal(before);
    backoff.failed(publish(asMountPath("/a")), 1, error);
    backoff.succeeded(publish(asMountPath("/a")));
    expect(failures.get(asVolumeName("v"))).to.not.equal(before);
    expect([...(failures.get(asVolumeName("v")) ?? [])]).to.deep.equal([...(before ?? [])]);
    backoff.succeeded(stage);
    expect([...failures.keys()]).to.deep.equal(["other"]);
  });

  it("keepOnly forgets the failures of volumes that are gone", () => {
    backoff.failed(publish(asMountPath("/a")), 1, error);
    backoff.failed(publish(asMountPath("/c"), "other"), 1, error);
    backoff.keepOnly(new Set(["other"]));
    expect([...backoff.failures.keys()]).to.deep.equal(["other"]);
  });
});

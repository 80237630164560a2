import { expect } from "chai";
import { ChildSlots } from "../../../../../src/host/linux/child/child-slots.ts";
import { virtualSystem } from "../../../kube/virtual-system.ts";

describe("ChildSlots of 64 volumes of a server that is gone", () => {
  /** Times, in milliseconds, that a volume took that is tried at each of these while the others hang. */
  async function beside(times: readonly number[], untilMs: number, server?: string): Promise<number[]> {
    const { timers, clock, advance } = virtualSystem();
    const slots = new ChildSlots({ timers });
    const pause = (ms: number) => new Promise<void>((resolve) => void timers.after(ms, resolve));
    /** One try: whether there was room for it. */
    const run = async (volume: string, ms: number, server?: string): Promise<boolean> => {
      try {
        const slot = await slots.acquire({ volume, server });
        slot.begin();
        await Promise.race([pause(ms), slot.crowdedOut]);
        slot.release();
        return true;
      } catch {
        return false;
      }
    };
    const hang = async (volume: string) => {
      for (let delay = 500; ; delay = Math.min(122_000, 2 * delay)) {
        await run(volume, 121_000, server);
        await pause(delay);
      }
    };
    for (let i = 0; i < 64; i++) void hang(`h${i}`);
    const took: number[] = [];
    for (const at of times) {
      timers.after(at, async () => {
        for (let tried = false; !tried; ) tried = await run("a", 500);
        took.push(clock.monotonic() - at);
      });
    }
    await advance(untilMs);
    return took;
  }

  const early = Array.from({ length: 30 }, (_, i) => 1_000 + i * 5_000);

  it("hold another one up until some of them are known to be slow, if they are known to be of one server", async () => {
    const took = await beside(early, 400_000, "nfs a");
    expect(took).to.have.length(30);
    expect(took[0], "began at 1 s, and waits until 10 s").to.equal(9_500);
    expect(Math.max(...took.slice(2))).to.equal(500);
  });

  it("hold another one up for less than a minute otherwise, while each is tried for the first time", async () => {
    const took = await beside(early, 400_000);
    expect(took).to.have.length(30);
    expect(Math.max(...took)).to.be.below(60_000);
    expect(Math.max(...took.slice(-8))).to.equal(500);
  });

  it("do not hold it up at all once each of them was tried", async () => {
    const times = Array.from({ length: 15 }, (_, i) => 1_000_000 + i * 100_000);
    const took = await beside(times, 2_600_000);
    expect(took).to.have.length(15);
    expect(Math.max(...took)).to.equal(500);
  });
});

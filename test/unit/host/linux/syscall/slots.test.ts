import { expect } from "chai";
import { Slots } from "../../../../../src/host/linux/syscall/libc.ts";

describe("Slots", () => {
  it("lets so many through at a time, and the others in their order", async () => {
    const slots = new Slots(2);
    const through: number[] = [];
    const ends: (() => void)[] = [];
    const all = [0, 1, 2, 3].map(async (n) => {
      using _slot = await slots.take();
      through.push(n);
      await new Promise<void>((end) => ends.push(end));
    });
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    await turn();
    expect(through).to.deep.equal([0, 1]);
    ends[1]?.();
    await turn();
    expect(through).to.deep.equal([0, 1, 2]);
    ends[0]?.();
    ends[2]?.();
    await turn();
    expect(through).to.deep.equal([0, 1, 2, 3]);
    ends[3]?.();
    await Promise.all(all);
    using _free = await slots.take();
  });
});

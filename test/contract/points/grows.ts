import { expect } from "chai";
import type { Point } from "../point.ts";

export const grows: Point = {
  name: "grows",
  title: "grows while it is mounted, and no mount is touched",
  asks: (of) => of.grows !== undefined,
  alone: true,
  async holds(bench) {
    const { node, of, targets } = bench;
    if (of.grows === undefined) throw new Error("the case does not grow");
    const { from, to, prepare, size } = of.grows;
    await bench.setUp();
    bench.put(targets[0]);
    const [mounts, before] = [node.mounts().map(({ id }) => id), size(targets[0])];
    expect(before).to.be.at.most(Number(from));
    prepare?.(node);
    await bench.setUp({ capacityBytes: to });
    expect(size(targets[0])).to.be.above(before).and.at.most(Number(to));
    expect(node.mounts().map(({ id }) => id)).to.deep.equal(mounts);
    bench.hasToken(targets[1]);
  },
};

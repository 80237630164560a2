import { expect } from "chai";
import type { Point } from "../point.ts";

export const readOnly: Point = {
  name: "read-only",
  title: "what is read-only takes no write, and what is not takes one",
  asks: ({ kind }) => kind !== "device", // the kernel takes writes to a device whatever the mount that its node is on
  async holds(bench) {
    await bench.setUp();
    const [rw, ro] = bench.targets;
    expect(() => bench.put(ro)).to.throw("EROFS");
    if (bench.of.readOnly) expect(() => bench.put(rw)).to.throw("EROFS");
    else bench.put(rw);
  },
};

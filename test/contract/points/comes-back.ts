import { execFileSync } from "node:child_process";
import type { Point } from "../point.ts";

export const comesBack: Point = {
  name: "comes back",
  title: "comes back, with its data, when anything of it is unmounted behind our back",
  async holds(bench) {
    const { node, of, targets } = bench;
    const [rw, ro] = targets;
    await bench.setUp();
    if (of.readOnly !== true) bench.put(rw);
    for (const { point } of node.mounts().reverse()) {
      execFileSync("umount", [point]);
      await bench.setUp();
      if (of.readOnly !== true) bench.hasToken(ro, `after ${point}`);
    }
  },
};

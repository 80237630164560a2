import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect } from "chai";
import { volumeName } from "../bench.ts";
import type { Point } from "../point.ts";
import { wokenBy } from "../woken.ts";

export const busy: Point = {
  name: "busy",
  title: "a release waits for who keeps a target busy, names it, and goes on when it ends",
  alone: true,
  async holds(bench) {
    const { node, of, targets } = bench;
    const [rw, ro] = targets;
    await bench.setUp();
    const inside = of.kind === undefined ? `cd ${rw};` : "";
    const holder = spawn("sh", ["-c", `${inside} exec 3<${rw}; echo up; exec sleep 600`], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      await once(holder.stdout, "data");
      const { failure } = await bench.release();
      expect(failure?.reason, failure?.message).to.equal("TargetBusy");
      expect(failure?.message).to.contain(`pid ${holder.pid} (`).and.to.contain(rw);
      expect(failure?.heldBy).to.deep.equal([holder.pid]);
      expect(node.mountAt(rw)).not.to.equal(undefined);
      expect(node.mountAt(ro)).to.equal(undefined);
      await wokenBy(node, volumeName, () => holder.kill("SIGKILL"));
    } finally {
      holder.kill("SIGKILL");
    }
    node.forgetFailures();
    const volume = await node.volume(volumeName);
    expect(volume.phase, volume.failure?.message).to.equal("released");
    await bench.isGone();
  },
};

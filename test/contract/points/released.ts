import { expect } from "chai";
import { intent } from "../../../hack/lib/agent-on-kernel/intent.ts";
import { volumeName } from "../bench.ts";
import type { Point } from "../point.ts";

export const released: Point = {
  name: "released",
  title: "is released without a trace; data stays only where it is not ours",
  alone: true,
  async holds(bench) {
    const { node, of, source, targets } = bench;
    await bench.setUp();
    if (of.readOnly !== true) bench.put(targets[0]);
    const volume = await bench.release();
    expect(volume.phase, volume.failure?.message).to.equal("released");
    await bench.isGone();
    if (!of.keepsData || of.readOnly) return;
    const again = node.target("again");
    node.want(intent({ name: "node.again-1", source, ...of.spec, mounts: [{ path: again }] }));
    await node.converge();
    bench.hasToken(again);
  },
};

export const journalOnly: Point = {
  name: "journal alone",
  title: "teardown needs nothing but the journal: the spec may be unreadable by then",
  alone: true,
  async holds(bench) {
    const { node } = bench;
    await bench.setUp();
    await node.restart();
    node.wantInvalid(bench.intent({ deleting: true }).metadata);
    const volume = await node.volume(volumeName);
    expect(volume.phase, volume.failure?.message).to.equal("released");
    await bench.isGone();
  },
};

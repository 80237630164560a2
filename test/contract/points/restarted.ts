import { expect } from "chai";
import { volumeName } from "../bench.ts";
import type { Point } from "../point.ts";

export const restarted: Point = {
  name: "restart",
  title: "is found as it is after a restart: no mount is touched",
  async holds(bench) {
    const { node } = bench;
    await bench.setUp();
    const before = node.mounts();
    await node.restart();
    await node.converge();
    expect(node.mounts()).to.deep.equal(before);
  },
};

export const stagedAgain: Point = {
  name: "staged again",
  title: "staging again is harmless when a crash came before its end was written down",
  async holds(bench) {
    const { node } = bench;
    await bench.setUp();
    const journal = await node.journal();
    const record = journal.records.get(volumeName);
    if (record?.stage === undefined) throw new Error("no stage on record");
    await journal.put({ ...record, stage: { ...record.stage, ready: false } });
    const before = node.mounts();
    await bench.setUp();
    expect(node.mounts()).to.deep.equal(before);
    expect((await node.journal()).records.get(volumeName)?.stage?.ready).to.equal(true);
  },
};

import { statfsSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import type { FlexVolumeSource } from "../../src/api/types.gen.ts";
import { need } from "../lib/asserts/requirements.ts";
import { flexDriver } from "../lib/fakes/flex-driver.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");
const MiB = 2 ** 20;

describe("volumes of flexvolume drivers that grow", () => {
  let node: RealNode;
  withNode([], (made) => {
    node = made;
  });

  let generation = 0;
  const want = async (source: FlexVolumeSource, mebibytes?: number) => {
    const capacity = mebibytes === undefined ? {} : { capacityBytes: String(mebibytes * MiB) };
    const mounts = [{ path: node.target("a") }];
    node.want(intent({ source: { flexVolume: source }, generation: ++generation, ...capacity, mounts }));
    return node.volume(name);
  };
  const mebibytes = () => {
    const { blocks, bsize } = statfsSync(node.target("a"));
    return (blocks * bsize) / MiB;
  };
  const capacityOnRecord = async () => (await node.journal()).records.get(name)?.stage?.capacityBytes;

  slow(
    "by expandvolume, and with their file system where the driver leaves that to the agent; once, and never back",
    async function () {
      need(this, "loop-devices", "mkfs.xfs", "xfs"); // some kernels refuse to grow ext4 while it is mounted
      const { image, calls, commands } = flexDriver(node, "test/loop");
      const source = { driver: "test/loop", fsType: "xfs", options: { image, sizeMegabytes: "320" } };
      await want(source, 320);
      const before = calls().length;
      expect(mebibytes()).to.be.below(320);
      expect((await want(source, 400)).failure?.message).to.equal(undefined);
      expect(mebibytes()).to.be.within(321, 400);
      const [volume = "", fs = ""] = calls().slice(before);
      expect(volume).to.match(/^expandvolume \{.*\} \S+\/staging\/\S+\.device 419430400 335544320$/);
      expect(fs).to.match(/^expandfs \{.*\} \/dev\/loop\d+ \S+\/staging\/\S+\.device 419430400 335544320$/);
      await want(source, 310);
      await node.restart();
      await want(source, 400);
      expect(commands().slice(before)).to.deep.equal(["expandvolume", "expandfs"]);
      expect(await capacityOnRecord()).to.equal(String(400 * MiB));
    },
  );

  it("by the driver alone, and keep their size on record when they are staged again", async () => {
    const { commands } = flexDriver(node, "test/memory");
    const source = { driver: "test/memory", options: { size: "8m" } };
    await want(source);
    expect(await capacityOnRecord()).to.equal(undefined);
    await want(source, 16);
    expect(mebibytes()).to.equal(16);
    const journal = await node.journal();
    const record = journal.records.get(name);
    if (record?.stage === undefined) throw new Error("no stage on record");
    await journal.put({ ...record, stage: { ...record.stage, ready: false } });
    await want(source, 16);
    expect(commands().filter((command) => command.startsWith("expand"))).to.deep.equal(["expandvolume", "expandfs"]);
    expect(await capacityOnRecord()).to.equal(String(16 * MiB));
  });

  slow("are not believed that they have grown", async function () {
    need(this, "loop-devices", "mkfs.ext4", "ext4");
    const { image, path } = flexDriver(node, "test/loop");
    const source = { driver: "test/loop", options: { image, sizeMegabytes: "32" } };
    await want(source, 32);
    writeFileSync(path, `#!/bin/sh\necho '{"status": "Success"}'\n`, { mode: 0o755 });
    const { failure } = await want(source, 64);
    expect(failure?.reason).to.equal("DriverReplyFalse");
    expect(failure?.message).to.match(
      /answered expandvolume and expandfs with Success, but the file system on .* as before$/,
    );
    expect(await capacityOnRecord()).to.equal(String(32 * MiB));
  });
});

import { existsSync, mkdirSync, readdirSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import type { EmptyDirVolumeSource } from "../../src/api/types.gen.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");
const hugetlbfsMagic = 0x958458f6;

describe("an emptyDir of huge pages", () => {
  let node: RealNode;

  withNode(["hugetlbfs"], (made) => {
    node = made;
  });

  const want = (emptyDir: EmptyDirVolumeSource, more: { deleting?: boolean; generation?: number } = {}) =>
    node.want(intent({ source: { emptyDir }, mounts: [{ path: node.target("huge") }], ...more }));

  /** Mounted, with nothing left to do. */
  async function mounted(emptyDir: EmptyDirVolumeSource) {
    want(emptyDir);
    const volume = await node.volume(name);
    expect(volume.failure?.message).to.equal(undefined);
    const done = node.done.length;
    await node.converge();
    expect(node.done.length).to.equal(done);
    return statfsSync(node.target("huge"));
  }

  it("is a hugetlbfs of these pages, 0777, with the limit rounded up to whole ones", async () => {
    const { type, bsize, blocks } = await mounted({ medium: "HugePages-2Mi", sizeLimit: "5Mi" });
    expect([type, bsize, blocks]).to.deep.equal([hugetlbfsMagic, 2 ** 21, 3]);
    expect(statSync(node.target("huge")).mode & 0o7777).to.equal(0o777);
    expect(node.mountAt(node.target("huge"))?.options).to.include.members(["nosuid", "nodev"]);
  });

  it("is of the default pages of the node where the medium names none", async () => {
    const { type } = await mounted({ medium: "HugePages" });
    expect(type).to.equal(hugetlbfsMagic);
  });

  it("is found as it is after a restart, with what is in it", async () => {
    await mounted({ medium: "HugePages-2Mi", sizeLimit: "4Mi" });
    mkdirSync(`${node.target("huge")}/made`);
    writeFileSync(`${node.target("huge")}/file`, "");
    const before = node.mounts();
    await node.restart();
    await node.converge();
    expect(node.mounts()).to.deep.equal(before);
    expect(readdirSync(node.target("huge"))).to.have.members(["made", "file"]);
  });

  it("is gone with its pages when it is released", async () => {
    const medium = "HugePages-2Mi";
    await mounted({ medium });
    mkdirSync(`${node.target("huge")}/made`);
    want({ medium }, { deleting: true, generation: 2 });
    const volume = await node.volume(name);
    expect(volume.phase, volume.failure?.message).to.equal("released");
    expect([node.mounts(), existsSync(node.target("huge"))]).to.deep.equal([[], false]);
  });
});

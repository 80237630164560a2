import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import { need } from "../lib/asserts/requirements.ts";
import { RealNode } from "../lib/kernel/real-node.ts";

describe("an emptyDir with a limit on a disk that keeps none", () => {
  before(function () {
    need(this, "root");
  });

  it("is refused, with the remedy, and nothing is mounted; without the limit it is set up", async () => {
    await using node = new RealNode(); // its state directory is on a tmpfs
    const mounts = [{ path: node.target("limited") }];
    node.want(intent({ source: { emptyDir: { sizeLimit: "1Mi" } }, mounts }));
    const { failure } = await node.volume(asVolumeName("node.volume-1"));
    expect(failure?.reason).to.equal("QuotaUnsupported");
    expect(failure?.message).to.include("prjquota").and.include("medium: Memory");
    expect(node.mounts()).to.deep.equal([]);
    node.want(intent({ name: "node.other-1", source: { emptyDir: {} }, mounts }));
    expect((await node.volume(asVolumeName("node.other-1"))).failure).to.equal(undefined);
    expect(node.mountAt(node.target("limited"))).not.to.equal(undefined);
  });
});

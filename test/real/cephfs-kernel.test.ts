import { spawnSync } from "node:child_process";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { skipBecause } from "../../hack/lib/lanes/skip-reason.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import { need } from "../lib/asserts/requirements.ts";
import { RealNode } from "../lib/kernel/real-node.ts";

describe("cephfs by the kernel's client, on a kernel without it", () => {
  before(function () {
    need(this, "root");
    if (spawnSync("modprobe", ["--dry-run", "ceph"]).status === 0) skipBecause(this, "the kernel has ceph");
  });

  it("is refused, with what to do about it, and leaves nothing of itself", async () => {
    await using node = new RealNode();
    const key = "AQBgZ1xnAAAAABAAb1b1b1b1b1b1b1b1b1b1bQ==";
    node.contents.set("ceph", { version: "1", data: new Map([["key", Buffer.from(key)]]) });
    const secretRef = { namespace: "default", name: "ceph" };
    const source = { cephfs: { monitors: ["127.0.0.1"], client: "Kernel" as const, secretRef } };
    node.want(intent({ name: "node.one", source, mounts: [{ path: node.target("one") }] }));
    await node.converge();
    const { failure } = await node.volume(asVolumeName("node.one"));
    expect(failure).to.include({ reason: "FilesystemUnsupported", errorClass: "final" });
    expect(failure?.message).to.match(/no file system ceph: load its module on the node, or use client: FUSE/);
    expect(node.mounts()).to.deep.equal([]);
  });
});

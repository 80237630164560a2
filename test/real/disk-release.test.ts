import { execFileSync } from "node:child_process";
import { mkdirSync, truncateSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");

describe("the release of a disk, on the real kernel", () => {
  let node: RealNode;
  let disk: string;

  withNode(["loop-devices", "mkfs.ext4", "ext4"], (made) => {
    node = made;
    disk = node.keep(loopDevice(`${node.path}/disks`, "disk", 32, "--partscan")).path;
  });

  const raw = (id: string, more: object = {}) =>
    intent({
      name: id,
      source: { local: { path: disk } },
      volumeMode: "Block",
      mounts: [{ path: node.target(id) }],
      ...more,
    });
  const deleted = { deleting: true, generation: 2 };

  it("that has failed is not kept by it: whoever reads it gets an error, but nobody holds it", async () => {
    node.want(raw(name));
    expect((await node.volume(name)).failure?.message).to.equal(undefined);
    expect(node.mounts()).to.have.length(1);
    truncateSync(`${node.path}/disks/disk`);
    expect(() => execFileSync("head", ["-c1", disk], { stdio: "pipe" }), "it has failed").to.throw();
    node.want(raw(name, deleted));
    const { phase, failure } = await node.volume(name);
    expect([phase, failure?.message]).to.deep.equal(["released", undefined]);
  });

  it("is not kept by partitions that somebody has made on it, unless one of them is in use", async () => {
    node.want(raw(name));
    await node.converge();
    execFileSync("addpart", [disk, "1", "2048", "40960"]);
    execFileSync("mkfs.ext4", ["-q", `${disk}p1`]);
    mkdirSync(`${node.path}/elsewhere`);
    execFileSync("mount", [`${disk}p1`, `${node.path}/elsewhere`]);
    node.want(raw(name, deleted));
    expect((await node.volume(name)).failure?.reason).to.equal("DeviceBusy");
    execFileSync("umount", [`${node.path}/elsewhere`]);
    node.forgetFailures();
    const { phase, failure } = await node.volume(name);
    execFileSync("delpart", [disk, "1"]);
    expect([phase, failure?.message]).to.deep.equal(["released", undefined]);
  });

  it("waits for a loop device that somebody has made of it: what was written there is not on it yet", async () => {
    node.want(raw(name));
    await node.converge();
    const loop = execFileSync("losetup", ["--find", "--show", disk], { encoding: "utf8" }).trim();
    try {
      node.want(raw(name, deleted));
      const { failure } = await node.volume(name);
      expect(failure?.reason).to.equal("DeviceBusy");
      expect(failure?.message).to.include(`${disk} is what ${loop.slice("/dev/".length)} is made of: end the pod`);
      expect(failure?.message).to.match(new RegExp(`: losetup --detach ${loop}$`));
    } finally {
      execFileSync("losetup", ["--detach", loop]);
    }
    node.forgetFailures();
    expect((await node.volume(name)).phase).to.equal("released");
  });

  it("that another intent has mounted too waits for that one, and says so", async () => {
    const other = asVolumeName("node.volume-2");
    node.want(raw(name), raw(other));
    await node.converge();
    expect(node.mounts()).to.have.length(2);
    node.want(raw(name, deleted), raw(other));
    const { failure } = await node.volume(name);
    expect(failure?.reason).to.equal("StillReferenced");
    expect(failure?.message).to.contain(other).and.not.to.contain("not by this agent");
    node.want(raw(name, deleted), raw(other, deleted));
    await node.converge();
    // It may have been tried before the other was gone, and waits to be tried again then.
    node.forgetFailures();
    expect((await node.volume(name)).phase).to.equal("released");
    expect((await node.volume(other)).phase).to.equal("released");
  });
});

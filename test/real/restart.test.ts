import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, renameSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { asMountPath, asVolumeName } from "../../src/agent/model/identities.ts";
import { withoutTarget } from "../../src/agent/model/volume-record.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");

describe("after a restart, on the real kernel", () => {
  let node: RealNode;
  withNode([], (made) => {
    node = made;
  });

  const bound = (more: object = {}) =>
    intent({ source: { hostPath: { path: `${node.path}/src` } }, ...more, mounts: [{ path: node.target("a") }] });
  const memory = (more: object = {}) =>
    intent({ source: { emptyDir: { medium: "Memory" } }, ...more, mounts: [{ path: node.target("a") }] });
  const deleted = { deleting: true, generation: 2 };

  it("a set-up that fails leaves the mount, its mount point and the record", async () => {
    node.want(bound());
    await node.converge();
    const before = node.mounts().map((mount) => mount.id);
    await node.restart();
    renameSync(`${node.path}/src`, `${node.path}/away`);
    const volume = await node.volume(name);
    expect(volume.failure?.reason).to.equal("SourceNotFound");
    expect(volume.actualState.inUse).to.equal(true);
    expect(node.mounts().map((mount) => mount.id)).to.deep.equal(before);
    expect(readdirSync(node.target("a"))).to.include("here");
    expect(volume.record?.targets).to.have.length(1);
    node.want(bound(deleted));
    expect((await node.volume(name)).phase, "and it can still be taken down").to.equal("released");
    expect(existsSync(node.target("a"))).to.equal(false);
  });

  it("a file system that was staged and has no target left is unstaged", async () => {
    node.want(memory());
    await node.converge();
    const journal = await node.journal();
    const record = journal.records.get(name);
    if (record === undefined) throw new Error("no record");
    execFileSync("umount", [node.target("a")]);
    await journal.put(withoutTarget(record, asMountPath(node.target("a"))));
    await node.restart();
    expect(
      node.mounts().map((mount) => mount.fsType),
      "staged, and nothing else",
    ).to.deep.equal(["tmpfs"]);
    node.want(memory(deleted));
    expect((await node.plan()).volumes.get(name)?.actualState.inUse).to.equal(true);
    expect((await node.volume(name)).phase).to.equal("released");
    expect(node.mounts()).to.deep.equal([]);
  });

  it("what was learned of a volume is not lost with the mount: who still holds it is found again", async () => {
    node.want(memory());
    await node.converge();
    const script = `umount ${node.target("a")}; echo up; exec sleep 60`; // what is staged is left there
    const container = spawn("unshare", ["-m", "--propagation", "private", "sh", "-c", script]);
    await once(container.stdout, "data");
    node.want(memory(deleted));
    expect((await node.volume(name)).failure?.reason).to.equal("StillReferenced");
    expect(node.mounts(), "nothing shows it here any more").to.deep.equal([]);
    await node.restart();
    const again = await node.volume(name);
    expect([again.phase, again.failure?.reason]).to.deep.equal(["tearDown", "StillReferenced"]);
    container.kill();
    await once(container, "exit");
    node.forgetFailures();
    expect((await node.volume(name)).phase).to.equal("released");
  });
});

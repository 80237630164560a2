import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { noProblems } from "../../src/agent/model/actual-volume.ts";
import { asMountPath, asVolumeName } from "../../src/agent/model/identities.ts";
import { summaryOf } from "../../src/agent/status/volume-summary.ts";
import type { VolumeSource } from "../../src/api/types.gen.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");

const sources: readonly [string, (node: RealNode) => VolumeSource][] = [
  ["a file system in memory", () => ({ emptyDir: { medium: "Memory" } })],
  ["a directory of the node", (node) => ({ local: { path: `${node.path}/src` } })],
];

for (const [what, sourceOf] of sources) {
  describe(`a target above which a directory was renamed, showing ${what}`, () => {
    let node: RealNode;

    withNode([], async (made) => {
      node = made;
      want();
      await node.converge();
    });

    const want = (more: object = {}) =>
      node.want(intent({ source: sourceOf(node), mounts: [{ path: node.target("dir/a") }], ...more }));
    const onTargets = () => node.mounts().filter(({ point }) => point.startsWith(`${node.path}/mnt`));
    const move = () => renameSync(node.target("dir"), node.target("moved"));

    it("is reported, and not mounted once more", async () => {
      move();
      const moved = await node.volume(name);
      expect(onTargets().map(({ point }) => point)).to.deep.equal([node.target("moved/a")]);
      expect(moved.problems.targets.get(asMountPath(node.target("dir/a")))?.reason).to.equal("TargetMoved");
      expect(summaryOf(moved).drift).to.include({ class: "Missing" });
      expect(summaryOf(moved).drift?.message).to.contain(node.target("moved/a"));
      expect(moved.actualState.inUse).to.equal(true);
      renameSync(node.target("moved"), node.target("dir"));
      expect((await node.volume(name)).problems).to.deep.equal(noProblems);
    });

    it("is unmounted where it is before the volume is released", async () => {
      move();
      want({ deleting: true, generation: 2 });
      expect((await node.volume(name)).phase).to.equal("released");
      expect(node.mounts()).to.deep.equal([]);
      expect(existsSync(node.target("moved/a"))).to.equal(false);
    });

    it("a bind that somebody made of it is not taken for it", async () => {
      mkdirSync(node.target("theirs"));
      execFileSync("mount", ["--bind", node.target("dir/a"), node.target("theirs")]);
      execFileSync("umount", [node.target("dir/a")]);
      expect((await node.volume(name)).problems).to.deep.equal(noProblems);
      expect(onTargets().map(({ point }) => point)).to.have.members([node.target("theirs"), node.target("dir/a")]);
    });
  });
}

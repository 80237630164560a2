import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readdirSync, statfsSync, statSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../../hack/lib/agent-on-kernel/intent.ts";
import { asVolumeName } from "../../../src/agent/model/identities.ts";
import { loadQuotaCalls } from "../../../src/host/linux/syscall/quota-calls.ts";
import { loopDevice } from "../../lib/kernel/disks/loop-device.ts";
import { RealNode } from "../../lib/kernel/real-node.ts";

const name = asVolumeName("node.volume-1");
const kinds = [
  { fsType: "xfs", megabytes: 320, mkfs: ["mkfs.xfs", "-q"] },
  { fsType: "ext4", megabytes: 64, mkfs: ["mkfs.ext4", "-q", "-O", "quota,project"] },
] as const;

for (const { fsType, megabytes, mkfs } of kinds) {
  describe(`an emptyDir with a limit on ${fsType}`, () => {
    let node: RealNode;

    beforeEach(() => {
      node = new RealNode();
    });
    afterEach(async () => {
      await node[Symbol.asyncDispose]();
    });

    /** The state directory is on a file system of its own. */
    async function state(...options: string[]): Promise<void> {
      mkdirSync(`${node.path}/disk`);
      const { path } = node.keep(loopDevice(`${node.path}/disk`, "disk", megabytes));
      const [program = "", ...args] = mkfs;
      execFileSync(program, [...args, path]);
      execFileSync("mount", [...options, path, node.stateDir]);
      await node.restart();
    }

    const want = (limited: { deleting?: boolean; generation?: number } = {}) =>
      node.want(
        intent({ source: { emptyDir: { sizeLimit: "1Mi" } }, mounts: [{ path: node.target("limited") }], ...limited }),
        intent({ name: "node.other-1", source: { emptyDir: {} }, mounts: [{ path: node.target("free") }] }),
      );
    /** As nobody: ext4 lets whoever has CAP_SYS_RESOURCE go beyond. @throws Error with what dd(1) says */
    const write = (target: string, file = "file") => {
      const args = ["if=/dev/zero", `of=${node.target(target)}/${file}`, "bs=64k", "count=32"];
      execFileSync("dd", args, { uid: 65534, gid: 65534, stdio: "pipe" });
    };
    const full = /No space left on device|Disk quota exceeded/;

    it("holds that and no more, and others what they like; a restart changes nothing", async () => {
      await state("-o", "prjquota");
      want();
      expect((await node.volume(name)).failure?.message).to.equal(undefined);
      expect(() => write("limited")).to.throw(full);
      expect(statSync(`${node.target("limited")}/file`).size).to.be.at.most(1 << 20);
      write("free");
      const { blocks, bsize } = statfsSync(node.target("limited"));
      expect(blocks * bsize, "what df shows").to.equal(1 << 20);
      const before = node.mounts();
      await node.restart();
      await node.converge();
      expect(node.mounts()).to.deep.equal(before);
      expect(() => write("limited", "again")).to.throw(full);
    });

    it("leaves no limit behind when it is released", async () => {
      await state("-o", "prjquota");
      want();
      await node.converge();
      const quota = loadQuotaCalls();
      const directory = openSync(node.target("limited"), "r");
      const { project } = quota.projectOf(directory);
      closeSync(directory);
      const disk = openSync(node.stateDir, "r");
      expect(quota.isUsed(disk, project)).to.equal(true);
      want({ deleting: true, generation: 2 });
      expect((await node.volume(name)).phase).to.equal("released");
      await node.host.directories.emptyTrash();
      expect(readdirSync(`${node.stateDir}/trash`)).to.deep.equal([]);
      const used = isUsed(() => quota.isUsed(disk, project));
      closeSync(disk);
      expect(used).to.equal(false);
    });

    it("is refused where the file system keeps no quota, with the remedy, and nothing is mounted", async () => {
      await state();
      want();
      const { failure } = await node.volume(name);
      expect([failure?.reason, failure?.message.includes("prjquota")]).to.deep.equal(["QuotaUnsupported", true]);
      expect(node.mountAt(node.target("limited"))).to.equal(undefined);
    });
  });
}

/** XFS knows nothing of a project that has neither files nor a limit. */
function isUsed(ask: () => boolean): boolean {
  try {
    return ask();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { asMountPath, asVolumeName } from "../../src/agent/model/identities.ts";
import type { VolumeSource } from "../../src/api/types.gen.ts";
import { LinuxJournalFile } from "../../src/host/linux/files/linux-journal-file.ts";
import { prepareStateDirectories } from "../../src/host/linux/files/state-directories.ts";
import { loadLibc } from "../../src/host/linux/syscall/libc.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");

describe("the release of a volume whose record was lost, on the real kernel", () => {
  let node: RealNode;

  withNode([], (made) => {
    node = made;
    mkdirSync(`${node.path}/src/data`);
  });

  const one = (source: VolumeSource, more: object = {}) =>
    intent({ source, ...more, mounts: [{ path: node.target("a") }] });
  const deleted = { deleting: true, generation: 2 };

  /** Sets the volume up, and loses the journal. */
  async function lose(source: VolumeSource): Promise<void> {
    node.want(one(source));
    await node.converge();
    await node.restart();
    rmSync(`${node.stateDir}/journal`);
  }

  it("a bind of a path of the host is not called released before it is gone", async () => {
    const source = { hostPath: { path: `${node.path}/src/data` } };
    await lose(source);
    node.want(one(source, deleted));
    const volume = await node.volume(name);
    expect([volume.phase, volume.actualState.inUse]).to.deep.equal(["tearDown", true]);
    expect(volume.problems.targets.get(asMountPath(node.target("a")))?.message).to.contain(
      "Unmount it, and the volume is released",
    );
    expect(node.mounts()).to.have.length(1);
    execFileSync("umount", [node.target("a")]);
    expect((await node.volume(name)).phase).to.equal("released");
  });

  for (const medium of ["Memory", ""] as const) {
    it(`what only we make is taken down: emptyDir, medium "${medium}"`, async () => {
      const source = { emptyDir: { medium } };
      await lose(source);
      if (medium === "Memory") execFileSync("umount", [node.mounts()[0]?.point ?? ""]); // the staged one
      expect(node.mounts().map((mount) => mount.point)).to.deep.equal([node.target("a")]);
      node.want(one(source, deleted));
      expect((await node.volume(name)).phase).to.equal("released");
      expect(node.mounts()).to.deep.equal([]);
    });
  }

  it("what somebody else has mounted of its source does not keep a volume that was never set up", async () => {
    const source = { hostPath: { path: `${node.path}/src/data` } };
    mkdirSync(node.target("a"));
    execFileSync("mount", ["--bind", `${node.path}/src/data`, node.target("a")]);
    await node.journal();
    await node.restart(); // as any later start: the state directory is not new
    node.want(one(source, deleted));
    const { phase, actualState } = await node.volume(name);
    expect([phase, actualState.inUse, node.mounts().length]).to.deep.equal(["released", false, 1]);
  });

  it("a journal that is missing was lost where an agent has been before, and nowhere else", async () => {
    const directory = `${node.path}/fresh`;
    expect(prepareStateDirectories(loadLibc(), directory), "the first start").to.equal(false);
    expect(prepareStateDirectories(loadLibc(), directory)).to.equal(true);
    expect(await new LinuxJournalFile(`${directory}/journal`, false).read()).to.equal(undefined);
    expect(await new LinuxJournalFile(`${directory}/journal`, true).read()).to.equal("");
  });

  it("a file system of somebody else does not keep it", async () => {
    mkdirSync(node.target("a"));
    execFileSync("mount", ["-t", "tmpfs", "foreign", node.target("a")]);
    writeFileSync(`${node.target("a")}/canary`, "");
    node.want(one({ hostPath: { path: `${node.path}/src/data` } }, deleted));
    expect((await node.volume(name)).phase).to.equal("released");
    expect(node.mounts()).to.have.length(1);
  });
});

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { noProblems } from "../../src/agent/model/actual-volume.ts";
import { asMountPath, asVolumeName, type MountPath } from "../../src/agent/model/identities.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");

describe("what is foreign, on the real kernel", () => {
  let node: RealNode;
  withNode([], (made) => {
    node = made;
  });

  const source = () => ({ hostPath: { path: `${node.path}/src` } });
  const one = (more: object = {}, mount: object = {}) =>
    intent({ source: source(), ...more, mounts: [{ path: node.target("a"), ...mount }] });
  const problemAt = async (path: MountPath) => (await node.volume(name)).problems.targets.get(path)?.reason;

  const foreignAt = (path: string) => {
    mkdirSync(path, { recursive: true });
    execFileSync("mount", ["-t", "tmpfs", "foreign", path]);
    writeFileSync(`${path}/canary`, "alive");
  };
  const canary = (path: string) => expect(readFileSync(`${path}/canary`, "utf8")).to.equal("alive");

  it("a mount on a target keeps ours away until it goes", async () => {
    foreignAt(node.target("a"));
    node.want(one());
    expect(await problemAt(asMountPath(node.target("a")))).to.equal("ForeignMount");
    canary(node.target("a"));
    execFileSync("umount", [node.target("a")]);
    await node.converge();
    expect(readdirSync(node.target("a"))).to.deep.equal(["here"]);
  });

  it("a mount over ours is reported, and neither is unmounted when the intent goes", async () => {
    node.want(one());
    await node.converge();
    foreignAt(node.target("a"));
    expect(await problemAt(asMountPath(node.target("a")))).to.equal("ForeignMountOnTarget");
    node.want(one({ deleting: true, generation: 2 }));
    const volume = await node.volume(name);
    expect(volume.phase).to.equal("tearDown");
    expect(volume.actualState.inUse).to.equal(true);
    canary(node.target("a"));
    execFileSync("umount", [node.target("a")]);
    expect((await node.volume(name)).phase).to.equal("released");
  });

  it("a mount beneath ours, on the same path, is reported, and neither is unmounted when the intent goes", async () => {
    node.want(one());
    await node.converge();
    execFileSync("umount", [node.target("a")]);
    foreignAt(node.target("a"));
    execFileSync("mount", ["--bind", `${node.path}/src`, node.target("a")]);
    expect(await problemAt(asMountPath(node.target("a")))).to.equal("ForeignMountBeneath");
    node.want(one({ deleting: true, generation: 2 }));
    expect((await node.volume(name)).phase).to.equal("tearDown");
    execFileSync("umount", [node.target("a")]);
    canary(node.target("a"));
    expect((await node.volume(name)).phase).to.equal("released");
  });

  it("a mount over a directory above hides ours: nothing is mounted a second time", async () => {
    node.want(intent({ source: source(), mounts: [{ path: node.target("deep/a") }] }));
    await node.converge();
    foreignAt(node.target("deep"));
    expect(await problemAt(asMountPath(node.target("deep/a")))).to.equal("TargetCovered");
    expect(node.mounts().filter((mount) => mount.point === node.target("deep/a"))).to.have.length(1);
    canary(node.target("deep"));
  });

  it("adopt: IfSame takes a mount over only if it shows the same", async () => {
    mkdirSync(node.target("a"));
    execFileSync("mount", ["--bind", `${node.path}/src`, node.target("a")]);
    node.want(one());
    expect(await problemAt(asMountPath(node.target("a")))).to.equal("ForeignMount");
    node.want(one({ adopt: "IfSame", generation: 2 }));
    const volume = await node.volume(name);
    expect(volume.problems).to.deep.equal(noProblems);
    // It is shared, so that its flags change by mounting again: it mostly gets the same id then, if nobody else mounts.
    expect(node.done.slice(-2)).to.deep.equal(["adopt", "publish"]);
    expect(node.mountAt(node.target("a"))?.options, "options are brought to what is wanted").to.include("nosuid");
    node.want(one({ adopt: "IfSame", deleting: true, generation: 3 }));
    expect((await node.volume(name)).phase).to.equal("released");
    expect(existsSync(node.target("a")), "a directory that we did not make stays").to.equal(true);
  });

  it("adopt: IfSame leaves one alone that shows something else, and says that it is not the same", async () => {
    mkdirSync(node.target("a"));
    foreignAt(node.target("a"));
    node.want(one({ adopt: "IfSame" }));
    const problem = (await node.volume(name)).problems.targets.get(asMountPath(node.target("a")));
    expect(problem?.reason).to.equal("ForeignMount");
    expect(problem?.message).to.include("nor the same to the kernel as the spec: unmount it");
    canary(node.target("a"));
  });

  it("a mount that somebody put in place of ours stays when the intent goes", async () => {
    node.want(one());
    await node.converge();
    execFileSync("umount", [node.target("a")]);
    foreignAt(node.target("a"));
    expect(await problemAt(asMountPath(node.target("a")))).to.equal("ForeignMount");
    node.want(one({ deleting: true, generation: 2 }));
    expect((await node.volume(name)).phase).to.equal("released");
    canary(node.target("a"));
  });
});

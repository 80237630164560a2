import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { asMountPath, asVolumeName } from "../../src/agent/model/identities.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");

describe("release, on the real kernel", () => {
  let node: RealNode;
  withNode([], (made) => {
    node = made;
  });

  const source = () => ({ hostPath: { path: `${node.path}/src` } });
  const memory = { emptyDir: { medium: "Memory" } } as const;
  const one = (more: object = {}, mount: object = {}) =>
    intent({ source: source(), ...more, mounts: [{ path: node.target("a"), ...mount }] });

  it("a target in use stays, and the wait names the process", async () => {
    node.want(one());
    await node.converge();
    const sleeper = spawn("sleep", ["60"], { cwd: node.target("a") });
    await once(sleeper, "spawn");
    node.want(one({ deleting: true, generation: 2 }));
    const busy = await node.volume(name);
    expect(busy.failure?.reason).to.equal("TargetBusy");
    expect(busy.failure?.message).to.contain(`pid ${sleeper.pid} (sleep)`);
    sleeper.kill();
    await once(sleeper, "exit");
    node.forgetFailures();
    expect((await node.volume(name)).phase).to.equal("released");
  });

  it("a lazy unmount takes nothing along that somebody mounted beneath (law L6)", async () => {
    const path = node.target("a");
    node.want(one());
    await node.converge();
    mkdirSync(`${path}/theirs`);
    execFileSync("mount", ["-t", "tmpfs", "theirs", `${path}/theirs`]);
    const lazily = {
      kind: "unpublish",
      volume: name,
      path: asMountPath(path),
      mountID: node.mountAt(path)?.id ?? 0,
      unmountMode: "Lazy",
    } as const;
    await node.run(lazily);
    expect(node.done.at(-1)).to.equal("unpublish TargetBusy");
    expect(node.mountAt(`${path}/theirs`)?.source).to.equal("theirs");
    execFileSync("umount", [`${path}/theirs`]);
    await node.run(lazily);
    expect(node.done.at(-1)).to.equal("unpublish");
    expect(node.mountAt(path)).to.equal(undefined);
  });

  it("a volume that another mount namespace still shows is not released (safety rule 6)", async () => {
    const volume = (deleting: boolean) =>
      intent({ source: memory, deleting, generation: deleting ? 2 : 1, mounts: [{ path: node.target("a") }] });
    node.want(volume(false));
    await node.converge();
    const container = spawn("unshare", ["-m", "--propagation", "private", "sh", "-c", "echo up; exec sleep 60"]);
    await once(container.stdout, "data");
    node.want(volume(true));
    const held = await node.volume(name);
    expect(held.failure?.reason).to.equal("StillReferenced");
    expect(held.failure?.message).to.contain(`pid ${container.pid}`);
    expect(held.actualState.inUse).to.equal(true);
    expect(node.mountAt(node.target("a")), "nothing is left on the node's own target").to.equal(undefined);
    container.kill();
    await once(container, "exit");
    node.forgetFailures();
    expect((await node.volume(name)).phase).to.equal("released");
  });

  it("a bind that somebody made on the node keeps it, and is what the wait is for", async () => {
    const volume = (deleting: boolean) =>
      intent({ source: memory, deleting, generation: deleting ? 2 : 1, mounts: [{ path: node.target("a") }] });
    node.want(volume(false));
    await node.converge();
    const copy = `${node.path}/src/copy`;
    mkdirSync(copy);
    execFileSync("mount", ["--bind", node.target("a"), copy]);
    node.want(volume(true));
    const { failure } = await node.volume(name);
    expect(failure?.reason).to.equal("StillReferenced");
    expect(failure?.message).to.contain(`still mounted on the node at ${copy}`).and.not.to.contain("pid");
    execFileSync("umount", [copy]);
    node.forgetFailures();
    expect((await node.volume(name)).phase).to.equal("released");
  });

  it("an intent that vanished unmounts nothing, and can be named again (law L8)", async () => {
    node.want(one());
    await node.converge();
    const before = node.mounts();
    node.want();
    expect((await node.volume(name)).phase).to.equal("unexplained");
    expect(node.mounts()).to.deep.equal(before);
    node.want(one({ uid: "uid-2" }));
    await node.converge();
    expect(node.mounts()).to.deep.equal(before);
    node.want(one({ uid: "uid-2", deleting: true, generation: 2 }));
    expect((await node.volume(name)).phase).to.equal("released");
    expect(node.mounts()).to.deep.equal([]);
  });

  it("deletionPolicy Retain leaves the mount with nobody in charge", async () => {
    node.want(one({ deletionPolicy: "Retain" }));
    await node.converge();
    node.want(one({ deletionPolicy: "Retain", deleting: true, generation: 2 }));
    expect((await node.volume(name)).phase).to.equal("retained");
    expect(node.mounts()).to.have.length(1);
  });

  it("a lost journal does not make our own file systems foreign (safety rule 24)", async () => {
    const volume = (deleting: boolean) =>
      intent({ source: memory, deleting, generation: deleting ? 2 : 1, mounts: [{ path: node.target("a") }] });
    node.want(volume(false));
    await node.converge();
    const before = node.mounts();
    await node.restart();
    execFileSync("rm", [`${node.stateDir}/journal`]);
    await node.converge();
    expect(node.mounts()).to.deep.equal(before);
    await node.restart();
    execFileSync("rm", [`${node.stateDir}/journal`]);
    node.want(volume(true));
    expect((await node.volume(name)).phase).to.equal("released");
    expect(node.mounts()).to.deep.equal([]);
  });
});

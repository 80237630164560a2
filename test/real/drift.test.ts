import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, renameSync, rmdirSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");

describe("drift, on the real kernel", () => {
  let node: RealNode;
  withNode([], (made) => {
    node = made;
  });

  const source = () => ({ hostPath: { path: `${node.path}/src` } });
  const one = (more: object = {}, mount: object = {}) =>
    intent({ source: source(), ...more, mounts: [{ path: node.target("a"), ...mount }] });

  it("a remount by somebody else is undone in place", async () => {
    node.want(one({}, { readOnly: true }));
    await node.converge();
    const id = node.mountAt(node.target("a"))?.id;
    execFileSync("mount", ["-o", "remount,bind,rw,nosuid", node.target("a")]);
    await node.converge();
    expect(node.mountAt(node.target("a"))?.options).to.include.members(["ro", "nodev", "nosuid"]);
    expect(node.mountAt(node.target("a"))?.id).to.equal(id);
  });

  it("a source that was renamed is noticed, and what stands in its place now is shown", async () => {
    node.want(one());
    await node.converge();
    renameSync(`${node.path}/src`, `${node.path}/old`);
    const lost = await node.volume(name);
    expect(lost.failure?.reason).to.equal("SourceNotFound");
    expect(readdirSync(node.target("a")), "what is mounted stays until there is something else").to.include("here");
    mkdirSync(`${node.path}/src`);
    writeFileSync(`${node.path}/src/new`, "");
    node.forgetFailures();
    await node.converge();
    expect(readdirSync(node.target("a"))).to.deep.equal(["new"]);
  });

  it("a source that was removed and made again is shown again", async () => {
    mkdirSync(`${node.path}/src/sub`);
    node.want(intent({ source: { hostPath: { path: `${node.path}/src/sub` } }, mounts: [{ path: node.target("a") }] }));
    await node.converge();
    rmdirSync(`${node.path}/src/sub`);
    expect((await node.volume(name)).failure?.reason).to.equal("SourceNotFound");
    mkdirSync(`${node.path}/src/sub`);
    writeFileSync(`${node.path}/src/sub/back`, "");
    node.forgetFailures();
    await node.converge();
    expect(readdirSync(node.target("a"))).to.deep.equal(["back"]);
  });
});

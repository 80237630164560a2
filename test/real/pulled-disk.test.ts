import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import { need } from "../lib/asserts/requirements.ts";
import { RealNode } from "../lib/kernel/real-node.ts";

const name = asVolumeName("node.volume-1");
const control = "/sys/class/zram-control";

describe("a raw disk, on the real kernel", () => {
  let node: RealNode;
  let number: string;
  let path: string;

  before(function () {
    need(this, "root", "zram");
  });
  beforeEach(() => {
    node = new RealNode();
    number = readFileSync(`${control}/hot_add`, "utf8").trim();
    writeFileSync(`/sys/block/zram${number}/disksize`, "16M");
    path = `/dev/zram${number}`;
  });
  afterEach(async () => {
    await node[Symbol.asyncDispose]();
    if (existsSync(`/sys/block/zram${number}`)) pull();
  });

  const pull = () => writeFileSync(`${control}/hot_remove`, number);
  const raw = (more: object = {}) =>
    intent({ source: { local: { path } }, volumeMode: "Block", ...more, mounts: [{ path: node.target("a") }] });
  const deleted = { deleting: true, generation: 2 };

  it("that was pulled is released: nobody can hold it", async () => {
    node.want(raw());
    expect((await node.volume(name)).failure?.message).to.equal(undefined);
    expect(node.mounts()).to.have.length(1);
    rmSync(path);
    node.want(raw(deleted));
    const there = await node.volume(name);
    expect([there.phase, there.failure?.reason], "only its node is gone").to.deep.equal(["tearDown", "DeviceBusy"]);
    pull();
    node.forgetFailures();
    expect((await node.volume(name)).phase).to.equal("released");
  });

  it("that another mount namespace has a bind of is not released, open or not (safety rule 6)", async () => {
    node.want(raw());
    expect((await node.volume(name)).failure?.message).to.equal(undefined);
    expect(node.mounts()).to.have.length(1);
    writeFileSync(`${node.path}/copy`, ""); // not on our mount point: what is on that goes with it
    const script = `mount --bind ${node.target("a")} ${node.path}/copy && echo up && exec sleep 60`;
    const container = spawn("unshare", ["-m", "--propagation", "private", "sh", "-c", script]);
    await once(container.stdout, "data");
    node.want(raw(deleted));
    const held = await node.volume(name);
    expect([held.failure?.reason, held.actualState.inUse]).to.deep.equal(["StillReferenced", true]);
    expect(held.failure?.message).to.contain(`pid ${container.pid}`);
    container.kill();
    await once(container, "exit");
    node.forgetFailures();
    expect((await node.volume(name)).phase).to.equal("released");
  });
});

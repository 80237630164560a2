import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync } from "node:fs";
import { expect } from "chai";
import type { KernelAgent } from "../../hack/lib/agent-on-kernel/kernel-agent.ts";
import { need } from "../lib/asserts/requirements.ts";
import { name, withPodAgent } from "../lib/kernel/agents/pod-agent.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";
import { keepNamespace } from "../lib/kernel/kept-namespace.ts";
import { end, withProcesses } from "../lib/kernel/processes.ts";
import { withoutPtrace } from "../lib/kernel/without-ptrace.ts";

describe("a pod's volume that is given back, by the processes of /proc", () => {
  let agent: KernelAgent;
  const processes = withProcesses();
  const { targetOf, call, want } = withPodAgent((given) => {
    agent = given;
  });
  const memory = { source: { emptyDir: { medium: "Memory" } } } as const;

  /** In a mount namespace of its own, which gets no word of the node's unmounts. */
  async function container(script: string): Promise<ChildProcess> {
    const child = spawn("unshare", [
      "-m",
      "--propagation",
      "private",
      "sh",
      "-ec",
      `${script}; echo up; exec sleep 600`,
    ]);
    processes.push(child);
    await once(child.stdout, "data");
    return child;
  }

  it("is given back although processes cannot be read: they are named, each once. What it had copies of is never known afterwards", async () => {
    await withoutPtrace(agent);
    want(["a"], memory);
    expect(await agent.publish(call("a"))).to.equal(undefined);
    expect(await agent.unpublish(targetOf("a"))).to.equal(undefined);
    expect(existsSync(targetOf("a").path)).to.equal(false);
    agent.revoke(name);
    const { waiting, inUse } = await agent.waitsFor(name, "StillReferenced");
    expect(inUse).to.equal(true);
    const named = waiting?.message.match(/process \d+ \([^)]+\)/g) ?? [];
    expect(named).to.not.have.length(0);
    expect(new Set(named).size).to.equal(named.length);
    expect(waiting?.message).to.contain("EACCES").and.to.contain("does not list mount namespaces");
    await agent.kill();
    agent.startedBy = undefined;
    await agent.start();
    agent.revoke(name);
    const of = `it is unknown whether other mount namespaces had copies of ${targetOf("a").path}`;
    const later = await agent.status(name, of, (status) => status.waiting?.message.includes(of) === true);
    expect([later.inUse, later.waiting?.reason]).to.deep.equal([true, "StillReferenced"]);
    expect(later.waiting?.message).to.contain("Restart the node");
  });

  it("is released although processes could not be read when it was given back, where the claim of its device proves it", async function () {
    need(this, "loop-devices", "mkfs.ext4", "ext4");
    using disk = loopDevice(agent.path, "disk", 16);
    want(["a"], { source: { local: { path: disk.path } }, fsType: "ext4" });
    expect(await agent.publish(call("a"))).to.equal(undefined);
    await withoutPtrace(agent);
    want(["a"], { source: { local: { path: disk.path } }, fsType: "ext4" });
    expect(await agent.unpublish(targetOf("a"))).to.equal(undefined);
    await agent.kill();
    agent.startedBy = undefined;
    await agent.start();
    agent.revoke(name);
    await agent.inState(name, "Released");
  });

  it("is given back although a container has a private copy of it; the release waits for what is open there", async () => {
    want(["a", "b"], memory);
    expect(await agent.publish(call("a"))).to.equal(undefined);
    const { path } = targetOf("a");
    // A copy of the pod's bind alone, as of a container that has kubelet's directory of pods.
    const child = await container(`umount -l ${agent.path}/state/staging/*; cd ${path}`);
    expect(await agent.unpublish(targetOf("a"))).to.equal(undefined);
    expect(existsSync(path)).to.equal(false);
    agent.revoke(name);
    const { waiting } = await agent.waitsFor(name, "StillReferenced");
    expect(waiting?.message).to.contain(`pid ${child.pid} (sleep)`).and.to.contain(path);
    await agent.kill();
    await agent.start();
    agent.revoke(name);
    expect((await agent.waitsFor(name, "StillReferenced")).waiting?.message, "by a later agent").to.contain(path);
    await end(child);
    await agent.inState(name, "Released");
  });

  it("goes with its pod, and stays StillReferenced while a file or a descriptor keeps a namespace with a copy of it", async () => {
    want(["a"], memory);
    expect(await agent.publish(call("a"))).to.equal(undefined);
    const kept = keepNamespace("/tmp/keeps");
    const fd = openSync("/tmp/keeps/kept", "r");
    expect(await agent.unpublish(targetOf("a")), "the pod is not held up").to.equal(undefined);
    expect(existsSync(targetOf("a").path)).to.equal(false);
    agent.revoke(name);
    const { waiting, inUse } = await agent.waitsFor(name, "StillReferenced");
    expect(inUse).to.equal(true);
    const described = (by: string) => `mount namespace ${kept.name} (no process is in it: ${by} keeps it)`;
    expect(waiting?.message).to.contain(described("the file /tmp/keeps/kept"));
    expect(waiting?.on).to.deep.equal({ kind: "MountNamespace", name: kept.name });
    kept[Symbol.dispose]();
    await agent.kill();
    await agent.start();
    agent.revoke(name);
    const by = described(`descriptor ${fd} of process ${process.pid}`);
    await agent.status(name, by, (status) => status.waiting?.message.includes(by) === true);
    closeSync(fd);
    await agent.inState(name, "Released");
  });

  it("is released although a container had a private copy of it, where the claim of its device proves that nothing is open", async function () {
    need(this, "loop-devices", "mkfs.ext4", "ext4");
    using disk = loopDevice(agent.path, "disk", 16);
    want(["a"], { source: { local: { path: disk.path } }, fsType: "ext4" });
    expect(await agent.publish(call("a"))).to.equal(undefined);
    const { path } = targetOf("a");
    const child = await container(`umount -l ${agent.path}/state/staging/*; exec 3> ${path}/open`);
    expect(await agent.unpublish(targetOf("a"))).to.equal(undefined);
    agent.revoke(name);
    await agent.waitsFor(name, "DeviceBusy");
    await end(child);
    await agent.inState(name, "Released");
    want(["b"], { source: { local: { path: disk.path } }, fsType: "ext4" });
    expect(await agent.publish(call("b"))).to.equal(undefined);
    const idle = await container(`umount -l ${agent.path}/state/staging/*`);
    expect(await agent.unpublish(targetOf("b"))).to.equal(undefined);
    agent.revoke(name);
    await agent.inState(name, "Released");
    expect(idle.exitCode, "it has a mount namespace still").to.equal(null);
  });
});

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import type { KernelAgent } from "../../hack/lib/agent-on-kernel/kernel-agent.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { until } from "../../hack/lib/until.ts";
import { name, withPodAgent } from "../lib/kernel/agents/pod-agent.ts";

describe("volumes for pods, on the real kernel", () => {
  let agent: KernelAgent;
  const { directoryOf, volumeOf, targetOf, call, want, shows, layers, states, inStates } = withPodAgent((given) => {
    agent = given;
  });

  it("are staged before a pod asks, are bound into each that does, and leave nothing", async () => {
    want(["a", "b", "c"], { source: { emptyDir: { medium: "Memory" } } });
    const ready = await agent.inState(name, "Mounted");
    expect([ready.desiredMounts, states(ready)]).to.deep.equal([0, ["a Pending", "b Pending", "c Pending"]]);
    const answers = await Promise.all(["a", "b", "c"].map((uid) => agent.publish(call(uid))));
    expect(answers).to.deep.equal([undefined, undefined, undefined]);
    writeFileSync(`${targetOf("a").path}/shared`, "by all");
    expect(readFileSync(`${targetOf("c").path}/shared`, "utf8")).to.equal("by all");
    const mounted = await inStates("a Mounted", "b Mounted", "c Mounted");
    expect(mounted).to.include({ desiredMounts: 3, readyMounts: 3 });
    expect(await agent.publish(call("a")), "again").to.equal(undefined);
    expect(layers("a")).to.equal(1);
    for (const uid of ["a", "b", "c"]) expect(await agent.unpublish(targetOf(uid))).to.equal(undefined);
    expect(existsSync(targetOf("a").path)).to.equal(false);
    expect(existsSync(volumeOf("a")), "which kubelet made").to.equal(true);
    agent.revoke(name);
    await agent.inState(name, "Released");
    expect(agent.mounts()).to.deep.equal([]);
  });

  it("are bound as soon as an intent names the pod, with its flags", async () => {
    const answer = agent.publish(call("a", { readOnly: true, containersRead: true }));
    want(["a"], { pod: { readOnly: true } });
    expect(await answer).to.equal(undefined);
    expect(shows("a")).to.equal("content");
    const { options } = agent.mounts().find(({ point }) => point === targetOf("a").path) ?? { options: [] };
    expect(options).to.include.members(["ro", "nosuid", "nodev"]);
  });

  it("are read-only and without programs where the intent says so, whatever the pod asks for (H1)", async () => {
    want(["a"], { pod: { readOnly: true, noexec: true } });
    const writing = await agent.publish(call("a"));
    expect(writing).to.include({ kind: "refused", reason: "AccessModeMismatch" });
    expect(writing?.message).to.include("write readOnly: true in csi: of its volume data");
    expect(layers("a")).to.equal(0);
    expect(await agent.publish(call("a", { containersRead: true }))).to.equal(undefined);
    const { options } = agent.mounts().find(({ point }) => point === targetOf("a").path) ?? { options: [] };
    expect(options).to.include.members(["ro", "nosuid", "nodev", "noexec"]);
    expect(() => writeFileSync(`${targetOf("a").path}/planted`, "")).to.throw(/EROFS/);
    want(["a"], { pod: { readOnly: false, noexec: true } });
    const now = () => agent.mounts().find(({ point }) => point === targetOf("a").path)?.options ?? [];
    await until("the set to let it write", 20_000, async () => now().includes("rw"));
    const program = `${targetOf("a").path}/planted`;
    writeFileSync(program, "#!/bin/sh", { mode: 0o755 });
    expect(() => execFileSync(program)).to.throw(/EACCES/);
  });

  it("of which the deadline is over are undone, however late", async () => {
    want(["a"], { source: { hostPath: { path: `${agent.path}/src/late`, type: "" } } });
    await agent.waitsFor(name, "SourceNotFound");
    const failed = await agent.publish(call("a"), 300);
    expect([failed?.kind, failed?.reason]).to.deep.equal(["waiting", "SourceNotFound"]);
    mkdirSync(`${agent.path}/src/late`);
    await agent.inState(name, "Mounted");
    await inStates("a Pending");
    expect(layers("a")).to.equal(0);
  });

  it("are refused to a pod that says something else than the intent, and to one that nobody names", async () => {
    want(["a"]);
    const other = await agent.publish(call("a", { readOnly: true }));
    expect([other?.kind, other?.reason]).to.deep.equal(["refused", "PodMismatch"]);
    expect(other?.message).to.contain('readOnly: kubelet has "true"');
    const unknown = await agent.publish(call("b"), 200);
    expect([unknown?.kind, unknown?.reason]).to.deep.equal(["waiting", "PodNotListed"]);
    const path = `${agent.path}/kubelet/pods/a/volumes/kubernetes.io~csi/other/mount`;
    expect((await agent.publish({ ...call("a"), path }))?.reason).to.equal("PathNotAllowed");
    expect(agent.mounts()).to.deep.equal([]);
  });

  it("end the wait of a pod that leaves the intent", async () => {
    want(["a"], { source: { hostPath: { path: `${agent.path}/src/late`, type: "" } } });
    await agent.waitsFor(name, "SourceNotFound");
    const answer = agent.publish(call("a"));
    await inStates("a Absent");
    want(["b"], { source: { hostPath: { path: `${agent.path}/src/late`, type: "" } } });
    expect(await answer).to.include({ kind: "waiting", reason: "PodNotListed" });
  });

  it("survive the agent, and are given back by a later one", async () => {
    want(["a"]);
    await agent.publish(call("a"));
    const before = agent.mounts().map(({ id }) => id);
    await agent.kill();
    await agent.start();
    await inStates("a Mounted");
    expect(agent.mounts().map(({ id }) => id)).to.deep.equal(before);
    expect(await agent.unpublish(targetOf("a"))).to.equal(undefined);
    expect(layers("a")).to.equal(0);
    expect(await agent.unpublish(targetOf("a")), "again").to.equal(undefined);
  });

  it("are given back without an intent, and where there never was anything", async () => {
    want(["a"]);
    await agent.publish(call("a"));
    await agent.kill();
    agent.forget(name);
    await agent.start();
    expect(await agent.unpublish(targetOf("a"))).to.equal(undefined);
    expect(layers("a")).to.equal(0);
    expect(await agent.unpublish(targetOf("never"))).to.equal(undefined);
    mkdirSync(targetOf("half").path, { recursive: true });
    expect(await agent.unpublish(targetOf("half"))).to.equal(undefined);
    expect(existsSync(targetOf("half").path)).to.equal(false);
  });

  it("are not taken for ours without a record and an intent", async () => {
    mkdirSync(targetOf("a").path, { recursive: true });
    execFileSync("mount", ["-t", "tmpfs", "foreign", targetOf("a").path]);
    expect(await agent.unpublish(targetOf("a"))).to.include({ kind: "waiting", reason: "ForeignMount" });
    want(["a"]);
    const failed = await agent.publish(call("a"), 500);
    expect(failed).to.include({ kind: "waiting", reason: "ForeignMount" });
    execFileSync("umount", [targetOf("a").path]);
    expect(await agent.publish(call("a"))).to.equal(undefined);
    expect(shows("a")).to.equal("content");
  });

  it("stay with a pod that still has them, until kubelet gives them back", async () => {
    want(["a", "b"], { source: { emptyDir: { medium: "Memory" } } });
    await agent.publish(call("a"));
    await agent.publish(call("b"));
    want(["b"], { source: { emptyDir: { medium: "Memory" } } });
    await agent.waitsFor(name, "ConsumerStillRunning");
    expect(layers("a")).to.equal(1);
    agent.revoke(name);
    const { waiting } = await agent.status(name, "in use", ({ state }) => state === "Unmounting");
    expect([waiting?.reason, waiting?.on]).to.deep.equal([
      "ConsumerStillRunning",
      { kind: "Pod", namespace: "team", name: "pod-b" },
    ]);
    await agent.unpublish(targetOf("a"));
    await agent.unpublish(targetOf("b"));
    await agent.inState(name, "Released");
    expect(agent.mounts()).to.deep.equal([]);
  });

  it("do not stay with a pod whose directory is gone", async () => {
    want(["a"]);
    await agent.publish(call("a"));
    agent.revoke(name);
    await agent.waitsFor(name, "ConsumerStillRunning");
    execFileSync("umount", [targetOf("a").path]);
    rmSync(directoryOf("a"), { recursive: true });
    await agent.inState(name, "Released");
  });

  it("are bound again when somebody unmounts them", async () => {
    want(["a"]);
    await agent.publish(call("a"));
    await inStates("a Mounted");
    execFileSync("umount", [targetOf("a").path]);
    await until("it to be bound again", 5_000, () => layers("a") === 1);
    expect(shows("a")).to.equal("content");
  });

  it("stay mounted when the part that they show is renamed, until there is another", async () => {
    const pod = { subPath: "sub" };
    want(["a"], { pod });
    await agent.publish(call("a", pod));
    const root = () => agent.mounts().find(({ point }) => point === targetOf("a").path)?.root;
    renameSync(`${agent.path}/src/data/sub`, `${agent.path}/src/data/elsewhere`);
    want(["a", "b"], { pod });
    await agent.waitsFor(name, "SubPathMissing");
    expect(root()).to.match(/data\/elsewhere$/);
    mkdirSync(`${agent.path}/src/data/sub`);
    await until("the new one to be bound", 5_000, () => root()?.endsWith("data/sub") === true);
  });

  slow("show the part that the pod names, and nothing by a link", async () => {
    want(["a"], { pod: { subPath: "sub" } });
    expect(await agent.publish(call("a", { subPath: "sub" }))).to.equal(undefined);
    expect(agent.mounts().find(({ point }) => point === targetOf("a").path)?.root).to.match(/src\/data\/sub$/);
    writeFileSync(`${agent.path}/src/secret`, "not of the volume");
    symlinkSync("..", `${agent.path}/src/data/link`);
    for (const [uid, subPath, reason] of [
      ["b", "link", "SymlinkInPath"],
      ["c", "link/secret", "SymlinkInPath"],
      ["d", "missing", "SubPathMissing"],
    ] as const) {
      want(["a", uid], { pod: { subPath } });
      await agent.unpublish(targetOf("a"));
      const failed = await agent.publish(call(uid, { subPath }), 1_500);
      expect([failed?.kind, failed?.reason], subPath).to.deep.equal(["waiting", reason]);
      expect(layers(uid)).to.equal(0);
    }
    want(["e"], { pod: { subPath: "file" } });
    expect(await agent.publish(call("e", { subPath: "file" }))).to.equal(undefined);
    expect(readFileSync(targetOf("e").path, "utf8")).to.equal("content");
    expect(await agent.unpublish(targetOf("e"))).to.equal(undefined);
    expect(existsSync(targetOf("e").path)).to.equal(false);
  });
});

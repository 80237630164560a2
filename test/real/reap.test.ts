import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect } from "chai";
import { need } from "../lib/asserts/requirements.ts";
import { dead, graceMs, live, podObject, ReapNode } from "../lib/kernel/reap-node.ts";

describe("what kubelet has left, removed on the real kernel", () => {
  let around: ReapNode;
  before(function () {
    need(this, "root");
  });
  beforeEach(() => {
    around = new ReapNode();
  });
  afterEach(() => around[Symbol.asyncDispose]());
  const isMounted = (path: string) => around.node.mountAt(path) !== undefined;

  it("is a dead pod's mount, with its empty mount point, and nothing beside it", async () => {
    const neighbour = around.mount.replace(dead, live);
    const held = `${dirname(around.mount)}/vol_data.json`;
    for (const path of [around.mount, neighbour]) around.tmpfs(path);
    writeFileSync(held, "{}");
    await around.pass(graceMs);
    expect(isMounted(around.mount), "the time is not over").to.equal(true);
    await around.pass(400_000);
    expect([isMounted(around.mount), existsSync(around.mount)]).to.deep.equal([false, false]);
    expect([existsSync(held), isMounted(neighbour)]).to.deep.equal([true, true]);
    expect(around.events.map(({ type, reason }) => `${type} ${reason}`)).to.deep.equal(["Normal OrphanReaped"]);
  });

  it("stays with data that lies beneath it, and the directory with it", async () => {
    mkdirSync(around.mount, { recursive: true });
    writeFileSync(`${around.mount}/data`, "written while nothing was mounted");
    around.tmpfs(around.mount);
    await around.pass();
    expect(isMounted(around.mount)).to.equal(false);
    expect(existsSync(`${around.mount}/data`)).to.equal(true);
  });

  it("is a staged volume, by its driver alone", async () => {
    around.stage();
    await around.pass();
    expect(around.unstaged).to.deep.equal(["vol-1"]);
    expect([existsSync(around.globalmount), existsSync(`${dirname(around.globalmount)}/vol_data.json`)]).to.deep.equal([
      false,
      true,
    ]);
  });

  it("is no staged volume that a container shows in its own mount namespace", async () => {
    around.stage();
    const inside = ["-m", "--propagation", "private", "sh", "-c", "echo in; read end"];
    const container = spawn("unshare", inside, { stdio: ["pipe", "pipe", "ignore"] });
    const ended = new Promise((resolve) => container.on("exit", resolve));
    await new Promise((resolve) => container.stdout.once("data", resolve));
    const told = await around.pass();
    expect(around.unstaged).to.deep.equal([]);
    expect(told[0]?.keptBecause).to.match(/another mount namespace: pid \d+/);
    container.stdin.end("\n");
    await ended;
    await around.pass(200_000);
    expect(around.unstaged).to.deep.equal(["vol-1"]);
  });

  it("is nothing that a process uses: it is named, and what it has stays", async () => {
    around.tmpfs(around.mount);
    const user = spawn("sleep", ["600"], { cwd: around.mount, stdio: "ignore" });
    await new Promise((resolve) => user.once("spawn", resolve));
    const told = await around.pass();
    expect(isMounted(around.mount)).to.equal(true);
    expect(told[0]?.keptBecause).to.contain(`pid ${user.pid} (sleep)`);
    expect(around.events.map(({ type, reason }) => `${type} ${reason}`)).to.deep.equal(["Warning TargetBusy"]);
    const ended = new Promise((resolve) => user.on("exit", resolve));
    user.kill();
    await ended;
    await around.pass(200_000);
    expect(isMounted(around.mount)).to.equal(false);
  });

  it("is no other mount that comes between the last look and the removal", async () => {
    around.tmpfs(around.mount);
    // The first list is of the proof, the second of the one after it was written down: by then there is another mount.
    around.onList = (count) => {
      if (count !== 2) return;
      execFileSync("umount", [around.mount]);
      around.tmpfs(around.mount);
    };
    await around.pass();
    expect(isMounted(around.mount)).to.equal(true);
    expect(around.events).to.deep.equal([]);
  });

  it("is nothing behind a link that came to lie on the way", async () => {
    around.tmpfs(around.mount);
    const directory = dirname(dirname(around.mount));
    const elsewhere = `${around.node.path}/elsewhere`;
    around.tmpfs(`${elsewhere}/pv-1/mount`);
    around.onList = (count) => {
      if (count !== 2) return;
      renameSync(directory, `${directory}-before`);
      symlinkSync(elsewhere, directory);
    };
    await around.pass();
    expect(around.events.map(({ type, reason }) => `${type} ${reason}`)).to.deep.equal(["Warning SymlinkInPath"]);
    expect([isMounted(`${elsewhere}/pv-1/mount`), isMounted(`${directory}-before/pv-1/mount`)]).to.deep.equal([
      true,
      true,
    ]);
  });

  it("is nothing that another mount came to cover", async () => {
    around.tmpfs(around.mount);
    const above = dirname(dirname(around.mount));
    around.onList = (count) => count === 2 && around.tmpfs(above);
    const id = around.node.mountAt(around.mount)?.id;
    await around.pass();
    expect(around.node.mountAt(around.mount)?.id).to.equal(id);
    expect(around.events).to.deep.equal([]);
    execFileSync("umount", [above]);
    await around.pass();
    expect(isMounted(around.mount)).to.equal(false);
  });

  it("is nothing of a pod that the API server has again, or whose cgroup is there", async () => {
    around.tmpfs(around.mount);
    around.pods.push(podObject(dead, "Pending"));
    expect((await around.pass())[0]?.keptBecause).to.contain("the API server has the pod: team/pod-9999, Pending");
    around.pods.pop();
    around.cgroups.add(dead);
    await around.pass(200_000);
    expect(isMounted(around.mount)).to.equal(true);
    around.cgroups.delete(dead);
    await around.pass(graceMs);
    expect(isMounted(around.mount), "it waits anew").to.equal(true);
    await around.pass();
    expect(isMounted(around.mount)).to.equal(false);
  });
});

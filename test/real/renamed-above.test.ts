import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, renameSync } from "node:fs";
import { expect } from "chai";
import { FuseServer } from "../../hack/lib/agent-on-kernel/fuse/fuse-server.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { silent } from "../../hack/lib/silent-log.ts";
import { type LinuxHost, linuxHost } from "../../src/host/linux/linux-host.ts";
import { loadLibc } from "../../src/host/linux/syscall/libc.ts";
import { realSystem } from "../../src/system.ts";
import { need } from "../lib/asserts/requirements.ts";
import { childCommand } from "../lib/kernel/child-command.ts";
import { type Scratch, scratch } from "./scratch.ts";

/**
 * After this many milliseconds the server dies, whoever waits for it: a thread that hangs cannot end the test itself.
 */
const rescueMs = 8_000;

describe("a directory above a FUSE mount that is renamed, of which the kernel tells nobody", () => {
  let place: Scratch;
  let server: FuseServer;
  let rescue: ChildProcess;
  let host: LinuxHost;
  let unwatch: () => void;

  before(function () {
    need(this, "root", "fuse");
  });
  beforeEach(async () => {
    place = scratch();
    for (const name of ["state", "pod/f/m", "pod/x/m/data"]) mkdirSync(`${place.path}/${name}`, { recursive: true });
    server = await FuseServer.start(`${place.path}/pod/f/m`);
    rescue = spawn("sh", ["-c", `sleep ${rescueMs / 1000}; kill -KILL ${server.pid}`], { detached: true });
    host = linuxHost({
      stateDir: `${place.path}/state`,
      ranBefore: false,
      childCommand: childCommand(),
      system: realSystem(silent),
      libc: loadLibc(),
    });
    unwatch = host.mountTable.watch(() => {});
  });
  afterEach(async () => {
    if (rescue.pid !== undefined && rescue.exitCode === null) process.kill(-rescue.pid, "SIGKILL");
    await server[Symbol.asyncDispose]();
    unwatch();
    host.close();
    place[Symbol.dispose]();
  });

  /** What stood in x is where f was, and the other way round; the server has stopped. */
  async function exchange(): Promise<void> {
    await host.mountTable.read();
    for (const [from, to] of [
      ["x", "y"],
      ["f", "x"],
      ["y", "f"],
    ] as const)
      renameSync(`${place.path}/pod/${from}`, `${place.path}/pod/${to}`);
    expect((await host.mountTable.read()).layers(server.point), "nobody told of it").to.have.lengthOf(1);
    await server.stop();
  }

  /** How long the event loop stood still meanwhile, in milliseconds. */
  async function stoodStill(call: () => Promise<unknown>): Promise<number> {
    let [last, worst] = [performance.now(), 0];
    const look = () => {
      const now = performance.now();
      worst = Math.max(worst, now - last);
      last = now;
    };
    const ticks = setInterval(look, 5);
    await call().catch(() => {}); // what it ends with is not the question
    look();
    clearInterval(ticks);
    return worst;
  }

  const mounter = () =>
    host.effects({ volume: "v", deadlineMs: 1_500, formatDeadlineMs: 1_500, onChild: async () => {} }).mounter;

  it("holds up nobody but the child that looks at a source there", async () => {
    await exchange();
    const path = `${place.path}/pod/x/m/data`;
    expect(await stoodStill(() => mounter().inspect({ root: "/", path }))).to.be.lessThan(1_000);
  });

  slow("holds up nobody where the table has a local mount in its place", async () => {
    execFileSync("mount", ["-t", "tmpfs", "disk", `${place.path}/pod/x/m`]);
    await exchange();
    const path = `${place.path}/pod/x/m/data`;
    expect(await stoodStill(() => mounter().inspect({ root: "/", path }))).to.be.lessThan(1_000);
    expect(
      await stoodStill(() => mounter().makeSource({ root: "/", path: `${path}/new` }, "directory", 0o755)),
    ).to.be.lessThan(1_000);
  });

  it("holds up nobody who waits for a path there", async () => {
    execFileSync("mount", ["-t", "tmpfs", "disk", `${place.path}/pod/x/m`]);
    await exchange();
    const watched = { root: "/", path: `${place.path}/pod/x/m/data/missing`, links: "follow" } as const;
    const listening = async () => {
      const cancel = host.wakeups.path(watched, { woken: () => {}, unavailable: () => {} });
      await new Promise((resolve) => setImmediate(resolve));
      await host.mountTable.read();
      cancel();
    };
    expect(await stoodStill(listening)).to.be.lessThan(1_000);
  });

  it("holds up nobody who looks at a target whose prefix is beneath it", async () => {
    execFileSync("mount", ["-t", "tmpfs", "disk", `${place.path}/pod/x/m`]);
    await exchange();
    const target = { prefix: `${place.path}/pod/x/m/data`, path: `${place.path}/pod/x/m/data/a` };
    expect(await stoodStill(() => mounter().inspectTarget(target))).to.be.lessThan(1_000);
  });

  it("what is where the table has it is looked at by no child, through several mounts", async () => {
    const path = `${place.path}/pod/x/m/data`;
    execFileSync("mount", ["-t", "tmpfs", "one", path]);
    execFileSync("mount", ["-t", "tmpfs", "over", path]);
    mkdirSync(`${path}/deep/er`, { recursive: true });
    const onChild = async () => expect.fail("a child was started");
    const { mounter } = host.effects({ volume: "v", deadlineMs: 1, formatDeadlineMs: 1, onChild });
    const found = await mounter.inspect({ root: "/", path: `${path}/deep/er` });
    expect(found).to.deep.include({ kind: "directory", canonicalPath: `${path}/deep/er` });
    expect(await mounter.inspect({ root: "/", path: `${path}/missing` })).to.equal(undefined);
    const target = { prefix: `${path}/deep`, path: `${path}/deep/er` };
    expect(await mounter.inspectTarget(target)).to.include({ kind: "directory" });
  });
});

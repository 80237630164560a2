import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { expect } from "chai";
import { type IntentInput, intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { KernelAgent } from "../../hack/lib/agent-on-kernel/kernel-agent.ts";
import { buildPrograms, type Programs } from "../../hack/lib/agent-on-kernel/programs.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { mountIDOf } from "../../hack/lib/mount-lines.ts";
import { until } from "../../hack/lib/until.ts";
import { need } from "../lib/asserts/requirements.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";

const used = ["node.bind", "node.memory", "node.directory"];

describe("an agent that the kernel gives no room, descriptors or memory", () => {
  let programs: Programs;
  let agent: KernelAgent;
  let inUse: string[];
  before(async function () {
    need(this, "root");
    programs = await buildPrograms();
  });
  afterEach(() => agent[Symbol.asyncDispose]());

  const want = (name: string, source: IntentInput["source"], more: Partial<IntentInput> = {}) =>
    agent.want(intent({ name, uid: `uid of ${name}`, source, mounts: [{ path: agent.target(name) }], ...more }));
  const memory = { emptyDir: { medium: "Memory" as const } };
  const ids = () => used.map((name) => `${name} ${mountIDOf(agent.target(name))}`);

  /** @param stateOn mounts something on the state directory */
  async function start(stateOn: (path: string) => void = () => {}): Promise<void> {
    agent = new KernelAgent(programs);
    stateOn(`${agent.path}/state`);
    mkdirSync(`${agent.path}/src/data`);
    await agent.start();
    want("node.bind", { hostPath: { path: `${agent.path}/src/data` } });
    want("node.memory", memory);
    want("node.directory", { emptyDir: {} });
    await Promise.all(used.map((name) => agent.inState(name, "Mounted")));
    inUse = ids();
  }

  /** What was in use is mounted as it was, and a volume that could not be set up comes to be by itself. */
  async function recovers(...names: readonly string[]): Promise<void> {
    await Promise.all(names.map((name) => agent.inState(name, "Mounted", 60_000)));
    expect(ids()).to.deep.equal(inUse);
    agent.revoke(...used, ...names);
    await Promise.all([...used, ...names].map((name) => agent.inState(name, "Released", 60_000)));
  }

  const smallDisk = (path: string) => execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m", "state", path]);

  /** The file goes on to take what is given up for it. */
  function fill(): void {
    const chunk = Buffer.alloc(4096, 1);
    try {
      for (;;) appendFileSync(`${agent.path}/state/filler`, chunk);
    } catch (error) {
      expect(error).to.include({ code: "ENOSPC" });
    }
  }

  function fillWholly(): void {
    fill();
    rmSync(`${agent.path}/state/journal.reserve`, { force: true });
    fill();
  }

  slow(
    "ENOSPC: what is used stays, the wait names file and error, also for one that starts; room ends it",
    async function () {
      this.timeout(180_000);
      await start(smallDisk);
      fillWholly();
      want("node.late", memory);
      const { waiting } = await agent.waitsFor("node.late", "JournalFailed");
      expect(waiting?.message).to.include("ENOSPC").and.include("/state/journal");
      expect(ids()).to.deep.equal(inUse);
      await agent.kill();
      const starting = agent.start();
      const said = () => agent.errors.some((it) => it.includes("nothing is done without") && it.includes("ENOSPC"));
      await until("the agent to say what it waits for", 20_000, said);
      expect(ids()).to.deep.equal(inUse);
      rmSync(`${agent.path}/state/filler`);
      await starting;
      await recovers("node.late");
    },
  );

  it("EROFS: what is used stays, the wait names file and error; it goes on once the disk can be written to", async function () {
    this.timeout(180_000);
    await start(smallDisk);
    await agent.kill();
    await agent.start(); // and has not had to append anything: no file is open for writing
    const remount = (how: string) => execFileSync("mount", ["-o", `remount,${how}`, `${agent.path}/state`]);
    remount("ro");
    want("node.late", memory);
    const { waiting } = await agent.waitsFor("node.late", "JournalFailed");
    expect(waiting?.message).to.include("EROFS").and.include("/state/journal");
    agent.revoke("node.memory"); // cannot be written down, so nothing of it is touched
    await agent.waitsFor("node.memory", "JournalFailed");
    expect(ids()).to.deep.equal(inUse);
    remount("rw");
    await agent.inState("node.memory", "Released", 60_000);
    await agent.inState("node.late", "Mounted", 60_000);
  });

  it("EMFILE: what is used stays, the wait says so; it goes on with more", async function () {
    this.timeout(180_000);
    await start();
    const open = readdirSync(`/proc/${agent.pid}/fd`).length;
    limit(`--nofile=${open}:`);
    want("node.late", memory);
    const { waiting } = await agent.status("node.late", "waiting", (status) => status.waiting !== undefined);
    expect(waiting?.message).to.include("EMFILE");
    expect(ids()).to.deep.equal(inUse);
    limit("--nofile=4096:");
    await recovers("node.late");
  });

  it("ENOMEM: what is used stays; the next agent goes on", async function () {
    need(this, "loop-devices", "ext4", "mkfs.ext4");
    this.timeout(180_000);
    await start();
    using disk = loopDevice(agent.path, "disk", 32);
    execFileSync("mkfs.ext4", ["-q", disk.path]);
    limit(`--as=${64 * 1024 * 1024}:`); // far below what it has: not a page more
    const late = Array.from({ length: 20 }, (_, i) => `node.late-${i}`);
    for (const name of late) want(name, memory);
    want("node.disk", { local: { path: disk.path } }, { fsType: "ext4" });
    const ended = () => !existsSync(`/proc/${agent.pid}/exe`);
    const waits = () => agent.statuses.get("node.disk")?.waiting !== undefined;
    await until("it to end, or to say why a child cannot be started", 60_000, () => ended() || waits());
    console.log(`      ${ended() ? "ended" : JSON.stringify(agent.statuses.get("node.disk")?.waiting)}`);
    expect(ids()).to.deep.equal(inUse);
    await agent.kill();
    await agent.start();
    await recovers(...late, "node.disk");
  });

  const limit = (what: string) => execFileSync("prlimit", ["--pid", `${agent.pid}`, what]);
});

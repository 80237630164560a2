import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { closeSync, cpSync, mkdirSync, openSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { type IntentInput, intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { KernelAgent } from "../../hack/lib/agent-on-kernel/kernel-agent.ts";
import { buildPrograms, type Programs } from "../../hack/lib/agent-on-kernel/programs.ts";
import { slow } from "../../hack/lib/lanes/slow.ts";
import { root } from "../../hack/lib/root.ts";
import { until } from "../../hack/lib/until.ts";
import type { NodeVolumeIntentStatus } from "../../src/api/types.gen.ts";
import { full, need } from "../lib/asserts/requirements.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";

/** Milliseconds within which a wait ends when its cause is gone; kubelet takes 3, 12 and 58 s after these faults. */
const soonMs = 1_000;
/**
 * The same where children look, several for a disk, one for a path with a link: seconds while all cores are busy, as
 * long as other tests run.
 */
const soonByChildMs = 4_000;
/** Attempts after which the next one is further off than these: 2 to 4 s, and 4 to 8. */
const grown = 4;
const grownByChild = 5;

describe("an agent whose volumes wait, when the cause goes", () => {
  let programs: Programs;
  let agent: KernelAgent;
  const running: ChildProcess[] = [];

  before(async function () {
    need(this, "root");
    programs = await buildPrograms();
  });
  beforeEach(async () => {
    agent = new KernelAgent(programs);
    await agent.start();
  });
  afterEach(async () => {
    for (const child of running.splice(0)) child.kill("SIGKILL");
    await agent[Symbol.asyncDispose]();
  });

  const src = (path: string) => `${agent.path}/src/${path}`;
  const want = (name: string, more: Pick<IntentInput, "source"> & Partial<IntentInput>) =>
    agent.want(intent({ name, uid: `uid of ${name}`, mounts: [{ path: agent.target(name) }], ...more }));
  const wantPath = (name: string, path: string) => want(name, { source: { hostPath: { path: src(path), type: "" } } });
  const waits = (name: string, reason: string) =>
    agent.status(name, reason, ({ waiting }) => waiting?.reason === reason);
  const isMounted = ({ state }: NodeVolumeIntentStatus) => state === "Mounted";
  /** @returns milliseconds from the change to the status that says so */
  const took = async (name: string, change: () => unknown, until = isMounted): Promise<number> => {
    const begin = performance.now();
    change();
    await agent.status(name, "what was waited for", until, 20_000);
    return performance.now() - begin;
  };

  for (const attempts of full() ? [4, 6, 8] : [4]) {
    slow(
      `sources that appear after ${attempts} attempts, in every way, are mounted within a second`,
      async function () {
        const longestMs = 500 * 2 ** attempts + 10_000;
        this.timeout(longestMs + 30_000);
        mkdirSync(src("parent"));
        mkdirSync(src("over"));
        mkdirSync(src("elsewhere/data"), { recursive: true });
        const ways: readonly (readonly [name: string, path: string, change: () => unknown])[] = [
          ["made", "made", () => mkdirSync(src("made"))],
          ["nested", "a/b/c", () => mkdirSync(src("a/b/c"), { recursive: true })],
          ["renamed", "renamed/data", () => renameSync(src("elsewhere"), src("renamed"))],
          ["linked", "linked", () => symlinkSync(".", src("linked"))],
          [
            "replaced",
            "parent/x",
            () => {
              rmSync(src("parent"), { recursive: true });
              mkdirSync(src("parent/x"), { recursive: true });
            },
          ],
          [
            "mounted-over",
            "over/x",
            () => {
              execFileSync("mount", ["-t", "tmpfs", "over", src("over")]);
              mkdirSync(src("over/x"));
            },
          ],
        ];
        for (const [name, path] of ways) wantPath(name, path);
        await Promise.all(ways.map(([name]) => waits(name, "SourceNotFound")));
        await Promise.all(ways.map(([name]) => agent.failed(name, attempts, longestMs)));
        const times: string[] = [];
        for (const [name, , change] of ways) {
          const ms = await took(name, change);
          times.push(`${name} ${Math.round(ms)} ms`);
          expect(ms, name).to.be.below(name === "linked" ? soonByChildMs : soonMs);
        }
        console.log(`      ${times.join(", ")}`);
      },
    );
  }

  slow("a target whose path leads through a link, or through a file, is mounted on when that goes", async () => {
    mkdirSync(src("data"));
    symlinkSync("/tmp", agent.target("link"));
    writeFileSync(agent.target("file"), "");
    for (const name of ["link", "file"]) {
      const mounts = [{ path: agent.target(`${name}/x`) }];
      want(name, { source: { hostPath: { path: src("data") } }, mounts });
    }
    await waits("link", "SymlinkInPath");
    await waits("file", "TargetNotDirectory");
    for (const name of ["link", "file"]) await agent.failed(name, grown);
    for (const name of ["link", "file"]) {
      expect(await took(name, () => rmSync(agent.target(name))), name).to.be.below(soonMs);
    }
  });

  slow("a volume whose driver's program is missing is mounted when it is installed", async () => {
    want("late", { source: { flexVolume: { driver: "test/memory" } } });
    await waits("late", "DriverMissing");
    await agent.failed("late", grown);
    const directory = `${agent.path}/state/vendors/test~memory`;
    mkdirSync(directory, { recursive: true });
    const install = () => cpSync(join(root, "test/drivers/flex/memory"), `${directory}/memory`);
    expect(await took("late", install)).to.be.below(soonByChildMs);
    agent.revoke("late");
    await agent.status("late", "released", ({ state }) => state === "Released");
  });

  slow("a mount that a process uses goes when that process ends", async () => {
    want("used", { source: { emptyDir: { medium: "Memory" } } });
    await agent.status("used", "mounted", isMounted);
    const user = spawn("sleep", ["1000"], { cwd: agent.target("used") });
    running.push(user);
    agent.revoke("used");
    await waits("used", "TargetBusy");
    await agent.failed("used", grown);
    const ms = await took(
      "used",
      () => user.kill("SIGKILL"),
      ({ state }) => state === "Released",
    );
    expect(ms).to.be.below(soonMs);
  });

  slow("a mount that something is mounted beneath goes when that is unmounted", async () => {
    want("parent", { source: { emptyDir: { medium: "Memory" } } });
    await agent.status("parent", "mounted", isMounted);
    mkdirSync(`${agent.target("parent")}/sub`);
    execFileSync("mount", ["-t", "tmpfs", "sub", `${agent.target("parent")}/sub`]);
    agent.revoke("parent");
    await agent.status("parent", "something in the way", ({ waiting }) => waiting !== undefined);
    await agent.failed("parent", grown);
    const unmount = () => execFileSync("umount", [`${agent.target("parent")}/sub`]);
    expect(await took("parent", unmount, ({ state }) => state === "Released")).to.be.below(soonMs);
  });

  slow("a disk that is empty is mounted when somebody makes a file system on it", async function () {
    need(this, "loop-devices", "ext4", "mkfs.ext4");
    using disk = loopDevice(agent.path, "disk", 32);
    want("disk", { source: { local: { path: disk.path } } });
    await waits("disk", "FilesystemMissing");
    await agent.failed("disk", grownByChild);
    const format = () => execFileSync("mkfs.ext4", ["-q", disk.path], { stdio: "ignore" });
    await until("no look at the disk to be in the way of mkfs", 10_000, () => succeeds(format));
    expect(await took("disk", () => {})).to.be.below(soonByChildMs);
    agent.revoke("disk");
    await agent.status("disk", "released", ({ state }) => state === "Released");
  });

  slow("a disk that is open elsewhere, or mounted, is used when it is let go", async function () {
    need(this, "loop-devices", "ext4", "mkfs.ext4");
    using disk = loopDevice(agent.path, "disk", 32);
    execFileSync("mkfs.ext4", ["-q", disk.path]);
    mkdirSync(src("by-hand"));
    execFileSync("mount", [disk.path, src("by-hand")]);
    want("disk", { source: { local: { path: disk.path } } });
    await waits("disk", "DeviceBusy");
    await agent.failed("disk", grownByChild);
    expect(await took("disk", () => execFileSync("umount", [src("by-hand")])), "mounted").to.be.below(soonByChildMs);
    agent.revoke("disk");
    await agent.status("disk", "released", ({ state }) => state === "Released");
    const O_RDWR_EXCL = 0o2 | 0o200;
    const held = openSync(disk.path, O_RDWR_EXCL);
    want("again", { source: { local: { path: disk.path } } });
    try {
      await waits("again", "DeviceBusy");
      await agent.failed("again", grownByChild);
    } finally {
      closeSync(held);
    }
    expect(await took("again", () => {}), "open").to.be.below(soonByChildMs);
    agent.revoke("again");
    await agent.status("again", "released", ({ state }) => state === "Released");
  });
});

function succeeds(action: () => unknown): boolean {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}

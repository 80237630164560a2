import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { pidOf } from "../../hack/lib/pid-of.ts";
import { silent } from "../../hack/lib/silent-log.ts";
import { until } from "../../hack/lib/until.ts";
import { startTimeOf } from "../../src/host/linux/child/child-runner.ts";
import { LinuxMountTable } from "../../src/host/linux/mount-table/linux-mount-table.ts";
import { loadLibc } from "../../src/host/linux/syscall/libc.ts";
import { linuxWakes } from "../../src/host/linux/wakeups/wake-sources.ts";
import type { Wakeups } from "../../src/host/ports/wakeups.ts";
import { realSystem } from "../../src/system.ts";
import { Heard } from "../lib/asserts/heard.ts";
import { need } from "../lib/asserts/requirements.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";
import { scratch } from "./scratch.ts";

describe("linuxWakes on the real kernel", () => {
  let wakeups: Wakeups;
  let mountTable: LinuxMountTable;
  const started: ChildProcess[] = [];
  beforeEach(() => {
    mountTable = new LinuxMountTable("self", realSystem(silent));
    wakeups = linuxWakes({ libc: loadLibc(), system: realSystem(silent), mountTable, onChildEnded: () => () => {} });
  });
  afterEach(() => {
    for (const child of started.splice(0)) child.kill("SIGKILL");
    mountTable.close();
  });

  const start = (...[file, ...args]: [string, ...string[]]) => {
    const child = spawn(file, args, { stdio: ["pipe", "pipe", "ignore"] });
    started.push(child);
    return child;
  };
  const openFiles = () => readdirSync("/proc/self/fd").length;

  it("process: tells once when a process ends, at once, whoever its parent is", async () => {
    const shell = start("sh", "-c", "sleep 1000 & echo $!; read line; kill -9 $!; read line");
    const [line] = await once(shell.stdout ?? shell, "data");
    const pid = Number(line);
    using heard = new Heard((listener) => wakeups.process({ pid, startTime: startTimeOf(pid) }, listener));
    await heard.after("the end of a process that is not ours", () => shell.stdin?.write("\n"));
    expect(heard.wakes).to.equal(1);
  });

  it("process: tells after its own child was reaped", async () => {
    const pid = pidOf(start("sleep", "1000"));
    let left: boolean | undefined;
    using heard = new Heard((listener) =>
      wakeups.process(
        { pid },
        {
          ...listener,
          woken: () => {
            left = existsSync(`/proc/${pid}`);
            listener.woken();
          },
        },
      ),
    );
    await heard.after("a kill", () => process.kill(pid, "SIGKILL"));
    expect(left).to.equal(false);
  });

  it("process: tells at once of one that is gone, and of one whose pid is another's by now", async () => {
    const child = start("true");
    const pid = pidOf(child);
    await once(child, "exit");
    using gone = new Heard((listener) => wakeups.process({ pid }, listener));
    using other = new Heard((listener) => wakeups.process({ pid: process.pid, startTime: 1 }, listener));
    await until("both to be told of", 10_000, () => gone.wakes === 1 && other.wakes === 1);
  });

  it("process: holds nothing of /proc open, which would keep a mount namespace alive", () => {
    const child = start("unshare", "-m", "sleep", "1000");
    using _heard = new Heard((listener) => wakeups.process({ pid: pidOf(child) }, listener));
    const held = readdirSync("/proc/self/fd").map((fd) => linkAt(`/proc/self/fd/${fd}`));
    expect(held.filter((path) => path.startsWith(`/proc/${child.pid}`))).to.deep.equal([]);
    expect(held).to.satisfy((paths: string[]) => paths.some((path) => path.includes("[pidfd]")));
  });

  it("devices: tells of a device that comes", async function () {
    need(this, "loop-devices");
    using space = scratch();
    using heard = new Heard((listener) => wakeups.devices(listener));
    using disks = new DisposableStack();
    await heard.after("losetup", () => disks.use(loopDevice(space.path, "disk", 8)));
  });

  it("devices: tells also a process in another network namespace", async function () {
    need(this, "loop-devices");
    using space = scratch();
    const listener = fileURLToPath(new URL("../lib/kernel/programs/device-listener.ts", import.meta.url));
    const child = start("unshare", "--net", process.execPath, listener);
    await once(child.stdout ?? child, "data");
    const told = once(child.stdout ?? child, "data", { signal: AbortSignal.timeout(5_000) });
    using _disk = loopDevice(space.path, "disk", 8);
    expect(`${(await told)[0]}`).to.equal("woken\n");
  });

  it("path: hears a device node that appears in /dev, which the kernel makes", async function () {
    need(this, "loop-devices");
    const number = 4000 + (process.pid % 1000);
    const path = `/dev/nvo-wake-${number}`;
    using heard = new Heard((listener) => wakeups.path({ root: "/", path, links: "follow" }, listener));
    await until("/dev to be listened to", 10_000, () => inotifyWatches() > 0);
    try {
      await heard.after("mknod", () => execFileSync("mknod", [path, "b", "7", `${number}`]));
    } finally {
      rmSync(path, { force: true });
    }
  });

  it("leaves nothing open behind", async () => {
    await mountTable.read(); // which opens what stays open as long as the table
    const before = openFiles();
    const heard = [
      new Heard((listener) => wakeups.path({ root: "/", path: "/nowhere", links: "follow" }, listener)),
      new Heard((listener) => wakeups.devices(listener)),
      new Heard((listener) => wakeups.process({ pid: process.pid }, listener)),
    ];
    await until("all to be open", 10_000, () => openFiles() > before + 2);
    for (const one of heard) one[Symbol.dispose]();
    expect(openFiles()).to.equal(before);
  });
});

/** What all inotify instances of this process listen to. */
function inotifyWatches(): number {
  const infos = readdirSync("/proc/self/fd")
    .filter((fd) => linkAt(`/proc/self/fd/${fd}`).includes("inotify"))
    .map((fd) => readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"));
  return infos
    .join("")
    .split("\n")
    .filter((line) => line.startsWith("inotify ")).length;
}

function linkAt(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ""; // the descriptor that the directory was read by
  }
}

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, copyFileSync, openSync } from "node:fs";
import { createInterface } from "node:readline";
import { expect } from "chai";
import type { DeviceUsers } from "../../src/host/linux/child/child-protocol.ts";
import { usersOf } from "../../src/host/linux/device/device-users.ts";
import { hiddenProcesses, openersOf } from "../../src/host/linux/evidence/open-devices.ts";
import { remoteMounts } from "../../src/host/linux/evidence/remote-mounts.ts";
import { loadLibc } from "../../src/host/linux/syscall/libc.ts";
import { mostHolders } from "../../src/host/ports/evidence.ts";
import { withProcesses } from "../lib/kernel/processes.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withDisk } from "../lib/kernel/with-node.ts";

const none = { ids: new Set<number>(), devices: new Set<string>() };

describe("openersOf, on the real kernel", () => {
  let node: RealNode;
  let disk: string;
  let number: string;
  const processes = withProcesses();

  withDisk(8, ["python3"], (path, made) => {
    node = made;
    disk = path;
    number = execFileSync("stat", ["-c", "%Hr:%Lr", disk], { encoding: "utf8" }).trim();
  });

  /** Starts a process of many threads that has said "up" once all of them have done what they are to do. */
  async function threads(count: number, inThread: string, before = ""): Promise<ChildProcess> {
    const script = `import ctypes, os, threading, time
libc = ctypes.CDLL(None)
${before}
all_up = threading.Barrier(${count} + 1)
def run(i):
    ${inThread}
    all_up.wait()
    time.sleep(60)
for i in range(${count}): threading.Thread(target=run, args=(i,), daemon=True).start()
all_up.wait()
print("up", flush=True)
time.sleep(60)`;
    const process = spawn("python3", ["-c", script], { stdio: ["ignore", "pipe", "inherit"] });
    processes.push(process);
    await once(process.stdout, "data");
    return process;
  }

  /** Who has the disk open, and at how many files of this process it was looked. */
  function look(process: ChildProcess, remote = none, except = globalThis.process.pid) {
    let looks = 0;
    const libc = loadLibc();
    const statx: typeof libc.statx = (dir, path, flags) => {
      if (path.startsWith(`/proc/${process.pid}/`)) looks += 1;
      return libc.statx(dir, path, flags);
    };
    const holders = openersOf({ ...libc, statx }, [number], except, remote);
    return { pids: holders.map(({ pid }) => pid), looks };
  }

  it("looks at the files that threads share once, and not at what has no path", async () => {
    const open = `for i in range(200): os.open("${node.path}/file", os.O_RDWR | os.O_CREAT); os.pipe()`;
    const { pids, looks } = look(await threads(32, "pass", open));
    expect(pids).to.deep.equal([]);
    expect(looks).to.be.within(200, 300);
  });

  it("sees a device that one thread alone has open, which shares its files with none", async () => {
    const process = await threads(
      3,
      `if i == 1: libc.unshare(0x400) == 0 or os._exit(1); os.open("${disk}", os.O_RDONLY)`,
    );
    expect(look(process).pids).to.deep.equal([process.pid]);
  });

  it("passes over what the one that is not meant is about to start, which has all its files open", async () => {
    const program = `${node.path}/program`;
    copyFileSync("/bin/true", program);
    // A write lease holds up whoever opens the file, and so the exec of it (fcntl(2)).
    const holds = `import fcntl, os, signal
signal.signal(signal.SIGIO, lambda *_: print("asked", flush=True))
fcntl.fcntl(os.open("${program}", os.O_RDWR), fcntl.F_SETLEASE, fcntl.F_WRLCK)
print("up", flush=True)
while True: signal.pause()`;
    const holder = spawn("python3", ["-c", holds], { stdio: ["ignore", "pipe", "inherit"] });
    processes.push(holder);
    const lines = createInterface({ input: holder.stdout })[Symbol.asyncIterator]();
    expect((await lines.next()).value).to.equal("up");
    const starts = `import os, signal
os.open("${disk}", os.O_RDONLY)
os.posix_spawn("${program}", ["program"], {})
signal.pause()`; // afterEach ends it, once the holder has let the program go
    const starter = spawn("python3", ["-c", starts], { stdio: ["ignore", "ignore", "inherit"] });
    processes.push(starter);
    expect((await lines.next()).value, "the exec waits for the lease").to.equal("asked");

    const pids = new Set(look(starter).pids);
    expect(pids, "the starter and the copy").to.include(starter.pid).and.to.have.property("size", 2);
    const own = openSync(disk, "r");
    expect(look(starter, none, starter.pid).pids).to.deep.equal([globalThis.process.pid]);
    closeSync(own);
  });

  it("stops at the first file that is the device", async () => {
    const open = `os.open("${disk}", os.O_RDONLY)
for i in range(200): os.open("${node.path}/file", os.O_RDWR | os.O_CREAT)`;
    const { pids, looks } = look(await threads(1, "pass", open));
    expect(pids).to.have.length(1);
    expect(looks).to.be.below(10);
  });

  /** Who has the disk, and which processes are hidden, for one that may not see what others of root have open. */
  function lookUnprivileged(): { users: DeviceUsers; hidden: readonly number[] } {
    const from = (file: string) => JSON.stringify(new URL(`../../src/host/linux/${file}.ts`, import.meta.url).href);
    const script = `const { usersOf } = await import(${from("device/device-users")});
const { loadLibc } = await import(${from("syscall/libc")});
const { hiddenProcesses } = await import(${from("evidence/open-devices")});
const device = { path: "${disk}", deviceNumber: "${number}", claimed: false };
const users = usersOf(loadLibc(), device, { ids: new Set(), devices: new Set() });
console.log(JSON.stringify({ users, hidden: hiddenProcesses().map(({ pid }) => pid) }));`;
    const without = ["--bounding-set=-sys_ptrace", process.execPath, "--input-type=module", "-e", script];
    return JSON.parse(execFileSync("setpriv", without, { encoding: "utf8" }));
  }

  it("proves nothing of processes that it may not see: they keep the device from being formatted, but for process 1", async () => {
    const opener = await threads(1, "pass", `os.open("${disk}", os.O_RDWR)`);
    const { users, hidden } = lookUnprivileged();
    expect(users.text).to.match(/^it is unknown whether .* is open/);
    expect(hidden).to.include(opener.pid).and.not.to.include(1);
    expect(hidden, "some may have ended meanwhile").to.include(users.heldBy[0]);
    expect(users.allowsMount).to.equal(true);
    expect(hiddenProcesses(), "with all rights").to.deep.equal([]);
  });

  it("names sixteen of the processes that it may not see, and says how many more there are", () => {
    for (let i = 0; i < 40; i++) processes.push(spawn("sleep", ["60"], { stdio: "ignore" }));
    const { users } = lookUnprivileged();
    const [, names = "", more] = /the open files of (.*) and (\d+) more\. End/.exec(users.text) ?? [];
    expect(names.split(", "), users.text).to.have.length(16);
    expect(Number(more)).to.be.at.least(40 - 16);
    expect(users.heldBy, "what goes through a pipe").to.have.length(mostHolders);
  });

  it("says that there may be more who have it open than it has looked for", () => {
    const fd = openSync(disk, "r+");
    for (let i = 0; i < 40; i++) processes.push(spawn("sleep", ["60"], { stdio: ["ignore", "ignore", "ignore", fd] }));
    closeSync(fd);
    const users = usersOf(loadLibc(), { path: disk, deviceNumber: number, claimed: false }, none);
    expect(users?.text).to.match(/is open: (sleep \(\d+\), ){15}sleep \(\d+\) and at least 16 more\. End/);
  });

  it("looks at nothing on a mount that may hang", async () => {
    const mount = Number(execFileSync("findmnt", ["-no", "ID", node.path], { encoding: "utf8" }));
    const open = `for i in range(200): os.open("${node.path}/file", os.O_RDWR | os.O_CREAT)`;
    const { looks } = look(await threads(1, "pass", open), { ...none, ids: new Set([mount]) });
    expect(looks).to.be.below(100);
    const remote = await remoteMounts();
    expect(remote.ids.has(mount), "a tmpfs does not").to.equal(false);
  });
});

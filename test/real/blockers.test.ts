import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { skipBecause } from "../../hack/lib/lanes/skip-reason.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import type { VolumePlan } from "../../src/agent/model/volume-plan.ts";
import { need } from "../lib/asserts/requirements.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";
import { end, withProcesses } from "../lib/kernel/processes.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");

describe("a target that is busy: the wait names", () => {
  let node: RealNode;
  const processes = withProcesses();
  withNode([], (made) => {
    node = made;
  });
  beforeEach(async () => {
    node.want(volume());
    await node.converge();
  });

  const volume = (more: object = {}) =>
    intent({ source: { hostPath: { path: `${node.path}/src` } }, mounts: [{ path: node.target("a") }], ...more });

  /** A process that has said "up" once it holds what it is to hold. */
  async function hold(command: string, ...args: string[]): Promise<ChildProcess> {
    const process = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
    processes.push(process);
    await once(process.stdout ?? process, "data");
    return process;
  }

  async function failureOfRelease(): Promise<NonNullable<VolumePlan["failure"]>> {
    node.want(volume({ deleting: true, generation: 2 }));
    node.forgetFailures();
    const { failure } = await node.volume(name);
    if (failure === undefined) throw new Error("it was released");
    expect(failure.reason).to.equal("TargetBusy");
    return failure;
  }

  async function released(): Promise<void> {
    node.forgetFailures();
    expect((await node.volume(name)).phase).to.equal("released");
  }

  const shells: readonly [string, (target: string) => string][] = [
    ["working directory", (target) => `cd ${target}; echo up; exec sleep 60`],
    ["open file", (target) => `exec 3<${target}/here; echo up; exec sleep 60`],
    ["program", (target) => `echo up; exec ${target}/program 60`],
  ];
  for (const [use, script] of shells) {
    it(`a ${use}`, async () => {
      copyFileSync("/bin/sleep", `${node.path}/src/program`);
      const holder = await hold("sh", "-c", script(node.target("a")));
      const { message, on, heldBy } = await failureOfRelease();
      expect(message).to.contain(`pid ${holder.pid} (`).and.to.contain(`(${use})`).and.to.contain(node.target("a"));
      expect(on?.kind).to.equal("Process");
      expect(on?.name).to.match(new RegExp(`^${holder.pid} \\(`));
      expect(heldBy).to.deep.equal([holder.pid]);
      await end(holder);
      await released();
    });
  }

  it("a mapped file, and a root directory", async function () {
    need(this, "python3");
    writeFileSync(`${node.path}/src/mapped`, "x".repeat(4096));
    const target = node.target("a");
    // Python's own mmap keeps a descriptor open beside the mapping.
    const map = `import ctypes,os,time
mmap=ctypes.CDLL(None).mmap; mmap.restype=ctypes.c_void_p; mmap.argtypes=[ctypes.c_void_p,ctypes.c_size_t]+[ctypes.c_int]*3+[ctypes.c_long]
f=os.open("${target}/mapped",os.O_RDONLY); assert mmap(None,4096,1,1,f,0)!=2**64-1; os.close(f); print("up",flush=True); time.sleep(60)`;
    const mapped = await hold("python3", "-c", map);
    expect((await failureOfRelease()).message)
      .to.contain(`pid ${mapped.pid} (`)
      .and.to.contain("(mapped file)");
    await end(mapped);
    const root = `import os,time
d=os.open("/",os.O_RDONLY); os.chroot("${target}"); os.fchdir(d); os.close(d); print("up",flush=True); time.sleep(60)`;
    const rooted = await hold("python3", "-c", root);
    expect((await failureOfRelease()).message)
      .to.contain(`pid ${rooted.pid} (`)
      .and.to.contain("(root directory)");
    await end(rooted);
    await released();
  });

  it("what is mounted beneath it", async () => {
    const beneath = `${node.target("a")}/theirs`;
    mkdirSync(beneath);
    execFileSync("mount", ["-t", "tmpfs", "theirs", beneath]);
    const { message, on } = await failureOfRelease();
    expect(message).to.contain(`tmpfs (theirs) mounted beneath it at ${beneath}`).and.not.to.contain("pid");
    expect(on).to.deep.equal({ kind: "Mount", name: beneath });
    execFileSync("umount", [beneath]);
    await released();
  });

  it("a loop device of a file on it", async function () {
    need(this, "loop-devices");
    const { path } = node.keep(loopDevice(node.target("a"), "disk", 1));
    const { message, on } = await failureOfRelease();
    expect(message).to.contain(`loop device ${path} of ${node.target("a")}/disk`);
    expect(on).to.deep.equal({ kind: "LoopDevice", name: path });
  });

  it("a process in another mount namespace, where the mount has another path", async () => {
    const elsewhere = `${node.path}/src/elsewhere`;
    mkdirSync(elsewhere);
    const script = `mount --rbind --make-rslave ${node.path}/mnt ${elsewhere}; umount ${node.target("a")}; cd ${elsewhere}/a; echo up; exec sleep 60`;
    const holder = await hold("unshare", "-m", "--propagation", "slave", "sh", "-ec", script);
    const { message } = await failureOfRelease();
    expect(message).to.contain(`pid ${holder.pid} (`).and.to.contain("(working directory)");
    await end(holder);
    await released();
  });

  it("its container and pod", async function () {
    const group = ["/sys/fs/cgroup", "/sys/fs/cgroup/pids"].find((path) => existsSync(`${path}/cgroup.procs`));
    if (group === undefined) return skipBecause(this, "needs cgroups");
    const [pod, container] = ["11111111-2222-3333-4444-555555555555", "0123456789abcdef".repeat(4)];
    const above = `${group}/nvo-test-${process.pid}-pod${pod}`;
    const directories = [above, `${above}/pod${pod}`, `${above}/pod${pod}/${container}`];
    for (const directory of directories) mkdirSync(directory);
    const inside = directories.at(-1) ?? "";
    const holder = await hold(
      "sh",
      "-c",
      `echo $$ > ${inside}/cgroup.procs; cd ${node.target("a")}; echo up; exec sleep 60`,
    );
    try {
      const { message, on } = await failureOfRelease();
      expect(message).to.contain(`pid ${holder.pid} (sleep) in container 0123456789ab of pod ${pod} at`);
      expect(on?.name).to.equal(`${holder.pid} (sleep) in container 0123456789ab of pod ${pod}`);
    } finally {
      await end(holder);
      for (const directory of directories.reverse()) if (existsSync(directory)) rmdirSync(directory);
    }
    await released();
  });

  it("at most five, and how many more there are", async () => {
    for (let i = 0; i < 7; i++) await hold("sh", "-c", `cd ${node.target("a")}; echo up; exec sleep 60`);
    const { message } = await failureOfRelease();
    expect(message.match(/pid /g)).to.have.length(5);
    expect(message).to.contain("and 2 more");
  });
});

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { expect } from "chai";
import type { IntentInput } from "../../hack/lib/agent-on-kernel/intent.ts";
import { intent } from "../../hack/lib/agent-on-kernel/intent.ts";
import { asVolumeName } from "../../src/agent/model/identities.ts";
import { need } from "../lib/asserts/requirements.ts";
import { loopDevice } from "../lib/kernel/disks/loop-device.ts";
import { end, withProcesses } from "../lib/kernel/processes.ts";
import type { RealNode } from "../lib/kernel/real-node.ts";
import { withNode } from "../lib/kernel/with-node.ts";

const name = asVolumeName("node.volume-1");

describe("release, while somebody holds the volume where it is hard to see", () => {
  let node: RealNode;
  const processes = withProcesses();

  withNode([], (made) => {
    node = made;
  });

  const volume = (more: Partial<IntentInput> = {}) =>
    intent({ source: { emptyDir: { medium: "Memory" } }, mounts: [{ path: node.target("a") }], ...more });

  /** Starts a process that has said "up" once it holds what it is to hold. */
  async function hold(command: string, ...args: string[]): Promise<ChildProcess> {
    const process = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
    processes.push(process);
    await once(process.stdout ?? process, "data");
    return process;
  }

  /** In a mount namespace of its own. */
  const container = (script: string) => hold("unshare", "-m", "--propagation", "private", "sh", "-ec", script);

  async function failureOnRelease(more: Partial<IntentInput>): Promise<string | undefined> {
    node.want(volume({ ...more, deleting: true, generation: 2 }));
    return (await node.volume(name)).failure?.reason;
  }

  async function released(more: Partial<IntentInput>): Promise<void> {
    node.forgetFailures();
    node.want(volume({ ...more, deleting: true, generation: 2 }));
    expect((await node.volume(name)).phase).to.equal("released");
  }

  it("a thread in a mount namespace of its own counts (safety rule 6)", async function () {
    need(this, "python3");
    node.want(volume());
    await node.converge();
    const holder = await hold("python3", "-c", threadScript("hold"));
    expect(await failureOnRelease({})).to.equal("StillReferenced");
    await end(holder);
    await released({});
  });

  it("so does a process whose first thread has ended", async function () {
    need(this, "python3");
    node.want(volume());
    await node.converge();
    const holder = await hold("python3", "-c", threadScript("end"));
    expect(await failureOnRelease({})).to.equal("StillReferenced");
    await end(holder);
    await released({});
  });

  it("a copy of a target alone counts, and is not detached by the removal of its mount point", async () => {
    node.want(volume());
    await node.converge();
    const holder = await container(
      `umount -l ${node.stateDir}/staging/*; cd ${node.target("a")}; echo up; exec sleep 60`,
    );
    expect(await failureOnRelease({})).to.equal("StillReferenced");
    await end(holder);
    await released({});
  });

  it("a private copy of everything keeps no directory of ours: nothing on it outlives its removal", async () => {
    node.contents.set("conf", { version: "1", data: new Map([["key", Buffer.from("value")]]) });
    const mounts = [{ path: node.target("a") }];
    for (const source of [{ emptyDir: {} }, { configMap: { namespace: "ns", name: "conf" } }]) {
      node.want(volume({ source, mounts }));
      await node.converge();
      await container("echo up; exec sleep 60");
      node.want(volume({ source, mounts: [{ path: node.target("b") }], generation: 2 }));
      const moved = await node.volume(name);
      expect([moved.failure?.reason, existsSync(node.target("a"))]).to.deep.equal([undefined, false]);
      node.want(volume({ source, mounts: [{ path: node.target("b") }], deleting: true, generation: 3 }));
      expect((await node.volume(name)).phase, JSON.stringify(source)).to.equal("released");
      expect(existsSync(node.target("b"))).to.equal(false);
    }
  });

  it("a change of path waits for no copy of the old one, and leaves it where the release finds it", async () => {
    node.want(volume());
    await node.converge();
    const holder = await container(
      `umount -l ${node.stateDir}/staging/*; cd ${node.target("a")}; echo up; exec sleep 60`,
    );
    const mounts = [{ path: node.target("b") }];
    node.want(volume({ mounts, generation: 2 }));
    const { failure, pending } = await node.volume(name);
    expect([failure, pending, existsSync(node.target("a"))]).to.deep.equal([undefined, [], true]);
    node.want(volume({ mounts, deleting: true, generation: 3 }));
    expect((await node.volume(name)).failure?.reason).to.equal("StillReferenced");
    await end(holder);
    node.forgetFailures();
    expect((await node.volume(name)).phase).to.equal("released");
  });

  it("a mount table of thousands of long paths is read piece by piece, with everybody else going on", async () => {
    node.want(volume());
    await node.converge();
    const script = `mkdir ${node.path}/m; mount -t tmpfs m ${node.path}/m; cd ${node.path}/m
      p=$(printf 'x%.0s' $(seq 200)); d=.; for i in 1 2 3 4 5 6 7 8; do d=$d/$p; done; mkdir -p $d; mount --make-rprivate /
      for i in 1 2 3 4 5 6 7 8 9 10 11; do mount --rbind . $d; done; echo up; exec sleep 60`;
    await container(script);
    let turns = 0;
    const tick = () => {
      turns += 1;
      timer = setImmediate(tick);
    };
    let timer = setImmediate(tick);
    const holders = await node.host.evidence.holders({ device: "0:9999", root: "/" });
    clearImmediate(timer);
    expect(holders).to.deep.equal([]);
    expect(turns).to.be.greaterThan(20);
  });

  describe("of a disk", () => {
    let disk: string;

    before(function () {
      need(this, "loop-devices", "mkfs.ext4", "ext4");
    });
    beforeEach(() => {
      disk = node.keep(loopDevice(`${node.path}/disks`, "disk", 32)).path;
    });

    it("a file that is open where no mount is left counts: the device is claimed", async () => {
      execFileSync("mkfs.ext4", ["-q", disk]);
      const source = { local: { path: disk } };
      node.want(volume({ source }));
      await node.converge();
      const holder = await container(
        `umount -l ${node.stateDir}/staging/*; exec 3>${node.target("a")}/open; umount -l ${node.target("a")}; echo up; exec sleep 60`,
      );
      expect(await failureOnRelease({ source })).to.equal("DeviceBusy");
      await end(holder);
      await released({ source });
    });

    it("a device that a process has open, or mapped, counts", async function () {
      need(this, "python3");
      const block = { source: { local: { path: disk } }, volumeMode: "Block" } as const;
      node.want(volume(block));
      await node.converge();
      const open = await hold("sh", "-c", `exec 3<>${disk}; echo up; exec sleep 60`);
      expect(await failureOnRelease(block)).to.equal("DeviceBusy");
      await end(open);
      const map = `import mmap,os,sys,time
fd=os.open("${disk}",os.O_RDWR); m=mmap.mmap(fd,4096); os.close(fd); print("up",flush=True); time.sleep(60)`;
      const mapped = await hold("python3", "-c", map);
      node.forgetFailures();
      expect(await failureOnRelease(block)).to.equal("DeviceBusy");
      await end(mapped);
      await released(block);
    });
  });
});

/** A thread that has left for a mount namespace of its own; the first one stays where it was, or ends. */
function threadScript(first: "hold" | "end"): string {
  return `import ctypes, threading, time
libc = ctypes.CDLL(None, use_errno=True)
def run():
    if libc.unshare(0x00000200 | 0x00020000) != 0: raise OSError(ctypes.get_errno())
    if libc.mount(b"none", b"/", None, (1 << 18) | 16384, None) != 0: raise OSError(ctypes.get_errno())
    print("up", flush=True)
    time.sleep(60)
threading.Thread(target=run).start()
${first === "end" ? "libc.pthread_exit(None)" : "time.sleep(60)"}`;
}

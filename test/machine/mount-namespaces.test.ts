import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { LinuxEvidence } from "../../src/host/linux/evidence/linux-evidence.ts";
import { eachListedNamespace, type NamespaceCalls } from "../../src/host/linux/evidence/listed-namespaces.ts";
import { loadMountCalls } from "../../src/host/linux/syscall/mount-calls.ts";
import { type MountIdentity, mountIdentity } from "../../src/host/mount-table/mount-table.ts";
import { type MountEntry, parseMountinfo } from "../../src/host/mount-table/mountinfo.ts";
import { need } from "../lib/asserts/requirements.ts";
import { keepNamespace } from "../lib/kernel/kept-namespace.ts";

describe("the kernel's list of mount namespaces", () => {
  let base: string;
  let volume: string;
  let identity: MountIdentity;
  const processes: ChildProcess[] = [];
  const held = () => new LinuxEvidence("self").holders(identity);

  before(function () {
    need(this, "root", "listed-namespaces");
  });
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), "namespaces-"));
    volume = `${base}/volume`;
    mkdirSync(volume);
    execFileSync("mount", ["-t", "tmpfs", "volume", volume]);
    identity = mountIdentity(mountOf(volume) ?? expect.fail("not mounted"));
  });
  afterEach(async () => {
    for (const process of processes.splice(0)) {
      process.kill("SIGKILL");
      await once(process, "exit");
    }
    if (mountOf(volume) !== undefined) execFileSync("umount", [volume]);
    rmSync(base, { recursive: true });
  });

  /** Has a copy of the node's mounts, and says so. */
  async function container(script: string): Promise<ChildProcess> {
    const child = spawn("unshare", ["-m", "--propagation", "private", "sh", "-ec", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    processes.push(child);
    await once(child.stdout ?? child, "data");
    return child;
  }

  it("has one that no process is in, but a file keeps", async () => {
    using kept = keepNamespace(`${base}/kept`);
    execFileSync("umount", [volume]);
    const [holder, ...others] = await held();
    expect(holder).to.include({ command: "?", namespace: kept.name, mountPoint: volume, private: true });
    expect([holder?.pid, others]).to.deep.equal([undefined, []]);
    kept[Symbol.dispose]();
    expect(await held()).to.deep.equal([]);
  });

  it("knows one by its id: the next one may get its number", async () => {
    using kept = keepNamespace(`${base}/kept`);
    execFileSync("umount", [volume]);
    const [holder] = await held();
    const members = async (namespaceID?: string) =>
      (await new LinuxEvidence("self").members([{ namespace: kept.name, ...(namespaceID && { namespaceID }) }])).length;
    expect([await members(holder?.namespaceID), await members("1"), await members()]).to.deep.equal([1, 0, 1]);
    expect(holder?.namespaceID).to.match(/^\d+$/);
  });

  it("has one that no process is in, but an open descriptor keeps", async () => {
    const child = await container("echo up; exec sleep 600");
    const fd = openSync(`/proc/${child.pid}/ns/mnt`, "r");
    child.kill("SIGKILL");
    await once(child, "exit");
    processes.pop();
    execFileSync("umount", [volume]);
    expect(await held()).to.have.length(1);
    closeSync(fd);
    expect(await held()).to.deep.equal([]);
  });

  it("has what the root directory of a process hides from its own mount table", async function () {
    need(this, "python3");
    const child = await container(`mkdir -p ${base}/root
      exec python3 -c 'import os, time; os.chroot("${base}/root"); print("up", flush=True); time.sleep(600)'`);
    execFileSync("umount", [volume]);
    expect(readFileSync(`/proc/${child.pid}/mountinfo`, "utf8")).to.not.contain(volume);
    expect((await held()).map(({ pid }) => pid)).to.deep.equal([child.pid]);
  });

  it("proves it without a process that cannot be read, and names that where it may be the one", async () => {
    const child = await container("echo up; exec sleep 600");
    execFileSync("umount", [volume]);
    const script = `${import.meta.dirname}/../lib/kernel/programs/holders-main.ts`;
    const unprivileged = (of: MountIdentity) =>
      JSON.parse(
        execFileSync("setpriv", ["--bounding-set=-sys_ptrace", process.execPath, script, JSON.stringify(of)], {
          encoding: "utf8",
        }),
      ) as { unread?: string[]; pid?: number }[];
    expect(() =>
      execFileSync("setpriv", ["--bounding-set=-sys_ptrace", "readlink", `/proc/${child.pid}/ns/mnt`]),
    ).to.throw();
    const [holder, ...others] = unprivileged(identity);
    expect([holder?.pid, others]).to.deep.equal([undefined, []]);
    expect(holder?.unread).to.include(`${child.pid} (sleep)`);
    expect(new Set(holder?.unread).size, "each once").to.equal(holder?.unread?.length);
    expect(unprivileged({ device: "0:999999", root: "/" })).to.deep.equal([]);
  });

  it("is gone through again while new ones appear: their ids may be lower", async () => {
    const calls = loadMountCalls();
    const made: string[] = [];
    const visited: string[] = [];
    using opened = new DisposableStack();
    await eachListedNamespace(calls, async ({ name }) => {
      visited.push(name);
      if (made.length === 3) return;
      made.push(opened.use(keepNamespace(`${base}/${made.length}`)).name);
    });
    expect(visited).to.include.members(made);
    expect(new Set(visited).size, "each once").to.equal(visited.length);
  });

  it("is not believed where the kernel lists fewer mounts than it counts", async () => {
    const calls = loadMountCalls();
    const listsNone: NamespaceCalls = { ...calls, listBeneath: () => [] };
    const evidence = new LinuxEvidence("self", async () => [], listsNone);
    const error = await evidence.holders(identity).catch((thrown: unknown) => thrown);
    expect(error).to.include({ reason: "StillReferenced" });
  });

  it("takes a mount for the volume's where statmount does not tell its source (Linux 6.12)", async () => {
    const calls = loadMountCalls();
    const noSource = 0x200;
    const older: NamespaceCalls = {
      ...calls,
      statmount(...asked) {
        const told = calls.statmount(...asked);
        if (told !== undefined) told.writeUInt32LE(told.readUInt32LE(8) & ~noSource, 8);
        return told;
      },
    };
    const evidence = new LinuxEvidence("self", async () => [], older);
    expect(await evidence.holders({ ...identity, source: "another" })).to.have.length(1);
    expect(await held()).to.have.length(1);
    expect(await new LinuxEvidence("self").holders({ ...identity, source: "another" })).to.deep.equal([]);
  });

  it("is done without in another user namespace, where the kernel may leave namespaces out", async () => {
    const script = `${import.meta.dirname}/../lib/kernel/programs/holders-main.ts`;
    const asked = JSON.stringify({ device: "0:999999", root: "/" });
    const run = () =>
      execFileSync("unshare", ["--user", "--map-root-user", process.execPath, script, asked], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      });
    expect(run).to.throw(/does not list mount namespaces: only root of the machine/);
  });
});

function mountOf(path: string): MountEntry | undefined {
  return parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8")).find(({ point }) => point === path);
}

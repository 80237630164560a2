import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { constants, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { silent } from "../../hack/lib/silent-log.ts";
import { until } from "../../hack/lib/until.ts";
import { LinuxEvidence } from "../../src/host/linux/evidence/linux-evidence.ts";
import { Errno, ifThere } from "../../src/host/linux/syscall/errno.ts";
import { loadMountCalls } from "../../src/host/linux/syscall/mount-calls.ts";
import { type MountIdentity, mountIdentity } from "../../src/host/mount-table/mount-table.ts";
import { type MountEntry, parseMountinfo } from "../../src/host/mount-table/mountinfo.ts";
import { NamespacesUnknown, PinnedUnknown } from "../../src/host/ports/evidence.ts";
import type { Timers } from "../../src/ports.ts";
import { realSystem } from "../../src/system.ts";
import { need } from "../lib/asserts/requirements.ts";
import { childCommand } from "../lib/kernel/child-command.ts";
import { keepNamespace } from "../lib/kernel/kept-namespace.ts";
import { end, withProcesses } from "../lib/kernel/processes.ts";

const calls = loadMountCalls();
const refuse = (): never => {
  throw new Errno("ioctl", constants.errno.ENOTTY);
};
/** As before Linux 6.11. */
const older = { ...calls, namespaceID: refuse, namespaceBeside: refuse };
/** As before Linux 6.12, or in a PID namespace of its own. */
const unlisted = { ...calls, namespaceBeside: refuse };
const nobody = async () => [];
const { timers } = realSystem(silent);
const by = (...command: [string, ...string[]]) => ({ command, timers });

describe("a mount namespace that no process is in, where the kernel does not list them", () => {
  let base: string;
  let volume: string;
  let identity: MountIdentity;
  const processes = withProcesses();

  before(function () {
    need(this, "root");
  });
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), "kept-"));
    volume = `${base}/volume`;
    mkdirSync(volume);
    execFileSync("mount", ["-t", "tmpfs", "volume", volume]);
    identity = mountIdentity(mountOf(volume) ?? expect.fail("not mounted"));
  });
  afterEach(async () => {
    if (mountOf(volume) !== undefined) execFileSync("umount", [volume]);
    rmSync(base, { recursive: true });
  });

  async function started(...[command = "", ...args]: string[]): Promise<ChildProcess> {
    const process = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
    processes.push(process);
    await once(process.stdout, "data");
    return process;
  }

  const entering = by(...childCommand());
  for (const [how, evidence] of [
    ["by its id (Linux 6.11)", () => new LinuxEvidence("self", nobody, unlisted)],
    ["by a child in it", () => new LinuxEvidence("self", nobody, unlisted, entering)],
    ["by a child in it, before Linux 6.11", () => new LinuxEvidence("self", nobody, older, entering)],
  ] as const) {
    const held = () => evidence().holders(identity);

    it(`is seen where a file keeps it: ${how}`, async () => {
      using kept = keepNamespace(`${base}/kept`);
      execFileSync("umount", [volume]);
      const [holder, ...others] = await held();
      const expected = { command: "?", namespace: kept.name, mountPoint: volume, kept: `the file ${base}/kept/kept` };
      expect(holder).to.include(expected);
      expect([holder?.pid, others]).to.deep.equal([undefined, []]);
      expect(await evidence().members([{ namespace: kept.name }])).to.have.length(1);
      kept[Symbol.dispose]();
      expect(await held()).to.deep.equal([]);
      expect(await evidence().members([{ namespace: kept.name }])).to.deep.equal([]);
    });

    it(`is seen where a descriptor of such a file keeps it, that is there or not: ${how}`, async () => {
      const kept = keepNamespace(`${base}/kept`);
      const fd = openSync(`${base}/kept/kept`, "r");
      execFileSync("umount", [volume]);
      expect(readlinkSync(`/proc/self/fd/${fd}`)).to.equal(`${base}/kept/kept`);
      expect((await held()).map(({ namespace }) => namespace)).to.deep.equal([kept.name]);
      kept[Symbol.dispose]();
      expect(readlinkSync(`/proc/self/fd/${fd}`)).to.equal("/");
      const [holder, ...others] = await held();
      expect(holder).to.include({ namespace: kept.name, kept: `descriptor ${fd} of process ${process.pid}` });
      expect([holder?.pid, others]).to.deep.equal([undefined, []]);
      closeSync(fd);
      expect(await held()).to.deep.equal([]);
    });

    it(`is seen where a descriptor of a process that has ended keeps it: ${how}`, async () => {
      const script = "echo up; exec sleep 600";
      const process = await started("unshare", "-m", "--propagation", "private", "sh", "-ec", script);
      const fd = openSync(`/proc/${process.pid}/ns/mnt`, "r");
      const name = readlinkSync(`/proc/self/fd/${fd}`);
      await end(process);
      processes.pop();
      execFileSync("umount", [volume]);
      expect((await held()).map(({ namespace, pid }) => [namespace, pid])).to.deep.equal([[name, undefined]]);
      closeSync(fd);
      expect(await held()).to.deep.equal([]);
    });

    it(`is not taken for one where it is of another kind: ${how}`, async () => {
      const net = await started("unshare", "-n", "sh", "-ec", "echo up; exec sleep 600");
      using kept = new DisposableStack();
      const file = `${base}/net`;
      closeSync(openSync(file, "w"));
      execFileSync("mount", ["--bind", `/proc/${net.pid}/ns/net`, file]);
      const fd = openSync(file, "r");
      kept.defer(() => closeSync(fd));
      await end(net);
      processes.pop();
      execFileSync("umount", [volume]);
      expect(await held()).to.deep.equal([]);
      execFileSync("umount", ["-l", file]);
      expect(readlinkSync(`/proc/self/fd/${fd}`)).to.equal("/");
      expect(await held()).to.deep.equal([]);
    });
  }

  it("is in use where nobody can read it: what keeps it is named, and no child stays", async () => {
    using kept = keepNamespace(`${base}/kept`);
    execFileSync("umount", [volume]);
    const before = children(); // spare ones of hosts of other tests
    const file = `the file ${base}/kept/kept keeps ${kept.name}`;
    for (const [evidence, why] of [
      [new LinuxEvidence("self", nobody, older), "before Linux 6.11 no kernel shows what is mounted there"],
      [
        new LinuxEvidence("self", nobody, older, by("/bin/sh", "-c", "read request; echo no >&2")),
        "could not enter it: no",
      ],
      [
        new LinuxEvidence("self", nobody, older, { ...by("/bin/sleep", "infinity"), timers: atOnce }),
        "did not enter it within 10 s",
      ],
    ] as const) {
      const error = await evidence.holders(identity).catch((thrown: unknown) => thrown);
      expect(error).to.include({ reason: "StillReferenced" }).and.to.be.an.instanceOf(PinnedUnknown);
      expect((error as Error).message)
        .to.contain(`${file}: `)
        .and.to.contain(why)
        .and.to.contain("does not list mount namespaces");
    }
    const noChild = new LinuxEvidence("self", nobody, older, by("/nowhere/at/all"));
    const failed = await noChild.holders(identity).catch((thrown: unknown) => thrown);
    expect(failed).to.include({ reason: "StillReferenced" }).and.not.to.be.an.instanceOf(NamespacesUnknown);
    await new LinuxEvidence("self", nobody, older, entering).holders(identity);
    const left = () => children().filter((pid) => !before.includes(pid));
    await until("the children to be gone", 5_000, () => left().length === 0, left);
  });

  it("is in use where something else hides the file that keeps it", async () => {
    using kept = keepNamespace(`${base}/kept`);
    execFileSync("mount", ["-t", "tmpfs", "hides", `${base}/kept`]);
    const evidence = new LinuxEvidence("self", nobody, unlisted, entering);
    const error = await evidence.holders(identity).catch((thrown: unknown) => thrown);
    expect(error).to.include({ reason: "StillReferenced" });
    expect((error as Error).message).to.contain(`${kept.name}: something else is in its place`);
    execFileSync("umount", [`${base}/kept`]);
    execFileSync("umount", [volume]);
    expect(await evidence.holders(identity)).to.have.length(1);
  });

  it("is seen where its only process hides it by a root directory of its own, by a child in it", async function () {
    need(this, "python3");
    mkdirSync(`${base}/jail`);
    const jail = JSON.stringify(`${base}/jail`);
    const script = `import os, time; os.chroot(${jail}); print("up", flush=True); time.sleep(600)`;
    const jailed = await started("unshare", "-m", "--propagation", "private", "python3", "-c", script);
    execFileSync("umount", [volume]);
    expect(readFileSync(`/proc/${jailed.pid}/mountinfo`, "utf8"), "what it shows itself").not.to.contain(volume);
    const evidence = new LinuxEvidence("self", nobody, unlisted, entering);
    const [holder, ...others] = await evidence.holders(identity);
    expect(holder).to.include({ pid: jailed.pid, mountPoint: volume });
    expect(others).to.deep.equal([]);
    await end(jailed);
    processes.pop();
    expect(await evidence.holders(identity)).to.deep.equal([]);
  });

  it("is seen in another one that no process is in, by a child in that", async () => {
    using outer = keepNamespace(`${base}/outer`);
    const enter = ["nsenter", `--mount=${base}/outer/kept`];
    const inOuter = (...args: string[]) => execFileSync("nsenter", [...enter.slice(1), ...args], { encoding: "utf8" });
    const file = `${base}/inner/kept`;
    mkdirSync(`${base}/inner`);
    closeSync(openSync(file, "w"));
    inOuter("mount", "--bind", `${base}/inner`, `${base}/inner`);
    const unshare = [...enter, "unshare", `--mount=${file}`, "--propagation", "private", "true"];
    // Each processor gives ids of its own, and only one with a higher id can be mounted in another.
    const done = cpus().some((_, cpu) => spawnSync("taskset", ["-c", `${cpu}`, ...unshare]).status === 0);
    expect(done, "it is mounted").to.equal(true);
    const inner = `mnt:[${inOuter("stat", "-c", "%i", file).trim()}]`;
    execFileSync("umount", [volume]);
    const evidence = new LinuxEvidence("self", nobody, unlisted, entering);
    const names = async () => (await evidence.holders(identity)).map(({ namespace }) => namespace);
    expect(await names()).to.have.members([outer.name, inner]);
    outer[Symbol.dispose]();
    expect(await names()).to.deep.equal([]);
  });
});

/** Each deadline has passed already. */
const atOnce: Timers = {
  after(_, action) {
    const immediate = setImmediate(action);
    return () => clearImmediate(immediate);
  },
};

/** Our own program in the role child: what has ended has no command line any more. */
function children(): string[] {
  const started = childCommand().join("\0");
  const all = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim().split(" ");
  return all.filter((pid) => ifThere(() => readFileSync(`/proc/${pid}/cmdline`, "utf8"))?.startsWith(started));
}

function mountOf(path: string): MountEntry | undefined {
  return parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8")).find(({ point }) => point === path);
}

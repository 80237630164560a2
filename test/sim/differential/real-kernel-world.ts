import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { ChildRunner } from "../../../src/host/linux/child-runner.ts";
import * as C from "../../../src/host/linux/constants.ts";
import { Descriptor } from "../../../src/host/linux/descriptor.ts";
import { emptyTrash } from "../../../src/host/linux/empty-trash.ts";
import { Errno } from "../../../src/host/linux/errno.ts";
import { InProcessMounter } from "../../../src/host/linux/in-process-mounter.ts";
import { type Libc, loadLibc } from "../../../src/host/linux/libc.ts";
import { LinuxDirectories } from "../../../src/host/linux/linux-directories.ts";
import { LinuxEvidence } from "../../../src/host/linux/linux-evidence.ts";
import { RoutedMounter } from "../../../src/host/linux/routed-mounter.ts";
import { isBeneath, MountTable, relativePath } from "../../../src/host/mount-table.ts";
import type { MountTableSource } from "../../../src/host/mount-table-source.ts";
import { type MountEntry, parseMountinfo } from "../../../src/host/mountinfo.ts";
import type { Timers } from "../../../src/ports.ts";
import type { AgentPlace } from "../kernel/agent-namespace.ts";
import { layout } from "../machine.ts";
import type { DifferentialWorld, SeenFile } from "./differential-world.ts";
import { type KernelCalls, loadKernelCalls, MS } from "./kernel-calls.ts";
import type { PersonOperation, Place } from "./operations.ts";
import { performPerson } from "./real-person.ts";

const DETACH = C.UMOUNT.DETACH;
const AT_RECURSIVE = 0x8000;

/** A mount namespace, with an open table of it. */
interface RealNamespace {
  readonly fd: number;
  readonly table: number;
}

/**
 * The real kernel: one mount namespace as the node's, in which each world has a tmpfs for its root directory, and one for
 * the agent if that is in a pod. The main thread of this process is the agent; the others stay where they were.
 */
export class RealKernel implements AsyncDisposable {
  readonly calls: KernelCalls = loadKernelCalls();
  readonly libc: Libc = loadLibc();
  readonly base: string;
  readonly host: RealNamespace;
  readonly #before: number;
  readonly #cwd = process.cwd();
  readonly #systemd: ChildProcess;

  /**
   * Threads that are started later would share root and working directory with the main thread, which could then not
   * change its namespace any more: so those that Node starts at its first asynchronous call are started first.
   * @param base an empty directory
   */
  static async at(base: string): Promise<RealKernel> {
    await fs.promises.stat(base);
    return new RealKernel(base);
  }

  private constructor(base: string) {
    this.base = base;
    this.#before = fs.openSync("/proc/self/ns/mnt", "r");
    const fd = this.calls.unshare();
    this.calls.mount("none", "/", "", MS.REC | MS.PRIVATE);
    this.host = { fd, table: this.calls.openTable() };
    this.#systemd = spawn("sleep", ["infinity"], { stdio: "ignore" });
  }

  /** A process in the node's namespace. */
  get hostPid(): number {
    return this.#systemd.pid ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#systemd, "exit");
    this.#systemd.kill("SIGKILL");
    await ended;
    this.calls.enter(this.#before);
    process.chdir(this.#cwd);
    for (const fd of [this.#before, this.host.fd, this.host.table]) fs.closeSync(fd);
  }
}

/** Empties the trash on the spot instead of in a process of its own, which takes a second to start. */
class RunnerWithoutChildren extends ChildRunner {
  readonly #libc: Libc;

  constructor(libc: Libc, timers: Timers) {
    super({ timers, command: ["/bin/false"] });
    this.#libc = libc;
  }

  override async run(request: Parameters<ChildRunner["run"]>[0]): ReturnType<ChildRunner["run"]> {
    if (request.kind !== "emptyTrash") throw new Error(`no child for ${request.kind}`);
    return { code: 0, stdout: JSON.stringify(emptyTrash(this.#libc, request.path)), stderr: "" };
  }
}

/** A node on the real kernel. What may hang runs in this process all the same: nothing here does. */
export function realKernelWorld(kernel: RealKernel, place: AgentPlace, timers: Timers): DifferentialWorld {
  const { calls, libc, base, host } = kernel;
  calls.enter(host.fd);
  makeRoot(calls, base);
  const agent = place === "host" ? host : podNamespace(kernel);
  let container: { readonly namespace: RealNamespace; readonly process: ChildProcess } | undefined;
  const held: number[] = [];

  const mountTable: MountTableSource = {
    read: async () => new MountTable(parseMountinfo(fs.readFileSync("/proc/self/mountinfo", "utf8"))),
    watch: () => () => {}, // what it would tell of is asked of the kernel after each step
  };
  const here = new InProcessMounter(libc, "refuseLinks");
  const namespaceOf = (of: Place) => (of === "host" ? host : of === "agent" ? agent : container?.namespace);

  /** Runs something in a namespace, with the node's root directory for its own. */
  const within = <T>(namespace: RealNamespace, action: () => T): T => {
    calls.enter(namespace.fd);
    calls.chroot(base);
    try {
      return action();
    } finally {
      calls.enter(agent.fd);
    }
  };

  return {
    base,
    mounter: new RoutedMounter(mountTable, here, () => new InProcessMounter(libc, "followLinks")),
    directories: new LinuxDirectories({
      libc,
      trash: `${base}${layout.stateDir}/trash`,
      runner: new RunnerWithoutChildren(libc, timers),
    }),
    evidence: new LinuxEvidence(place === "host" ? "self" : kernel.hostPid),
    mountTable,
    placeOf: (pid) =>
      pid === container?.process.pid ? "container" : pid === kernel.hostPid || place === "host" ? "host" : "agent",
    done: (begun) => begun,

    person(asked: PersonOperation) {
      const namespace = namespaceOf(asked.place);
      if (namespace === undefined) throw new Errno("setns", 3);
      within(namespace, () => performPerson(calls, asked, held));
    },

    startContainer(path) {
      if (container !== undefined) throw new Errno("container", 17);
      calls.enter(host.fd);
      const fd = calls.unshare();
      try {
        calls.mount("none", "/", "", MS.REC | MS.PRIVATE);
        if (path !== undefined) showOnly(kernel, path);
        const process = spawn("sleep", ["infinity"], { stdio: "ignore" });
        container = { namespace: { fd, table: calls.openTable() }, process };
      } catch (error) {
        fs.closeSync(fd);
        throw error;
      } finally {
        calls.enter(agent.fd);
      }
    },

    async endContainer() {
      if (container === undefined) throw new Errno("kill", 3);
      const { process, namespace } = container;
      container = undefined;
      const ended = once(process, "exit");
      process.kill("SIGKILL");
      await ended;
      fs.closeSync(namespace.table);
      fs.closeSync(namespace.fd);
    },

    table(of) {
      const namespace = namespaceOf(of);
      return namespace && tableBeneath(namespace.table, base);
    },

    wasTold(of) {
      const namespace = namespaceOf(of);
      return namespace !== undefined && calls.changed(namespace.table);
    },

    files(of) {
      const namespace = namespaceOf(of);
      return namespace === undefined ? [] : within(namespace, () => filesBeneath(""));
    },

    async [Symbol.asyncDispose]() {
      for (const fd of held) fs.closeSync(fd);
      if (container !== undefined) await this.endContainer();
      calls.enter(host.fd);
      while (tableBeneath(host.table, base).length > 0) calls.umount(base, DETACH);
      if (agent !== host) for (const fd of [agent.table, agent.fd]) fs.closeSync(fd);
    },
  };
}

function makeRoot(calls: KernelCalls, base: string): void {
  calls.mount("/dev/vda", base, "tmpfs", 0);
  fs.chmodSync(base, 0o755);
  calls.mount("none", base, "", MS.SHARED);
  for (const path of [layout.prefix, layout.stateDir, layout.sources, "/dev"]) {
    fs.mkdirSync(`${base}${path}`, { recursive: true, mode: 0o755 });
  }
}

/** As the DaemonSet's pod: see test/sim/kernel/agent-namespace.ts, which is to be the same. */
function podNamespace({ calls, libc, base }: RealKernel): RealNamespace {
  const fd = calls.unshare();
  using root = detachedTmpfs(libc);
  using hostRoot = detachedTree(libc, base);
  using prefix = detachedTree(libc, `${base}${layout.prefix}`);
  using state = detachedTree(libc, `${base}${layout.stateDir}`);
  calls.mount("none", base, "", MS.PRIVATE);
  calls.umount(base, DETACH);
  const attach = (mount: Descriptor, path: string) => {
    fs.mkdirSync(path, { recursive: true, mode: 0o755 });
    using at = new Descriptor(libc.openat2(C.AT_FDCWD, path, C.O.PATH | C.O.CLOEXEC, 0, 0));
    libc.moveMount(mount.fd, at.fd, C.MOVE_MOUNT_F_EMPTY_PATH | C.MOVE_MOUNT_T_EMPTY_PATH);
  };
  attach(root, base);
  attach(hostRoot, `${base}/host`);
  calls.mount("none", `${base}/host`, "", MS.REC | MS.SLAVE);
  attach(prefix, `${base}${layout.prefix}`);
  attach(state, `${base}${layout.stateDir}`);
  return { fd, table: calls.openTable() };
}

/** Leaves nothing of the node but one directory of it, on /data. */
function showOnly({ calls, libc, base }: RealKernel, path: string): void {
  using root = new Descriptor(libc.openat2(C.AT_FDCWD, base, C.O.PATH | C.O.CLOEXEC, 0, 0));
  using found = new Descriptor(libc.openat2(root.fd, path, C.O.PATH | C.O.CLOEXEC, 0, C.RESOLVE.IN_ROOT));
  using clone = new Descriptor(libc.openTree(found.fd, "", C.AT_EMPTY_PATH | C.OPEN_TREE_CLONE | C.OPEN_TREE_CLOEXEC));
  calls.umount(base, DETACH);
  calls.mount("overlay", base, "tmpfs", 0);
  fs.chmodSync(base, 0o755);
  fs.mkdirSync(`${base}/data`);
  using at = new Descriptor(libc.openat2(C.AT_FDCWD, `${base}/data`, C.O.PATH | C.O.CLOEXEC, 0, 0));
  libc.moveMount(clone.fd, at.fd, C.MOVE_MOUNT_F_EMPTY_PATH | C.MOVE_MOUNT_T_EMPTY_PATH);
}

function detachedTree(libc: Libc, path: string): Descriptor {
  return new Descriptor(libc.openTree(C.AT_FDCWD, path, AT_RECURSIVE | C.OPEN_TREE_CLONE | C.OPEN_TREE_CLOEXEC));
}

function detachedTmpfs(libc: Libc): Descriptor {
  using context = new Descriptor(libc.fsopen("tmpfs", C.FSOPEN_CLOEXEC));
  libc.fsconfig(context.fd, C.FSCONFIG.SET_STRING, "source", "overlay");
  libc.fsconfig(context.fd, C.FSCONFIG.SET_STRING, "mode", "755");
  libc.fsconfig(context.fd, C.FSCONFIG.CMD_CREATE, null, null);
  return new Descriptor(libc.fsmount(context.fd, C.FSMOUNT_CLOEXEC, 0));
}

const chunk = Buffer.alloc(1 << 16);

function tableBeneath(table: number, base: string): MountEntry[] {
  let text = "";
  for (let length = -1; length !== 0; ) {
    length = fs.readSync(table, chunk, 0, chunk.length, Buffer.byteLength(text));
    text += chunk.toString("utf8", 0, length);
  }
  return parseMountinfo(text)
    .filter(({ point }) => isBeneath(point, base))
    .map((entry) => ({ ...entry, point: `/${relativePath(base, entry.point)}` }));
}

function filesBeneath(path: string): SeenFile[] {
  return fs.readdirSync(path === "" ? "/" : path).flatMap((name): SeenFile[] => {
    const own = `${path}/${name}`;
    const isPayload = () => fs.readlinkSync(own).startsWith("..data/"); // what the atomic writer shows
    const link = fs.lstatSync(own);
    const stat = link.isSymbolicLink() && isPayload() ? fs.statSync(own) : link;
    const mode = stat.mode & 0o7777;
    if (stat.isDirectory()) return [{ path: own, kind: "directory", mode, content: "" }, ...filesBeneath(own)];
    if (stat.isSymbolicLink()) return [{ path: own, kind: "symlink", mode, content: fs.readlinkSync(own) }];
    if (stat.isFile()) return [{ path: own, kind: "file", mode, content: fs.readFileSync(own, "utf8") }];
    return [{ path: own, kind: "other", mode, content: "" }];
  });
}

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { ChildRunner } from "../../../src/host/linux/child/child-runner.ts";
import { LinuxEvidence } from "../../../src/host/linux/evidence/linux-evidence.ts";
import { emptyTrash } from "../../../src/host/linux/files/empty-trash.ts";
import { LinuxDirectories } from "../../../src/host/linux/files/linux-directories.ts";
import { InProcessMounter } from "../../../src/host/linux/mount/in-process-mounter.ts";
import { RoutedMounter } from "../../../src/host/linux/mount/routed-mounter.ts";
import * as C from "../../../src/host/linux/syscall/constants.ts";
import { Errno } from "../../../src/host/linux/syscall/errno.ts";
import type { Libc } from "../../../src/host/linux/syscall/libc.ts";
import { isBeneath, MountTable, relativePath } from "../../../src/host/mount-table/mount-table.ts";
import type { MountTableSource } from "../../../src/host/mount-table/mount-table-source.ts";
import { type MountEntry, parseMountinfo } from "../../../src/host/mount-table/mountinfo.ts";
import type { Timers } from "../../../src/ports.ts";
import type { AgentPlace } from "../kernel/agent-namespace.ts";
import { layout } from "../machine.ts";
import type { DifferentialWorld, SeenFile } from "./differential-world.ts";
import { MS } from "./kernel-calls.ts";
import type { PersonOperation, Place } from "./operations.ts";
import type { RealKernel, RealNamespace } from "./real-kernel.ts";
import { makeRoot, podNamespace, showOnly } from "./real-namespaces.ts";
import { performPerson } from "./real-person.ts";

const DETACH = C.UMOUNT.DETACH;

const ESRCH = 3;
const EBADF = 9;
const EEXIST = 17;

/** Empties the trash on the spot instead of in a process of its own, which takes a second to start. */
class RunnerWithoutChildren extends ChildRunner {
  readonly #libc: Libc;

  constructor(libc: Libc, timers: Timers) {
    super({ timers, command: ["/bin/false"] });
    this.#libc = libc;
  }

  override async run(request: Parameters<ChildRunner["run"]>[0]): ReturnType<ChildRunner["run"]> {
    if (request.kind !== "emptyTrash") throw new Error(`no child for ${request.kind}`);
    return { code: 0, stdout: JSON.stringify({ ok: true, value: emptyTrash(this.#libc, request.path) }), stderr: "" };
  }
}

/** A node on the real kernel. What may hang runs in this process all the same: nothing here does. */
export function realKernelWorld(kernel: RealKernel, place: AgentPlace, timers: Timers): DifferentialWorld {
  const { calls, libc, base, host } = kernel;
  calls.enter(host.fd);
  makeRoot(calls, base);
  const agent = place === "host" ? host : podNamespace(kernel);
  let container: { readonly namespace: RealNamespace; readonly process: ChildProcess } | undefined;
  const held: ChildProcess[] = [];

  const mountTable: MountTableSource = {
    read: async () => new MountTable(parseMountinfo(fs.readFileSync("/proc/self/mountinfo", "utf8"))),
    watch: () => () => {}, // what it would tell of is asked of the kernel after each step
  };
  const here = (known: MountTable) => new InProcessMounter(libc, known);
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

    async person(asked: PersonOperation) {
      const namespace = namespaceOf(asked.place);
      if (namespace === undefined) throw new Errno("setns", ESRCH);
      if (asked.kind === "letGo") {
        const holder = held.shift();
        if (holder === undefined) throw new Errno("close", EBADF);
        await ended(holder);
      } else if (asked.kind === "open") {
        // Held by a process of its own: what the agent itself has open does not count.
        const fd = within(namespace, () => fs.openSync(asked.path, "r"));
        held.push(spawn("sleep", ["infinity"], { stdio: [fd, "ignore", "ignore"] }));
        fs.closeSync(fd);
      } else within(namespace, () => performPerson(calls, asked));
    },

    startContainer(path) {
      if (container !== undefined) throw new Errno("container", EEXIST);
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
      if (container === undefined) throw new Errno("kill", ESRCH);
      const { process, namespace } = container;
      container = undefined;
      await ended(process);
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
      await Promise.all(held.map(ended));
      if (container !== undefined) await this.endContainer();
      calls.enter(host.fd);
      while (tableBeneath(host.table, base).length > 0) calls.umount(base, DETACH);
      if (agent !== host) for (const fd of [agent.table, agent.fd]) fs.closeSync(fd);
    },
  };
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

/** Ends a process, and waits until what it had is free. */
async function ended(process: ChildProcess): Promise<void> {
  const exit = once(process, "exit");
  process.kill("SIGKILL");
  await exit;
}

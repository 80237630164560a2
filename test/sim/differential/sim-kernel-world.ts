import { Faults } from "../faults.ts";
import { simHost } from "../host/sim-host.ts";
import { Incarnation } from "../incarnation.ts";
import type { AgentPlace } from "../kernel/agent-namespace.ts";
import { containerWith, privateCopy } from "../kernel/agent-namespace.ts";
import type { Dentry } from "../kernel/dentry.ts";
import { Errno } from "../kernel/errno.ts";
import { rootOf, topOf } from "../kernel/lookup.ts";
import type { Namespace, Path } from "../kernel/mount.ts";
import type { Process } from "../kernel/processes.ts";
import { Syscalls } from "../kernel/syscalls.ts";
import { Machine } from "../machine.ts";
import type { SeededRandom } from "../random.ts";
import { Scheduler } from "../scheduler.ts";
import { Sightings } from "../sightings.ts";
import { Trace } from "../trace.ts";
import type { DifferentialWorld, SeenFile } from "./differential-world.ts";
import type { PersonOperation, Place } from "./operations.ts";

const foreverMs = 3_600_000;

/** The simulated node. */
export function simKernelWorld(place: AgentPlace, random: SeededRandom): DifferentialWorld {
  const scheduler = new Scheduler();
  const listener = { attached: () => {}, detached: () => {}, removed: () => {} };
  const machine = new Machine({ name: "node", scheduler, listener, place, rootType: "tmpfs" }); // as the real one
  const { kernel } = machine;
  const incarnation = new Incarnation({
    name: "node#1",
    scheduler,
    random,
    faults: new Faults(undefined),
    trace: new Trace(() => scheduler.now),
    sightings: new Sightings(),
    onLog: () => {},
    onCrash: () => {},
  });
  const agent = machine.startAgentProcess();
  const host = simHost({
    machine,
    namespace: agent.namespace,
    process: agent.process,
    incarnation,
    onCall: () => {},
    onTable: () => {},
    onFormat: () => {},
    volumeAt: () => undefined,
    schedule: (ms, action) => void scheduler.after(ms, action),
  });
  const operation = { deadlineMs: foreverMs, formatDeadlineMs: foreverMs, onChild: async () => {} };
  const people = kernel.processes.start("people", kernel.host);
  let container: { readonly process: Process; readonly namespace: Namespace } | undefined;
  const told = new Map<Namespace, boolean>();
  const held: Path[] = [];

  const namespaceOf = (of: Place): Namespace | undefined =>
    of === "host" ? kernel.host : of === "agent" ? agent.namespace : container?.namespace;
  const listen = (namespace: Namespace) => {
    told.set(namespace, false);
    namespace.watchers.add(() => told.set(namespace, true));
  };
  listen(kernel.host);
  if (agent.namespace !== kernel.host) listen(agent.namespace);

  return {
    base: "",
    mounter: host.effects(operation).mounter,
    directories: host.directories,
    evidence: host.evidence,
    mountTable: host.mountTable,
    placeOf(pid) {
      const namespace = kernel.processes.get(pid)?.namespace;
      return namespace === kernel.host ? "host" : namespace === agent.namespace ? "agent" : "container";
    },

    async done(begun) {
      let ended = false;
      const end = () => {
        ended = true;
      };
      begun.then(end, end);
      await scheduler.run(Number.POSITIVE_INFINITY, () => ended);
      return begun;
    },

    async person(asked: PersonOperation) {
      const namespace = namespaceOf(asked.place);
      if (namespace === undefined) throw new Errno("ESRCH", "setns");
      kernel.as("person", () => perform(new Syscalls(kernel, namespace), asked));
    },

    startContainer(path) {
      if (container !== undefined) throw new Errno("EEXIST", "container");
      kernel.as("person", () => {
        const namespace =
          path === undefined ? privateCopy(kernel, "container") : containerWith(kernel, "container", path);
        container = { namespace, process: kernel.processes.start("container", namespace) };
        listen(namespace);
      });
    },

    async endContainer() {
      if (container === undefined) throw new Errno("ESRCH", "kill");
      kernel.processes.end(container.process);
      container = undefined;
    },

    table(of) {
      const namespace = namespaceOf(of);
      return namespace && kernel.table(namespace);
    },

    wasTold(of) {
      const namespace = namespaceOf(of);
      if (namespace === undefined) return false;
      const was = told.get(namespace) === true;
      told.set(namespace, false);
      return was;
    },

    files(of) {
      const namespace = namespaceOf(of);
      return namespace === undefined ? [] : filesBeneath(topOf(rootOf(namespace)), "");
    },

    async [Symbol.asyncDispose]() {},
  };

  function perform(calls: Syscalls, asked: PersonOperation): void {
    switch (asked.kind) {
      case "mkdir":
        calls.mkdir(asked.path, 0o755);
        break;
      case "write":
        calls.write(asked.path, asked.content);
        break;
      case "mknod":
        calls.mknod(asked.path);
        break;
      case "symlink":
        calls.symlink(asked.to, asked.path);
        break;
      case "rmdir":
        calls.rmdir(asked.path);
        break;
      case "unlink":
        calls.unlink(asked.path);
        break;
      case "rename":
        calls.rename(asked.from, asked.to);
        break;
      case "foreignTmpfs":
        calls.mountTmpfs(asked.path, "foreign");
        break;
      case "foreignBind":
        calls.bind(asked.from, asked.to, asked.recursive);
        break;
      case "move":
        calls.move(asked.from, asked.to);
        break;
      case "umount":
        calls.umount(asked.path, asked.lazy);
        break;
      case "remount":
        calls.remount(asked.path, asked.attributes);
        break;
      case "propagation":
        calls.propagation(asked.path, asked.type, asked.recursive);
        break;
      case "open": {
        const path = { ...calls.open(asked.path) };
        held.push(path);
        kernel.processes.hold(people, path);
        break;
      }
      case "letGo": {
        const path = held.shift();
        if (path === undefined) throw new Errno("EBADF", "close");
        kernel.processes.letGo(people, path);
        break;
      }
    }
  }
}

function filesBeneath(at: Path, path: string): SeenFile[] {
  return [...at.dentry.children.values()].flatMap((child: Dentry): SeenFile[] => {
    const shown = topOf({ mount: at.mount, dentry: child });
    const { kind, mode, content } = shown.dentry;
    const own = `${path}/${child.name}`;
    if (kind !== "directory")
      return [{ path: own, kind: kind === "file" || kind === "symlink" ? kind : "other", mode, content }];
    return [{ path: own, kind, mode, content: "" }, ...filesBeneath(shown, own)];
  });
}

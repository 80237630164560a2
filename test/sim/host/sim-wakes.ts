import { type Found, type Ground, walkListening } from "../../../src/host/ports/wake-walk.ts";
import type { WakeupListener, Wakeups, WatchedPath, WatchedProcess } from "../../../src/host/ports/wakeups.ts";
import type { Cancel } from "../../../src/ports.ts";
import { rootOf, topOf, walk } from "../kernel/lookup.ts";
import type { Path } from "../kernel/mount.ts";
import { type HostDeps, latency } from "./host-deps.ts";

/**
 * What the simulated kernel tells of, a moment after it happens: paths by the marks of their directories and the mount
 * table of the agent's namespace, and processes. Disks are changed by the stories without an event, and children have
 * all the room they want. In bad weather an event may get lost.
 */
export class SimWakes implements Wakeups {
  readonly #deps: HostDeps;

  constructor(deps: HostDeps) {
    this.#deps = deps;
  }

  path(place: WatchedPath, listener: WakeupListener): Cancel {
    const { namespace } = this.#deps;
    let heard: Cancel[] = [];
    let end: string | undefined;
    let touched = false;
    let cancelled = false;
    const look = () => {
      if (cancelled) return;
      for (const stop of heard) stop();
      heard = [];
      const before = end;
      ({ end } = walkListening(place, this.#ground(place, heard, changed)));
      const tells = before !== undefined && (before !== end || (touched && end !== "missing"));
      touched = false;
      if (tells) listener.woken();
    };
    const soon = this.#once(look);
    const changed = (isEnd: boolean) => {
      touched ||= isEnd;
      soon();
    };
    const tableChanged = () => soon();
    namespace.watchers.add(tableChanged);
    soon();
    return () => {
      cancelled = true;
      namespace.watchers.delete(tableChanged);
      for (const stop of heard) stop();
    };
  }

  process({ pid, startTime }: WatchedProcess, listener: WakeupListener): Cancel {
    const process = this.#deps.machine.kernel.processes.get(pid);
    const tell = this.#once(() => listener.woken());
    if (process === undefined || (startTime !== undefined && process.startTime !== startTime)) {
      tell();
      return () => {};
    }
    process.ended.add(tell);
    return () => process.ended.delete(tell);
  }

  devices(): Cancel {
    return () => {};
  }

  room(): Cancel {
    return () => {};
  }

  /** Runs something a moment later, once for all that ask for it until then, as long as the process lives. */
  #once(action: () => void): () => void {
    const { incarnation } = this.#deps;
    let pending = false;
    let first = true;
    return () => {
      if (pending || (!first && this.#deps.losesWake?.() === true)) return;
      pending = true;
      first = false;
      incarnation.later(latency.notice, () => {
        pending = false;
        action();
      });
    };
  }

  #ground({ root }: WatchedPath, heard: Cancel[], changed: (isEnd: boolean) => void): Ground<Path> {
    const { namespace } = this.#deps;
    let last: string | undefined;
    return {
      root: () => {
        const path = walk(rootOf(namespace), root, "follow");
        return path === undefined ? { kind: "missing" } : found(path);
      },
      look: ({ mount, dentry }, name) => {
        const asked = `${dentry.superblock.device} ${dentry.inode} ${name}`;
        last = asked;
        heard.push(dentry.mark((changedName) => changedName === name && changed(last === asked)));
        const child = dentry.children.get(name);
        return child === undefined ? { kind: "missing" } : found(topOf({ mount, dentry: child }));
      },
      listenToFile: () => {},
      leave: () => {},
    };
  }
}

function found(path: Path): Found<Path> {
  const { kind, inode, superblock, content } = path.dentry;
  const identity = `${kind} ${superblock.device} ${inode} in ${path.mount.id}`;
  if (kind === "directory") return { kind, directory: path, identity };
  return kind === "symlink" ? { kind: "link", to: content, identity } : { kind: "file", file: path, identity };
}

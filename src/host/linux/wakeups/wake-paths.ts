import type { Cancel, Timers } from "../../../ports.ts";
import type { MountTableSource } from "../../ports/host-ports.ts";
import { type WalkEnd, walkListening } from "../../ports/wake-walk.ts";
import type { WakeupListener, WatchedPath, WatchUnavailable } from "../../ports/wakeups.ts";
import { TableChanges } from "../mount-table/mount-wakeups.ts";
import { errnoOf } from "../syscall/errno.ts";
import { limitMs, type WakeCalls, watchErrorReason } from "../syscall/inotify-calls.ts";
import type { Libc } from "../syscall/libc.ts";
import { LinuxGround } from "./wake-ground.ts";
import { Inotify } from "./wake-inotify.ts";

/**
 * Milliseconds after the last writer of a file has closed it. mkfs opens a device several times before it begins:
 * whoever looked in between, exclusively, would have it fail.
 */
const writtenMs = 500;

interface Watch {
  readonly place: WatchedPath;
  readonly listener: WakeupListener;
  /** Names that it listens for, by inotify watch. */
  heard: ReadonlyMap<number, ReadonlySet<string>>;
  /** The name whose file the path stands for, if it is there. */
  last: { readonly wd: number; readonly name: string } | undefined;
  /** How the last walk ended; undefined before the first. */
  end: string | undefined;
  unavailable: WatchUnavailable | undefined;
  /** Something has happened to the file at the end, whatever a walk shows. */
  touched: boolean;
  /** Ends the wait for more writers. */
  settling: Cancel;
}

/** Dependencies of watching paths. */
export interface PathWakesDeps {
  readonly libc: Libc;
  readonly calls: WakeCalls;
  readonly timers: Timers;
  readonly mountTable: MountTableSource;
}

/**
 * Paths that somebody waits for. Each is walked once; an event on the way, or a change of the mount table, has it
 * walked again, and whoever waits is woken if the walk ends differently. All share one inotify instance, and one watch
 * for each directory.
 */
export class PathWakes {
  readonly #deps: PathWakesDeps;
  readonly #changes: TableChanges;
  readonly #watches = new Set<Watch>();
  /** By inotify watch and name. */
  readonly #byWd = new Map<number, Map<string, Set<Watch>>>();
  #toWalk = new Set<Watch>();
  #walking = false;
  #inotify: Inotify | undefined;
  #limitTimer: Cancel | undefined;

  constructor(deps: PathWakesDeps) {
    this.#deps = deps;
    this.#changes = new TableChanges({ ...deps, onChange: () => this.#walkSoon(this.#watches) });
  }

  watch(place: WatchedPath, listener: WakeupListener): Cancel {
    const watch: Watch = {
      place,
      listener,
      heard: new Map(),
      last: undefined,
      end: undefined,
      unavailable: undefined,
      touched: false,
      settling: () => {},
    };
    if (this.#watches.size === 0) this.#changes.listen();
    this.#watches.add(watch);
    this.#walkSoon([watch]);
    return () => this.#cancel(watch);
  }

  #cancel(watch: Watch): void {
    if (!this.#watches.delete(watch)) return;
    this.#toWalk.delete(watch);
    watch.settling();
    this.#listen(watch, new Map());
    if (this.#watches.size > 0) return;
    this.#changes.close();
    this.#limitTimer?.();
    this.#limitTimer = undefined;
    this.#inotify?.close();
    this.#inotify = undefined;
  }

  #walkSoon(watches: Iterable<Watch>): void {
    for (const watch of watches) this.#toWalk.add(watch);
    if (!this.#walking && this.#toWalk.size > 0) void this.#walkAll();
  }

  async #walkAll(): Promise<void> {
    this.#walking = true;
    while (this.#toWalk.size > 0) {
      const watches = this.#toWalk;
      this.#toWalk = new Set();
      const table = await this.#deps.mountTable.read().catch(() => undefined); // who reads it for a plan reports that
      for (const watch of watches) {
        if (!this.#watches.has(watch)) continue;
        if (table === undefined) this.#reportUnavailable(watch, "limit");
        else this.#walk(watch, table);
      }
    }
    this.#walking = false;
  }

  #walk(watch: Watch, table: Awaited<ReturnType<MountTableSource["read"]>>): void {
    const { end, unavailable = this.#changes.unavailable } = this.#listenAnew(watch, table);
    const differs = watch.end !== undefined && watch.end !== end;
    const touched = watch.touched && end !== "missing";
    watch.end = end;
    watch.touched = false;
    this.#reportUnavailable(watch, unavailable);
    if (differs || touched) watch.listener.woken();
  }

  #reportUnavailable(watch: Watch, unavailable: WatchUnavailable | undefined): void {
    if (unavailable === "limit") this.#tryAgain();
    if (unavailable === watch.unavailable) return;
    watch.unavailable = unavailable;
    watch.listener.unavailable(unavailable);
  }

  /** Walks, and listens to what the walk went through and to nothing else. */
  #listenAnew(watch: Watch, table: Awaited<ReturnType<MountTableSource["read"]>>): WalkEnd {
    const { libc, calls } = this.#deps;
    try {
      this.#inotify ??= this.#open();
      const { root } = watch.place;
      using ground = new LinuxGround({ libc, calls, inotify: this.#inotify, table, root });
      try {
        return walkListening(watch.place, ground);
      } finally {
        watch.last = ground.last;
        this.#listen(watch, ground.heard);
      }
    } catch (error) {
      const code = errnoOf(error);
      if (code === undefined) throw error;
      return { end: `failed ${code}`, unavailable: watchErrorReason(code) };
    }
  }

  #listen(watch: Watch, heard: ReadonlyMap<number, ReadonlySet<string>>): void {
    const before = watch.heard;
    watch.heard = heard;
    for (const [wd, names] of heard) {
      const byName = this.#byWd.get(wd) ?? new Map<string, Set<Watch>>();
      this.#byWd.set(wd, byName);
      for (const name of names) {
        const watches = byName.get(name);
        if (watches === undefined) byName.set(name, new Set([watch]));
        else watches.add(watch);
      }
    }
    for (const [wd, names] of before) {
      const byName = this.#byWd.get(wd);
      if (byName === undefined) continue;
      for (const name of names) {
        if (heard.get(wd)?.has(name)) continue;
        const watches = byName.get(name);
        watches?.delete(watch);
        if (watches?.size === 0) byName.delete(name);
      }
      if (byName.size > 0) continue;
      this.#byWd.delete(wd);
      this.#inotify?.unwatch(wd);
    }
  }

  #open(): Inotify {
    const { calls, timers } = this.#deps;
    let hit = new Set<Watch>();
    return new Inotify({
      calls,
      timers,
      onEvent: (wd, name) => {
        const byName = this.#byWd.get(wd);
        for (const watch of byName?.get(name) ?? []) {
          if (name === "") this.#written(watch);
          else hit.add(watch);
          if (watch.last?.wd === wd && watch.last.name === name) watch.touched = true;
        }
        const all = name === "" ? byName : undefined;
        for (const [of, watches] of all ?? []) if (of !== "") for (const watch of watches) hit.add(watch);
      },
      onGone: (wd) => {
        for (const watches of this.#byWd.get(wd)?.values() ?? []) for (const watch of watches) hit.add(watch);
        this.#byWd.delete(wd);
      },
      onOverflow: () => {
        for (const watch of this.#watches) hit.add(watch);
      },
      onRound: () => {
        const watches = hit;
        hit = new Set();
        this.#walkSoon(watches);
      },
    });
  }

  #written(watch: Watch): void {
    watch.settling();
    watch.settling = this.#deps.timers.after(writtenMs, () => {
      watch.touched = true;
      this.#walkSoon([watch]);
    });
  }

  #tryAgain(): void {
    this.#limitTimer ??= this.#deps.timers.after(limitMs, () => {
      this.#limitTimer = undefined;
      if (this.#changes.unavailable === "limit") this.#changes.listen();
      this.#walkSoon([...this.#watches].filter(({ unavailable }) => unavailable === "limit"));
    });
  }
}

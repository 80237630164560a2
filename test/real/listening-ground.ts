import { mkdirSync } from "node:fs";
import { silent } from "../../hack/lib/silent-log.ts";
import { until } from "../../hack/lib/until.ts";
import { LinuxMountTable } from "../../src/host/linux/mount-table/linux-mount-table.ts";
import { loadWakeCalls } from "../../src/host/linux/syscall/inotify-calls.ts";
import { loadLibc } from "../../src/host/linux/syscall/libc.ts";
import { PathWakes } from "../../src/host/linux/wakeups/wake-paths.ts";
import type { MountTableSource } from "../../src/host/mount-table/mount-table-source.ts";
import type { WatchedPath } from "../../src/host/ports/wakeups.ts";
import { realSystem, systemTimers } from "../../src/system.ts";
import { Heard } from "../lib/asserts/heard.ts";
import { scratch } from "./scratch.ts";

const armedMs = 10_000;

/** A root of its own with the directory /srv, and PathWakes that listen there. */
export class ListeningGround implements Disposable {
  readonly #space = scratch();
  readonly #table = new LinuxMountTable("self", realSystem(silent));
  readonly calls = loadWakeCalls();
  readonly mountTable: MountTableSource = {
    read: () => this.#table.read(),
    watch: (onChange) => this.#table.watch(() => this.hearsMounts && onChange()),
  };
  readonly #paths: PathWakes;
  /** Directories that were listened to, as often as they were. */
  added = 0;
  beforeAdd = () => {};
  /**
   * Whether a change of the mount table, of which there is one when it begins to be watched, has paths walked again.
   */
  hearsMounts = true;
  /** Milliseconds after which all that waits for a time is done. */
  soon = Number.POSITIVE_INFINITY;

  constructor() {
    mkdirSync(this.at("/srv"), { recursive: true });
    this.#paths = this.pathsWith({
      inotifyAddWatch: (...args) => {
        this.added++;
        this.beforeAdd();
        return this.calls.inotifyAddWatch(...args);
      },
    });
  }

  pathsWith(calls: Partial<typeof this.calls>, mountTable = this.mountTable): PathWakes {
    return new PathWakes({
      libc: loadLibc(),
      calls: { ...this.calls, ...calls },
      timers: { after: (ms, action) => systemTimers.after(Math.min(ms, this.soon), action) },
      mountTable,
    });
  }

  at(path: string): string {
    return `${this.#space.path}/root${path}`;
  }

  async listen(path: string, more: Partial<WatchedPath> = {}, to = this.#paths): Promise<Heard> {
    const before = this.added;
    using stack = new DisposableStack();
    const place = { root: this.at(""), path, links: "follow", ...more } as const;
    const heard = stack.use(new Heard((listener) => to.watch(place, listener)));
    await until("the watch to be armed", armedMs, () => this.added > before || heard.unavailable !== undefined);
    stack.move();
    return heard;
  }

  /** Waits until all that has happened is heard: events come in order, and who listened first is told first. */
  async caughtUp(): Promise<void> {
    using marker = await this.listen("/marker");
    await marker.after("a marker", () => mkdirSync(this.at("/marker")));
  }

  [Symbol.dispose](): void {
    this.#table.close();
    this.#space[Symbol.dispose]();
  }
}

import { closeSync } from "node:fs";
import type { MountCalls } from "../syscall/mount-calls.ts";
import { type MountChanges, parseFanotifyEvents } from "./fanotify-events.ts";
import type { MountinfoFile } from "./mountinfo-file.ts";

/** What happened to the mounts of a namespace since the last time. */
export interface News {
  /** Unique ids of mounts that came, moved or went. */
  readonly ids: ReadonlySet<number>;
  /** Whether the kernel says that something changed, and none of `ids` is it: options, or a move. */
  readonly other: boolean;
  /** Whether the same may be so, but cannot be told: it came together with what `ids` are about. */
  readonly maybeOther: boolean;
  /** Whether events were dropped. */
  readonly overflow: boolean;
}

/** Looks for what is still being told while it is being taken; somebody who mounts without end is not waited for. */
const rounds = 8;

/** Which mounts to ask about, as the kernel tells. */
export interface Announcer {
  /** Readable once something was told. */
  readonly events: number | undefined;
  take(): News;
}

/**
 * fanotify reports mounts that were attached, moved or detached. Changed options are reported only by POLLPRI on
 * mountinfo, which reports everything else, too. So a POLLPRI without a fanotify event is a change of options (decision
 * 0016). The kernel raises POLLPRI before it queues the event: both are read until neither has any more.
 */
export function announcerOf(events: MountEvents, mountinfo: MountinfoFile): Announcer {
  return {
    events: events.fd,
    take() {
      const ids = new Set<number>();
      let overflow = false;
      let changed = false;
      for (let round = 0; round < rounds; round++) {
        const told = events.take();
        for (const id of told.ids) ids.add(id);
        overflow ||= told.overflow;
        const again = mountinfo.hasChanged();
        changed ||= again;
        if (!again && told.ids.length === 0 && !told.overflow) break;
      }
      return { ids, overflow, other: changed && ids.size === 0, maybeOther: changed && ids.size > 0 };
    },
  };
}

/** An event of a mount is 40 bytes. */
const bufferBytes = 40 * 512;

/** The mounts of a namespace that come, move and go, as fanotify(7) tells of them: never of changed options. */
export class MountEvents implements Disposable {
  readonly fd: number;
  readonly #calls: MountCalls;
  readonly #buffer = Buffer.alloc(bufferBytes);

  /** @throws Errno if the kernel or our rights do not have it */
  constructor(calls: MountCalls, namespaceFile: string) {
    this.#calls = calls;
    this.fd = calls.watchNamespace(namespaceFile);
  }

  /** All that was told since the last time. */
  take(): MountChanges {
    const ids: number[] = [];
    let overflow = false;
    for (;;) {
      const length = this.#calls.read(this.fd, this.#buffer);
      if (length === 0) return { ids, overflow };
      const told = parseFanotifyEvents(this.#buffer, length);
      ids.push(...told.ids);
      overflow ||= told.overflow;
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
  }
}

import type { MountTier } from "../../mount-table/mount-table-source.ts";
import type { MountCalls } from "../syscall/mount-calls.ts";
import type { MountEvents } from "./mount-events.ts";
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

/** How the kernel tells which mounts to ask about. */
export interface Announcer {
  readonly tier: MountTier;
  readonly events: number | undefined;
  /** @param known unique ids of the mounts that the table has */
  take(known: ReadonlyMap<number, unknown>): News;
}

/** Looks for what is still being told while it is being taken; somebody who mounts without end is not waited for. */
const rounds = 8;

/**
 * fanotify reports mounts that were attached, moved or detached. Changed options are reported only by POLLPRI on
 * mountinfo, which reports everything else, too. So a POLLPRI without a fanotify event is a change of options (decision
 * 0016). The kernel raises POLLPRI before it queues the event: both are read until neither has any more.
 */
export function fanotifyAnnouncer(events: MountEvents, mountinfo: MountinfoFile): Announcer {
  return {
    tier: "fanotify",
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

/** Without fanotify the kernel lists the ids of all mounts; those that are new or missing are asked about. */
export function listAnnouncer(calls: MountCalls, namespace: bigint, mountinfo: MountinfoFile): Announcer {
  return {
    tier: "listmount",
    events: undefined,
    take(known) {
      let changed = false;
      for (let round = 0; round < rounds && mountinfo.hasChanged(); round++) changed = true;
      if (!changed) return { ids: new Set(), other: false, maybeOther: false, overflow: false };
      const listed = new Set(calls.listmount(namespace));
      const ids = new Set<number>();
      for (const id of listed) if (!known.has(id)) ids.add(id);
      for (const id of known.keys()) if (!listed.has(id)) ids.add(id);
      return { ids, other: ids.size === 0, maybeOther: ids.size > 0, overflow: false };
    },
  };
}

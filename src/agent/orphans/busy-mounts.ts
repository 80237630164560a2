import { cut } from "../../api/conditions.ts";
import type { IntentPod } from "../../api/types.gen.ts";
import type { MountTable } from "../../host/mount-table/mount-table.ts";
import type { Evidence } from "../../host/ports/host-ports.ts";
import type { Clock } from "../../ports.ts";
import { names } from "../executor/holders/mount-holders.ts";
import type { Plan } from "../model/volume-plan.ts";
import { type Leftover, shown } from "./kubelet-orphans.ts";

/** Of the schema. */
const longest = 512;
/** Milliseconds after which users of a mount are searched whose pod its intent has dropped, and between searches. */
const askAfterMs = 10_000;
/** Of one look: each goes through all processes of the node. */
const mostAsked = 4;

interface Known {
  readonly pod: IntentPod;
  readonly mountID: number;
  /** Wall time at which no intent named it any more. */
  readonly since?: number;
}

/** A leftover of kubelet in use. `since` is the wall time of its first sighting, in milliseconds since the epoch. */
export interface BusyMount extends Leftover {
  readonly since: number;
}

/**
 * Mounts of ended pods that a process keeps busy. kubelet retries the unmount again and again, and reports it only in
 * its log. Targets that an intent listed until their pod ended are remembered as long as the agent runs.
 */
export class BusyMounts {
  readonly #deps: { readonly clock: Clock; readonly users: Evidence["users"] };
  /** By path. */
  #known = new Map<string, Known>();

  constructor(deps: { readonly clock: Clock; readonly users: Evidence["users"] }) {
    this.#deps = deps;
  }

  /** Of each plan: a pod may have a mount for less than the time between two looks. */
  note({ volumes }: Plan): void {
    for (const { actualState } of volumes.values()) {
      for (const { pod, path, mount } of actualState.kubelet?.pods ?? []) {
        if (mount === undefined) continue;
        const known = this.#known.get(path);
        if (known?.mountID !== mount.id || known.since !== undefined) this.#known.set(path, { pod, mountID: mount.id });
      }
    }
  }

  /** @returns what is busy, and milliseconds after which to look again */
  async look(
    plan: Plan,
    table: MountTable,
  ): Promise<{ readonly busy: readonly BusyMount[]; readonly againInMs?: number }> {
    const { clock, users } = this.#deps;
    const now = clock.now();
    this.#known = knownNow(this.#known, plan, table, now);
    const left = [...this.#known].flatMap(([path, { pod, since }]) =>
      since === undefined ? [] : { path, pod, since },
    );
    const due = left.filter(({ since }) => since + askAfterMs <= now).slice(0, mostAsked);
    const busy: BusyMount[] = [];
    for (const { path, pod, since } of due) {
      const mount = table.at(path);
      const holders = mount === undefined ? [] : await users(path);
      // A container of the pod itself: it has not ended.
      if (mount === undefined || holders.length === 0 || holders.some(({ pod: uid }) => uid === pod.uid)) continue;
      const whose = `${pod.namespace}/${pod.name} (volume ${pod.volume})`;
      busy.push({
        ...shown(mount),
        kind: "PodMount",
        reason: "TargetBusy",
        message: cut(`pod ${whose} has ended, and kubelet cannot unmount this: in use by ${names(holders)}`, longest),
        remedy: cut(`end ${holders.length === 1 ? "it" : "them"}: kubelet retries at least every two minutes`, longest),
        since,
      });
    }
    return { busy, ...(left.length > 0 && { againInMs: askAfterMs }) };
  }
}

/** PURE. What intents name and the table shows, and what they have named before and the table still shows. */
function knownNow(
  before: ReadonlyMap<string, Known>,
  { volumes }: Plan,
  table: MountTable,
  now: number,
): Map<string, Known> {
  const known = new Map<string, Known>();
  for (const [path, one] of before) {
    if (table.at(path)?.id === one.mountID) known.set(path, { since: now, ...one });
  }
  for (const { actualState } of volumes.values()) {
    for (const { pod, path, mount } of actualState.kubelet?.pods ?? [])
      if (mount !== undefined) known.set(path, { pod, mountID: mount.id });
  }
  return known;
}

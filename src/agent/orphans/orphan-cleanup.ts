import { cut, timestamp } from "../../api/conditions.ts";
import type { Orphan } from "../../api/types.gen.ts";
import { asVolumeError, isAbandoned, messageOf, type VolumeError } from "../../errors.ts";
import type { Evidence } from "../../host/ports/host-ports.ts";
import type { ChildProcessID } from "../../host/ports/types.ts";
import type { System } from "../../ports.ts";
import type { Journal } from "../journal/journal.ts";
import type { ReapRecord } from "../journal/reap-record.ts";
import type { GatherDeps, GatheredReap } from "./gather-world.ts";
import type { KubeletLife } from "./kubelet-life.ts";
import { type Leftover, leftoverKey } from "./kubelet-orphans.ts";
import { leftToKubelet, neverReaped, type OrphanProof, orphanProof } from "./orphan-proof.ts";

/** Dependencies of the clean-up of kubelet's leftovers. */
export interface OrphanCleanupDeps {
  readonly system: System;
  readonly journal: Pick<Journal, "reaps" | "putReap">;
  readonly kubeletDir: string;
  /** Milliseconds for which something is shown as an orphan before it is removed; 0: nothing is removed. */
  readonly graceMs: GatherDeps["graceMs"];
  readonly life: Pick<KubeletLife, "look" | "alive">;
  readonly evidence: Pick<Evidence, "alive">;
  gather(path: string): Promise<GatheredReap>;
  /** Removes what is proved. @throws VolumeError */
  remove(proved: Extract<OrphanProof, { readonly proof: string }>, onChild: ReapTold["onChild"]): Promise<void>;
  /** Told of what was removed, and of what could not be: once, until it is another error. */
  told(outcome: ReapOutcome): void;
}

interface ReapTold {
  onChild(child: ChildProcessID): Promise<void>;
}

/** The end of one attempt to remove a leftover. */
export interface ReapOutcome {
  readonly record: ReapRecord;
  /** Undefined: it was removed. */
  readonly error?: VolumeError;
}

/** Milliseconds until an orphan that was kept, or could not be removed, is looked at again. */
const againMs = 120_000;
/** How often kubelet's Lease is read while anything may be removed: more often than kubelet may pause. */
const lookMs = 20_000;
const longest = 256;

interface Candidate {
  /** Milliseconds of the monotonic clock. */
  readonly since: number;
  readonly tryAt: number;
  readonly kept?: string;
}

/**
 * Removes what kubelet has left, if the administrator has said after which time, one after the other:
 *
 *   shown as an orphan ──grace──► proved ─► written down ─► proved again ─► removed ─► told
 *                                    └────────── kept, and why ◄──┴────────────┘
 */
export class OrphanCleanup {
  readonly #deps: OrphanCleanupDeps;
  /** By kind, path and mount: another mount on the path waits anew, and so does one that was no orphan meanwhile. */
  #candidates = new Map<string, Candidate>();
  #running: Promise<void> | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #stopped = false;

  constructor(deps: OrphanCleanupDeps) {
    this.#deps = deps;
  }

  /** The orphans with what is to become of each, and after how many milliseconds to ask again. Begins what is due. */
  judge(orphans: readonly Leftover[]): { readonly orphans: readonly Orphan[]; readonly againInMs?: number } {
    const { graceMs, kubeletDir, journal, system } = this.#deps;
    const now = system.clock.monotonic();
    const before = this.#candidates;
    const may = graceMs === 0 ? [] : orphans.filter((orphan) => neverReaped(orphan, kubeletDir) === undefined);
    this.#candidates = new Map(
      may.map((orphan) => {
        const key = leftoverKey(orphan);
        return [key, before.get(key) ?? { since: now, tryAt: now + graceMs }];
      }),
    );
    const due = may.filter((orphan) => (this.#candidates.get(leftoverKey(orphan))?.tryAt ?? now) <= now);
    if (!this.#stopped && (may.length > 0 || journal.reaps.size > 0)) {
      this.#running ??= this.#round(due).finally(() => {
        this.#running = undefined;
      });
    }
    const told = orphans.map(({ uniqueID, ...orphan }) => ({
      ...orphan,
      ...this.#wordOf({ ...orphan, uniqueID }, now),
    }));
    return { orphans: told, ...(may.length > 0 && { againInMs: lookMs }) };
  }

  /** Begins nothing more, and waits for what runs. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.idle();
  }

  /** Waits for what runs. */
  async idle(): Promise<void> {
    await this.#running;
  }

  #wordOf(orphan: Leftover, now: number): Pick<Orphan, "reapAt" | "keptBecause"> {
    const { graceMs, kubeletDir, system } = this.#deps;
    const never = neverReaped(orphan, kubeletDir);
    if (never !== undefined) return { keptBecause: cut(never, longest) };
    if (graceMs === 0) return { keptBecause: "the agent removes no orphans (--reap-orphans-grace-period is 0)" };
    const found = this.#candidates.get(leftoverKey(orphan));
    if (found === undefined) return {};
    if (found.kept !== undefined) return { keptBecause: cut(found.kept, longest) };
    return { reapAt: timestamp(system.clock.now() + found.since + graceMs - now) };
  }

  /** Never rejects. */
  async #round(due: readonly Leftover[]): Promise<void> {
    const { graceMs, life, system } = this.#deps;
    await this.#settle();
    if (this.#candidates.size > 0 && system.clock.monotonic() - this.#lookedAt >= lookMs / 2) {
      this.#lookedAt = system.clock.monotonic();
      await life.look();
    }
    for (const orphan of due) {
      if (this.#stopped) return;
      const kubelets = leftToKubelet(life.alive, graceMs);
      const kept = kubelets ?? (await this.#try(orphan));
      const key = leftoverKey(orphan);
      const { since } = this.#candidates.get(key) ?? {};
      const tryAt = system.clock.monotonic() + (kubelets === undefined ? againMs : 0);
      if (since !== undefined) this.#candidates.set(key, { since, tryAt, ...(kept !== undefined && { kept }) });
    }
  }

  /** @returns why it is kept; undefined: it is gone */
  async #try(orphan: Leftover): Promise<string | undefined> {
    const { journal, remove, system, told } = this.#deps;
    if (journal.reaps.has(orphan.path)) return "a process of the agent that was to unmount it has not ended";
    let record: ReapRecord | undefined;
    try {
      const first = await this.#prove(orphan);
      if ("kept" in first) return first.kept;
      record = recordOf(orphan, first);
      await journal.putReap(orphan.path, record);
      const proved = await this.#prove(orphan); // whatever came while that was written
      if ("kept" in proved) {
        await journal.putReap(orphan.path, undefined);
        return proved.kept;
      }
      const announced = record;
      await remove(proved, (child) => journal.putReap(orphan.path, { ...announced, child }));
      await journal.putReap(orphan.path, undefined);
      told({ record });
      return undefined;
    } catch (thrown) {
      const error = asVolumeError(thrown, "TearDownFailed");
      const message = cut(error.message, longest);
      system.log.warn("an orphan was not removed", { path: orphan.path, reason: error.reason, error: message });
      if (record === undefined) return message;
      if (!isAbandoned(error)) await this.#drop(orphan.path);
      if (this.#candidates.get(leftoverKey(orphan))?.kept !== message) told({ record, error });
      return message;
    }
  }

  /** PURE but for the reads: what was found is an orphan by all that is read now, and the same mount. */
  async #prove(orphan: Leftover): Promise<OrphanProof> {
    const { world, found } = await this.#deps.gather(orphan.path);
    const still = found.some((one) => leftoverKey(one) === leftoverKey(orphan));
    return still ? orphanProof(orphan, world) : { kept: "it is no orphan any more" };
  }

  /** The removal that an earlier agent, or a child process of this one, had begun. */
  async #settle(): Promise<void> {
    const { journal, evidence, system } = this.#deps;
    for (const [path, { child, proof }] of journal.reaps) {
      try {
        if (child !== undefined && (await evidence.alive(child))) continue;
        system.log.info("the removal of an orphan was interrupted: it is checked again", { path, proof });
        await journal.putReap(path, undefined);
      } catch (error) {
        system.log.error("it is unknown whether the removal of an orphan has ended", { path, error: messageOf(error) });
      }
    }
  }

  async #drop(path: string): Promise<void> {
    try {
      await this.#deps.journal.putReap(path, undefined);
    } catch (error) {
      this.#deps.system.log.error("the journal was not written", { path, error: messageOf(error) });
    }
  }
}

function recordOf(
  orphan: Leftover,
  { mount, place, proof }: Extract<OrphanProof, { readonly proof: string }>,
): ReapRecord {
  const { id: mountID, uniqueID } = mount;
  const source = orphan.source ?? "";
  return { path: orphan.path, kind: place.kind, mountID, ...(uniqueID !== undefined && { uniqueID }), source, proof };
}

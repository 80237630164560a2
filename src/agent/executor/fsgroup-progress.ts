import type { Cancel, Timers } from "../../ports.ts";
import { type Desired, type DesiredVolume, isInvalid } from "../model/desired.ts";
import type { MountPath, VolumeName } from "../model/identities.ts";
import type { OwnershipChange } from "../model/ownership-change.ts";

/** Milliseconds after which people are told of it, and then again each time (behaviour 76). */
const tellAfterMs = 30_000;
const tellEachMs = 60_000;

/** An fsGroup change that runs, from its first file to its last. */
export interface RunningChange {
  /** Aborted when nobody asks for it any more: it has no end of its own while somebody makes files. */
  readonly unwanted: AbortSignal;
  /** Files that were processed so far. */
  reached(entries: number): void;
  ended(): void;
}

/** Those that run, by volume: at most one of each (law L4). */
export class OwnershipChanges {
  readonly #timers: Timers;
  readonly #onTold: () => void;
  readonly #told = new Map<VolumeName, OwnershipChange>();
  readonly #running = new Map<VolumeName, Omit<OwnershipChange, "entries"> & { readonly unwanted: AbortController }>();

  constructor(timers: Timers, onTold: () => void) {
    this.#timers = timers;
    this.#onTold = onTold;
  }

  /** Those that people are to be told of, as far as they had come when it was time. */
  get told(): ReadonlyMap<VolumeName, OwnershipChange> {
    return this.#told;
  }

  /**
   * Ends changes that no mount needs any more; they begin again if one does.
   * @param intents all intents of the node
   */
  endUnwanted(intents: ReadonlyMap<VolumeName, Desired>): void {
    for (const [volume, { path, fsGroup, unwanted }] of this.#running) {
      const intent = intents.get(volume);
      const asked = intent !== undefined && !intent.deleting && (isInvalid(intent) || asks(intent, path, fsGroup));
      if (!asked) unwanted.abort();
    }
  }

  begin(volume: VolumeName, what: Omit<OwnershipChange, "entries">): RunningChange {
    const unwanted = new AbortController();
    this.#running.set(volume, { ...what, unwanted });
    let entries = 0;
    let cancel: Cancel;
    const tell = () => {
      this.#told.set(volume, { ...what, entries });
      cancel = this.#timers.after(tellEachMs, tell);
      this.#onTold();
    };
    cancel = this.#timers.after(tellAfterMs, tell);
    return {
      unwanted: unwanted.signal,
      reached(count) {
        entries = count;
      },
      ended: () => {
        cancel();
        this.#told.delete(volume);
        this.#running.delete(volume);
      },
    };
  }
}

function asks({ mounts }: DesiredVolume, path: MountPath, fsGroup: number): boolean {
  return mounts.some((mount) => mount.path === path && mount.fsGroup === fsGroup);
}

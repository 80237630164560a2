import type { ChildProcessID } from "../host/ports.ts";
import type { Wakes } from "../host/wakes.ts";
import type { Cancel } from "../ports.ts";
import type { Plan } from "./plan.ts";

export interface ClientWatchDeps {
  readonly wakes: Pick<Wakes, "process">;
  /** A client has ended. */
  onChange(): void;
}

/**
 * Hears at once when the client of a volume that is mounted by FUSE has ended: the mount table shows the mount as before, and everybody
 * who uses it gets ENOTCONN for ever.
 */
export class ClientWatch {
  readonly #deps: ClientWatchDeps;
  readonly #watched = new Map<string, { readonly client: ChildProcessID; readonly cancel: Cancel }>();
  readonly #ended = new Map<string, ChildProcessID>();

  constructor(deps: ClientWatchDeps) {
    this.#deps = deps;
  }

  /** By intent: the client of its record that has ended. */
  get ended(): ReadonlyMap<string, ChildProcessID> {
    return this.#ended;
  }

  /** Begins with clients that are on record now, ends with those that are not any more. */
  follow({ changed, volumes }: Pick<Plan, "changed" | "volumes">): void {
    for (const name of changed.keys()) {
      const client = volumes.get(name)?.record?.stage?.client;
      const known = this.#watched.get(name);
      if (known === undefined ? client === undefined : isSameProcess(known.client, client)) continue;
      known?.cancel();
      this.#watched.delete(name);
      this.#ended.delete(name);
      if (client !== undefined) this.#watch(name, client);
    }
  }

  stop(): void {
    for (const { cancel } of this.#watched.values()) cancel();
    this.#watched.clear();
  }

  #watch(name: string, client: ChildProcessID): void {
    const woken = () => {
      this.#ended.set(name, client);
      this.#deps.onChange();
    };
    this.#watched.set(name, { client, cancel: this.#deps.wakes.process(client, { woken, deaf: () => {} }) });
  }
}

/** PURE. */
export function isSameProcess(a: ChildProcessID | undefined, b: ChildProcessID | undefined): boolean {
  return a?.pid === b?.pid && a?.startTime === b?.startTime;
}

import { messageOf } from "../../errors.ts";
import type { Directories } from "../../host/ports/host-ports.ts";
import type { ChildProcessID } from "../../host/ports/types.ts";
import type { Wakeups } from "../../host/ports/wakeups.ts";
import { logOf } from "../../plugins/network/fuse-client.ts";
import type { Cancel, System } from "../../ports.ts";
import type { VolumeName } from "../model/identities.ts";
import type { Plan, PlanListener } from "../model/volume-plan.ts";

/** Milliseconds after which a client that has ended was no failure to start: the next one is started at once. */
const lastedMs = 60_000;
/** Milliseconds that the second one in a row waits, and the longest: each mounts anew, and may end as well. */
const firstWaitMs = 500;
const longestWaitMs = 2 * 60_000;

/** Dependencies of the watch of FUSE clients. The pidfd of a client reports its exit, so that no client is polled. */
export interface ClientWatchDeps extends ClientLogDeps {
  readonly system: Pick<System, "timers" | "clock" | "log">;
  readonly wakeups: Pick<Wakeups, "process">;
  /** A client has ended. */
  onChange(): void;
}

/**
 * Hears at once when the client of a volume that is mounted by FUSE has ended: the mount table shows the mount as
 * before, and everybody who uses it gets ENOTCONN for ever. Its log is kept from filling the disk as long as it runs.
 */
export class ClientWatch implements PlanListener {
  readonly #deps: ClientWatchDeps;
  readonly #watched = new Map<VolumeName, { readonly client: ChildProcessID; readonly cancel: Cancel }>();
  readonly #ended = new Map<VolumeName, ChildProcessID>();
  /** Ends in a row of clients that have not lasted, by intent. */
  readonly #ends = new Map<string, number>();

  constructor(deps: ClientWatchDeps) {
    this.#deps = deps;
  }

  /** By intent: the client of its record that has ended. */
  get ended(): ReadonlyMap<VolumeName, ChildProcessID> {
    return this.#ended;
  }

  /** Begins with clients that are on record now, ends with those that are not any more. */
  planned({ changed, volumes }: Pick<Plan, "changed" | "volumes">): void {
    for (const name of changed.keys()) {
      const stage = volumes.get(name)?.record?.stage;
      const client = stage?.client;
      if (stage === undefined) this.#ends.delete(name); // one that is being staged is on record before its next client
      const known = this.#watched.get(name);
      if (known === undefined ? client === undefined : isSameProcess(known.client, client)) continue;
      known?.cancel();
      this.#watched.delete(name);
      this.#ended.delete(name);
      if (client !== undefined) this.#watch(name, client, stage?.undo?.["directory"]);
    }
  }

  stop(): void {
    for (const { cancel } of this.#watched.values()) cancel();
    this.#watched.clear();
  }

  #watch(name: VolumeName, client: ChildProcessID, directory: string | undefined): void {
    const { timers, clock } = this.#deps.system;
    const since = clock.monotonic();
    const tell = () => {
      this.#ended.set(name, client);
      this.#deps.onChange();
    };
    let cancel: Cancel = () => {};
    const unbound = directory === undefined ? () => {} : boundLog(logOf(directory), this.#deps);
    const woken = () => {
      unbound();
      const ends = clock.monotonic() - since < lastedMs ? (this.#ends.get(name) ?? 0) : 0;
      this.#ends.set(name, ends + 1);
      if (ends === 0) tell();
      else cancel = timers.after(Math.min(firstWaitMs * 2 ** (ends - 1), longestWaitMs), tell);
    };
    cancel = this.#deps.wakeups.process(client, { woken, unavailable: () => {} });
    const forget = () => {
      cancel();
      unbound();
    };
    this.#watched.set(name, { client, cancel: forget });
  }
}

/** PURE. */
export function isSameProcess(a: ChildProcessID | undefined, b: ChildProcessID | undefined): boolean {
  return a?.pid === b?.pid && a?.startTime === b?.startTime;
}

/** Bytes that the log of a client may have; what it says when its server is away repeats itself. */
const mostBytes = 1024 * 1024;
/** Milliseconds between two looks. */
const eachMs = 15_000;

/** Dependencies of the upkeep of the log files of FUSE clients. */
interface ClientLogDeps {
  readonly system: Pick<System, "timers" | "log">;
  readonly directories: Pick<Directories, "emptyIfLarger">;
}

/**
 * Empties the log of a client whenever it has grown too large: it is on the disk of the state directory, and the client
 * outlives the agent.
 */
function boundLog(path: string, { system, directories }: ClientLogDeps): Cancel {
  let failed = "";
  let cancel: Cancel = () => {};
  const look = async () => {
    try {
      await directories.emptyIfLarger(path, mostBytes);
      failed = "";
    } catch (error) {
      const message = messageOf(error);
      if (message !== failed) system.log.error("the log of a client was not emptied", { path, error: message });
      failed = message; // said once
    }
  };
  const again = () => {
    cancel = system.timers.after(eachMs, () => {
      again();
      void look();
    });
  };
  again();
  return () => cancel();
}

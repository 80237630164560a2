import { messageOf } from "../../errors.ts";
import type { SocketFile, Sockets, WatchedSockets } from "../../host/ports/sockets.ts";
import type { Cancel, Logger, System } from "../../ports.ts";

/** Milliseconds between looks of which nobody has told. The least; half as many again is the most. */
const relookMs = 20_000;

/** Dependencies of watching a directory for sockets. */
export interface FollowedSocketsDeps {
  readonly system: Pick<System, "timers" | "random">;
  readonly log: Logger;
  readonly sockets: Pick<Sockets, "watch">;
  readonly directory: string;
  /** Given all sockets, after each look that succeeded. */
  readonly onSeen: (sockets: readonly SocketFile[]) => void;
}

/** The sockets of a directory, read when the kernel reports a change, and from time to time. One read at a time. */
export class FollowedSockets {
  readonly #deps: FollowedSocketsDeps;
  readonly #tree: WatchedSockets;
  #looking = false;
  #lookAgain = false;
  #stopped = false;
  #relook: Cancel = () => {};
  #unwatched: string | undefined;

  constructor(deps: FollowedSocketsDeps) {
    this.#deps = deps;
    this.#tree = deps.sockets.watch(deps.directory, () => this.look());
  }

  /** Looks soon, and goes on until `stop`. */
  look(): void {
    this.#lookAgain = true;
    if (!this.#looking) void this.#look();
  }

  stop(): void {
    this.#stopped = true;
    this.#relook();
    this.#tree.close();
  }

  async #look(): Promise<void> {
    this.#looking = true;
    while (this.#lookAgain && !this.#stopped) {
      this.#lookAgain = false;
      await this.#tree.read().then(
        (seen) => this.#seen(seen),
        (error: unknown) => this.#reportUnwatched(`it cannot be read: ${messageOf(error)}`), // what was there stays
      );
    }
    this.#looking = false;
    if (this.#stopped) return;
    this.#relook();
    const { random, timers } = this.#deps.system;
    this.#relook = timers.after(relookMs * (1 + random.next() / 2), () => this.look());
  }

  #seen(seen: readonly SocketFile[]): void {
    if (this.#stopped) return;
    const unavailable = this.#tree.unavailable();
    this.#reportUnwatched(unavailable && `changes are seen late: ${unavailable}`);
    this.#deps.onSeen(seen);
  }

  /** Once, until it is another reason. */
  #reportUnwatched(why: string | undefined): void {
    if (why === this.#unwatched) return;
    this.#unwatched = why;
    const { log, directory } = this.#deps;
    if (why !== undefined) log.warn("the registration directory of CSI drivers is not followed", { directory, why });
  }
}

import { fieldManager, leaderLease, systemNamespace } from "../api/names.ts";
import { messageOf } from "../errors.ts";
import { createKubeClient } from "../kube/client/client.ts";
import type { Transport } from "../kube/client/transport.ts";
import { createLeaderElection, type LeaderElection } from "../kube/leases/leader-election.ts";
import type { System } from "../ports.ts";

/** What a leader does in its term. */
export interface LeaderWork {
  /** Reads everything again that decisions rest on; rejects if that has been stopped. */
  resync(): Promise<unknown>;
  /** Begins nothing more; resolves when nothing of an earlier term is under way. */
  pause(): Promise<void>;
  /** @param unbroken no one else was the leader since the last term */
  begin(unbroken: boolean): void;
  /** The Lease is lost. */
  end(): void;
}

/** Dependencies of this process's leadership. `identity` need not be unique to this run. */
export interface LeadershipDeps {
  readonly system: System;
  readonly transport: Transport;
  readonly identity: string;
}

/** Whether this process leads, and may write; its terms begin and end the leader's work. */
export class Leadership {
  readonly #system: System;
  readonly #election: LeaderElection;
  #work: LeaderWork | undefined;
  #closed = false;
  /** Counts how often the lease was won. */
  #term = 0;
  /**
   * Not from the loss of the lease until all was read again: what was begun in an earlier term must not write in this.
   */
  #acting = false;
  /** Everything was read since another led last. */
  #known = false;

  constructor({ system, transport, identity }: LeadershipDeps) {
    this.#system = system;
    this.#election = createLeaderElection({
      system,
      client: createKubeClient({ transport, fieldManager: fieldManager.controller }),
      namespace: systemNamespace,
      name: leaderLease,
      // Unique to this run: what its predecessor of the same name may still have under way is not ours.
      identity: `${identity}_${system.random.uuid()}`,
      onStarted: (unbroken) => void this.#lead(unbroken),
      onStopped: () => {
        this.#acting = false;
        this.#work?.end();
      },
    });
  }

  isLeader(): boolean {
    return this.#election.isLeader();
  }

  /** Milliseconds for which a write may be under way before another can lead; 0 while this process may not write. */
  writeMs(): number {
    return this.#acting ? this.#election.remainingMs() : 0;
  }

  /** Stands for election, unless it was closed; `work` is done while this process leads. */
  start(work: LeaderWork): void {
    if (this.#closed) return;
    this.#work = work;
    this.#election.start();
  }

  /** No term begins any more; the one that has begun goes on until `stop`. */
  close(): void {
    this.#closed = true;
  }

  /** Gives the Lease back. */
  stop(): Promise<void> {
    return this.#election.stop();
  }

  /**
   * Starts the work of a leader's term, once the caches hold what was read after the Lease was acquired: the leader
   * before may have written until then. The Lease may be lost and acquired again meanwhile; then the later term's call
   * continues, when nothing of the earlier one is under way.
   * @param unbroken no one else was the leader in between: all writes since then are in the watches, or our own
   *   (decision 0046)
   */
  async #lead(unbroken: boolean): Promise<void> {
    this.#term += 1;
    const mine = this.#term;
    const goesOn = unbroken && this.#known;
    this.#known = goesOn;
    try {
      if (!goesOn) await this.#work?.resync();
      await this.#work?.pause();
    } catch (error) {
      this.#system.log.debug("leading ended before it began", { error: messageOf(error) });
      return;
    }
    if (this.#closed || mine !== this.#term || !this.#election.isLeader()) return;
    this.#known = true;
    this.#acting = true;
    this.#work?.begin(goesOn);
  }
}

import type { Clock } from "../../ports.ts";

/** What an agent needs before it is ready, or cannot be without. */
export type ReadinessCheck = "lock" | "journal" | "intents" | "status" | "registration" | "policies";

/** Milliseconds without a completed look after which the agent is taken for stuck: it looks once a minute at least. */
const stuckMs = 5 * 60_000;

/** What to do when statuses are refused: the policy compares the token's node with the object's. */
export const refusalRemedy =
  "if the Node was made anew, the agent's token still names the old one: delete the agent's pod";

/** How the agent itself is: for its probes and metrics. */
export class HealthChecks {
  readonly #clock: Clock;
  readonly #missing = new Map<ReadinessCheck, () => string | undefined>([
    ["lock", () => "the lock of the node is not taken yet"],
    ["journal", () => "the journal is not read yet"],
    ["intents", () => "the intents were not read completely yet"],
  ]);
  readonly #refused = new Map<string, string>();
  #lookedAt: number | undefined;
  /** Wall time in milliseconds since the epoch; undefined before the first renewal. */
  leaseRenewedAt: number | undefined;
  /** What is wrong although the agent is ready; undefined if nothing is. */
  remark: () => string | undefined = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param why the sentence that people read; undefined if nothing is missing any more */
  missing(need: ReadinessCheck, why: string | undefined): void {
    if (why === undefined) this.#missing.delete(need);
    else this.#missing.set(need, () => why);
  }

  /** @param why is asked whenever somebody looks; undefined while nothing is missing */
  needs(need: ReadinessCheck, why: () => string | undefined): void {
    this.#missing.set(need, why);
  }

  /**
   * What became of the write of one status: an intent's, or the node's, whose name is "".
   * @param refusal why it is not allowed; undefined if it is, or nobody wants it any more
   * @returns whether it is the first that is refused
   */
  statusWrite(name: string, refusal: string | undefined): boolean {
    const before = this.#refused.size;
    if (refusal === undefined) this.#refused.delete(name);
    else this.#refused.set(name, refusal);
    const [first] = this.#refused.values();
    this.missing("status", first && `the API server refuses this agent's statuses (${refusalRemedy}): ${first}`);
    return before === 0 && this.#refused.size > 0;
  }

  /** A look has ended, or the first one may begin. */
  looked(): void {
    this.#lookedAt = this.#clock.monotonic();
  }

  get sinceLookMs(): number | undefined {
    return this.#lookedAt === undefined ? undefined : this.#clock.monotonic() - this.#lookedAt;
  }

  /** Why the agent is not ready; undefined if it is. */
  notReady(): string | undefined {
    const missing = [...this.#missing.values()].flatMap((why) => why() ?? []);
    return missing.length === 0 ? undefined : missing.join("; ");
  }

  /** Why the agent should be started again; undefined if it should not. */
  unhealthy(): string | undefined {
    const ms = this.sinceLookMs;
    if (ms === undefined || ms < stuckMs) return undefined;
    return `no look at the node has ended for ${Math.round(ms / 1000)} s`;
  }
}

import { parseJournal } from "../../../src/agent/journal/journal-format.ts";
import { KernelAgent } from "../../lib/agent-on-kernel/kernel-agent.ts";
import type { Programs } from "../../lib/agent-on-kernel/programs.ts";
import { Seeded } from "../../lib/seeded.ts";
import { until } from "../../lib/until.ts";
import { Checker } from "./checker.ts";
import { Churn } from "./churn.ts";
import { momentOf, waitFor } from "./moment.ts";
import { journalOf, phasesOf } from "./phases.ts";
import { makeVolumes, secret } from "./volumes.ts";

/** Milliseconds within which everything that is wanted is mounted, or released, once nobody is killed any more. */
const settleMs = 60_000;

/** One agent on the real kernel whose volumes come and go, and which is killed all the while. */
export class NodeUnderFire implements AsyncDisposable {
  readonly agent: KernelAgent;
  readonly churn: Churn;
  readonly checker: Checker;
  kills = 0;
  /** Kills that came right after the event that they waited for. */
  afterEvents = 0;
  /** How often an agent was killed where, by volume; before it had read its journal; and idle. */
  readonly phases = new Map<string, number>();
  readonly #random: Seeded;
  readonly #kept: AsyncDisposableStack;

  private constructor(agent: KernelAgent, churn: Churn, random: Seeded, kept: AsyncDisposableStack) {
    this.agent = agent;
    this.churn = churn;
    this.checker = new Checker(agent, churn);
    agent.onStatus = (name, status) => this.checker.told(name, status);
    this.#random = random;
    this.#kept = kept;
  }

  /** @param children whether there are volumes that take children */
  static async start(programs: Programs, seed: number, children: boolean): Promise<NodeUnderFire> {
    const kept = new AsyncDisposableStack();
    const agent = kept.use(new KernelAgent(programs));
    const churn = new Churn(agent, await makeVolumes(agent, { fuse: programs.fuse, children }, kept));
    return new NodeUnderFire(agent, churn, new Seeded(seed), kept);
  }

  /** One agent's life: volumes change before it starts and while it works, and it ends when chance says so. */
  async live(): Promise<void> {
    const random = this.#random;
    const moment = momentOf(random);
    for (let changes = 1 + random.below(4); changes > 0; changes -= 1) this.churn.change(random);
    let started = false;
    const starting = this.#start().then(
      () => {
        started = true;
      },
      () => {}, // killed before it had started
    );
    for (let changes = random.below(5); changes > 0; changes -= 1) this.churn.change(random);
    const came = await waitFor(moment, { path: this.agent.path, starting, isAtRest: () => this.checker.isAtRest() });
    await this.agent.kill();
    await starting;
    this.kills += 1;
    if (came) this.afterEvents += 1;
    this.#count(started ? phasesOf(this.agent.path) : ["starting"]);
    this.checker.look();
  }

  /** Nobody is killed: all volumes come to be as they are wanted, then all are released, and nothing is left. */
  async settle(): Promise<void> {
    await this.#start();
    await until("what is on its way out to be released", settleMs, () =>
      this.churn.slots.every((it) => !it.life?.revoked),
    );
    this.churn.createAll();
    await until("all that is wanted to be mounted", settleMs, () => this.checker.converged());
    this.checker.look();
    for (const slot of this.churn.slots) this.churn.revoke(slot);
    await until("everything to be released", settleMs, () => this.churn.slots.every(({ life }) => life === undefined));
    const onRecord = () => parseJournal(journalOf(this.agent.path)).records.size;
    await until("the journal to forget what was released", settleMs, () => onRecord() === 0);
    await this.agent.kill();
    this.checker.lookForLeftovers();
  }

  /** What every volume is like, for whoever waits in vain. */
  describe(): string {
    const of = (name: string) => JSON.stringify(this.agent.statuses.get(name)?.waiting ?? {});
    const { slots } = this.churn;
    return slots
      .flatMap(({ name, life }) => (life ? `${name} ${JSON.stringify(life.uid)} ${of(name)}` : []))
      .join("\n");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#kept.disposeAsync();
  }

  async #start(): Promise<void> {
    const starting = this.agent.start();
    this.agent.writeSecret(secret);
    await starting;
  }

  #count(phases: readonly string[]): void {
    for (const phase of new Set(phases.length === 0 ? ["idle"] : phases))
      this.phases.set(phase, (this.phases.get(phase) ?? 0) + 1);
  }
}

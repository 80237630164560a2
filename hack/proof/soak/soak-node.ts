import { parseJournal } from "../../../src/agent/journal/journal-format.ts";
import { intent } from "../../lib/agent-on-kernel/intent.ts";
import { KernelAgent } from "../../lib/agent-on-kernel/kernel-agent.ts";
import type { Programs } from "../../lib/agent-on-kernel/programs.ts";
import type { Seeded } from "../../lib/seeded.ts";
import { until } from "../../lib/until.ts";
import { Checker } from "../kills/checker.ts";
import { Churn } from "../kills/churn.ts";
import { journalOf } from "../kills/phases.ts";
import { makeVolumes, secret, type VolumeKind } from "../kills/volumes.ts";
import { nodeArguments } from "../steady/as-the-image.ts";
import type { Canaries } from "../steady/canaries.ts";
import type { Outputs } from "../steady/outputs.ts";
import { processFigures } from "../steady/process-figures.ts";
import { History } from "./history.ts";
import { type RefusedVolumes, refusedVolumes } from "./refused.ts";

/** What the agent takes when nothing is to be done. */
export interface AtRest {
  readonly fds: number;
  readonly threads: number;
  readonly children: number;
}

const settleMs = 60_000;
const projected: VolumeKind = {
  name: "projected",
  spec: { source: { projected: { sources: [{ secret: { namespace: secret.namespace, name: secret.name } }] } } },
};

/** One agent on the real kernel whose volumes come and go, and which nobody kills. */
export class SoakNode implements AsyncDisposable {
  readonly agent: KernelAgent;
  readonly churn: Churn;
  readonly checker: Checker;
  readonly history = new History();
  rests = 0;
  readonly #canaries: Canaries;
  readonly #outputs: Outputs;
  readonly #refused: RefusedVolumes;
  readonly #kept: AsyncDisposableStack;

  private constructor(agent: KernelAgent, kinds: readonly VolumeKind[], refused: RefusedVolumes, made: Made) {
    this.agent = agent;
    this.churn = new Churn(agent, kinds);
    this.checker = new Checker(agent, this.churn);
    agent.onStatus = (name, status) => {
      this.history.told(name, status);
      this.checker.told(name, status);
    };
    this.#refused = refused;
    ({ canaries: this.#canaries, outputs: this.#outputs, kept: this.#kept } = made);
  }

  static async start(programs: Programs, canaries: Canaries, outputs: Outputs): Promise<SoakNode> {
    await using starting = new AsyncDisposableStack();
    const agent = starting.use(new KernelAgent(programs, () => ({ log: true, tellsAll: true })));
    agent.nodeArguments = nodeArguments;
    agent.onOutput = (where, text) => outputs.next(where, text);
    const kinds = [...(await makeVolumes(agent, { fuse: programs.fuse, children: true }, starting)), projected];
    const refused = await refusedVolumes(canaries, starting);
    await agent.start();
    for (const { secret } of refused.volumes) agent.writeSecret(secret);
    return new SoakNode(agent, kinds, refused, { canaries, outputs, kept: starting.move() });
  }

  get shown(): number {
    return this.#refused.shown();
  }

  /** Volumes that cannot be had are wanted, and every Secret is another one than before. */
  begin(): void {
    const { agent, rests } = this;
    const values = { a: this.#canaries.value(2000, rests), b: this.#canaries.value(3000, rests + 1) };
    agent.writeSecret({ ...secret, values });
    for (const { name, source } of this.#refused.volumes)
      agent.want(intent({ name, uid: `${name} ${rests}`, source, mounts: [{ path: agent.target(name) }] }));
  }

  /**
   * One volume changes.
   * @param overlap how often the next one does so before all are as they are wanted: from 0 to 1
   */
  async change(random: Seeded, overlap: number): Promise<void> {
    this.churn.change(random);
    this.history.wanted(this.churn.slots);
    if (random.next() >= overlap) await until("volumes to be as wanted", settleMs, () => this.checker.isAtRest());
  }

  /** All volumes come to be as they are wanted, then all are released, and nothing is left. */
  async rest(): Promise<AtRest> {
    const { agent, churn, checker } = this;
    const refused = this.#refused.volumes.map(({ name }) => name);
    await until("what is on its way out to be released", settleMs, () => churn.slots.every((it) => !it.life?.revoked));
    churn.createAll();
    this.history.wanted(churn.slots);
    await until("all that is wanted to be mounted", settleMs, () => checker.converged());
    for (const name of refused) await agent.status(name, "waiting", ({ waiting }) => waiting !== undefined, settleMs);
    for (const slot of churn.slots) churn.revoke(slot);
    agent.revoke(...refused);
    await until("everything to be released", settleMs, () => churn.slots.every(({ life }) => life === undefined));
    for (const name of refused) {
      await agent.inState(name, "Released", settleMs);
      agent.statuses.delete(name);
      agent.forget(name);
    }
    const onRecord = () => parseJournal(journalOf(agent.path)).records.size;
    await until("the journal to forget what was released", settleMs, () => onRecord() === 0);
    await until("children to end", settleMs, () => processFigures(agent.pid).children <= 1); // the spare one stays
    checker.lookForLeftovers();
    this.#outputs.files("state directory", `${agent.path}/state`);
    this.rests += 1;
    const { fds, threads, children } = processFigures(agent.pid);
    return { fds, threads, children };
  }

  /** What every volume waits for, for whoever waits in vain. */
  describe(): string {
    return [...this.agent.statuses]
      .map(([name, { state, waiting }]) => `${name} ${JSON.stringify({ state, waiting })}`)
      .join("\n");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#kept.disposeAsync();
  }
}

interface Made {
  readonly canaries: Canaries;
  readonly outputs: Outputs;
  readonly kept: AsyncDisposableStack;
}

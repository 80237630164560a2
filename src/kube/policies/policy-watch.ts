import { messageOf } from "../../errors.ts";
import type { Cancel, System } from "../../ports.ts";
import type { PolicyChange, PolicyFollower } from "./follow-policies.ts";
import { agentsPolicy, believedBy, type PolicyFinding, type PolicyInspection, policySentence } from "./policies.ts";

/** Dependencies of watching over the admission policies. */
export interface PolicyWatchDeps {
  readonly system: System;
  /** Asks the API server what is wrong with the admission policies. Rejects if that cannot be known now. */
  readonly look: () => Promise<PolicyInspection>;
  /** Makes what tells of changes at once; without it they are only looked at from time to time. */
  readonly follow?: (onChange: (change: PolicyChange) => void) => PolicyFollower;
  /**
   * Within how many milliseconds after a change to look, where thousands look after the same one; all at once if not
   * given.
   */
  readonly spreadMs?: number;
  /** The findings for people; as policySentence if not given. */
  readonly sentence?: typeof policySentence;
  /** Told of each change: what is not as it should be any more, or undefined once all is. */
  readonly onChange: (missing: string | undefined) => void;
  /** Told when it is known again how all stand: at first, and after changes, also of those that change nothing. */
  readonly onKnown?: () => void;
  /** Told when what agents say counts, and may not have since the look before: meanwhile others may have written it. */
  readonly onAgentsRight?: () => void;
}

/** How the policy stands that keeps agents apart: by it somebody decides whether to believe them. */
export interface AgentsPolicyState {
  /** Why no agent is to be believed now; undefined if there is no reason. */
  readonly wrong: string | undefined;
  /** Milliseconds since something was wrong with it for the last time that was seen; Infinity: it never was. */
  readonly rightForMs: number;
}

/** Whether the admission policies are in force: looked at when it starts, at each change, and every five minutes. */
export interface PolicyWatch {
  start(): void;
  /** What is not as it should be, as last seen; undefined if all is, or nothing is known yet. */
  readonly missing: string | undefined;
  /** Those of them that refuse nothing: whoever rests on them is not ready. */
  readonly gone: string | undefined;
  /** What an agent says counts as long as nothing is wrong. Nothing ever is to a watch that was not started. */
  agentsPolicy(): AgentsPolicyState;
  /** Ends the looks; resolves when none is under way. */
  stop(): Promise<void>;
}

/**
 * Thousands of agents ask, each a dry run and four reads that nothing is written for: some 80 a second at 5,000 nodes.
 */
const periodMs = 5 * 60_000;
/** As long as something refuses nothing, or is not known: whoever applies config/policy waits for the word. */
const againMs = 60_000;
/** After that a look says nothing of now any more: the next one is overdue by more than a look may take. */
const staleMs = 7 * 60_000;
/** After a change: kubectl apply changes one after the other. */
const changedMs = 1_000;

/** Looks whether the admission policies are in force, at start, after changes and from time to time. */
export function createPolicyWatch(deps: PolicyWatchDeps): PolicyWatch {
  return new PeriodicLooks(deps);
}

class PeriodicLooks implements PolicyWatch {
  readonly #deps: PolicyWatchDeps;
  readonly #sentenceOf: typeof policySentence;
  readonly #follower: PolicyFollower | undefined;
  #findings: readonly PolicyFinding[] = [];
  #missing: string | undefined;
  #started = false;
  #stopped = false;
  /** Whether the last look said anything. */
  #known = true;
  /**
   * Number of reported changes, and how many of them a check has covered: the policies' state is unknown in between.
   */
  #changes = 0;
  #lookedAt = 0;
  /** Which objects kept the agents apart at the last look. */
  #agents: string | undefined;
  /**
   * When the policy of the agents was wrong, or may have been between two looks, for the last time, by the monotonic
   * clock.
   */
  #wrongAt: number | undefined;
  /** When a look last said something, and when the next one is due, by the monotonic clock. */
  #knownAt = Number.NEGATIVE_INFINITY;
  #dueAt = Number.POSITIVE_INFINITY;
  #cancelNext: Cancel = () => {};
  #underWay = false;
  #looking: Promise<void> = Promise.resolve();

  constructor(deps: PolicyWatchDeps) {
    this.#deps = deps;
    this.#sentenceOf = deps.sentence ?? policySentence;
    this.#follower = deps.follow?.((change) => this.#changed(change));
  }

  start(): void {
    this.#started = true;
    this.#follower?.start();
    this.#next();
  }

  get missing(): string | undefined {
    return this.#missing;
  }

  get gone(): string | undefined {
    return this.#sentenceOf(this.#findings.filter(({ gone }) => gone));
  }

  agentsPolicy(): AgentsPolicyState {
    const unknown = this.#started && !this.#isKnown();
    const wrong =
      this.#ofAgents() ?? (unknown ? `whether the policy ${agentsPolicy} is in force is not known now` : undefined);
    const rightForMs = this.#wrongAt === undefined ? Number.POSITIVE_INFINITY : this.#now() - this.#wrongAt;
    return { wrong, rightForMs };
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#follower?.stop();
    this.#cancelNext();
    await this.#looking;
  }

  #next(): void {
    this.#looking = this.#look();
  }

  async #look(): Promise<void> {
    this.#underWay = true;
    this.#dueAt = Number.POSITIVE_INFINITY;
    const before = this.#changes;
    try {
      const found = await this.#deps.look();
      const doubted = !this.#isKnown();
      [this.#known, this.#lookedAt, this.#knownAt] = [true, before, this.#now()];
      if (this.#stopped) return;
      this.#take(found);
      if (doubted && this.#changes === before) this.#deps.onKnown?.();
    } catch (error) {
      if (!this.#stopped) {
        // An outage tells of itself once, not every minute.
        const message = "whether the admission policies are in force is not known";
        this.#deps.system.log[this.#known ? "warn" : "debug"](message, { error: messageOf(error) });
      }
      this.#known = false;
    }
    this.#underWay = false;
    if (this.#stopped) return;
    // What is only another may stay so for as long as somebody wants it.
    const rests = this.#known && !this.#findings.some(({ gone }) => gone);
    if (this.#changes !== before) this.#lookAfterChange();
    else this.#lookIn((rests ? periodMs : againMs) * (0.9 + this.#deps.system.random.next() * 0.2));
  }

  #take(found: PolicyInspection): void {
    const { onAgentsRight, onChange, system } = this.#deps;
    const before = this.#ofAgents();
    const exchanged = this.#agents !== undefined && this.#agents !== found.agents;
    this.#findings = found.findings;
    this.#agents = found.agents;
    const wrong = this.#ofAgents() !== undefined;
    // Also when it has come back: until now it was not there.
    if (exchanged || before !== undefined || wrong) this.#wrongAt = this.#now();
    if ((exchanged || before !== undefined) && !wrong) onAgentsRight?.();
    const sentence = this.#sentenceOf(this.#findings);
    if (sentence === this.#missing) return;
    this.#missing = sentence;
    if (sentence === undefined) system.log.info("the admission policies are in force again");
    else system.log.error("admission policies are not in force", { reason: "PolicyMissing", missing: sentence });
    onChange(sentence);
  }

  #changed({ name, decides }: PolicyChange): void {
    this.#changes += 1;
    // By the time of the look it may be back.
    if (decides && believedBy.has(name)) this.#wrongAt = this.#now();
    if (!this.#underWay && !this.#stopped) this.#lookAfterChange();
  }

  #lookAfterChange(): void {
    const { system, spreadMs = 0 } = this.#deps;
    const ms = changedMs + system.random.next() * spreadMs;
    // A look that is due sooner takes this in, too, and is not put off: changes may go on for ever.
    if (this.#now() + ms < this.#dueAt) this.#lookIn(ms);
  }

  #lookIn(ms: number): void {
    this.#cancelNext();
    this.#dueAt = this.#now() + ms;
    this.#cancelNext = this.#deps.system.timers.after(ms, () => this.#next());
  }

  #isKnown(): boolean {
    return this.#changes === this.#lookedAt && this.#now() - this.#knownAt <= staleMs;
  }

  #ofAgents(): string | undefined {
    return policySentence(this.#findings.filter(({ policy }) => believedBy.has(policy)));
  }

  #now(): number {
    return this.#deps.system.clock.monotonic();
  }
}

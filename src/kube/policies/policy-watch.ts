import { messageOf } from "../../errors.ts";
import type { Cancel, System } from "../../ports.ts";
import type { PolicyChange, PolicyFollower } from "./follow-policies.ts";
import { agentsPolicy, believedBy, type PolicyFinding, type PolicyLook, policySentence } from "./policies.ts";

/** Dependencies of watching over the admission policies. */
export interface PolicyWatchDeps {
  readonly system: System;
  /** Asks the API server what is wrong with the admission policies. Rejects if that cannot be known now. */
  readonly look: () => Promise<PolicyLook>;
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
  const {
    system,
    look,
    follow,
    onChange,
    onKnown,
    onAgentsRight,
    sentence: sentenceOf = policySentence,
    spreadMs = 0,
  } = deps;
  const { clock, timers, random, log } = system;
  let findings: readonly PolicyFinding[] = [];
  let missing: string | undefined;
  let started = false;
  /** Whether the last look said anything. */
  let known = true;
  /**
   * Number of reported changes, and how many of them a check has covered: the policies' state is unknown in between.
   */
  let changes = 0;
  let lookedAt = 0;
  /** Which objects kept the agents apart at the last look. */
  let agents: string | undefined;
  /**
   * When the policy of the agents was wrong, or may have been between two looks, for the last time, by the monotonic
   * clock.
   */
  let wrongAt: number | undefined;
  /** When a look last said something, and when the next one is due, by the monotonic clock. */
  let knownAt = Number.NEGATIVE_INFINITY;
  let dueAt = Number.POSITIVE_INFINITY;
  let stopped = false;
  let cancelNext: Cancel = () => {};
  let underWay = false;
  let looking: Promise<void> = Promise.resolve();

  async function tick(): Promise<void> {
    underWay = true;
    dueAt = Number.POSITIVE_INFINITY;
    const before = changes;
    try {
      const found = await look();
      const doubted = !isKnown();
      [known, lookedAt, knownAt] = [true, before, clock.monotonic()];
      if (stopped) return;
      take(found);
      if (doubted && changes === before) onKnown?.();
    } catch (error) {
      if (!stopped) {
        // An outage tells of itself once, not every minute.
        const message = "whether the admission policies are in force is not known";
        log[known ? "warn" : "debug"](message, { error: messageOf(error) });
      }
      known = false;
    }
    underWay = false;
    if (stopped) return;
    // What is only another may stay so for as long as somebody wants it.
    if (changes !== before) lookAfterChange();
    else lookIn((known && !findings.some(({ gone }) => gone) ? periodMs : againMs) * (0.9 + random.next() * 0.2));
  }

  function lookAfterChange(): void {
    const ms = changedMs + random.next() * spreadMs;
    // A look that is due sooner takes this in, too, and is not put off: changes may go on for ever.
    if (clock.monotonic() + ms < dueAt) lookIn(ms);
  }

  function lookIn(ms: number): void {
    cancelNext();
    dueAt = clock.monotonic() + ms;
    cancelNext = timers.after(ms, next);
  }

  const isKnown = () => changes === lookedAt && clock.monotonic() - knownAt <= staleMs;

  function take(found: PolicyLook): void {
    const before = ofAgents();
    const exchanged = agents !== undefined && agents !== found.agents;
    ({ findings, agents } = found);
    const wrong = ofAgents() !== undefined;
    // Also when it has come back: until now it was not there.
    if (exchanged || before !== undefined || wrong) wrongAt = clock.monotonic();
    if ((exchanged || before !== undefined) && !wrong) onAgentsRight?.();
    const sentence = sentenceOf(findings);
    if (sentence === missing) return;
    missing = sentence;
    if (sentence === undefined) log.info("the admission policies are in force again");
    else log.error("admission policies are not in force", { reason: "PolicyMissing", missing: sentence });
    onChange(sentence);
  }

  const ofAgents = () => policySentence(findings.filter(({ policy }) => believedBy.has(policy)));

  function next(): void {
    looking = tick();
  }

  const follower = follow?.(({ name, decides }) => {
    changes += 1;
    // By the time of the look it may be back.
    if (decides && believedBy.has(name)) wrongAt = clock.monotonic();
    if (!underWay && !stopped) lookAfterChange();
  });

  return {
    start() {
      started = true;
      follower?.start();
      next();
    },
    get missing() {
      return missing;
    },
    get gone() {
      return sentenceOf(findings.filter(({ gone }) => gone));
    },
    agentsPolicy() {
      const unknown = started && !isKnown();
      const wrong =
        ofAgents() ?? (unknown ? `whether the policy ${agentsPolicy} is in force is not known now` : undefined);
      const rightForMs = wrongAt === undefined ? Number.POSITIVE_INFINITY : clock.monotonic() - wrongAt;
      return { wrong, rightForMs };
    },
    async stop() {
      stopped = true;
      follower?.stop();
      cancelNext();
      await looking;
    },
  };
}

// Many simulated agents in a process of its own, beside others: told what to do by messages of its parent.

import { realSystem } from "../../../../src/system.ts";
import { silent } from "../../../lib/silent-log.ts";
import { createAgent, type SimulatedAgent, type Way } from "./agent.ts";
import type { Tally } from "./tally.ts";

export type Order =
  | {
      readonly do: "start";
      readonly way: Way;
      readonly server: string;
      readonly ca: string;
      readonly agents: readonly { readonly node: string; readonly token: string }[];
      /** They start evenly over this time. */
      readonly overMs: number;
    }
  | { readonly do: "startLeases"; readonly overMs: number };

/** What all agents of a process have come to, several times a second. */
export interface Pulse {
  readonly agents: number;
  readonly connected: number;
  /** Watches that are asked for and not answered. */
  readonly opening: number;
  /** Since the start, by kind. */
  readonly said: { readonly [state: string]: number };
  readonly restarts: { readonly [why: string]: number };
  readonly failures: { readonly [what: string]: number };
  /** Intents that were seen since the last pulse. */
  readonly seen: readonly Seen[];
}

export interface Seen {
  readonly name: string;
  readonly generation: number;
  /** Nanoseconds of the monotonic clock, which all processes of a machine share, as text. */
  readonly at: string;
}

const pulseMs = 100;

const system = realSystem(silent);
const agents: SimulatedAgent[] = [];
const [said, restarts, failures] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
let opening = 0;
let seen: Seen[] = [];

const count = (counts: Map<string, number>) => (what: string) => void counts.set(what, (counts.get(what) ?? 0) + 1);
const tally: Tally = {
  saw: ({ metadata: { name, generation = 0 } }) =>
    void seen.push({ name, generation, at: String(process.hrtime.bigint()) }),
  said: count(said),
  restarted: count(restarts),
  failed: count(failures),
  opening(change) {
    opening += change;
  },
};

function start({ agents: identities, overMs, ...access }: Extract<Order, { do: "start" }>): void {
  for (const [index, identity] of identities.entries()) {
    const agent = createAgent({ system, ...access, ...identity, tally });
    agents.push(agent);
    setTimeout(() => agent.start(), (index / identities.length) * overMs);
  }
}

function pulse(): void {
  const connected = agents.reduce((sum, agent) => sum + (agent.connected() ? 1 : 0), 0);
  const counts = { said, restarts, failures };
  const byName = Object.fromEntries(Object.entries(counts).map(([name, map]) => [name, Object.fromEntries(map)]));
  process.send?.({ agents: agents.length, connected, opening, ...byName, seen });
  seen = [];
}

process.on("message", (order: Order) => {
  if (order.do === "start") start(order);
  else {
    for (const [index, agent] of agents.entries())
      setTimeout(() => agent.startLease(), (index / agents.length) * order.overMs);
  }
});
process.on("disconnect", () => process.exit(0)); // whoever measures is gone
setInterval(pulse, pulseMs);

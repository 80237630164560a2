import { cpus } from "node:os";
import { parseArgs } from "node:util";
import type { Way } from "./agent.ts";

export interface AgentsOptions {
  readonly ways: readonly Way[];
  /** How many agents there are when it is measured, growing. */
  readonly sizes: readonly number[];
  /** Nodes of the cluster; each size is at most that. */
  readonly nodes: number;
  readonly volumes: number;
  readonly processes: number;
  readonly changes: number;
  readonly everyMs: number;
  /** Agents that are started a second. */
  readonly perSecond: number;
  readonly idleSeconds: number;
  readonly restSeconds: number;
  /** At which sizes the API server is killed. */
  readonly herd: "each" | "last" | "none";
  /** Whether the real controller carries out a set for all nodes. */
  readonly converge: boolean;
  readonly kwokLeaseSeconds: number;
  readonly patienceMs: number;
  readonly json: string | undefined;
}

export const usage = `usage: node hack/bench/agents.ts [flags]

  --agents WAYS      how agents hear of their intents: watch, index, or both (watch,index)
  --sizes N,N,…      agents, each time that is measured (500,1000)
  --volumes N        intents of a node, to measure changes by (2); 0 with --converge, as no set asks for them
  --processes N      processes that the agents are spread over (2)
  --changes N        specs that change at each size (200)
  --every MS         milliseconds between two of them (100)
  --start N          agents that are started a second (100)
  --idle S           seconds in which the server is looked at while nothing happens, before the changes (10)
  --herd WHEN        at which sizes the API server is killed: each, last or none (each)
  --converge         instead of changes: the real controller with a set for all nodes, a rest, half of them relabelled
  --rest S           seconds of that rest (60)
  --kwok S           kwok renews the Nodes' Leases, which last S seconds, four times as often (0: there is no kwok)
  --patience S       seconds that anything is waited for (600)
  --quick            that it works: 20 agents, 10 changes
  --json FILE        all figures
`;

export const ways: readonly Way[] = ["watch", "index"];

/** @throws Error with what is wrong with them */
export function parseOptions(args: readonly string[]): AgentsOptions | "help" {
  const text = { type: "string" } as const;
  const yes = { type: "boolean", default: false } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...{ agents: text, sizes: text, volumes: text, processes: text, changes: text, every: text, start: text },
      ...{ idle: text, rest: text, kwok: text, patience: text, json: text, herd: text },
      ...{ converge: yes, quick: yes, help: yes },
    },
  });
  if (values.help) return "help";
  const { quick, converge } = values;
  const number = (flag: string, given: string | undefined, without: number, least: number, most: number): number => {
    const value = given === undefined ? without : Number(given);
    if (!Number.isInteger(value) || value < least || value > most) {
      throw new Error(`--${flag} takes whole numbers from ${least} to ${most}, not ${given}`);
    }
    return value;
  };
  const chosen = (values.agents ?? ways.join(",")).split(",").map((way) => {
    const found = ways.find((one) => one === way);
    if (found === undefined) throw new Error(`--agents takes ${ways.join(" or ")}, not ${way}`);
    return found;
  });
  const sizes = (values.sizes ?? (quick ? "20" : "500,1000"))
    .split(",")
    .map((size) => number("sizes", size, 0, 1, 100_000));
  if (sizes.some((size, index) => size <= (sizes[index - 1] ?? 0))) {
    throw new Error(`--sizes must grow: agents are started and none is ended, not ${values.sizes}`);
  }
  const count = (flag: "changes" | "every" | "start" | "idle" | "rest" | "kwok" | "patience", without: number) =>
    number(flag, values[flag], without, flag === "kwok" || flag === "idle" ? 0 : 1, 1_000_000);
  const herd = (["each", "last", "none"] as const).find((when) => when === (values.herd ?? "each"));
  if (herd === undefined) throw new Error(`--herd takes each, last or none, not ${values.herd}`);
  const volumes = number("volumes", values.volumes, converge ? 0 : 2, converge ? 0 : 1, 64);
  if (converge && volumes > 0) {
    throw new Error("--volumes must be 0 with --converge: the controller would release what no set asks for");
  }
  return {
    ways: chosen,
    sizes,
    nodes: sizes.at(-1) ?? 0,
    volumes,
    processes: number("processes", values.processes, Math.max(2, cpus().length), 1, 64),
    changes: count("changes", quick ? 10 : 200),
    everyMs: count("every", 100),
    perSecond: count("start", 100),
    idleSeconds: count("idle", quick ? 1 : 10),
    restSeconds: count("rest", quick ? 2 : 60),
    herd,
    converge,
    kwokLeaseSeconds: count("kwok", 0),
    patienceMs: count("patience", 600) * 1000,
    json: values.json,
  };
}

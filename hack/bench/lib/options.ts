import { parseArgs } from "node:util";

export interface BenchOptions {
  /** Small numbers, one run: to see that it works. */
  readonly quick: boolean;
  /** How often each scenario that does not take minutes is run. */
  readonly runs: number;
  /** Only scenarios of so many pods. */
  readonly pods: readonly number[] | undefined;
  /** Only scenarios whose name or scope contains this. */
  readonly only: string | undefined;
  /** File for the figures of all runs. */
  readonly json: string | undefined;
}

export const usage = `usage: node hack/bench/{all,mount-latency,idle,restart,drift}.ts [flags]

  --quick       small numbers, one run: that it works, not how fast it is
  --runs N      how often each scenario runs that does not take minutes (3)
  --pods N,…    only scenarios of so many pods
  --only TEXT   only scenarios whose name or scope contains this
  --json FILE   all figures of all runs

PEER=FOLDER has the program that measures kubelet's volume manager; without it that column is empty.
Needs root. Nothing is left behind.
`;

/** @throws Error with what is wrong with them */
export function parseOptions(args: readonly string[]): BenchOptions | "help" {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      runs: { type: "string" },
      pods: { type: "string" },
      only: { type: "string" },
      json: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return "help";
  const runs = values.runs === undefined ? (values.quick ? 1 : 3) : count("--runs", values.runs);
  const pods = values.pods?.split(",").map((text) => count("--pods", text));
  return { quick: values.quick, runs, pods, only: values.only, json: values.json };
}

function count(flag: string, text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new Error(`${flag} takes whole numbers from 1 to 99999, not ${text}`);
  return Number(text);
}

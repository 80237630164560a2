import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { buildPrograms } from "../../lib/agent-on-kernel/programs.ts";
import { Seeded } from "../../lib/seeded.ts";
import { until } from "../../lib/until.ts";
import { journalOf } from "../kills/phases.ts";
import { Canaries } from "../steady/canaries.ts";
import { type OutputFigures, Outputs } from "../steady/outputs.ts";
import { processFigures } from "../steady/process-figures.ts";
import { Regularly } from "../steady/regularly.ts";
import type { Sample } from "../steady/trend.ts";
import { type AtRest, SoakNode } from "./soak-node.ts";

export interface SoakOptions {
  readonly ms: number;
  readonly seed: number;
  /** Milliseconds between two changes, unless volumes take longer. */
  readonly paceMs: number;
  /** Changes after which everything is released, and what the agent takes is measured. */
  readonly restEvery: number;
  /** How often a change is not waited for before the next one: from 0 to 1. */
  readonly overlap: number;
  /** How often it rests at least, however slow the machine is. */
  readonly leastRests: number;
  report(line: string): void;
}

/** What the agent takes: of memory and disk while it works, of all else when it is at rest. */
export type Series = { readonly [name in keyof AtRest | "rssBytes" | "journalBytes"]: Sample[] };

export interface SoakFigures {
  readonly seconds: number;
  readonly kinds: readonly string[];
  readonly changes: number;
  readonly released: number;
  readonly looks: number;
  readonly rests: number;
  /** How often a server that refuses it was shown a Secret. */
  readonly shown: number;
  readonly series: Series;
  readonly outputs: readonly OutputFigures[];
  readonly violations: readonly string[];
}

const reportMs = 10_000;
const lookMs = 250;
const sampleMs = 1000;

/**
 * Real volumes come and go on one agent that is never started anew. Needs root, and a PID and mount namespace of its
 * own.
 */
export async function runSoak({ ms, seed, report, ...pace }: SoakOptions): Promise<SoakFigures> {
  const programs = await buildPrograms();
  await using kept = new AsyncDisposableStack();
  const [canaries, random] = [new Canaries(), new Seeded(seed)];
  const outputs = new Outputs(canaries);
  const node = kept.use(await SoakNode.start(programs, canaries, outputs));
  const { agent, churn, checker } = node;
  const series: Series = { rssBytes: [], fds: [], threads: [], children: [], journalBytes: [] };
  const began = performance.now();
  const sample = (name: keyof Series, value: number) => series[name].push({ at: performance.now() - began, value });
  const explained: string[] = [];
  const look = () => {
    checker.look();
    for (const it of checker.violations.slice(explained.length))
      explained.push([it, ...node.history.of(it)].join("\n"));
    outputs.arguments();
    outputs.mountTable();
    outputs.whole("journal", journalOf(agent.path));
  };
  const looking = kept.use(new Regularly(lookMs, look));
  const sampling = kept.use(
    new Regularly(sampleMs, () => {
      sample("rssBytes", processFigures(agent.pid).rssBytes);
      sample("journalBytes", statSync(`${agent.path}/state/journal`).size);
    }),
  );
  const telling = kept.use(new Regularly(reportMs, () => report(lineOf(node, performance.now() - began))));
  const failures: string[] = [];
  try {
    const isOver = () => performance.now() - began >= ms && node.rests >= pace.leastRests;
    while (!isOver() && checker.violations.length === 0) {
      node.begin();
      for (let changes = 0; changes < pace.restEvery; changes += 1) {
        const started = performance.now();
        await node.change(random, pace.overlap);
        await sleep(Math.max(0, started + pace.paceMs - performance.now())); // a pace, not a wait
      }
      for (const [name, value] of Object.entries(await node.rest())) sample(name as keyof AtRest, value);
    }
  } catch (error) {
    failures.push(`${String(error)}\n${node.describe()}`);
  }
  agent.askForMetrics();
  await until("the metrics", 10_000, () => outputs.figures().some(({ where }) => where === "metrics"));
  for (const it of [telling, sampling, looking]) await it[Symbol.asyncDispose]();
  const figures = outputs.figures();
  const leaks = figures.filter((it) => it.canaries > 0).map((it) => `${it.canaries} canaries in ${it.where}`);
  const said = agent.errors.map((error) => `the agent says: ${error}`);
  return {
    ...{ seconds: (performance.now() - began) / 1000, kinds: churn.slots.map(({ kind }) => kind.name) },
    ...{ changes: churn.changes, released: checker.released, looks: checker.looks, rests: node.rests },
    ...{ shown: node.shown, series, outputs: figures },
    violations: [...explained, ...checker.violations.slice(explained.length), ...failures, ...leaks, ...said],
  };
}

function lineOf({ agent, churn, rests }: SoakNode, ms: number): string {
  const { rssBytes, fds, threads, children } = processFigures(agent.pid);
  const takes = `RSS ${(rssBytes / 2 ** 20).toFixed(1)} MiB, ${fds} descriptors, ${threads} threads, ${children} children`;
  return `${(ms / 1000).toFixed(0)} s: ${churn.changes} changes, ${rests} rests; ${takes}`;
}

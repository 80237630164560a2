import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildPrograms, type Programs } from "../../lib/agent-on-kernel/programs.ts";
import { startedWith } from "../../lib/command-lines.ts";
import { until } from "../../lib/until.ts";
import { NodeUnderFire } from "./node-under-fire.ts";

export interface KillOptions {
  readonly kills: number;
  readonly seed: number;
  /** Nodes beside each other: while one agent starts, others work. */
  readonly nodes: number;
  /** Of these, how many have volumes that take children. */
  readonly withChildren: number;
  /** Kills of a node after which everything is released, and it is looked whether anything is left. */
  readonly settleEvery: number;
  report(line: string): void;
}

export interface KillFigures {
  readonly kills: number;
  readonly seconds: number;
  readonly kinds: readonly string[];
  readonly changes: number;
  readonly released: number;
  readonly looks: number;
  readonly afterEvents: number;
  readonly phases: ReadonlyMap<string, number>;
  /** What was lost, stacked or leaked. */
  readonly violations: readonly string[];
}

/** Milliseconds between two lines about how far it is. */
const reportMs = 10_000;

/**
 * Kills agents at random while volumes come and go. Needs root, and a PID and mount namespace of its own. The API
 * server is in the agent's process, as what it should have is not tried here, and no process but the agent then takes
 * time to start.
 */
export async function runKills(options: KillOptions): Promise<KillFigures> {
  const { kills, seed, nodes: count, withChildren, settleEvery, report } = options;
  const cache = mkdtempSync(join(tmpdir(), "nvo-compiled-"));
  process.env["NODE_COMPILE_CACHE"] = cache; // or each agent would compile its bundle anew
  const programs = await buildPrograms();
  await using kept = new AsyncDisposableStack();
  kept.defer(() => rmSync(cache, { recursive: true }));
  const nodes: NodeUnderFire[] = [];
  for (let i = 0; i < count; i += 1)
    nodes.push(kept.use(await NodeUnderFire.start(programs, seed + i, i < withChildren)));
  const started = performance.now();
  const seconds = () => (performance.now() - started) / 1000;
  const total = (of: (node: NodeUnderFire) => number) => nodes.reduce((sum, node) => sum + of(node), 0);
  const done = () => total((node) => node.kills);
  const timer = setInterval(() => {
    report(`${done()} kills, ${(done() / seconds()).toFixed(1)} a second`);
  }, reportMs);
  const violations = () => nodes.flatMap(({ checker }) => checker.violations);
  try {
    await Promise.all(
      nodes.map(async (node) => {
        const share = Math.ceil(kills / count);
        while (node.kills < share && violations().length === 0) {
          await node.live();
          if (node.kills % settleEvery === 0 || node.kills === share) await settle(node);
        }
      }),
    );
    await noChildren(programs);
  } finally {
    clearInterval(timer);
  }
  const phases = new Map<string, number>();
  for (const node of nodes) for (const [phase, n] of node.phases) phases.set(phase, (phases.get(phase) ?? 0) + n);
  return {
    ...{ kills: done(), seconds: seconds(), phases, violations: violations() },
    kinds: nodes[0]?.churn.slots.map(({ kind }) => kind.name) ?? [],
    changes: total(({ churn }) => churn.changes),
    released: total(({ checker }) => checker.released),
    looks: total(({ checker }) => checker.looks),
    afterEvents: total(({ afterEvents }) => afterEvents),
  };
}

/** What does not come to rest has lost something, too. */
async function settle(node: NodeUnderFire): Promise<void> {
  await node.settle().catch((error: unknown) => {
    node.checker.violations.push(`after ${node.kills} kills: ${String(error)}\n${node.describe()}`);
  });
}

/** Children outlive their agent by what they were told to do. */
async function noChildren({ child }: Programs): Promise<void> {
  await until("children of dead agents to end", 10_000, () => startedWith(child).length === 0);
}

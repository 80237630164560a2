import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { buildPrograms } from "../../lib/agent-on-kernel/programs.ts";
import { until } from "../../lib/until.ts";
import { Canaries } from "../steady/canaries.ts";
import { type OutputFigures, Outputs } from "../steady/outputs.ts";
import { type ProcessFigures, processFigures } from "../steady/process-figures.ts";
import { Regularly } from "../steady/regularly.ts";
import type { Sample } from "../steady/trend.ts";
import { Helpers } from "./helpers.ts";
import { type Cycle, HungNode, type NodeSize } from "./hung-node.ts";

export interface HungOptions {
  readonly size: NodeSize;
  /** How long the servers are stopped; how long they run before. */
  readonly hungMs: number;
  readonly baselineMs: number;
  /** Milliseconds between two volumes that go and come back on a node. */
  readonly paceMs: number;
  /** Whether a second node beside it, whose servers do not stop, says what else the machine does. */
  readonly control: boolean;
  report(line: string): void;
}

/** What the others took, by phase, on the node whose servers stop and on the one beside it. */
export interface Cycles {
  readonly before: Cycle[];
  readonly during: Cycle[];
}

export interface HungFigures {
  readonly seconds: number;
  readonly cycles: Cycles;
  readonly control: Cycles | undefined;
  readonly most: Helpers["most"];
  /** What hung volumes said at the end of the time, and how many of them. */
  readonly waits: ReadonlyMap<string, number>;
  readonly healedMs: readonly number[];
  /** Resident bytes of the agent while servers were stopped; of the one beside it at the same time. */
  readonly rss: readonly Sample[];
  readonly controlRSS: readonly Sample[];
  /** Before anything hung, and after everything had healed. */
  readonly rest: readonly [ProcessFigures, ProcessFigures];
  readonly outputs: readonly OutputFigures[];
  readonly violations: readonly string[];
}

const reportMs = 10_000;
const lookMs = 250;

/**
 * Half of a node's volumes hang, the others come and go. Needs root, /dev/fuse, and a PID and mount namespace of its
 * own.
 */
export async function runHung(options: HungOptions): Promise<HungFigures> {
  const { size, report } = options;
  const programs = await buildPrograms();
  await using kept = new AsyncDisposableStack();
  const [canaries, connections] = [new Canaries(), mountConnections(kept)];
  const outputs = new Outputs(canaries);
  const node = kept.use(await HungNode.start(programs, size, { canaries, outputs }));
  const beside = options.control
    ? kept.use(await HungNode.start(programs, size, { canaries, outputs: new Outputs(canaries) }))
    : undefined;
  const { agent } = node;
  const helpers = new Helpers(agent.path, connections);
  const [rss, controlRSS, violations]: [Sample[], Sample[], string[]] = [[], [], []];
  const began = performance.now();
  const cycles: Cycles = { before: [], during: [] };
  const control: Cycles = { before: [], during: [] };
  const looking = kept.use(
    new Regularly(lookMs, () => {
      helpers.look(agent.pid);
      outputs.arguments();
    }),
  );
  const go = async (phase: keyof Cycles, ms: number) => {
    const from = performance.now();
    let [said, sampledAt] = [from, 0];
    while (performance.now() < from + ms) {
      const started = performance.now();
      cycles[phase].push(await node.cycle());
      if (beside !== undefined) control[phase].push(await beside.cycle());
      const now = performance.now();
      if (now > sampledAt + 1000) {
        sampledAt = now;
        if (phase === "during") {
          rss.push({ at: now, value: processFigures(agent.pid).rssBytes });
          if (beside !== undefined) controlRSS.push({ at: now, value: processFigures(beside.agent.pid).rssBytes });
        }
      }
      if (now > said + reportMs) {
        said = now;
        const { rssBytes, children } = processFigures(agent.pid);
        const mib = (rssBytes / 2 ** 20).toFixed(1);
        report(
          `${phase} ${((now - from) / 1000).toFixed(0)} s: ${cycles[phase].length} cycles, ${children} helpers, RSS ${mib} MiB`,
        );
      }
      await sleep(Math.max(0, started + options.paceMs - now)); // a pace, not a wait
    }
  };
  await until("the children of the set-ups to end", 30_000, () => processFigures(agent.pid).children <= 1);
  await go("before", options.baselineMs);
  const before = processFigures(agent.pid);
  await node.hang();
  await go("during", options.hungMs);
  const waits = node.waits();
  const notHung = node.hung.filter((name) => agent.statuses.get(name)?.state === "Mounted" && !node.isMounted(name));
  violations.push(...notHung.map((name) => `${name} is said to be mounted, and is not`));
  report("servers go on");
  const healedMs = await node.heal();
  violations.push(...node.hung.filter((name) => !node.isMounted(name)).map((name) => `${name} has not healed`));
  await until("the children to end", 30_000, () => processFigures(agent.pid).children <= 1);
  const after = processFigures(agent.pid);
  agent.askForMetrics();
  outputs.mountTable();
  outputs.files("state directory", `${agent.path}/state`);
  await node.releaseAll();
  outputs.files("state directory", `${agent.path}/state`);
  await looking[Symbol.asyncDispose]();
  const found = outputs.figures();
  violations.push(...helpers.violations, ...agent.errors.map((error) => `the agent says: ${error}`));
  violations.push(...found.filter((it) => it.canaries > 0).map((it) => `${it.canaries} canaries in ${it.where}`));
  return {
    ...{
      seconds: (performance.now() - began) / 1000,
      cycles,
      most: helpers.most,
      waits,
      healedMs,
      rss,
      controlRSS,
      violations,
    },
    ...{ control: beside && control, rest: [before, after], outputs: found },
  };
}

/** Where the kernel tells of its FUSE connections. */
function mountConnections(kept: AsyncDisposableStack): string {
  const path = mkdtempSync(join(tmpdir(), "nvo-fusectl-"));
  mkdirSync(`${path}/fuse`);
  execFileSync("mount", ["-t", "fusectl", "fusectl", `${path}/fuse`]);
  kept.defer(() => {
    execFileSync("umount", [`${path}/fuse`]);
    rmSync(path, { recursive: true });
  });
  return `${path}/fuse`;
}
